// The address of what is shown: the part after # has every field that is not as it was at first, and the opened answer.

const PREFIX = "#rows?";

/** The fields of the form, as [name in an address, element]. */
function fields() {
  return [...at("form").elements].flatMap((field) => {
    if (!field.matches("select, input")) return [];
    const slice = field.dataset.slice;
    return [[slice === undefined ? field.id.replace("rows-", "") : `slice.${data.choices[slice].name}`, field]];
  });
}

function initial(field) {
  if (!field.options) return field.defaultValue;
  return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value ?? "";
}

const isSet = (field) => field.value !== initial(field);
const nameIn = (field) => field.selectedOptions?.[0]?.dataset.name ?? field.value;

/** The address of the page with these filters, and with an answer open. */
function address(row = state.open) {
  const parts = new URLSearchParams();
  for (const [name, field] of fields()) if (isSet(field)) parts.append(name, nameIn(field));
  if (row !== null) {
    parts.append("open", plain(data.ids[data.asked[row]]));
    parts.append("of", data.candidates[data.candidate[row]].name);
  }
  return parts.size ? PREFIX + parts : "#rows";
}

let writing;
/** Writes the address when nothing has changed for a while: browsers limit how often a page may. */
function write() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const next = address();
    if (next !== location.hash && (next !== "#rows" || location.hash.startsWith(PREFIX))) history.replaceState(null, "", next);
  }, 250);
}

/** Shows what the address says; returns whether it says anything about answers. */
function follow() {
  if (!location.hash.startsWith(PREFIX)) return false;
  clearTimeout(writing);
  const parts = new URLSearchParams(location.hash.slice(PREFIX.length));
  const known = fields(), names = new Set(["open", "of", ...known.map(([name]) => name)]);
  const strange = [...parts.keys()].filter((name) => !names.has(name));
  for (const [name, field] of known) {
    const wanted = parts.get(name);
    if (wanted === null || !select(field, wanted)) field.value = initial(field);
    if (wanted !== null && nameIn(field) !== wanted) strange.push(`${name} ${wanted}`);
  }
  update();
  const missing = parts.has("open") && !openAt(parts.get("open"), parts.get("of"));
  if (missing) strange.push(`the answer to ${parts.get("open")}`);
  if (strange.length) say("hint", `This page has nothing of what the link asks for: ${strange.join(", ")}.`);
  if (!parts.has("open") || missing) document.getElementById("rows").scrollIntoView();
  return true;
}

/** Sets a field; returns whether it has such a value. */
function select(field, name) {
  if (!field.options) {
    field.value = name;
    return true;
  }
  const found = [...field.options].find((each) => (each.dataset.name ?? each.value) === name && !each.disabled);
  if (found) field.value = found.value;
  return Boolean(found);
}

/** Turns to an answer that matches, and opens it; returns whether there is one. */
function openAt(id, name) {
  const row = state.rows.find((each) => plain(data.ids[data.asked[each]]) === id
    && (name === null || data.candidates[data.candidate[each]].name === name));
  if (row === undefined) return false;
  state.page = pageOf(row);
  show();
  const line = lineOf(row);
  setOpen(line, true);
  line.scrollIntoView();
  line.querySelector("button").focus({ preventScroll: true });
  return true;
}

/** Copies a text, or shows it to be copied where the browser forbids that. */
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    tell(said);
  } catch {
    window.prompt("Copy this:", text);
  }
}
