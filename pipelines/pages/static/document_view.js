/* Documents: a list of those in the report, and the mixture of one. */
"use strict";

function documentView(n) {
  if (!D.documents || !(n in D.documents.id)) return missing("document", n);
  const d = D.documents, listed = d.mixture[n].reduce((sum, [, share]) => sum + share, 0), rest = d.known[n] ? Math.max(0, 1 - listed) : 0;
  return [
    h("h1", {}, foreign(titleOf(n))),
    h("p.lead", {}, foreign(d.id[n]), `, ${date(d.time[n])}`, d.label && d.label[n] ? [", label ", foreign(d.label[n])] : "", "."),
    section("Topics", table({ caption: "The topics of this document", sorted: 1,
      columns: [{ name: "Topic" }, { name: "Share", number: true }, { name: "" }],
      rows: d.mixture[n].map(([z, share]) => [cell(topicLink(z), D.topics.name[z]), cell(percent(share), share), cell(bar(share), share)]) }),
    h("p.note", {}, d.known[n] ? "" : "It has no topic, because the model knows none of its words. ", `All other topics together: ${percent(rest)}. ${plural(d.tokens[n], "token")}, ${whole(d.known[n])} of them known to the model. Labelled by version ${d.version[n]}.`,
      d.none[n] === null ? "" : ` The probability that no topic explains it is ${percent(d.none[n])}.`)),
    d.text && d.text[n] && section("Text", h("p.text", { dir: "auto" }, d.text[n])),
  ];
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

/* Return a box and the documents that have all words of it: in date, id, label, text, or the name of the largest topic. */
function filteredDocuments() {
  const d = D.documents, every = d.id.map((_, n) => n), status = h("output", { for: "filter" });
  const texts = every.map(n => [date(d.time[n]), d.id[n], d.label?.[n], d.title?.[n], d.text?.[n], d.mixture[n].length && D.topics.name[d.mixture[n][0][0]]].join(" ").toLowerCase());
  const holder = h("div", {}, documentTable(every, 100));
  const input = h("input", { id: "filter", type: "search", autocomplete: "off", oninput: () => {
    const words = input.value.toLowerCase().split(/\s+/), found = every.filter(n => words.every(word => texts[n].includes(word)));
    status.textContent = ` ${plural(found.length, "document")}`;
    holder.replaceChildren(documentTable(found, 100));
  } });
  return [h("p.steps", {}, h("label", { for: "filter" }, "With the words "), input, status), holder];
}

function documentTable(some, most) {
  const d = D.documents;
  return table({ caption: "Documents in this report; a heading sorts", sorted: 0, most,
    columns: [{ name: "Date" }, { name: d.title ? "Document" : "Id" }, { name: "Largest topic" }, { name: "Share", number: true }, { name: "Tokens", number: true }],
    rows: some.map(n => {
      const [z, share] = d.mixture[n][0] || [null, 0];
      return [cell(date(d.time[n]), d.time[n]), cell(documentLink(n), titleOf(n)), z === null ? cell("none") : cell(topicLink(z), D.topics.name[z]), cell(percent(share), share), cell(whole(d.tokens[n]), d.tokens[n])];
    }) });
}
