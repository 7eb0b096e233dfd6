/* Search over topics, words and documents: a combobox with a list of what was found. */
"use strict";

const MOST_FOUND = 8;

function searchable() {
  const found = TOPICS.map(z => ({ kind: "topic", route: topicRoute(z), text: D.topics.name[z], also: D.topics.first[z].join(" ") }));
  D.words.text.forEach((text, n) => found.push({ kind: "word", route: wordRoute(n), text, also: "" }));
  if (D.documents) D.documents.id.forEach((id, n) => found.push({ kind: "document", route: documentRoute(n), text: titleOf(n), also: id }));
  D.periods.name.forEach(name => found.push({ kind: D.periods.unit, route: `time/${encodeURIComponent(name)}`, text: name, also: "" }));
  return found.map(one => ({ ...one, lower: one.text.toLowerCase(), alsoLower: one.also.toLowerCase() }));
}

/* Return what matches, best first: equal, at the beginning, inside, in other words of it. */
function search(all, query) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const rank = one => (one.lower === wanted ? 0 : one.lower.startsWith(wanted) ? 1 : one.lower.includes(wanted) ? 2 : one.alsoLower.includes(wanted) ? 3 : 9);
  const found = all.map((one, n) => [rank(one), n, one]).filter(([r]) => r < 9).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const kinds = new Map();
  return found.map(([, , one]) => one).filter(one => {
    kinds.set(one.kind, (kinds.get(one.kind) || 0) + 1);
    return kinds.get(one.kind) <= MOST_FOUND;
  });
}

/* Make the search box; what is returned searches again, in figures that came anew. */
function searchBox() {
  let all = null;
  const input = document.getElementById("search"), list = document.getElementById("found"), status = document.getElementById("status");
  let found = [], at = -1;
  function show() {
    list.replaceChildren(...found.map((one, n) => h("li", { id: `found-${n}`, role: "option", "aria-selected": n === at ? "true" : "false",
      onmousedown: event => { event.preventDefault(); go(n); } }, foreign(one.text), " ", h("span.note", {}, one.kind))));
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", found.length ? "true" : "false");
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", `found-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }
  function close() { found = []; at = -1; show(); }
  function go(n) {
    location.hash = "#/" + found[n].route;
    input.value = "";
    close();
  }
  function look() {
    all ??= searchable();
    found = search(all, input.value);
    at = -1;
    show();
  }
  input.addEventListener("input", () => {
    look();
    status.textContent = input.value.trim() ? `${plural(found.length, "result")}` : "";
  });
  input.addEventListener("keydown", event => {
    if (event.key === "Escape") return close();
    if (event.key === "Enter" && found.length) return go(Math.max(0, at));
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way || !found.length) return undefined;
    event.preventDefault();
    at = (at + way + found.length) % found.length;
    return show();
  });
  input.addEventListener("blur", close);
  document.addEventListener("keydown", event => {
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      input.focus();
    }
  });
  return () => {
    all = null;
    if (found.length) look();
  };
}
