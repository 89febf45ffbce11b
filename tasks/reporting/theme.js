(() => {
  "use strict";
  const KEY = "goldmeter-theme";
  const THEMES = ["system", "light", "dark"];
  const root = document.documentElement;

  function remembered() {
    try {
      return localStorage.getItem(KEY);
    } catch { // a page opened from disk may have no storage
      return null;
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch { // without storage the theme lasts until the page is closed
    }
  }

  function show(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  let theme = THEMES.find((name) => name === remembered()) ?? "system";
  show(theme); // before the first paint

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => { button.textContent = `Theme: ${theme}`; };
    button.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      show(theme);
      remember(theme);
      label();
    });
    label();
    button.hidden = false;
  });
})();
