// The scores of two candidates against each other: a circle for the inputs of each cell of a grid, which a click chooses.

const CELLS = 20; // a side of the grid
const STEP = 10; // units of the drawing a cell

/** The lowest and the highest score of a metric. */
function rangeOf(metric) {
  if (!metric.range) {
    let [low, high] = [Infinity, -Infinity];
    for (const score of metric.scores) {
      if (score < low) low = score;
      if (score > high) high = score;
    }
    metric.range = { low, high };
  }
  return metric.range;
}

/** The cell of an input by the scores of two candidates, as a function: such as "3.12", empty unless both have a score. */
function cellsOf(two) {
  const { scores } = chosen(), { low, high } = rangeOf(chosen());
  const placeOf = (row) => Math.min(CELLS - 1, Math.floor(((scores[row] - low) / (high - low || 1)) * CELLS));
  return (id) => {
    const places = two.map((candidate) => placeOf(rowOf(id, candidate)));
    return places.some(Number.isNaN) ? "" : places.join(".");
  };
}

/** Draws the inputs of each cell; nothing for scores of two values, which the table of results shows. */
function showScatter(inputs) {
  const places = [...inputs].map(([cell, n]) => [...cell.split(".").map(Number), n]);
  const graded = places.some(([a, b]) => [a, b].some((place) => place > 0 && place < CELLS - 1));
  at("scatter").toggleAttribute("hidden", !graded && !at("cell").value);
  if (!graded) return;
  const most = Math.max(...inputs.values()), side = CELLS * STEP;
  const drawing = at("scatter").querySelector("svg");
  drawing.replaceChildren(
    drawn("path", { d: `M0 ${side}V0M0 ${side}H${side}M0 ${side}L${side} 0` }),
    ...places.map(([a, b, n]) => {
      const centre = { cx: (a + 0.5) * STEP, cy: side - (b + 0.5) * STEP };
      const circle = drawn("circle", { ...centre, r: 1.5 + 3.5 * Math.sqrt(n / most), "data-cell": `${a}.${b}` });
      circle.append(drawn("title", {}, `${count(n)} ${n === 1 ? "input" : "inputs"}`));
      circle.classList.toggle("is-chosen", at("cell").value === `${a}.${b}`);
      return circle;
    }));
  const sum = (of) => count(places.reduce((total, [a, b, n]) => total + (of(a, b) ? n : 0), 0));
  const [first, second] = ["a", "b"].map((name) => data.candidates[at(name).value].name);
  const said = `${first} scores higher on ${sum((a, b) => a > b)}, ${second} on ${sum((a, b) => a < b)}; about equal on ${sum((a, b) => a === b)}.`;
  drawing.setAttribute("aria-label", `${chosen().name} of both. ${said}`);
  say("scatter-said", `→ ${first}, ↑ ${second}. ${said} A circle leads to its inputs.`);
}

function drawn(tag, attributes, ...children) {
  const node = document.createElementNS(at("scatter").firstElementChild.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function chooseCell({ target }) {
  const { cell } = target.closest("[data-cell]")?.dataset ?? {};
  if (!cell) return;
  at("cell").value = at("cell").value === cell ? "" : cell;
  update();
}
