// Labels given on the page: kept in the browser, and saved as a sheet that `python -m flows.label --take` reads.

const GIVEN = [["right", "Right"], ["wrong", "Wrong"], ["unsure", "Unsure"]];
const kept = { given: {}, rater: "" };

/** The name of a row in a sheet; the same answer has it in every run. */
const sheetName = (row) => data.names[row];
const given = (row) => kept.given[sheetName(row)] ?? {};
const storage = () => `goldmeter-labels-${data.sheet}`;

function recall() {
  try {
    Object.assign(kept, JSON.parse(localStorage.getItem(storage())) ?? {});
  } catch { // no storage, or what another page has left there
  }
  at("rater").value = kept.rater;
  showGiven();
}

function give(row, facts) {
  kept.given[sheetName(row)] = { ...given(row), ...facts };
  remember();
}

function remember() {
  try {
    localStorage.setItem(storage(), JSON.stringify(kept));
  } catch {
    tell("This browser keeps nothing: save the labels before you close the page.");
  }
  showGiven();
}

const labelledRows = () => (Object.keys(kept.given).length ? data.names.flatMap((_, row) => (given(row).label ? [row] : [])) : []);

function showGiven() {
  const rows = labelledRows(), own = at("look").querySelector("[value=own]");
  at("labels").hidden = rows.length === 0;
  if (own) own.disabled = rows.length === 0;
  say("given", `${count(rows.length)} ${rows.length === 1 ? "label" : "labels"} given on this page${agreeing(rows)}.`);
}

/** How often the chosen metric agrees with the labels that are right or wrong. */
function agreeing(rows) {
  const metric = chosen();
  const both = metric ? rows.filter((row) => SETTLED.test(metric.results[row]) && CONTRADICTS[sign(row)]) : [];
  const agreed = both.filter((row) => metric.results[row] !== CONTRADICTS[sign(row)]).length;
  return both.length ? `; ${metric.name} agrees with ${count(agreed)} of ${count(both.length)}` : "";
}

/** The label given on this page, as in the labels of the data. */
const sign = (row) => Object.keys(LABELS).find((each) => LABELS[each] === given(row).label);

/** The controls with which an answer is labelled. */
function labelling(row) {
  const group = make("div", { className: "labelling", role: "group", ariaLabel: "Your label" });
  const buttons = GIVEN.map(([label, text]) => {
    const made = button(text, () => toggle(row, label));
    made.dataset.label = label;
    made.ariaPressed = String(given(row).label === label);
    return made;
  });
  const comment = make("input", { type: "text", placeholder: "comment", ariaLabel: "Comment", value: given(row).comment ?? "" });
  comment.addEventListener("input", () => give(row, { comment: comment.value }));
  group.append("Your label: ", ...buttons, comment);
  return group;
}

/** Gives a label, or takes the same one back. */
function toggle(row, label) {
  give(row, { label: given(row).label === label ? undefined : label });
  for (const box of at("body").querySelectorAll(`.answer[data-row="${row}"]`)) {
    for (const made of box.querySelectorAll("[data-label]")) made.ariaPressed = String(made.dataset.label === given(row).label);
  }
  const line = lineOf(row);
  if (line && !isMatrix()) line.querySelector(".of-people").replaceChildren(...labelOf(row));
}

function labelCurrent(label) {
  const row = currentRow();
  if (row === null) return;
  toggle(row, label);
  tell(given(row).label ? `Labelled ${label}.` : "The label is taken back.");
}

function commentCurrent() {
  const row = currentRow(), line = current();
  if (row === null) return;
  if (!line.nextElementSibling?.matches(".unfolded")) setOpen(line, true);
  line.nextElementSibling.querySelector(`.answer[data-row="${row}"] .labelling input`)?.focus();
}

/** The row that a key labels: that of the answer or the line with the focus, if it has a response. */
function currentRow() {
  const line = current();
  if (!line) return null;
  const row = Number((document.activeElement.closest(".answer") ?? line).dataset.row);
  return data.responses[row] === null ? null : row;
}

/** Saves the labels as a sheet; the answers were not drawn at random, so they find faults and estimate no rate. */
function saveLabels() {
  const rows = labelledRows(), { sheet } = data;
  const lines = rows.map((row) => {
    const values = { row: sheetName(row), sheet, rater: kept.rater, earlier_share: "0", label_probability: "", ...given(row) };
    return data.sheet_columns.map((name) => csvCell(values[name] ?? textOf(row, name))).join(",");
  });
  const head = data.sheet_columns.map(csvCell).join(",");
  const rater = kept.rater.match(/[\p{L}\p{N}]+/gu) ?? [];
  download([sheet, ...rater].join("-") + ".csv", "text/csv;charset=utf-8", "\ufeff", [head, ...lines].join("\r\n"), "\r\n");
}

function textOf(row, name) {
  const id = data.asked[row];
  return {
    id: plain(data.ids[id]),
    candidate: data.candidates[data.candidate[row]].name,
    input: plain(data.inputs[id]),
    references: data.references[id].map(plain).join("\n"),
    response: plain(data.responses[row]),
  }[name] ?? "";
}
