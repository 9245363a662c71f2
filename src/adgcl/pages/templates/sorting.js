"use strict";
// Tables whose headings are buttons are sorted by a click; a second click turns the order round.
document.querySelectorAll("table.sortable").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const column = heads.slice(0, place).reduce((sum, other) => sum + other.colSpan, 0);
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => {
        const cell = row.cells[column];
        const raw = cell.dataset.value ?? cell.textContent.trim();
        const number = Number(raw);
        return raw !== "" && !Number.isNaN(number) ? number : raw;
      };
      const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
      const rows = [...table.tBodies[0].rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
});
