// Row explorer: searches, filters, sorts and shows the answers, always as text. rows: the numbers of those that match.

const state = { rows: [], page: 0, open: null };

async function start(block) {
  try {
    data = arranged(await unpacked(block.textContent));
  } catch (error) {
    at("why").textContent = String(error);
    at("failed").hidden = false;
    return;
  }
  offer();
  recall();
  listen();
  if (!follow()) update();
  const idle = window.requestIdleCallback ?? setTimeout;
  for (const make of [searched, idOrder]) idle(() => make());
}

function listen() {
  const form = at("form");
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
  at("save").addEventListener("click", saveTable);
  at("save-json").addEventListener("click", saveRecords);
  at("save-labels").addEventListener("click", saveLabels);
  at("rater").addEventListener("input", () => { kept.rater = at("rater").value; remember(); });
  at("previous").addEventListener("click", () => turn(-1));
  at("next").addEventListener("click", () => turn(1));
  at("fold").addEventListener("click", unfoldFilters);
  at("help").addEventListener("click", () => at("keys").showModal());
  at("body").addEventListener("click", unfold);
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", follow);
  at("scatter")?.addEventListener("click", chooseCell);
  for (const button of at("two")?.querySelectorAll("[data-pair]") ?? []) {
    button.addEventListener("click", () => {
      at("pair").value = at("pair").value === button.dataset.pair ? "" : button.dataset.pair;
      update();
    });
  }
  for (const button of at("table").querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      const { sort } = button.dataset;
      at("sort").value = at("sort").value === `${sort}+` ? `${sort}-` : `${sort}+`;
      update();
    });
  }
}
