/* The health of the model: perplexity, coverage, dead letters, versions, events. */
"use strict";

function coverageOfAll() {
  if (!D.labelled) return null;
  const sum = values => values.reduce((a, b) => a + b, 0);
  return sum(D.labelled.tokens) ? sum(D.labelled.known) / sum(D.labelled.tokens) : null;
}

function healthView() {
  const v = D.versions;
  return [
    h("h1", {}, "Health"),
    h("p.lead", {}, `Version ${D.model.version}, learned by ${D.model.learner || "an unknown learner"}, release ${D.model.release}.`),
    section("Perplexity", v.perplexity.some(p => p !== null)
      ? [timeChart({ title: "Prequential perplexity by version; lower is better", time: v.time, curves: [{ name: "perplexity", values: v.perplexity }], show: figure }),
        h("p.note", {}, "Each minibatch is scored before it is learned, over the tokens since the version before.")]
      : h("p", {}, "No version has it.")),
    section("Coverage", coverage()),
    section("Dead letters", deadLetters()),
    D.profile && section("Input", table({ caption: "What was learned, as it was when learning began", columns: [{ name: "" }, { name: "" }],
      rows: D.profile.map(([what, found]) => [cell(foreign(what), what), cell(foreign(found), found)]) })),
    section("Versions", table({ caption: "Versions of the model", sorted: 0, most: 30,
      columns: [{ name: "Up to" }, { name: "Documents", number: true }, { name: "Tokens", number: true }, { name: "Words", number: true }, { name: "Perplexity", number: true }, { name: "ESS", number: true }, { name: "Version" }],
      rows: v.name.map((name, n) => [cell(date(v.time[n]), v.time[n]), cell(whole(v.documents[n]), v.documents[n]), cell(whole(v.tokens[n]), v.tokens[n]), cell(whole(v.words[n]), v.words[n]),
        cell(figure(v.perplexity[n]), v.perplexity[n] ?? -1), cell(figure(v.ess[n]), v.ess[n]), cell(h("code", {}, name), name)]) })),
    section("Events", eventList([...D.events].reverse())),
  ];
}

function coverage() {
  const l = D.labelled;
  if (!l) return h("p", {}, "Give the mixtures (--mixtures) to see how many words of the documents the model knows.");
  const extra = [l.repeated && `${plural(l.repeated, "row")} repeated a document or were replaced by those of a newer version.`,
    l.foreign && `${plural(l.foreign, "row")} of versions that this store does not lead to were passed over.`,
    l.without && `${plural(l.without, "document")} without a known word: no topic, and no part of the shares.`,
    l.judged && `${whole(l.unexplained)} of ${plural(l.judged, "document")} probably have no topic that explains them (none above 50%).`].filter(Boolean).join(" ");
  return [table({ caption: "Documents that were labelled, and their known tokens", sorted: null, most: 30,
    columns: [{ name: D.periods.unit }, { name: "Documents", number: true }, { name: "Tokens", number: true }, { name: "Known", number: true }, { name: "" }],
    rows: l.name.map((name, n) => {
      const share = l.tokens[n] ? l.known[n] / l.tokens[n] : 0;
      return [cell(name), cell(whole(l.documents[n]), l.documents[n]), cell(whole(l.tokens[n]), l.tokens[n]), cell(percent(share), share), cell(bar(share), share)];
    }).reverse() }), extra && h("p.note", {}, extra)];
}

function deadLetters() {
  if (!D.refused) return h("p", {}, "Give their folder (--dead_letters) to see them.");
  if (!D.refused.length) return h("p", {}, "There are none.");
  return table({ caption: "Records that could not be used, by reason", sorted: 1,
    columns: [{ name: "Reason" }, { name: "Records", number: true }, { name: "For example" }],
    rows: D.refused.map(one => [cell(foreign(one.reason), one.reason), cell(whole(one.count), one.count), cell([foreign(one.source), ": ", foreign(one.detail)], one.detail)]) });
}
