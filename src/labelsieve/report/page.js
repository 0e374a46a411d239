// Headings become buttons that sort. Without scripts they stay plain text, and nothing else is lost.
"use strict";
const said = document.getElementById("said");

function valueOf(row, column) {
  const cell = row.cells[column];
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
}

function compare(one, two) {
  if (typeof one === "number" && typeof two === "number") {
    if (Number.isNaN(one) || Number.isNaN(two)) return Number.isNaN(one) - Number.isNaN(two); // what is missing comes last
    return one - two;
  }
  return String(one).localeCompare(String(two), undefined, { numeric: true });
}

function sortBy(table, heading) {
  const body = table.tBodies[0], column = heading.cellIndex;
  const down = heading.getAttribute("aria-sort") === "ascending";
  const rows = Array.from(body.rows, (row, place) => ({ row, place, value: valueOf(row, column) }));
  rows.sort((a, b) => {
    const missing = Number.isNaN(a.value) || Number.isNaN(b.value);
    const order = compare(a.value, b.value);
    return (down && !missing ? -order : order) || a.place - b.place;
  });
  body.append(...rows.map(({ row }) => row));
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  said.textContent = `${table.caption.textContent}: sorted by ${heading.textContent}, ${down ? "descending" : "ascending"}`;
}

function makeSortable(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
  }
}
document.querySelectorAll("table.sortable").forEach(makeSortable);

// What fits needs no scrolling, so it is no stop for the keyboard.
function markScrollable() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
markScrollable();
addEventListener("resize", markScrollable);
document.addEventListener("toggle", markScrollable, true);

// Code can be copied. The button is made here: without scripts there is none that does nothing.
async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  said.textContent = button.textContent;
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}
for (const box of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${box.dataset.what}`);
  button.addEventListener("click", () => copy(box.querySelector("pre"), button));
  box.prepend(button);
}

// A search box above many labels: it hides the rows without the text, and unfolds those that are folded.
for (const box of document.querySelectorAll("[data-search]")) {
  const label = document.createElement("label"), input = document.createElement("input");
  const folds = box.querySelectorAll("details"), rows = box.querySelectorAll("tbody tr");
  label.className = "search";
  input.type = "search";
  label.append(box.dataset.search, input);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let found = 0;
    for (const row of rows) {
      const small = row.cells[0].querySelector("small"), name = row.cells[0].textContent;
      row.hidden = !name.slice(0, name.length - (small ? small.textContent.length : 0)).toLowerCase().includes(wanted);
      found += !row.hidden;
    }
    for (const fold of folds) fold.open = wanted !== "";
    said.textContent = wanted ? `${found} found` : "";
  });
  box.prepend(label);
}
