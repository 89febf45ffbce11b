// Elements of the page, and what numbers look like in them.

const at = (name) => document.getElementById(`rows-${name}`);

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

/** Writes a text only if it changes, because screen readers read each change aloud. */
function say(name, text) {
  if (at(name).textContent !== text) at(name).textContent = text;
}

const SAID_FOR = 8_000; // ms
let told;
/** Says for a while what has been done. */
function tell(text) {
  clearTimeout(told);
  say("said", text);
  told = setTimeout(() => say("said", ""), SAID_FOR);
}

const code = (text) => make("code", {}, make("bdi", {}, text));
const button = (text, act) => make("button", { type: "button", onclick: act }, text);

function nameOf(candidate) {
  const { name, colour, shape } = data.candidates[candidate];
  const swatch = at("swatch").content.firstElementChild.cloneNode(true);
  swatch.firstElementChild.setAttribute("d", shape);
  swatch.style.color = colour;
  return make("span", { className: "name" }, swatch, make("bdi", {}, name));
}

/** Offers a text as a file. */
function download(name, type, ...parts) {
  const link = make("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const count = (n) => n.toLocaleString("en-US");

/** Three significant digits like `number` in goldmeter/console/format.py: halves are rounded to the even digit. */
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
