/* One word: in which topics it is, and since when. */
"use strict";

function wordView(name) {
  const word = D.words.text.indexOf(name);
  if (word < 0) return missing("word", name);
  const w = D.words;
  return [
    h("h1", {}, foreign(w.text[word])),
    h("p.lead", {}, `${plural(w.count[word], "token")}. `, w.since[word] === null ? "" : `In the vocabulary since ${date(w.since[word])} or before.`),
    w.since[word] !== null && h("p.note", {}, `${plural(D.ranks.versions.length, "version")} of ${whole(D.model.versions)} were looked at.`),
    section("Topics", table({ caption: "Where the tokens of the word are", sorted: 1,
      columns: [{ name: "Topic" }, { name: "Share of the word", number: true }, { name: "" }, { name: "Rank by relevance", number: true }],
      rows: w.topics[word].map(([z, share]) => [cell(topicLink(z), D.topics.name[z]), cell(percent(share), share), cell(bar(share), share), rankCell(z, word)]) })),
    section("New, and in the first ten words of a topic", wordHistory(w.text[word])),
  ];
}

function rankCell(topic, word) {
  const at = D.terms[topic].word.indexOf(word);
  const rank = at < 0 ? 0 : byRelevance(topic, 0.6).indexOf(at) + 1;
  return cell(rank ? String(rank) : "–", rank ? -rank : -1e9);
}

function wordHistory(text) {
  const found = [];
  D.periods.new.forEach(words => words.filter(one => one[1] === text).forEach(one => found.push(h("li", {}, "new: ", newWord(one), ", ", topicLink(one[0])))));
  const now = TOPICS.filter(z => D.topics.first[z].includes(text));
  return [now.length > 0 && h("p", {}, "Now in ", now.map((z, n) => [n ? ", " : "", topicLink(z)]), "."),
    found.length ? folded(found.reverse(), 12, "ul.plain") : h("p.note", {}, "It was new in no version, by the test.")];
}
