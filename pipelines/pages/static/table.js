/* Tables whose columns sort. */
"use strict";

/* Return a cell: what it shows, and the value that it is sorted by. */
const cell = (content, value) => ({ content, value: value ?? (typeof content === "string" ? content : 0) });

const compare = (a, b) => (typeof a === "string" || typeof b === "string"
  ? String(a).localeCompare(String(b), "en") : a - b);

/*
 * Return a table.
 *   columns  [{name, number}]; numbers sort from the largest at first; pictures have no name
 *   rows     lists of cells
 *   sorted   the column that the rows are sorted by already
 *   most     rows that are shown before "show all"
 */
function table({ caption, columns, rows, sorted = null, most = Infinity }) {
  const body = h("tbody");
  let shown = most;
  const heads = columns.map((column, n) => (column.name === "" ? h("td") : h(column.number ? "th.number" : "th",
    { scope: "col", "aria-sort": sorted === n ? (column.number ? "descending" : "ascending") : null },
    h("button", { type: "button", onclick: () => sort(n) }, column.name))));
  function fill() {
    body.replaceChildren(...rows.slice(0, shown).map(row => h("tr", {}, row.map((one, n) =>
      h(columns[n].number ? "td.number" : columns[n].name ? "td.words-of" : "td.picture", {}, one.content)))));
  }
  function sort(n) {
    const now = heads[n].getAttribute("aria-sort");
    const way = now ? (now === "ascending" ? "descending" : "ascending") : columns[n].number ? "descending" : "ascending";
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[n].setAttribute("aria-sort", way);
    const sign = way === "ascending" ? 1 : -1;
    rows = rows.map((row, at) => [row, at]).sort(([a, i], [b, j]) => sign * compare(a[n].value, b[n].value) || i - j).map(([row]) => row);
    fill();
  }
  fill();
  const all = rows.length > most && h("button.more", { type: "button", onclick: () => { shown = Infinity; fill(); all.remove(); } },
    `Show all ${whole(rows.length)}`);
  return h("div", {}, h("div.wide", { tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body)), all);
}
