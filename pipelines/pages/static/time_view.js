/* One or more periods of the calendar: what came, what was new, and what happened. */
"use strict";

const timeRoute = (from, to = from) => `time/${encodeURIComponent([...new Set([D.periods.name[from], D.periods.name[to]])].join(".."))}`;

function timeView(name) {
  const p = D.periods, last = p.name.length - 1;
  const [from, to] = name === "" ? [last, last] : [name.split("..")[0], name.split("..").at(-1)].map(one => p.name.indexOf(one));
  if (from < 0 || to < from) return missing(p.unit, name);
  const within = time => periodOf(time) >= p.name[from] && periodOf(time) <= p.name[to], l = D.labelled, length = to - from + 1;
  const isIn = n => l.name[n] >= p.name[from] && l.name[n] <= p.name[to];
  const steps = [[from - length, from - 1, "← "], [to + 1, to + length, ""]].map(([a, b, before]) => [Math.max(0, a), Math.min(last, b), before]).filter(([a, b]) => a <= b);
  return [
    h("h1", {}, `What came in ${p.name[from]}${from < to ? ` to ${p.name[to]}` : ""}${to === last && p.unfinished ? `, unfinished: up to ${date(p.time[to])}` : ""}`),
    p.name.length > 1 && brush(from, to),
    h("p.steps", {}, choice("From", from, at => [at, Math.max(at, to)]), choice("To", to, at => [Math.min(at, from), at]),
      steps.map(([a, b, before]) => link(timeRoute(a, b), before + p.name[a] + (a < b ? ` to ${p.name[b]}` : "") + (before ? "" : " →")))),
    h("p.lead", {}, `${plural(p.versions.slice(from, to + 1).reduce((a, b) => a + b, 0), "version")} of the model, up to ${date(p.time[to])}`,
      l ? `; ${plural(l.documents.filter((_, n) => isIn(n)).reduce((a, b) => a + b, 0), "document")} labelled.` : ".", asTheyCame()),
    section("New words", newWords(p.new.slice(from, to + 1).flat().sort((a, b) => b[2] - a[2]))),
    section("Topics", periodTable(from, to, meanLabels(n => within(D.documents.time[n])))),
    ...Object.keys(SPLITS).map(mark => splitSection(mark, p.name[from], p.name[to], within)),
    l && section("Bursts", burstList(burstsOf(isIn))),
    D.documents && section("Documents", documentTable(D.documents.id.map((_, n) => n).filter(n => within(D.documents.time[n])), 10)),
    section("Events", eventList(D.events.filter(event => event.time <= p.time[to] && (from === 0 || event.time > p.time[from - 1])))),
  ];
}

/* Return a choice of a period, which goes to the periods that it makes of one. */
function choice(name, chosen, periods) {
  const id = name.toLowerCase();
  return [h("label", { for: id }, `${name} `), h("select", { id, onchange: event => { location.hash = `#/${timeRoute(...periods(event.target.selectedIndex))}`; } },
    D.periods.name.map((one, at) => h("option", { selected: at === chosen }, one)))];
}

/* Return the course of the largest topics, in which a drag chooses periods. */
function brush(from, to) {
  const largest = [...TOPICS].sort((a, b) => D.topics.share[b] - D.topics.share[a] || a - b).slice(0, LINES.length);
  return timeChart({ title: "Shares of the largest topics; drag to choose periods", time: D.periods.time, show: percent, open: openIn(D.periods.time),
    curves: largest.map(z => ({ name: D.topics.name[z], values: coarseCourseOf(z) })),
    chosen: [from, to], choose: (a, b) => { location.hash = `#/${timeRoute(a, b)}`; } });
}

/* Say of documents which several versions labelled that their shares are of those versions. */
const asTheyCame = () => (D.labelled?.versions.length > 1
  ? ` ${D.labelled.versions.length} versions labelled them as they came, so a topic has no document from before its birth; ${D.labelled.again ? "the page of a topic has a sample that the newest one labelled" : "infer labels all anew"}.` : "");

