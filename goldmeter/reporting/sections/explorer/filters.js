// Which answers match, and their order.

const CONTRADICTS = { r: "f", w: "p", p: "f", f: "p" };
const SETTLED = /[pf]/;

function update() {
  const start = performance.now();
  offerJudge();
  const rows = matching(filters());
  state.rows = sorted(at("two") ? ofPair(rows) : rows);
  state.page = 0;
  state.open = null;
  show();
  say("hint", state.rows.length ? "" : nothing());
  markSet();
  showGiven();
  write();
  performance.measure("filter", { start });
}

function matching(tests) {
  const rows = [];
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
  for (const field of at("form").querySelectorAll("[data-slice]")) {
    const { codeOf } = data.choices[field.dataset.slice];
    if (field.value) tests.push((row) => codeOf(row) === Number(field.value));
  }
  const from = at("from").valueAsNumber, to = at("to").valueAsNumber;
  if (metric && !Number.isNaN(from)) tests.push((row) => metric.scores[row] >= from);
  if (metric && !Number.isNaN(to)) tests.push((row) => metric.scores[row] <= to);
  const look = worthALook(at("look").value, metric), search = normalized(at("search").value).trim();
  if (look) tests.push(look);
  if (search) tests.push(containing(search));
  return tests;
}

function worthALook(value, metric) {
  if (value === "people") return (row) => metric.results[row] === CONTRADICTS[data.labels[row]];
  if (value === "own") return (row) => metric.results[row] === CONTRADICTS[sign(row)];
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

// Two candidates: which of them answers an input right, by the chosen metric.

/** Counts the inputs of rows by the results of both candidates; returns the answers to those with the chosen results. */
function ofPair(rows) {
  const two = ["a", "b"].map((name) => Number(at(name).value)), wanted = at("pair").value, cell = at("cell").value;
  const pairs = new Map(), counts = { pp: 0, pf: 0, fp: 0, ff: 0 }, cells = new Map(), inputs = new Map();
  const { results } = chosen(), cellOf = cellsOf(two);
  for (const row of rows) {
    const id = data.asked[row];
    if (pairs.has(id)) continue;
    const pair = two.map((candidate) => results[rowOf(id, candidate)]).join(""), place = cellOf(id); // such as "pf", "3.12"
    pairs.set(id, pair);
    cells.set(id, place);
    if (pair in counts) counts[pair] += 1;
    if (place) inputs.set(place, (inputs.get(place) ?? 0) + 1);
  }
  showPair(counts);
  showScatter(inputs);
  if (!wanted && !cell) return rows;
  const matches = (id) => (!wanted || pairs.get(id) === wanted) && (!cell || cells.get(id) === cell);
  return rows.filter((row) => matches(data.asked[row]) && two.includes(data.candidate[row]));
}

function showPair(counts) {
  const [a, b] = ["a", "b"].map((name) => data.candidates[at(name).value].name);
  const called = { pp: "both pass", pf: `${a} passes, ${b} fails`, fp: `${a} fails, ${b} passes`, ff: "both fail" };
  for (const each of at("pair").options) if (each.value) each.textContent = called[each.value];
  say("by", `by ${chosen().name}`);
  at("two").querySelector("[data-of=b]").replaceChildren(nameOf(Number(at("b").value)));
  at("two").querySelector("[data-of=a]").replaceChildren(nameOf(Number(at("a").value)));
  for (const each of at("two").querySelectorAll("[data-pair]")) {
    const value = each.dataset.pair;
    each.textContent = count(counts[value]);
    each.ariaPressed = String(at("pair").value === value);
    each.ariaLabel = `${called[value]}: ${count(counts[value])} inputs`;
  }
}

/** Why nothing matches, and what to do. */
function nothing() {
  const set = fields().filter(([name, field]) => isSet(field) && !["sort", "view", "metric", "texts", "a", "b"].includes(name));
  const names = set.map(([, field]) => field.labels[0].textContent);
  return names.length ? `No answer matches all of: ${names.join(", ")}. Clear one of them.` : "";
}
