// The answers: unpacked after the first paint, with indexes for look-ups.

const RESULTS = { p: "pass", f: "fail", u: "unmeasured", n: "not asked", "-": "" };
const LABELS = { r: "right", w: "wrong", "-": "" };
let data;

async function unpacked(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function arranged(packed) {
  const starts = new Int32Array(packed.ids.length + 1).fill(packed.asked.length);
  for (let row = packed.asked.length - 1; row >= 0; row -= 1) starts[packed.asked[row]] = row;
  for (const metric of packed.metrics) {
    metric.scores = Float64Array.from(metric.scores, (score) => (score === null ? NaN : score));
  }
  for (const each of [...packed.kinds, ...packed.reasons]) {
    each.place = new Map(each.answers.map((row, i) => [row, i]));
  }
  const judge = packed.metrics.find((metric) => metric.judge && metric.rule);
  const choices = [
    ...packed.slices.map((slice) => ({ ...slice, codeOf: (row) => slice.codes[packed.asked[row]] })),
    ...packed.classes.map((each) => ({ ...each, codeOf: (row) => each.codes[row] })),
  ];
  return { ...packed, choices, starts, judge, measures: packed.metrics, metrics: [...packed.metrics, ...labelsAsMetric(packed)] };
}

/** Human labels as a metric that can be chosen beside others, if there are any. */
function labelsAsMetric({ labels, metrics }) {
  if (!/[rw]/.test(labels) || !metrics.length) return [];
  const results = [...labels].map((each) => ({ r: "p", w: "f" })[each] ?? "n").join("");
  const scores = Float64Array.from(results, (each) => ({ p: 1, f: 0 })[each] ?? NaN);
  return [{ name: "label", family: "Human labels", judge: false, rule: "right", scores, results }];
}

/** The rows of an id. */
function rowsOf(id) {
  return Array.from({ length: data.starts[id + 1] - data.starts[id] }, (_, i) => data.starts[id] + i);
}

/** The row of a candidate's answer to an id; -1: there is none. */
function rowOf(id, candidate) {
  for (let row = data.starts[id]; row < data.starts[id + 1]; row += 1) if (data.candidate[row] === candidate) return row;
  return -1;
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
const absent = (text) => (text === null ? "no response" : plain(text).trim() === "" ? "empty response" : "");
