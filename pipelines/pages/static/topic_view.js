/* One topic: its words, its course, its documents, its neighbours, and how it came to be. */
"use strict";

const SHOWN_WORDS = 20;
let lambda = 0.6;
/* Sections that the page of the service adds, each a function of the topic. */
const ADDED = [];

function topicView(id) {
  const t = D.topics, topic = t.id.indexOf(id);
  if (topic < 0) return missing("topic", id);
  return [
    h("nav.steps", { "aria-label": "Other topics" }, topic > 0 && link(topicRoute(topic - 1), "← previous"),
      topic + 1 < t.name.length && link(topicRoute(topic + 1), "next →")),
    h("h1", {}, foreign(t.name[topic])),
    h("p.lead", {}, t.parts[topic].length > 1 ? `Topics ${t.parts[topic].join(", ")}, shown as one, ` : `Topic ${t.id[topic]}, `, kindMark(t.kind[topic]), `. ${percent(t.share[topic])} of all tokens; ${percent(t.recent[topic])} of what came since ${date(t.since)}`,
      t.before[topic] === null ? "." : `, ${percent(t.before[topic])} before that.`, mark(topic)),
    section("Words", wordLists(topic)),
    section("Course", courseChart(topic), labelledTable(topic), rankChart(topic)),
    D.labelled && section("Bursts", burstList(burstsOf((_, z) => z === topic))),
    section("Typical documents", typical(topic)),
    section("Near topics", h("ul.plain", {}, t.near[topic].map(([z, far]) => h("li", {}, topicLink(z), ` ${percent(t.share[z])}`,
      h("span.note", {}, `, distance ${far.toFixed(2)}`))), t.near[topic].length === 0 && h("li", {}, "There is no other topic."))),
    section("How it came to be", history(topic)),
    ...ADDED.map(part => part(topic)),
  ];
}

function wordLists(topic) {
  const list = h("ol.words"), output = h("output", { for: "lambda" });
  const slider = h("input", { id: "lambda", type: "range", min: 0, max: 1, step: 0.05, value: lambda, oninput: fill });
  function fill() {
    lambda = Number(slider.value);
    output.textContent = lambda.toFixed(2);
    slider.setAttribute("aria-valuetext", `lambda ${lambda.toFixed(2)}`);
    list.replaceChildren(...wordItems(topic, byRelevance(topic, lambda)));
  }
  fill();
  return h("div.columns", {},
    h("div", {}, h("h3", {}, "By relevance"),
      h("p.slider", {}, h("label", { for: "lambda" }, "λ "), slider, output),
      h("p.note", {}, "1: the most frequent words. 0: words that are found in hardly any other topic."), list),
    h("div", {}, h("h3", {}, "Frequent and exclusive (FREX)"), h("p.note", {}, "Bars show the probability of the word in the topic."),
      h("ol.words", {}, wordItems(topic, byFrex(topic)))));
}

function wordItems(topic, order) {
  const terms = D.terms[topic], first = order.slice(0, SHOWN_WORDS);
  const most = Math.max(...terms.probability);
  return first.map(n => h("li", {}, wordLink(terms.word[n]), bar(Math.exp(terms.probability[n] - most)),
    h("span.number", {}, percent(Math.exp(terms.probability[n])))));
}

function courseChart(topic) {
  return timeChart({ title: "Share of the tokens that came with each version", time: D.versions.time,
    curves: [{ name: "share", values: courseOf(topic) }], show: percent, open: openIn(D.versions.time) });
}

function labelledTable(topic) {
  const l = D.labelled;
  if (!l) return null;
  const named = l.name.map(name => (D.periods.name.includes(name) ? link(`time/${encodeURIComponent(name)}`, name) : name));
  const again = n => l.again?.shares[n]?.[topic] ?? 0, sampled = l.again?.documents.reduce((a, b) => a + b, 0);
  const most = l.shares.reduce((best, shares, n) => (shares[topic] > l.shares[best][topic] ? n : best), 0);
  return [h("p.note", {}, `Largest in ${l.name[most]}, ${percent(l.shares[most][topic])} of ${plural(l.documents[most], "document")}.`, l.again ? ` ${l.versions.length} versions labelled the documents as they came, so a topic has none from before its birth. The newest one labelled a sample of ${whole(sampled)} again.` : asTheyCame()), table({ caption: `Mean share of the documents that were labelled, by ${D.periods.unit}${D.periods.unfinished ? `; ${D.periods.name.at(-1)} is unfinished` : ""}`, most: 12,
    columns: [{ name: D.periods.unit }, { name: "Documents", number: true }, { name: "Mean share", number: true }, { name: "" }, ...(l.again ? [{ name: "Newest version", number: true }, { name: "" }] : [])],
    rows: l.name.map((name, n) => [cell(named[n], name), cell(whole(l.documents[n]), l.documents[n]),
      cell(percent(l.shares[n][topic]), l.shares[n][topic]), cell(bar(l.shares[n][topic]), l.shares[n][topic]),
      ...(l.again ? [cell(l.again.documents[n] ? percent(again(n)) : "–", again(n)), cell(bar(again(n)), again(n))] : [])]).reverse() })];
}

function rankChart(topic) {
  const ranks = D.ranks.topics[topic], words = D.ranks.words[topic];
  if (!words.length || D.ranks.versions.length < 2) return null;
  return timeChart({ title: "Ranks of its first words; 1 is the first word", time: D.ranks.time, ranks: true,
    curves: words.map((name, n) => ({ name, values: ranks[n] })), show: v => String(Math.round(v)) });
}

function typical(topic) {
  if (!D.documents) return h("p", {}, "Give the mixtures (--mixtures) to see documents.");
  const found = D.documents.typical[topic];
  return h("ol.documents", {}, found.map(n => {
    const share = (D.documents.mixture[n].find(([z]) => z === topic) || [topic, 0])[1];
    return h("li", {}, h("p", {}, documentLink(n), h("span.note", {}, ` ${date(D.documents.time[n])}, ${percent(share)}`)),
      D.documents.text && D.documents.text[n] && h("details", {}, h("summary", {}, "Text"), h("p.text", { dir: "auto" }, D.documents.text[n])));
  }), found.length === 0 && h("li", {}, "No document was labelled."));
}

function history(topic) {
  const found = [];
  D.periods.new.forEach(words => words.filter(([z]) => z === topic).forEach(one => found.push([one[4], h("li", {}, "new word ", newWord(one))])));
  D.events.filter(event => event.topics.includes(topic) && event.kind !== "words_changed").forEach(event => found.push([event.time,
    h("li", {}, h("time", {}, date(event.time)), " ", h("span.tag", {}, event.kind.replaceAll("_", " ")))]));
  if (!found.length) return h("p", {}, "No word is new by the test, and nothing else was noted.");
  const items = found.map((one, n) => [one, n]).sort(([a, i], [b, j]) => b[0] - a[0] || i - j).map(([[, item]]) => item);
  return [h("p.note", {}, "New words, and what the stream did, the newest first."), folded(items, 10, "ul.history")];
}

/* Return a list whose later items are folded away. */
function folded(items, most, kind) {
  return [h(kind, {}, items.slice(0, most)), items.length > most && h("details", {}, h("summary", {}, `${items.length - most} more`), h(kind, {}, items.slice(most)))];
}

function missing(what, name) {
  return [h("h1", {}, "Not here"), h("p", {}, `This report has no ${what} “`, foreign(String(name)), "”. ", link("", "Go to the overview."))];
}
