// An unfolded answer: its input, and the answers of all candidates side by side.

function unfold(event) {
  const line = event.target.closest("tr.line");
  if (!line || (!event.target.closest("button") && String(window.getSelection()))) return; // a click that ends a selection of text
  setOpen(line, line.querySelector("button").getAttribute("aria-expanded") !== "true");
}

function setOpen(line, open) {
  line.querySelector("button").setAttribute("aria-expanded", String(open));
  const row = Number(line.dataset.row);
  if (open) line.after(opened(row));
  else line.nextElementSibling.remove();
  state.open = open ? row : null;
  write();
}

function opened(row) {
  const id = data.asked[row], others = rowsOf(id).filter((other) => other !== row);
  const beside = make("div", { className: "beside" }), asked = make("div", { className: "asked" });
  const fill = (against) => {
    const other = against === "reference" ? plain(data.references[id][0]) : against && plain(data.responses[against]);
    beside.replaceChildren(...[row, ...others].map((each) => {
      const own = each === Number(against) ? plain(data.responses[row]) : other;
      return answer(each, own);
    }));
    asked.replaceChildren(
      make("div", {}, make("h3", {}, "Input"), ...written(data.inputs[id], "none")),
      make("div", {}, make("h3", {}, "References"), ...references(id, against === "reference" ? plain(data.responses[row]) : "")));
  };
  fill("");
  const which = make("div", { className: "which" },
    code(plain(data.ids[id])), ...data.slices.map((slice) => tag(slice, id)), ...actions(row, others, fill));
  const inside = make("div", { className: "inside" }, which, asked, beside);
  const columns = isMatrix() ? 2 + data.candidates.length : isByLabel() ? 5 : 6;
  return make("tr", { className: "unfolded", role: "row" }, make("td", { colSpan: columns, role: "cell" }, inside));
}

const LINKED = location.protocol === "file:" ? "The link is copied. It leads to a file on this computer: send the file, too." : "The link is copied.";

function actions(row, others, fill) {
  const options = [["", "nothing"], ...(data.references[data.asked[row]].length ? [["reference", "the reference"]] : []),
    ...others.filter((other) => !absent(data.responses[other])).map((other) => [other, data.candidates[data.candidate[other]].name])];
  const choice = make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));
  choice.addEventListener("change", () => fill(choice.value));
  return [
    ...(options.length > 1 ? [make("label", {}, "Mark words against ", choice)] : []),
    button("Copy link", () => copy(location.href.replace(/#.*/s, "") + address(row), LINKED)),
    button("Copy as JSON", () => copy(JSON.stringify(recordOf(row), null, 2), "The answer is copied.")),
  ];
}

function tag({ name: column, values, codes }, id) {
  const value = values[codes[id]], other = unnamed(value);
  return make("span", { className: "tag" }, `${column}: `, other ? make("em", {}, other) : make("bdi", {}, value));
}

function references(id, against) {
  const more = data.more[id] ? [make("p", { className: "note" }, `and ${count(data.more[id])} more`)] : [];
  const texts = data.references[id].flatMap((text, i) => written(text, "empty", i ? "" : against));
  return texts.length ? [...texts, ...more] : written(null, "none");
}

function answer(row, against) {
  const label = LABELS[data.labels[row]], missing = absent(data.responses[row]);
  const verdict = label ? [make("span", { className: `verdict ${label}` }, `label: ${label}`)] : [];
  const why = data.kinds.filter(({ place }) => place.has(row)).map((kind) => kind.why[kind.place.get(row)]);
  const box = make("div", { className: "answer", "data-row": row },
    make("h3", {}, nameOf(data.candidate[row]), ...verdict),
    ...(missing ? [make("p", { className: "quiet" }, missing)] : written(data.responses[row], "", against)),
    ...(missing === "no response" ? [] : [labelling(row)]),
    ...why.map((text) => make("p", { className: "why" }, text)),
    make("ul", { className: "scores", "aria-label": "Scores" }, ...data.measures.flatMap((each) => score(each, row))),
    ...details(row));
  box.style.borderColor = data.candidates[data.candidate[row]].colour;
  return box;
}

function score(metric, row) {
  const result = RESULTS[metric.results[row]];
  if (result === "not asked") return [];
  const value = make("b", {}, number(metric.scores[row]));
  return [make("li", { className: result }, make("span", {}, metric.name), " ", value, " ", make("i", {}, result))];
}

function details(row) {
  const explained = data.reasons.filter(({ place }) => place.has(row));
  const list = explained.flatMap(({ metric, place, texts }) => [
    make("dt", {}, make("code", {}, metric)), make("dd", {}, ...explanation(texts[place.get(row)]))]);
  return list.length ? [make("details", {}, make("summary", {}, "details"), make("dl", {}, ...list))] : [];
}

/** The explanation of a score: a text, or facts whose parts are isolated from each other's writing direction. */
function explanation(text) {
  if (!text.facts) return written(text, "none");
  const isolated = (part, i) => [i ? ": " : "", make("bdi", {}, part)];
  const lines = text.facts.map((parts) => make("div", {}, ...parts.flatMap(isolated)));
  return [make("div", { className: "text" }, ...lines), ...noted(text.note)];
}

const noted = (note) => (note ? [make("p", { className: "note" }, note)] : []);
