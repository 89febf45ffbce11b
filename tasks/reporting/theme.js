(() => {
  "use strict";
  const KEY = "goldmeter-theme";
  const THEMES = ["system", "light", "dark"];
  const root = document.documentElement;

  function remembered() {
    try {
      return localStorage.getItem(KEY);
    } catch { // a file opened from disk may have no storage
      return null;
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch { // then it lasts as long as the page
    }
  }

  function show(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
  }

  let theme = THEMES.find((each) => each === remembered()) ?? "system";
  show(theme); // before the first paint

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => { button.textContent = `Theme: ${theme}`; };
    button.addEventListener("click", () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      show(theme);
      remember(theme);
      name();
    });
    name();
    button.hidden = false;
  });
})();
