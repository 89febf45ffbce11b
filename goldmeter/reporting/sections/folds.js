// Opens what an address leads to where it is folded, and scrolls to it; copies what a button holds.
(() => {
  "use strict";
  function unfold() {
    const id = decodeURIComponent(location.hash.slice(1).split("?")[0]);
    const target = id && document.getElementById(id);
    if (!target) return;
    const folds = [...target.querySelectorAll(":scope > details.fold")];
    for (let each = target; each; each = each.parentElement) if (each.matches("details")) folds.push(each);
    const closed = folds.filter((each) => !each.open);
    for (const each of closed) each.open = true;
    if (closed.length) target.scrollIntoView();
  }

  /** Copies the text of a button, or shows it to be copied where the browser forbids that. */
  async function copy(button) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.classList.add("done");
    } catch {
      window.prompt("Copy this:", button.dataset.copy);
    }
  }

  window.addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => {
    if (event.target.closest('a[href^="#"]')) setTimeout(unfold); // the address may not change
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
  unfold();
})();
