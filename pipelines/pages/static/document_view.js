/* Documents: a list of those in the report, and the mixture of one. */
"use strict";

/* Show the document with an id, and with a time where one is given. */
function documentView(id, time) {
  const n = D.documents ? D.documents.id.findIndex((one, at) => one === id && (time === undefined || String(D.documents.time[at]) === time)) : -1;
  if (n < 0) return missing("document", id);
  const d = D.documents, listed = d.mixture[n].reduce((sum, [, share]) => sum + share, 0), rest = d.known[n] ? Math.max(0, 1 - listed) : 0;
  return [
    h("h1", {}, foreign(titleOf(n))),
    h("p.lead", {}, foreign(d.id[n]), `, ${date(d.time[n])}`, d.label && d.label[n] ? [", label ", foreign(d.label[n])] : "", d.group && d.group[n] ? [", group ", foreign(d.group[n])] : "", "."),
    section("Topics", table({ caption: "The topics of this document", sorted: 1,
      columns: [{ name: "Topic" }, { name: "Share", number: true }, { name: "" }],
      rows: d.mixture[n].map(([z, share], at) => [cell([topicLink(z), d.text?.[n] && at < LINES.length && h(`span.key.in-${at + 1}`, { "aria-hidden": "true" })], D.topics.name[z]), cell(percent(share), share), cell(bar(share), share)]) }),
    h("p.note", {}, d.known[n] ? "" : "It has no topic, because the model knows none of its words. ", `All other topics together: ${percent(rest)}. ${plural(d.tokens[n], "token")}, ${whole(d.known[n])} of them known to the model. Labelled by version ${d.version[n]}.`,
      d.none[n] === null ? "" : ` The probability that no topic explains it is ${percent(d.none[n])}.`)),
    d.text && d.text[n] && section("Text", h("p.text", { dir: "auto" }, colouredWords(d.text[n], d.mixture[n].slice(0, LINES.length))),
      h("p.note", {}, "A line under a word has the colour of the topic that explains it best.")),
  ];
}

/* Return a text whose words, where the page has them, are marked by that of some topics with the largest share times P(w|z). */
function colouredWords(text, mixture) {
  const places = new Map(D.words.text.map((word, n) => [word, n]));
  return text.split(/([\p{L}\p{N}]+)/u).map(part => {
    const word = places.get(part.toLowerCase());
    if (word === undefined) return part;
    const held = new Map(D.words.topics[word]);
    const scores = mixture.map(([z, share]) => (share * (held.get(z) || 0)) / (D.topics.tokens[z] || 1)), most = Math.max(...scores);
    return most > 0 ? h(`mark.in-${scores.indexOf(most) + 1}`, { title: D.topics.name[mixture[scores.indexOf(most)][0]] }, part) : part;
  });
}

function documentsView() {
  if (!D.documents) {
    return [h("h1", {}, "Documents"), h("p", {}, "This report was made without mixtures. Give the folder that infer or stream wrote as --mixtures.")];
  }
  const d = D.documents;
  return [
    h("h1", {}, "Documents"),
    h("p.lead", {}, `${whole(d.id.length)} of ${plural(d.all, "document")}: the typical ones of each topic, those of bursts and stories, and a sample of all.`),
    ...filteredDocuments(),
  ];
}

/* What documents are filtered by; it stays when figures come anew, so topics are named by id. */
const wanted = { words: "", topic: "", label: "", group: "", from: "", to: "" };
const MARKS = { label: "Label", group: "Group" }, LEAST = 0.1, MOST_MARKS = 100;

