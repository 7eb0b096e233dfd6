/* The overview: what the stream is about, what moved, and all topics. */
"use strict";

function overview() {
  const m = D.model;
  return [
    h("h1", {}, `${plural(m.topics, "topic")} of ${plural(m.documents, "document")}`),
    h("p.lead", {}, `${date(m.first)} to ${date(m.last)}, ${plural(m.versions, "version")} of the model`,
      m.key ? [", key ", foreign(m.key)] : "", "."),
    D.now && section("Now", nowParts()),
    tiles(),
    section("Map", topicMap(), topicTree()),
    section("What moved", movers()),
    section("Topics", topicTable(), hiddenTopics()),
    !D.now && D.labelled && section("Bursts", burstList(burstsOf(() => true).slice(0, 8))),
    !D.now && D.stories && section("Stories", storyList()),
    section("Events", eventList(firstEvents()), D.events.length > firstEvents().length && h("p", {}, link("health", "All events"))),
  ];
}

/* The last window: topics above their expectation, bursts of the last windows with documents, and stories. */
function nowParts() {
  const seen = rows => rows.filter(([z]) => !D.topics.hidden[z]), rising = seen(D.now.rising);
  const bursts = D.now.bursts.filter(([, z]) => !D.topics.hidden[z]).slice(0, 8);
  const day = D.now.end - D.now.start >= 864e5, when = at => (day ? date(at) : new Date(at).toISOString().slice(0, 16).replace("T", " "));
  return [h("p.note", {}, `${plural(D.now.documents, "document")} from ${when(D.now.start)} to ${when(D.now.end)}. ${CHANCE}`),
    h("div.columns", {},
      h("div", {}, h("h3", {}, "Above expectation"), rising.length ? h("ul.events", {}, rising.map(([z, ...figures]) => h("li", {}, topicLink(z), against(...figures))))
        : h("p", {}, D.now.judged ? "No topic has more documents than those before explain." : "Too few windows came before this one.")),
      h("div", {}, h("h3", {}, "Bursts of the last windows"), bursts.length ? h("ul.events", {}, bursts.map(([start, z, documents, expected, p, ids]) => h("li", {}, h("time", {}, when(start)), " ", topicLink(z), against(documents, expected, p),
        ids.map((id, n) => [n ? ", " : ": ", namedDocument(id)])))) : h("p", {}, "There are none."))),
    D.stories && [h("h3", {}, "Stories"), storyList()]];
}

const against = (documents, expected, p) => ` about ${whole(documents)} documents, ${whole(expected)} expected (p ${p < 1e-4 ? "< .0001" : `= ${p.toPrecision(1)}`})`;

const CHANCE = "p is the probability of so many documents or more by chance.";

/* Return a link to a document that the page has, else its id. */
function namedDocument(id) {
  const n = D.documents ? D.documents.id.indexOf(id) : -1;
  return n < 0 ? foreign(id) : documentLink(n);
}

