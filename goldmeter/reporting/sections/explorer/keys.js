// Keys, while no field has the focus: they move through the list, open, and label.

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  n: () => turn(1) && step(1),
  p: () => turn(-1) && step(1),
  "/": () => at("search").focus(),
  "?": () => at("keys").showModal(),
  l: () => labelCurrent("right"),
  w: () => labelCurrent("wrong"),
  u: () => labelCurrent("unsure"),
  c: () => commentCurrent(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || at("keys").open) return;
  const inField = event.target.matches("input, select, textarea");
  if (event.key === "Escape") escape(event, inField);
  if (inField || !KEYS[event.key] || !isNear()) return;
  event.preventDefault();
  KEYS[event.key]();
}

/** Whether the answers are on the screen: elsewhere the keys are the browser's. */
function isNear() {
  const { top, bottom } = document.getElementById("rows").getBoundingClientRect();
  return top < window.innerHeight && bottom > 0;
}

/** Leaves a field, else closes the opened answer. */
function escape(event, inField) {
  if (inField && document.getElementById("rows").contains(event.target)) {
    event.target.blur();
    return;
  }
  const line = current();
  if (line?.nextElementSibling?.matches(".unfolded")) {
    setOpen(line, false);
    line.querySelector("button").focus();
  }
}

/** The line that has the focus, or whose unfolded answer has it. */
function current() {
  const row = document.activeElement?.closest("#rows-body tr");
  return row?.matches(".unfolded") ? row.previousElementSibling : row;
}

function step(by) {
  const all = [...at("body").querySelectorAll(".line")], now = all.indexOf(current());
  const next = all[now < 0 ? 0 : now + by];
  next?.querySelector("button").focus();
  next?.scrollIntoView({ block: "nearest" });
}