function newWords(all) {
  const found = all.filter(([z]) => !D.topics.hidden[z]);
  if (!found.length) return h("p", {}, "No word is new by the test.");
  const items = found.map(one => h("li", {}, newWord(one), ", ", topicLink(one[0])));
  return [h("p.note", {}, "Half of all tokens of a new word or more came with one version, and its share there is at least ten times its share in all that came before, by a test in which a document counts a word once (level .01 for all words of a version)."),
    folded(items, 12, "ul.plain")];
}

function newWord([, word, came, had, time, first]) {
  return [h("span.entered", {}, foreign(word)), ` ${whole(came)} up to ${date(time)}, ${had ? `${whole(had)} before, the first by ${date(first)}` : "none before"}`];
}

function periodTable(from, to, means) {
  const shares = sharesIn(from, to), before = from > 0 ? sharesIn(Math.max(0, 2 * from - to - 1), from - 1) : null;
  if (!shares) return h("p", {}, D.periods.versions.slice(from, to + 1).some(Boolean) ? "What came was not counted." : "No version ends in this time.");
  const ratio = z => (before ? Math.max(shares[z], 1e-3) / Math.max(before[z], 1e-3) : 1);
  const rows = TOPICS.map(z => [cell(topicLink(z), D.topics.name[z]), cell(percent(shares[z]), shares[z]), cell(sparkline(coarseCourseOf(z))),
    cell(before ? percent(before[z]) : "–", before ? before[z] : 0), cell(before ? times(ratio(z)) : "–", ratio(z)), ...labelCell(means, z)]);
  const by = before ? 4 : 1;
  rows.sort((a, b) => b[by].value - a[by].value);
  return table({ caption: `${D.labelled ? "Mean share of the documents" : "Share of the tokens that came"}, and that of as many periods before`, sorted: by, rows,
    columns: [{ name: "Topic" }, { name: "Share", number: true }, { name: "" }, { name: "Before", number: true }, { name: "Change", number: true }, ...labelColumn(means)] });
}

/* By what topics are split, and how many columns a table has. */
const SPLITS = { group: "Groups", label: "Labels" }, MOST_COLUMNS = 12;

/* Topics by groups or labels of documents: of all by the rows of trends, which have groups, else of the sample. */
function splitSection(mark, first, last, within) {
  const found = mark === "group" && D.now?.groups ? splitOfRows(first, last) : splitOfSample(mark, within);
  if (!found) return null;
  const [caption, all, columns] = found;
  const some = columns.slice(0, MOST_COLUMNS), most = all > some.length ? `, the largest ${some.length} of ${all}` : "";
  return section(SPLITS[mark], some.length ? table({ caption: caption + most,
    columns: [{ name: "Topic" }, ...some.map(([name]) => ({ name, number: true }))],
    rows: TOPICS.map(z => [cell(topicLink(z), D.topics.name[z]), ...some.map(([, shares]) => cell(percent(shares[z]), shares[z]))]) })
    : h("p", {}, "The rows of trends have no document of this time."));
}

/* Return what is said of groups, how many there are, and the mean shares of topics in each that has documents. */
function splitOfRows(first, last) {
  const g = D.now.groups, isIn = (at, n) => g.period[at][n] >= first && g.period[at][n] <= last;
  const columns = g.name.map((name, at) => [name || "(none)", meanShares(g.shares[at], g.documents[at], n => isIn(at, n))]);
  return ["Mean share of the documents of each group", g.all, columns.filter(([, shares]) => shares)];
}

/* Return the same of the sample; nothing where its documents have one label, or numbers as labels. */
function splitOfSample(mark, within) {
  const values = D.documents?.[mark], of = new Map();
  if (!values || (mark === "label" && numericLabels())) return null;
  const some = D.documents.sample.filter(n => within(D.documents.time[n]));
  some.forEach(n => {
    const name = values[n] || "(none)";
    if (!of.has(name)) of.set(name, []);
    of.get(name).push(n);
  });
  const columns = [...of].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).slice(0, MOST_COLUMNS);
  return of.size < 2 ? null : [`Mean share in ${plural(some.length, "document")} of the sample by ${mark}`, of.size,
    columns.map(([name, numbers]) => [name, D.topics.id.map((_, z) => meanShareIn(numbers, z))])];
}
