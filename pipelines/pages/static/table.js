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
  const save = rows.length > 1 && h("button.more", { type: "button", onclick: () => saveTable(caption, columns, rows) }, "Save as CSV");
  return h("div", {}, h("div.wide", { tabindex: 0, role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body)), all, save);
}

/* Save all rows of a table as a file that a spreadsheet may open: no text of it is a formula. */
function saveTable(caption, columns, rows) {
  const named = columns.map((_, n) => n).filter(n => columns[n].name);
  const text = value => `"${harmless(String(value)).replaceAll('"', '""')}"`;
  const lines = [named.map(n => text(columns[n].name)), ...rows.map(row => named.map(n => (columns[n].number ? numberOf(row[n]) : text(h("p", {}, row[n].content).textContent))))];
  const address = URL.createObjectURL(new Blob([`\ufeff${lines.map(line => line.join(",")).join("\r\n")}\r\n`], { type: "text/csv" }));
  h("a", { href: address, download: `${caption.toLowerCase().replace(/[^a-z]+/g, "-").slice(0, 40)}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/* Return the figure of a cell with all its digits, as text; "" where none is shown. */
const numberOf = ({ content, value }) => (content === "–" ? "" : Number.isFinite(Number(content)) && content !== "" ? content : Number.isFinite(value) ? String(value) : "");

/* Return a text without signs that act on what shows it, and with a mark before a formula. */
const harmless = text => text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd").replace(/^(?=[=+\-@＝＋－＠])/, "'");
