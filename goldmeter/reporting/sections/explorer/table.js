// The list: a line an answer, or a line an input with the answers of all candidates beside each other.

const PAGE = 25; // lines on a page
const LINE = 400; // characters of a text in a line

const isMatrix = () => at("view").value === "inputs";
const isByLabel = () => Boolean(chosen()) && !data.measures.includes(chosen());

/** What has a line: the rows that match, or the first one of each input. */
function lines() {
  if (!isMatrix()) return state.rows;
  const seen = new Set();
  return state.rows.filter((row) => !seen.has(data.asked[row]) && seen.add(data.asked[row]));
}

const pages = (all = lines()) => Math.max(1, Math.ceil(all.length / PAGE));

/** The page with the line of a row. */
function pageOf(row) {
  const place = isMatrix() ? lines().findIndex((each) => data.asked[each] === data.asked[row]) : state.rows.indexOf(row);
  return Math.floor(place / PAGE);
}

/** The line of a row on this page. */
function lineOf(row) {
  const found = [...at("body").querySelectorAll(".line")];
  return found.find(({ dataset }) => (isMatrix() ? data.asked[dataset.row] === data.asked[row] : Number(dataset.row) === row));
}

function turn(by) {
  const page = state.page + by;
  if (page < 0 || page >= pages()) return false;
  state.page = page;
  state.open = null;
  show();
  write();
  if (at("table").getBoundingClientRect().top < 0) at("table").scrollIntoView();
  return true;
}

function show() {
  const { rows, page } = state, metric = chosen(), all = lines();
  const inputs = isMatrix() ? ` to ${count(all.length)} inputs` : "";
  say("count", `${count(rows.length)} of ${count(data.asked.length)} answers${inputs}`);
  say("page", `page ${count(page + 1)} of ${count(pages(all))}`);
  at("previous").ariaDisabled = String(page === 0); // `disabled` would take the focus away
  at("next").ariaDisabled = String(page + 1 >= pages(all));
  for (const button of at("form").querySelectorAll("[data-save]")) button.disabled = rows.length === 0;
  at("score").textContent = metric ? metric.name : "Score";
  at("rule").textContent = metric ? metric.rule : "";
  at("table").classList.toggle("inputs", isMatrix());
  at("table").classList.toggle("by-label", isByLabel());
  for (const each of at("table").querySelectorAll(".of-column")) each.remove();
  if (isMatrix()) at("head").append(...data.candidates.map((_, i) => columnHead(i)));
  for (const button of at("table").querySelectorAll("[data-sort]")) mark(button);
  const line = isMatrix() ? inputLine : answerLine;
  at("body").replaceChildren(...all.slice(page * PAGE, (page + 1) * PAGE).map((row) => line(row, metric)));
}

const columnHead = (candidate) => make("th", { className: "of-column", role: "columnheader", scope: "col" }, nameOf(candidate));

function mark(button) {
  const [sort, direction] = [at("sort").value.slice(0, -1), at("sort").value.slice(-1)];
  const header = button.closest("th");
  if (sort === button.dataset.sort) header.setAttribute("aria-sort", direction === "-" ? "descending" : "ascending");
  else header.removeAttribute("aria-sort");
}

function answerLine(row, metric) {
  const id = data.asked[row];
  return make("tr", { className: "line", role: "row", "data-row": row },
    cell("of-candidate", nameOf(data.candidate[row])),
    cell("of-id", code(oneLine(data.ids[id]))),
    cell("of-input", unfolding(id)),
    cell("of-response", briefly(row)),
    cell("of-people", ...labelOf(row)),
    cell("of-score", ...measured(metric, row)),
  );
}

function inputLine(first, metric) {
  const id = data.asked[first];
  const columns = data.candidates.map((_, candidate) => {
    const row = rowOf(id, candidate);
    if (row < 0) return cell("of-column", make("span", { className: "quiet" }, "not asked"));
    const score = make("div", { className: "of-score" }, ...measured(metric, row), ...labelOf(row));
    return cell("of-column", score, make("div", { className: "of-response" }, briefly(row)));
  });
  return make("tr", { className: "line", role: "row", "data-row": first },
    cell("of-id", code(oneLine(data.ids[id]))), cell("of-input", unfolding(id)), ...columns);
}

const cell = (className, ...children) => make("td", { className, role: "cell" }, ...children);

function unfolding(id) {
  const closed = { type: "button", className: "unfolds", "aria-expanded": "false", dir: "auto" };
  return make("button", closed, oneLine(data.inputs[id]).trim() || oneLine(data.ids[id]));
}

/** The label of the data, and the one that was given on this page. */
function labelOf(row) {
  const verdict = (label, title, text = label) => {
    const className = `verdict ${label === "unsure" ? "open" : label}`;
    return make("span", { className, title }, text);
  };
  const label = LABELS[data.labels[row]], own = given(row).label;
  return [
    ...(label ? [" ", verdict(label, "label")] : []),
    ...(own ? [" ", verdict(own, "given on this page", `you: ${own}`)] : []),
  ];
}

/** The score and its result; nothing for human labels, which stand beside it. */
function measured(metric, row) {
  if (!data.measures.includes(metric)) return [];
  const { scores, results } = metric;
  const className = { p: "verdict right", f: "verdict wrong", u: "verdict open", n: "quiet" }[results[row]] ?? "";
  return [make("b", {}, number(scores[row])), " ", make("span", { className }, RESULTS[results[row]])];
}

function briefly(row) {
  const text = data.responses[row], missing = absent(text);
  return missing ? make("span", { className: "quiet" }, missing) : make("span", { dir: "auto" }, oneLine(text));
}

function oneLine(text) {
  return plain(text).slice(0, LINE).replace(/[\ud800-\udbff]$/, "").replace(/\s+/g, " ");
}
