/* The figures of the page, and questions that several views ask of them. */
"use strict";

const D = {}, TOPICS = [];

/* Take the figures of a page for those that are shown. */
function take(page) {
  Object.assign(D, JSON.parse(page.getElementById("figures").textContent));
  D.topics.name = D.topics.name.map((words, z) => D.topics.given[z] || words);
  TOPICS.splice(0, TOPICS.length, ...[...D.topics.name.keys()].filter(z => !D.topics.hidden[z] && !D.topics.empty[z]));
}

take(document);
const KINDS = {
  new: "new", rising: "rising", steady: "steady", falling: "falling", gone: "gone",
};

const topicRoute = topic => `topic/${D.topics.id[topic]}`;
const topicLink = topic => titled(link(topicRoute(topic), foreign(D.topics.name[topic])), D.topics.first[topic].join(" "));
const wordRoute = word => `word/${encodeURIComponent(D.words.text[word])}`;
const wordLink = word => titled(link(wordRoute(word), foreign(D.words.text[word])),
  D.words.topics[word].slice(0, 5).map(([z, share]) => `${D.topics.name[z]} ${percent(share)}`).join("\n"));

/* Return an element that says more where the pointer rests on it. */
function titled(element, text) {
  element.title = text;
  return element;
}

/* Return the title of a document, or its id where its text is not known. */
const titleOf = n => (D.documents.title && D.documents.title[n]) || D.documents.id[n];
/* Return the route of a document: its id, which others may have at other times, and its time. */
const documentRoute = n => `document/${encodeURIComponent(D.documents.id[n])}/${D.documents.time[n]}`;
const documentLink = n => link(documentRoute(n), foreign(titleOf(n)));

/* Return a topic's share of what came with each version; null where it is not known. */
function courseOf(topic) {
  return D.versions.came.map((tokens, n) => {
    const total = tokens ? tokens.reduce((a, b) => a + b, D.versions.elsewhere[n]) : 0;
    return total ? tokens[topic] / total : null;
  });
}

/* Return what is said of the last period where it is not over. */
const unfinished = () => (D.periods.unfinished ? `${D.periods.name.at(-1)} is unfinished, and dashed.` : "");

/* Return the place of the first time in the unfinished period; the number of times without one. */
function openIn(all) {
  const before = D.periods.time.at(-2) ?? -Infinity;
  return all.filter(t => !D.periods.unfinished || t <= before).length;
}

/* Return a topic's share of what came in each period. */
function coarseCourseOf(topic) {
  D.periods.each ??= D.periods.name.map((_, n) => sharesIn(n, n));
  return D.periods.each.map(shares => shares?.[topic] ?? null);
}

/* Return the name of the period of a time. */
function periodOf(time) {
  const iso = new Date(time).toISOString(), { unit } = D.periods;
  return { day: iso.slice(0, 10), month: iso.slice(0, 7), year: iso.slice(0, 4), decade: `${iso.slice(0, 3)}0s`, century: `${iso.slice(0, 2)}00s (century)` }[unit];
}

/* Return the weighted mean of the shares of topics over the parts that a test accepts; null where nothing came. */
function meanShares(parts, weights, accepts) {
  const some = parts.map((shares, n) => [shares, weights[n], n]).filter(([shares, weight, n]) => shares && weight && accepts(n));
  const total = some.reduce((sum, [, weight]) => sum + weight, 0);
  return total ? some[0][0].map((_, z) => some.reduce((sum, [shares, weight]) => sum + weight * shares[z], 0) / total) : null;
}

/* Return the shares of topics from one period to another: of documents by their times where they are labelled, else of what came. */
function sharesIn(from, to) {
  const { labelled: l, periods: p } = D;
  return l ? meanShares(l.shares, l.documents, n => l.name[n] >= p.name[from] && l.name[n] <= p.name[to])
    : meanShares(p.shares, p.tokens, n => n >= from && n <= to);
}

/* Return the numbers that the labels of documents are; null where some label is no number, or there is none. */
function numericLabels() {
  const labels = D.documents?.label?.map(label => (label.trim() === "" ? null : Number(label)));
  return labels?.some(one => one !== null) && labels.every(one => one === null || Number.isFinite(one)) ? labels : null;
}

/* Return the mean label of each topic over the documents of the sample that a test accepts, weighted by its shares in them; null of less than a document. */
function meanLabels(accepts = () => true) {
  const labels = numericLabels(), sums = D.topics.id.map(() => [0, 0]);
  if (labels) {
    D.documents.sample.filter(n => labels[n] !== null && accepts(n)).forEach(n => D.documents.mixture[n].forEach(([z, share]) => {
      sums[z][0] += share;
      sums[z][1] += share * labels[n];
    }));
  }
  return labels && sums.map(([weight, sum]) => (weight >= 1 ? sum / weight : null));
}

/* Return the column of mean labels and the cell of a topic there, each in a list; both are empty where labels are no numbers. */
const labelColumn = means => (means ? [{ name: "Mean label", number: true }] : []);
const labelCell = (means, z) => (means ? [cell(means[z] === null ? "–" : means[z].toFixed(2), means[z] ?? -Infinity)] : []);

/* Return the bursts that a test accepts, the newest first: places of period and topic, documents, expected. */
const burstsOf = accepts => (D.labelled ? D.labelled.bursts.filter(([at, z]) => !D.topics.hidden[z] && accepts(at, z)).reverse() : []);

/* Return r(w, z) of the words of a topic for a lambda, with their places, the largest first. */
function byRelevance(topic, lambda) {
  const { probability, lift } = D.terms[topic];
  const score = probability.map((p, n) => lambda * p + (1 - lambda) * lift[n]);
  return score.map((_, n) => n).sort((a, b) => score[b] - score[a] || a - b);
}

function byFrex(topic) {
  const { frex } = D.terms[topic];
  return frex.map((_, n) => n).sort((a, b) => frex[b] - frex[a] || a - b);
}

/* Return how many times as large a topic's recent share is as the share before. */
const change = topic => (D.topics.before[topic] === null ? 1
  : Math.max(D.topics.recent[topic], 1e-3) / Math.max(D.topics.before[topic], 1e-3));

const times = ratio => (ratio >= 1 ? `×${ratio.toFixed(1)}` : `÷${(1 / ratio).toFixed(1)}`);

/* Return the mark of a topic, where it has one: boilerplate, or like another topic. */
const mark = topic => D.topics.mark[topic] && [" ", h("span.tag.mark", {}, D.topics.mark[topic])];

const kindMark = kind => h(`span.kind.${kind}`, {}, KINDS[kind]);
