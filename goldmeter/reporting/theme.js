(() => {
  "use strict";
  // What a button of the head chooses, the first one unless another is remembered; it becomes data-… of the root.
  const CHOICES = {
    theme: { label: "Theme", values: ["system", "light", "dark"] },
    paper: { label: "Print", values: ["two pages", "everything"] },
  };
  const root = document.documentElement;

  function remembered(name) {
    try {
      return localStorage.getItem(`goldmeter-${name}`);
    } catch { // a page opened from disk may have no storage
      return null;
    }
  }

  function remember(name, value) {
    try {
      localStorage.setItem(`goldmeter-${name}`, value);
    } catch { // without storage a choice lasts until the page is closed
    }
  }

  function show(name, value) {
    if (value === CHOICES[name].values[0]) delete root.dataset[name];
    else root.dataset[name] = value;
  }

  for (const [name, { label, values }] of Object.entries(CHOICES)) {
    let value = values.find((each) => each === remembered(name)) ?? values[0];
    show(name, value); // before the first paint
    document.addEventListener("DOMContentLoaded", () => {
      const button = document.getElementById(name);
      if (!button) return;
      const write = () => { button.textContent = `${label}: ${value}`; };
      button.addEventListener("click", () => {
        value = values[(values.indexOf(value) + 1) % values.length];
        show(name, value);
        remember(name, value);
        write();
      });
      write();
      button.hidden = false;
    });
  }
})();
