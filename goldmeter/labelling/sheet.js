(() => {
  "use strict";
  const LABELS = { 1: "right", 0: "wrong", u: "unsure" };
  const sheet = JSON.parse(document.getElementById("sheet").textContent);
  const at = (id) => document.getElementById(id);
  const key = `goldmeter-sheet-${sheet.name}`;
  // `given` holds row name → { label, comment }.
  const state = { place: 0, rater: "", given: {}, ...remembered() };

  function remembered() {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? {};
    } catch { // no storage, or what another page has left there
      return {};
    }
  }

  function remember() {
    try {
      localStorage.setItem(key, JSON.stringify(state));
      at("problem").textContent = "";
    } catch {
      at("problem").textContent = "This browser keeps nothing: save the labels before you close the page.";
    }
  }

  const row = () => sheet.rows[state.place];
  const given = (name = row().row) => state.given[name] ?? {};
  const hasLabel = ({ row: name }) => Boolean(given(name).label);

  function show() {
    for (const name of ["input", "response", "id", "candidate"]) at(name).textContent = row()[name] ?? "–";
    const probability = row().label_probability;
    at("label_probability").textContent = probability === null ? "none: no sample" : Number(probability).toFixed(4);
    at("references").replaceChildren(...row().references.map((text) => {
      const item = document.createElement("li");
      item.dir = "auto";
      item.textContent = text;
      return item;
    }));
    for (const box of document.querySelectorAll(".long, .references")) box.scrollTop = 0;
    at("place").textContent = `${state.place + 1} of ${sheet.rows.length}`;
    for (const name of ["comment", "add_reference"]) at(name).value = given()[name] ?? "";
    at("marks").open = Boolean(given().reference || given().add_reference);
    showMark();
    for (const button of document.querySelectorAll("[data-label]")) {
      button.setAttribute("aria-pressed", String(button.dataset.label === given().label));
    }
    const done = sheet.rows.filter(hasLabel).length;
    at("progress").textContent = `${done} of ${sheet.rows.length} labelled`;
    at("done").max = sheet.rows.length;
    at("done").value = done;
  }

  function showMark() {
    for (const button of document.querySelectorAll("[data-mark]")) {
      button.setAttribute("aria-pressed", String(button.dataset.mark === given().reference));
    }
  }

  /** Marks the references, or takes the same mark back. */
  function mark(chosen) {
    change({ reference: given().reference === chosen ? undefined : chosen });
    showMark();
  }

  function openMarks() {
    at("marks").open = true;
    document.querySelector("[data-mark]").focus();
  }

  function change(facts) {
    state.given[row().row] = { ...given(), ...facts };
    remember();
  }

  function move(to) {
    state.place = Math.max(0, Math.min(sheet.rows.length - 1, to));
    remember();
    show();
  }

  function label(chosen) {
    const isSame = given().label === chosen;
    change({ label: isSame ? undefined : chosen });
    if (isSame) show();
    else move(state.place + 1);
  }

  /** Moves to the next row without a label, from the first one again after the last. */
  function next() {
    const places = sheet.rows.map((_, i) => (state.place + 1 + i) % sheet.rows.length);
    move(places.find((place) => !hasLabel(sheet.rows[place])) ?? state.place);
  }

  function save() {
    const cell = (value) => csvCell(Array.isArray(value) ? value.join("\n") : value ?? "");
    const lines = sheet.rows.map((each) => {
      const values = { ...each, ...given(each.row), rater: state.rater };
      return sheet.columns.map((name) => cell(values[name])).join(",");
    });
    const head = sheet.columns.map(cell).join(",");
    const file = new Blob(["\ufeff", [head, ...lines].join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = [sheet.name, ...state.rater.match(/[\p{L}\p{N}]+/gu) ?? []].join("-") + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  const KEYS = {
    j: () => move(state.place + 1), ArrowRight: () => move(state.place + 1), ArrowDown: () => move(state.place + 1),
    k: () => move(state.place - 1), ArrowLeft: () => move(state.place - 1), ArrowUp: () => move(state.place - 1),
    n: next, s: save, r: openMarks, c: () => at("comment").focus(),
  };

  document.addEventListener("keydown", (event) => {
    const isText = event.target.matches("textarea, input");
    if (isText && event.key === "Escape") event.target.blur();
    if (isText || event.ctrlKey || event.metaKey || event.altKey || event.repeat && event.key in LABELS) return;
    const isArrow = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (isArrow && event.target.scrollHeight > event.target.clientHeight && event.target.matches(".long, .references")) {
      return; // a focused text that scrolls keeps its arrows
    }
    const act = event.key in LABELS ? () => label(LABELS[event.key]) : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  for (const button of document.querySelectorAll("[data-label]")) {
    button.addEventListener("click", () => label(button.dataset.label));
  }
  for (const button of document.querySelectorAll("[data-mark]")) {
    button.addEventListener("click", () => mark(button.dataset.mark));
  }
  for (const name of ["comment", "add_reference"]) {
    at(name).addEventListener("input", () => change({ [name]: at(name).value }));
  }
  at("rater").addEventListener("input", () => { state.rater = at("rater").value; remember(); });
  at("back").addEventListener("click", () => move(state.place - 1));
  at("forward").addEventListener("click", () => move(state.place + 1));
  at("next").addEventListener("click", next);
  at("save").addEventListener("click", save);
  at("rater").value = state.rater;
  show();
})();
