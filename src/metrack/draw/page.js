"use strict";
// Click a heading to sort by its column: numbers first the largest, words from A; again for the other way round.
for (const heading of document.querySelectorAll("thead th")) {
  heading.firstElementChild.addEventListener("click", () => {
    const table = heading.closest("table"), body = table.tBodies[0], place = heading.cellIndex;
    const value = (row) => {
      const cell = row.cells[place];
      return cell.dataset.value === undefined ? NaN : Number(cell.dataset.value);
    };
    const word = (row) => row.cells[place].textContent;
    const rows = [...body.rows], numbers = rows.some((row) => !Number.isNaN(value(row)));
    const was = heading.getAttribute("aria-sort");
    const order = was ? (was === "descending" ? "ascending" : "descending") : numbers ? "descending" : "ascending";
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      if (!numbers) return sign * word(a).localeCompare(word(b), undefined, { numeric: true });
      const [left, right] = [value(a), value(b)];
      if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
      return sign * (left - right);
    });
    body.append(...rows);
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
  });
}
