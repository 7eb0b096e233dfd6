/* One word: in which topics it is, and since when. */
"use strict";

function wordView(word) {
  if (!(word in D.words.text)) return missing("word", word);
  const w = D.words;
  return [
    h("h1", {}, foreign(w.text[word])),
    h("p.lead", {}, `${plural(w.count[word], "token")}. `, w.since[word] === null ? "" : `In the vocabulary since ${date(w.since[word])} or before.`),
    w.since[word] !== null && h("p.note", {}, `${plural(D.ranks.versions.length, "version")} of ${whole(D.model.versions)} were looked at.`),
    section("Topics", table({ caption: "Where the tokens of the word are", sorted: 1,
      columns: [{ name: "Topic" }, { name: "Share of the word", number: true }, { name: "" }, { name: "Rank by relevance", number: true }],
      rows: w.topics[word].map(([z, share]) => [cell(topicLink(z), D.topics.name[z]), cell(percent(share), share), cell(bar(share), share), rankCell(z, word)]) })),
    section("In the first ten words of a topic", wordHistory(w.text[word])),
  ];
}

function rankCell(topic, word) {
  const at = D.terms[topic].word.indexOf(word);
  const rank = at < 0 ? 0 : byRelevance(topic, 0.6).indexOf(at) + 1;
  return cell(rank ? String(rank) : "–", rank ? -rank : -1e9);
}

function wordHistory(text) {
  const found = [];
  D.periods.changes.forEach((changes, n) => changes.forEach(([z, entered, left]) => {
    if (entered.includes(text)) found.push(h("li", {}, D.periods.name[n], ": came into ", topicLink(z)));
    if (left.includes(text)) found.push(h("li", {}, D.periods.name[n], ": went out of ", topicLink(z)));
  }));
  const now = TOPICS.filter(z => D.topics.first[z].includes(text));
  return [now.length > 0 && h("p", {}, "Now in ", now.map((z, n) => [n ? ", " : "", topicLink(z)]), "."),
    found.length ? folded(found.reverse(), 12, "ul.plain") : h("p.note", {}, "No change was noted.")];
}