/* Return the filters, the documents that pass, and their topics. */
function filteredDocuments() {
  const d = D.documents, every = d.id.map((_, n) => n), status = h("output", { for: "filter" }), holder = h("div");
  const texts = every.map(n => [date(d.time[n]), d.id[n], d.label?.[n], d.group?.[n], d.title?.[n], d.text?.[n], d.mixture[n].length && D.topics.name[d.mixture[n][0][0]]].join(" ").toLowerCase());
  function fill() {
    const words = wanted.words.toLowerCase().split(/\s+/), topic = wanted.topic === "" ? -1 : D.topics.id.indexOf(Number(wanted.topic));
    const found = every.filter(n => words.every(word => texts[n].includes(word)) && (topic < 0 || shareIn(n, topic) >= LEAST)
      && Object.keys(MARKS).every(name => !wanted[name] || d[name]?.[n] === wanted[name]) && (!wanted.from || date(d.time[n]) >= wanted.from) && (!wanted.to || date(d.time[n]) <= wanted.to));
    status.textContent = ` ${plural(found.length, "document")}`;
    holder.replaceChildren(...topicsOf(found), documentTable(found, 100, topic));
  }
  const on = (name, kind, attributes, ...children) => h(kind, { ...attributes, onchange: take, oninput: take, name }, children);
  function take(event) {
    wanted[event.target.name] = event.target.value;
    fill();
  }
  const options = (name, all) => [h("option", { value: "" }, "all"), all.map(([value, text]) => h("option", { value, selected: wanted[name] === value }, text))];
  const marks = Object.entries(MARKS).map(([name, text]) => {
    const all = [...new Set(d[name] || [])].filter(Boolean).sort(compare);
    return all.length > 0 && all.length <= MOST_MARKS && h("label", {}, `${text} `, on(name, "select", {}, options(name, all.map(one => [one, one]))));
  });
  fill();
  return [h("p.steps.filters", {}, h("label", { for: "filter" }, "Words "), on("words", "input", { id: "filter", type: "search", autocomplete: "off", value: wanted.words }),
    h("label", {}, "Topic, 10 % or more ", on("topic", "select", {}, options("topic", TOPICS.map(z => [String(D.topics.id[z]), D.topics.name[z]])))),
    marks, h("label", {}, "From ", on("from", "input", { type: "date", value: wanted.from })), h("label", {}, "To ", on("to", "input", { type: "date", value: wanted.to })), status), holder];
}

/* Return the share of a topic in a document, and its mean over some. */
const shareIn = (n, topic) => D.documents.mixture[n].find(([z]) => z === topic)?.[1] ?? 0;
const meanShareIn = (some, topic) => some.reduce((sum, n) => sum + shareIn(n, topic), 0) / some.length;

/* Return the mean shares of topics in those of some documents that are of the sample; nothing without one. */
function topicsOf(found) {
  const sample = new Set(D.documents.sample), some = found.filter(n => sample.has(n)), passes = new Set(some), means = meanLabels(n => passes.has(n));
  if (!some.length) return [];
  const shares = z => meanShareIn(some, z);
  const rows = TOPICS.map(z => [cell(topicLink(z), D.topics.name[z]), cell(percent(shares(z)), shares(z)), ...labelCell(means, z)]);
  return [section("Their topics", table({ caption: `Mean shares in ${plural(some.length, "document")} of the sample`, sorted: 1, most: 5,
    columns: [{ name: "Topic" }, { name: "Mean share", number: true }, ...labelColumn(means)], rows: rows.sort((a, b) => b[1].value - a[1].value) }))];
}

/* Return a table of documents, each with its largest topic or with a given one. */
function documentTable(some, most, topic = -1) {
  const d = D.documents;
  return table({ caption: "Documents in this report; a heading sorts", sorted: 0, most,
    columns: [{ name: "Date" }, { name: d.title ? "Document" : "Id" }, { name: topic < 0 ? "Largest topic" : "Topic" }, { name: "Share", number: true }, { name: "Tokens", number: true }],
    rows: some.map(n => {
      const [z, share] = topic < 0 ? d.mixture[n][0] || [null, 0] : [topic, shareIn(n, topic)];
      return [cell(date(d.time[n]), d.time[n]), cell(documentLink(n), titleOf(n)), z === null ? cell("none") : cell(topicLink(z), D.topics.name[z]), cell(percent(share), share), cell(whole(d.tokens[n]), d.tokens[n])];
    }) });
}
