/* One period of the calendar: what came, what was new, and what happened. */
"use strict";

function timeView(name) {
  const p = D.periods, last = p.name.length - 1;
  const n = name === "" ? last : p.name.indexOf(name);
  if (n < 0) return missing(p.unit, name);
  const choice = h("select", { id: "period", onchange: event => { location.hash = `#/time/${encodeURIComponent(event.target.value)}`; } },
    p.name.map((one, at) => h("option", { selected: at === n }, one)));
  const labelled = D.labelled ? D.labelled.name.indexOf(p.name[n]) : -1;
  return [
    h("h1", {}, `What came in ${p.name[n]}${n === last && p.unfinished ? `, unfinished: up to ${date(p.time[n])}` : ""}`),
    h("p.steps", {}, h("label", { for: "period" }, `${p.unit[0].toUpperCase()}${p.unit.slice(1)} `), choice,
      n > 0 && link(`time/${encodeURIComponent(p.name[n - 1])}`, "← " + p.name[n - 1]), n < last && link(`time/${encodeURIComponent(p.name[n + 1])}`, p.name[n + 1] + " →")),
    h("p.lead", {}, `${plural(p.versions[n], "version")} of the model, up to ${date(p.time[n])}`,
      labelled >= 0 ? `; ${plural(D.labelled.documents[labelled], "document")} labelled.` : "."),
    section("New words", newWords(n)),
    section("Topics", periodTable(n)),
    labelled >= 0 && section("Bursts", burstList(burstsOf(at => at === labelled))),
    section("Events", eventList(D.events.filter(event => event.time <= p.time[n] && (n === 0 || event.time > p.time[n - 1])))),
  ];
}

function newWords(n) {
  const found = D.periods.new[n].filter(([z]) => !D.topics.hidden[z]);
  if (!found.length) return h("p", {}, "No word is new by the test.");
  const items = found.map(one => h("li", {}, newWord(one), ", ", topicLink(one[0])));
  return [h("p.note", {}, "Half of all tokens of a new word or more came with one version, and its share there is at least ten times its share in all that came before, by a test (level .01 for all words of a version)."),
    folded(items, 12, "ul.plain")];
}

function newWord([, word, came, had, time, first]) {
  return [h("span.entered", {}, foreign(word)), ` ${whole(came)} up to ${date(time)}, ${had ? `${whole(had)} before, the first by ${date(first)}` : "none before"}`];
}

function periodTable(n) {
  const shares = D.periods.shares[n], before = n > 0 ? D.periods.shares[n - 1] : null;
  if (!shares) return h("p", {}, "What came was not counted.");
  const ratio = z => (before ? Math.max(shares[z], 1e-3) / Math.max(before[z], 1e-3) : 1);
  const rows = TOPICS.map(z => [cell(topicLink(z), D.topics.name[z]), cell(percent(shares[z]), shares[z]), cell(bar(shares[z]), shares[z]),
    cell(before ? percent(before[z]) : "–", before ? before[z] : 0), cell(before ? times(ratio(z)) : "–", ratio(z))]);
  const by = before ? 4 : 1;
  rows.sort((a, b) => b[by].value - a[by].value);
  return table({ caption: "Share of the tokens that came, and of those of the period before", sorted: by, rows,
    columns: [{ name: "Topic" }, { name: "Share", number: true }, { name: "" }, { name: "Before", number: true }, { name: "Change", number: true }] });
}
