// The form: what can be chosen in it. Each option's data-name is what an address calls it.

const OPTIONS = 200; // values of a slice to choose from
const NO_VALUE = "(none)", EMPTY = "(empty)"; // labels of slice values without a visible name

const chosen = () => data.metrics[at("metric").value];

function offer() {
  const labelled = /[rw]/.test(data.labels), measured = data.metrics.length > 0;
  const names = () => data.candidates.map(({ name }, i) => option(name, i));
  at("candidate").append(...names());
  at("look").append(...data.kinds.map(({ title, answers }, i) => option(`${title} (${count(answers.length)})`, i, title)));
  offerMetrics();
  at("sort").parentElement.before(...data.choices.map(sliceSelect));
  if (!labelled) at("people").parentElement.remove();
  if (!labelled || !measured) at("look").querySelector("[value=people]").remove();
  if (!measured) at("look").querySelector("[value=own]").remove();
  if (!data.judge || data.measures.length < 2) at("look").querySelector("[value=judge]").remove();
  for (const name of ["metric", "result", "from"]) at(name).closest(".field").hidden = !measured;
  if (data.candidates.length > 1 && data.metrics.some(({ rule }) => rule)) offerTwo(names);
  else at("two").remove();
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

/** Two candidates whose results are compared; at first the first two. */
function offerTwo(names) {
  for (const [place, name] of ["a", "b"].entries()) {
    at(name).append(...names());
    at(name).options[place].defaultSelected = true;
  }
}

function sliceSelect({ name, values }, i) {
  const texts = values.map((value) => unnamed(value) || value);
  const unique = (text, code) => (texts.indexOf(text) === texts.lastIndexOf(text) ? text : `${text}#${code}`);
  const options = texts.slice(0, OPTIONS).map((text, code) => option(text, code, unique(text, code)));
  const more = values.length - options.length;
  if (more > 0) options.push(make("option", { disabled: true }, `${count(more)} more values`));
  const id = `rows-slice-${i}`;
  const select = make("select", { id, "data-slice": i }, make("option", { value: "" }, "all"), ...options);
  return make("div", { className: "field" }, make("label", { htmlFor: id }, name), select);
}

function unfoldFilters() {
  at("fold").ariaExpanded = String(at("form").classList.toggle("unfolded-filters"));
}

const unnamed = (value) => (value === null ? NO_VALUE : value.trim() === "" ? EMPTY : "");
const option = (text, value, name = text) => make("option", { value, "data-name": name }, text);

/** Marks the fields that are not as at first, and names their values on the button that unfolds them on a phone. */
function markSet() {
  const set = fields().map(([, field]) => field).filter((field) => field.toggleAttribute("data-set", isSet(field)));
  const values = set.map((field) => field.selectedOptions?.[0].textContent ?? field.value);
  at("fold").textContent = ["Filters", values.join(", ")].filter(Boolean).join(": ");
}

/** Disables the comparison with the judge while the judge is the selected metric. */
function offerJudge() {
  const judge = at("look").querySelector("[value=judge]");
  if (!judge) return;
  judge.disabled = chosen() === data.judge;
  if (judge.disabled && judge.selected) at("look").value = "";
}
