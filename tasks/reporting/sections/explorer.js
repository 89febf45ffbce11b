// Row explorer: unpacks the answers after the first paint, then searches, filters, sorts and shows them, always as text.
(() => {
  "use strict";

  const PAGE = 25; // answers on a page
  const LINE = 160; // characters of a text on one line
  const OPTIONS = 200; // values of a slice to choose from
  const RESULTS = { p: "pass", f: "fail", u: "unmeasured", n: "not asked", "-": "" };
  const NO_VALUE = "(none)", EMPTY = "(empty)"; // labels of slice values without a visible name
  const LABELS = { r: "right", w: "wrong", "-": "" };
  const CONTRADICTS = { r: "f", w: "p", p: "f", f: "p" };
  const block = document.getElementById("answers");
  if (!block) return;
  const at = (name) => document.getElementById(`rows-${name}`);
  const state = { rows: [], page: 0 }; // rows: the numbers of the answers that match
  let data;

  requestAnimationFrame(() => setTimeout(start));

  async function start() {
    try {
      data = arranged(await unpacked(block.textContent));
    } catch (error) {
      at("why").textContent = String(error);
      at("failed").hidden = false;
      return;
    }
    offer();
    listen();
    update();
    const idle = window.requestIdleCallback ?? setTimeout;
    for (const make of [searched, idOrder]) idle(() => make());
  }

  async function unpacked(text) {
    const binary = atob(text.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  // The data, with indexes for look-ups.

  function arranged(packed) {
    const starts = new Int32Array(packed.ids.length + 1).fill(packed.asked.length);
    for (let row = packed.asked.length - 1; row >= 0; row -= 1) starts[packed.asked[row]] = row;
    for (const metric of packed.metrics) {
      metric.scores = Float64Array.from(metric.scores, (score) => (score === null ? NaN : score));
    }
    for (const each of [...packed.kinds, ...packed.reasons]) {
      each.place = new Map(each.answers.map((row, i) => [row, i]));
    }
    return { ...packed, starts, judge: packed.metrics.find(({ judge, rule }) => judge && rule) };
  }

  /** The texts that search looks through, made at the first use. */
  function searched() {
    data.searched ??= {
      asked: data.ids.map((id, i) => [id, data.inputs[i], ...data.references[i]].map(normalized).join("\n")),
      answers: data.responses.map(normalized),
    };
    return data.searched;
  }

  /** A normalised text on one line: texts that look the same become equal. */
  function normalized(text) {
    return plain(text).normalize("NFKC").toLowerCase().replace(/[^\S ]\s*| \s+/g, " ");
  }

  /** The rank of each id, with 2 before 10; made at the first use. */
  function idOrder() {
    if (!data.idOrder) {
      const { compare } = new Intl.Collator("en", { numeric: true });
      const ids = data.ids.map(plain);
      data.idOrder = new Int32Array(ids.length);
      const order = ids.map((_, i) => i).sort((a, b) => compare(ids[a], ids[b]) || a - b);
      order.forEach((id, place) => { data.idOrder[id] = place; });
    }
    return data.idOrder;
  }

  const isCut = (text) => Array.isArray(text);
  const plain = (text) => (isCut(text) ? text[0] : text ?? "");
  const quoted = (text) => csvCell(plain(text));
  const chosen = () => data.metrics[at("metric").value];

  // The choices of the form.

  function offer() {
    const labelled = /[rw]/.test(data.labels), measured = data.metrics.length > 0;
    at("candidate").append(...data.candidates.map(({ name }, i) => option(name, i)));
    at("look").append(...data.kinds.map(({ title, answers }, i) => option(`${title} (${count(answers.length)})`, i)));
    offerMetrics();
    at("sort").parentElement.before(...data.slices.map(sliceSelect));
    if (!labelled) at("people").parentElement.remove();
    if (!labelled || !measured) at("look").querySelector("[value=people]").remove();
    if (!data.judge || data.metrics.length < 2) at("look").querySelector("[value=judge]").remove();
    for (const name of ["metric", "result"]) at(name).parentElement.hidden = !measured;
    for (const name of ["form", "table", "pages"]) at(name).hidden = false;
  }

  function offerMetrics() {
    for (const family of new Set(data.metrics.map((metric) => metric.family))) {
      const options = data.metrics.flatMap((each, i) => (each.family === family ? [option(each.name, i)] : []));
      at("metric").append(make("optgroup", { label: family }, ...options));
    }
    const first = data.metrics.findIndex(({ name }) => name === data.first);
    for (const each of at("metric").options) each.defaultSelected = each.value === String(Math.max(0, first));
  }

  function sliceSelect({ name, values }, i) {
    const options = values.slice(0, OPTIONS).map((value, code) => option(unnamed(value) || value, code));
    const more = values.length - options.length;
    if (more > 0) options.push(make("option", { disabled: true }, `${count(more)} more values`));
    const id = `rows-slice-${i}`;
    const select = make("select", { id, "data-slice": i }, option("all", ""), ...options);
    return make("div", { className: "field" }, make("label", { htmlFor: id }, name), select);
  }

  const unnamed = (value) => (value === null ? NO_VALUE : value.trim() === "" ? EMPTY : "");
  const option = (text, value) => make("option", { value }, text);

  function listen() {
    const form = at("form");
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(update));
    at("save").addEventListener("click", save);
    at("previous").addEventListener("click", () => turn(-1));
    at("next").addEventListener("click", () => turn(1));
    at("body").addEventListener("click", unfold);
    for (const button of at("table").querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => {
        const { sort } = button.dataset;
        at("sort").value = at("sort").value === `${sort}+` ? `${sort}-` : `${sort}+`;
        update();
      });
    }
  }

  // Which answers match, and their order.

  function update() {
    const start = performance.now();
    offerJudge();
    state.rows = sorted(matching());
    state.page = 0;
    show();
    performance.measure("filter", { start });
  }

  /** Disables the comparison with the judge while the judge is the selected metric. */
  function offerJudge() {
    const judge = at("look").querySelector("[value=judge]");
    if (!judge) return;
    judge.disabled = chosen() === data.judge;
    if (judge.disabled && judge.selected) at("look").value = "";
  }

  function matching() {
    const tests = filters(), rows = [];
    for (let row = 0; row < data.asked.length; row += 1) if (tests.every((test) => test(row))) rows.push(row);
    return rows;
  }

  /** Predicates of a row that an answer must fulfil, the cheapest first. */
  function filters() {
    const [candidate, result, label] = ["candidate", "result", "people"].map((name) => at(name)?.value);
    const tests = [], metric = chosen();
    if (candidate) tests.push((row) => data.candidate[row] === Number(candidate));
    if (result) tests.push((row) => metric.results[row] === result);
    if (label) tests.push((row) => data.labels[row] === label);
    for (const select of at("form").querySelectorAll("[data-slice]")) {
      const { codes } = data.slices[select.dataset.slice];
      if (select.value) tests.push((row) => codes[data.asked[row]] === Number(select.value));
    }
    const look = worthALook(at("look").value, metric), search = normalized(at("search").value).trim();
    if (look) tests.push(look);
    if (search) tests.push(containing(search));
    return tests;
  }

  function worthALook(value, metric) {
    if (value === "people") return (row) => metric.results[row] === CONTRADICTS[data.labels[row]];
    if (value === "judge") return (row) => metric.results[row] === CONTRADICTS[data.judge.results[row]];
    return value && ((row) => data.kinds[value].place.has(row));
  }

  function containing(search) {
    const { asked, answers } = searched();
    const hit = asked.map((text) => text.includes(search));
    return (row) => hit[data.asked[row]] || answers[row].includes(search);
  }

  function sorted(rows) {
    const value = at("sort").value, direction = value.endsWith("-") ? -1 : 1;
    const keys = {
      candidate: (row) => data.candidate[row],
      id: (row) => idOrder()[data.asked[row]],
      length: (row) => (data.responses[row] === null ? NaN : data.lengths[row]),
      score: (row) => chosen()?.scores[row],
    };
    const of = keys[value.slice(0, -1)];
    if (!of) return rows;
    const key = new Float64Array(data.asked.length);
    for (const row of rows) key[row] = of(row);
    const last = (row) => (Number.isNaN(key[row]) ? 1 : 0); // rows without a value are last in both directions
    return rows.sort((a, b) => last(a) - last(b) || direction * (key[a] - key[b]) || a - b);
  }

  function turn(by) {
    const page = state.page + by;
    if (page < 0 || page >= pages()) return;
    state.page = page;
    show();
    if (at("table").getBoundingClientRect().top < 0) at("table").scrollIntoView();
  }

  // The table.

  function show() {
    const { rows, page } = state, metric = chosen();
    say("count", `${count(rows.length)} of ${count(data.asked.length)} answers`);
    say("page", `page ${count(page + 1)} of ${count(pages())}`);
    at("previous").ariaDisabled = String(page === 0); // `disabled` would take the focus away
    at("next").ariaDisabled = String(page + 1 >= pages());
    at("save").disabled = rows.length === 0;
    at("score").textContent = metric ? metric.name : "Score";
    at("rule").textContent = metric ? metric.rule : "";
    for (const button of at("table").querySelectorAll("[data-sort]")) mark(button);
    at("body").replaceChildren(...rows.slice(page * PAGE, (page + 1) * PAGE).map((row) => line(row, metric)));
  }

  const pages = () => Math.max(1, Math.ceil(state.rows.length / PAGE));

  /** Writes a text only if it changes, because screen readers read each change aloud. */
  function say(name, text) {
    if (at(name).textContent !== text) at(name).textContent = text;
  }

  function mark(button) {
    const [sort, direction] = [at("sort").value.slice(0, -1), at("sort").value.slice(-1)];
    const header = button.closest("th");
    if (sort === button.dataset.sort) header.setAttribute("aria-sort", direction === "-" ? "descending" : "ascending");
    else header.removeAttribute("aria-sort");
  }

  function line(row, metric) {
    const id = data.asked[row], label = LABELS[data.labels[row]];
    const closed = { type: "button", className: "unfolds", "aria-expanded": "false", dir: "auto" };
    const unfolds = make("button", closed, oneLine(data.inputs[id]).trim() || oneLine(data.ids[id]));
    return make("tr", { className: "line", role: "row", "data-row": row },
      cell("of-candidate", name(data.candidate[row])),
      cell("of-id", code(oneLine(data.ids[id]))),
      cell("of-input", unfolds),
      cell("of-response", answerLine(data.responses[row])),
      cell("of-people", label ? make("span", { className: `verdict ${label}` }, label) : ""),
      cell("of-score", ...(metric ? scored(metric, row) : [])),
    );
  }

  const cell = (className, ...children) => make("td", { className, role: "cell" }, ...children);
  const code = (text) => make("code", {}, make("bdi", {}, text));

  function scored({ scores, results }, row) {
    const className = { p: "verdict right", f: "verdict wrong", u: "verdict open", n: "quiet" }[results[row]] ?? "";
    return [make("b", {}, number(scores[row])), " ", make("span", { className }, RESULTS[results[row]])];
  }

  function answerLine(text) {
    const missing = absent(text);
    return missing ? make("span", { className: "quiet" }, missing) : make("span", { dir: "auto" }, oneLine(text));
  }

  const absent = (text) => (text === null ? "no response" : plain(text).trim() === "" ? "empty response" : "");

  function oneLine(text) {
    return plain(text).slice(0, LINE).replace(/[\ud800-\udbff]$/, "").replace(/\s+/g, " ");
  }

  function name(candidate) {
    const { name: text, colour, shape } = data.candidates[candidate];
    const swatch = at("swatch").content.firstElementChild.cloneNode(true);
    swatch.firstElementChild.setAttribute("d", shape);
    swatch.style.color = colour;
    return make("span", { className: "name" }, swatch, make("bdi", {}, text));
  }

  // An unfolded answer: its input, and the answers of all candidates side by side.

  function unfold(event) {
    const tr = event.target.closest("tr.line");
    if (!tr || (!event.target.closest("button") && String(window.getSelection()))) return; // a click that ends a selection of text
    const button = tr.querySelector("button"), open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) tr.nextElementSibling.remove();
    else tr.after(opened(Number(tr.dataset.row)));
  }

  function opened(row) {
    const id = data.asked[row], others = [];
    for (let other = data.starts[id]; other < data.starts[id + 1]; other += 1) if (other !== row) others.push(other);
    const inside = make("td", { colSpan: 6, role: "cell" },
      make("p", { className: "which" }, code(plain(data.ids[id])), ...data.slices.map((slice) => tag(slice, id))),
      make("div", { className: "asked" },
        make("div", {}, make("h3", {}, "Input"), ...written(data.inputs[id], "none")),
        make("div", {}, make("h3", {}, "References"), ...references(id))),
      make("div", { className: "beside" }, ...[row, ...others].map((each) => answer(each))));
    return make("tr", { className: "unfolded", role: "row" }, inside);
  }

  function tag({ name: column, values, codes }, id) {
    const value = values[codes[id]], other = unnamed(value);
    return make("span", { className: "tag" }, `${column}: `, other ? make("em", {}, other) : make("bdi", {}, value));
  }

  function references(id) {
    const more = data.more[id] ? [make("p", { className: "note" }, `and ${count(data.more[id])} more`)] : [];
    const texts = data.references[id].flatMap((text) => written(text, "empty"));
    return texts.length ? [...texts, ...more] : written(null, "none");
  }

  function written(text, otherwise) {
    if (plain(text) === "") return [make("p", { className: "quiet" }, otherwise)];
    return [make("div", { className: "text", dir: "auto" }, plain(text)), ...noted(isCut(text) && text[1])];
  }

  function answer(row) {
    const label = LABELS[data.labels[row]], missing = absent(data.responses[row]);
    const verdict = label ? [make("span", { className: `verdict ${label}` }, `label: ${label}`)] : [];
    const why = data.kinds.filter(({ place }) => place.has(row)).map((kind) => kind.why[kind.place.get(row)]);
    const box = make("div", { className: "answer" },
      make("h3", {}, name(data.candidate[row]), ...verdict),
      ...(missing ? [make("p", { className: "quiet" }, missing)] : written(data.responses[row])),
      ...why.map((text) => make("p", { className: "why" }, text)),
      make("ul", { className: "scores", "aria-label": "Scores" }, ...data.metrics.flatMap((each) => score(each, row))),
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

  // The matching answers as CSV.

  function save() {
    const lines = [head(), ...state.rows.map(record)].map((cells) => cells.join(","));
    const file = new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" });
    const link = make("a", { href: URL.createObjectURL(file), download: "answers.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  function head() {
    const scores = data.metrics.flatMap((metric) => [metric.name, `${metric.name}_result`]);
    const texts = ["id", "candidate", "input", "references", "response", "label", "answered", "cut"];
    return [...texts, ...data.slices.map(({ name }) => name), ...scores].map(quoted);
  }

  function record(row) {
    const id = data.asked[row];
    const asked = [data.ids[id], data.candidates[data.candidate[row]].name, data.inputs[id]];
    const references = data.references[id].map(plain).join("\n");
    const slices = data.slices.map(({ values, codes }) => values[codes[id]]);
    const response = data.responses[row], answered = response === null ? "no" : "yes";
    const texts = [...asked, references, response, LABELS[data.labels[row]], answered, cut(row), ...slices];
    const scores = data.metrics.flatMap(({ scores: values, results }) => [
      Number.isNaN(values[row]) ? "" : String(values[row]), quoted(RESULTS[results[row]])]);
    return [...texts.map(quoted), ...scores];
  }

  /** The names of the columns whose texts are cut. */
  function cut(row) {
    const id = data.asked[row];
    const parts = { id: data.ids[id], input: data.inputs[id], response: data.responses[row] };
    const names = Object.keys(parts).filter((name) => isCut(parts[name]));
    return [...names, ...(data.more[id] || data.references[id].some(isCut) ? ["references"] : [])].join(" ");
  }

  // Helpers.

  /** Makes an element; strings among the children become text, never markup. */
  function make(tag, properties, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
      if (key in node) node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  }

  const count = (n) => n.toLocaleString("en-US");

  /** Three significant digits like `number` in tasks/console/format.py: halves are rounded to the even digit. */
  function number(value) {
    if (Number.isNaN(value)) return "–";
    if (value === 0) return "0";
    const halfway = /^(-?\d\.\d[02468])50*(e.*)$/.exec(value.toExponential(40));
    const [rounded, power] = (halfway ? halfway[1] + halfway[2] : value.toExponential(2)).split("e").map(Number);
    if (power < -4 || power >= 15) {
      return `${rounded}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`.replaceAll("-", "−");
    }
    const digits = Math.max(0, 2 - power);
    const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return Number(`${rounded}e${power}`).toLocaleString("en-US", shown).replace("-", "−");
  }
})();