function tiles() {
  const m = D.model, known = D.versions.perplexity.filter(p => p !== null);
  const found = [["documents", whole(m.documents)], ["tokens", whole(m.tokens)], ["words", whole(m.words)], ["versions", whole(m.versions)]];
  if (known.length) found.push(["perplexity now", figure(known[known.length - 1])]);
  const coverage = coverageOfAll();
  if (coverage !== null) found.push(["known tokens", percent(coverage)]);
  if (D.refused) found.push(["dead letters", whole(D.refused.reduce((sum, one) => sum + one.count, 0))]);
  return h("dl.tiles", {}, found.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function movers() {
  const kinds = ["new", "rising", "falling", "gone"];
  const lists = kinds.map(kind => {
    const up = kind === "new" || kind === "rising";
    const found = TOPICS.filter(z => D.topics.kind[z] === kind).sort((a, b) => (up ? change(b) - change(a) : change(a) - change(b)) || a - b);
    return found.length > 0 && h("div", {}, h("h3", {}, kindMark(kind)), h("ul.movers", {}, found.slice(0, 6).map(z => h("li", {}, topicLink(z),
      sparkline(coarseCourseOf(z)), h("span.number", {}, times(change(z)))))),
    found.length > 6 && h("p.note", {}, `and ${found.length - 6} more in the table below`));
  });
  return [h("p.note", {}, `The share of what came since ${date(D.topics.since)}, against that of what came before. ${unfinished()}`),
    lists.some(Boolean) ? h("div.side-by-side", {}, lists) : h("p", {}, "No topic moved much.")];
}

function topicTable() {
  const means = meanLabels();
  return table({
    caption: ["All topics; a heading sorts", unfinished()].filter(Boolean).join(". "),
    sorted: 2,
    columns: [{ name: "Topic", number: true }, { name: "Name" }, { name: "Share", number: true }, { name: "Course" },
      { name: "Recent", number: true }, { name: "Change", number: true }, { name: "Moves" }, ...labelColumn(means), { name: "Most frequent words" }],
    rows: [...TOPICS].sort((a, b) => D.topics.share[b] - D.topics.share[a] || a - b).map(z => [
      cell(String(D.topics.id[z]), D.topics.id[z]), cell([topicLink(z), mark(z)], D.topics.name[z]), cell(percent(D.topics.share[z]), D.topics.share[z]),
      cell(sparkline(coarseCourseOf(z)), change(z)), cell(percent(D.topics.recent[z]), D.topics.recent[z]),
      cell(times(change(z)), change(z)), cell(kindMark(D.topics.kind[z]), D.topics.kind[z]), ...labelCell(means, z),
      cell(foreign(D.topics.first[z].slice(0, 7).join(" ")), D.topics.first[z].join(" "))]),
  });
}

function hiddenTopics() {
  const found = D.topics.name.map((_, z) => z).filter(z => D.topics.hidden[z]);
  const empty = D.topics.empty.filter(Boolean).length;
  return [found.length > 0 && h("p.note", {}, "Hidden: ", found.map((z, n) => [n ? "; " : "", topicLink(z)])),
    empty > 0 && h("p.note", {}, `Without a word so far: ${empty} of ${D.topics.empty.length} topics.`)];
}

function burstList(bursts) {
  if (!bursts.length) return h("p", {}, "No period with six or more before it has more documents of a topic than those explain.");
  const period = name => (D.periods.name.includes(name) ? link(`time/${encodeURIComponent(name)}`, name) : name);
  return h("ul.events", { title: CHANCE }, bursts.map(([at, z, ...figures]) => h("li", {}, period(D.labelled.name[at]), " ", topicLink(z),
    against(...figures))));
}

/* Stories are of the last window of event time, those with most documents in it first. */
function storyList() {
  if (!D.stories.length) return h("p", {}, "No two documents tell one story.");
  return [h("p.note", {}, `Documents that share rare words, and came before ${date(D.stories[0].end)}.`),
    h("ul.events", {}, D.stories.map(one => h("li", {}, h("time", {}, date(one.first)), " ", foreign(one.words.slice(0, 6).join(" ")),
      `: ${plural(one.documents, "document")}, ${whole(one.came)} in the last window; `,
      [...new Set([one.id, ...one.ids])].map((id, n) => [n ? ", " : "", namedDocument(id)]), "; in ",
      one.topics.filter(z => !D.topics.hidden[z]).map((z, n) => [n ? "; " : "", topicLink(z)]))))];
}

/* The last events, those of topics first; new words have their place in Time, so one line tells of them. */
function firstEvents() {
  const newest = [...D.events].reverse(), isOfWords = event => event.kind === "words_changed";
  return [...newest.filter(event => !isOfWords(event)).slice(0, 7), ...newest.filter(isOfWords).slice(0, 1)];
}

function eventList(events) {
  if (!events.length) return h("p", {}, "None were noted.");
  return h("ul.events", {}, events.map(event => h("li", {}, h("time", {}, date(event.time)), " ", h("span.tag", {}, event.kind.replaceAll("_", " ")), " ",
    foreign(event.line.replace(/^version \S+ (?=comes)/, "The new version ")))));
}
