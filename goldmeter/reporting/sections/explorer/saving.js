// The matching answers as a file.

function saveTable() {
  const lines = [head(), ...state.rows.map(record)].map((cells) => cells.join(","));
  download("answers.csv", "text/csv;charset=utf-8", "\ufeff", lines.join("\r\n"), "\r\n");
}

const saveRecords = () => download("answers.json", "application/json", `${JSON.stringify(state.rows.map(recordOf), null, 1)}\n`);

const quoted = (text) => csvCell(plain(text));

function head() {
  const scores = data.measures.flatMap((metric) => [metric.name, `${metric.name}_result`]);
  const texts = ["id", "candidate", "input", "references", "response", "label", "answered", "cut"];
  const weight = data.weights.length ? ["weight"] : [];
  return [...texts, ...data.slices.map(({ name }) => name), ...weight, ...scores].map(quoted);
}

function record(row) {
  const id = data.asked[row];
  const asked = [data.ids[id], data.candidates[data.candidate[row]].name, data.inputs[id]];
  const references = data.references[id].map(plain).join("\n");
  const slices = data.slices.map(({ values, codes }) => values[codes[id]]);
  const response = data.responses[row], answered = response === null ? "no" : "yes";
  const texts = [...asked, references, response, LABELS[data.labels[row]], answered, cut(row).join(" "), ...slices];
  const scores = data.measures.flatMap(({ scores: values, results }) => [
    Number.isNaN(values[row]) ? "" : String(values[row]), quoted(RESULTS[results[row]])]);
  const weight = data.weights.length ? [String(data.weights[id])] : [];
  return [...texts.map(quoted), ...weight, ...scores];
}

/** An answer with all that the page knows of it. */
function recordOf(row) {
  const id = data.asked[row], whole = (text) => (text === null ? null : plain(text));
  const explained = data.reasons.filter(({ place }) => place.has(row));
  return {
    id: plain(data.ids[id]),
    candidate: data.candidates[data.candidate[row]].name,
    input: whole(data.inputs[id]),
    references: data.references[id].map(plain),
    response: whole(data.responses[row]),
    label: LABELS[data.labels[row]] || null,
    ...(data.weights.length ? { weight: data.weights[id] } : {}),
    slices: Object.fromEntries(data.slices.map(({ name, values, codes }) => [name, values[codes[id]]])),
    scores: Object.fromEntries(data.measures.map(({ name, scores, results }) => [
      name, { score: Number.isNaN(scores[row]) ? null : scores[row], result: RESULTS[results[row]] || null }])),
    reasons: Object.fromEntries(explained.map(({ metric, place, texts }) => {
      const text = texts[place.get(row)];
      return [metric, text.facts ?? plain(text)];
    })),
    cut: cut(row),
  };
}

/** The names of the columns whose texts are cut. */
function cut(row) {
  const id = data.asked[row];
  const parts = { id: data.ids[id], input: data.inputs[id], response: data.responses[row] };
  const names = Object.keys(parts).filter((name) => isCut(parts[name]));
  return [...names, ...(data.more[id] || data.references[id].some(isCut) ? ["references"] : [])];
}
