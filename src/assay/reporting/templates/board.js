"use strict";
const byId = (name) => document.getElementById(name);

function keyOf(row, place) {
  const cell = row.cells[place];
  const shown = cell.querySelector("[data-measure]:not([hidden])");
  const text = shown ? shown.dataset.value : cell.dataset.sort;
  if (text === undefined) return cell.textContent.trim();
  const number = Number(text);
  return Number.isNaN(number) ? -Infinity : number;
}

function sortBy(head, place) {
  const falling = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map((row) => [keyOf(row, place), row]);
  rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (falling ? -1 : 1));
  body.append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll(".sortable")) {
  for (const [place, head] of [...table.tHead.rows[0].cells].entries()) {
    head.querySelector("button")?.addEventListener("click", () => sortBy(head, place));
  }
}

function filterRows() {
  const level = byId("level").value, verdict = byId("verdict").value, name = byId("model").value.toLowerCase();
  for (const row of document.querySelectorAll(".board tbody tr")) {
    const verdicts = [...row.querySelectorAll("[data-verdict]")].map((cell) => cell.dataset.verdict);
    row.hidden = (level && row.dataset.level !== level) || (verdict && !verdicts.includes(verdict)) ||
      !row.dataset.model.toLowerCase().includes(name);
  }
}

function showMeasure() {
  const wanted = byId("measure").value;
  for (const number of document.querySelectorAll("[data-measure]")) number.hidden = number.dataset.measure !== wanted;
}

if (byId("level")) {
  for (const name of ["level", "verdict", "model"]) byId(name).addEventListener("input", filterRows);
  byId("measure").addEventListener("input", showMeasure);
}
