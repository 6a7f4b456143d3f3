"use strict";
(() => {
  // A link to something inside a closed part opens it.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  // On paper each question of an overview is open; afterwards those that were closed close again.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.full:not([open])")];
    for (const item of closed) item.open = true;
  });
  addEventListener("afterprint", () => { for (const item of closed) item.open = false; });

  // A click on the head of a column sorts by it, a second one the other way.
  const number = (text) => {
    const found = text.replaceAll("−", "-").replaceAll(",", "").match(/[-+]?[$<>]?\d+(\.\d+)?/);
    return found ? parseFloat(found[0].replace(/[$<>+]/g, "")) : NaN;
  };
  for (const table of document.querySelectorAll("table.cards:not(.texts)")) {
    const body = table.tBodies[0];
    if (table.tBodies.length !== 1 || body.rows.length < 4) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      if (head.classList.contains("hide")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const numeric = head.classList.contains("n");
        const key = (row) => row.cells[place].firstChild?.textContent ?? "";
        const rows = [...body.rows].map((row) => [numeric ? number(key(row)) : key(row), row]);
        rows.sort(([a], [b]) => numeric ? (isNaN(a) - isNaN(b)) || (down ? b - a : a - b) : (down ? -1 : 1) * a.localeCompare(b));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
})();
