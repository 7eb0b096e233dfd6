/* Topics as a tree: near ones are parts of one branch. */
"use strict";

/* Branches whose distances are within a step are one. */
const STEP = 0.05;

function topicTree() {
  const nodes = D.topics.leaves.map(z => ({ topics: TOPICS.includes(z) ? [z] : [], parts: null }));
  if (nodes.length < 3) return null;
  for (const [a, b, far] of D.topics.tree) {
    const step = Math.floor(far / STEP), pair = [nodes[a], nodes[b]].filter(one => one.topics.length);
    const parts = pair.flatMap(one => (one.step === step ? one.parts : [one])), topics = pair.flatMap(one => one.topics);
    nodes.push(parts.length === 1 ? parts[0] : { topics, parts, step, far });
  }
  const root = nodes.at(-1);
  return h("details", {}, h("summary", {}, "The topics as a tree"), h("p.note", {}, "Topics of a branch have like words; the number is the mean distance of its parts."),
    h("ul.plain", {}, (root.parts || [root]).map(branch)));
}

const sharesOf = topics => topics.reduce((sum, z) => sum + D.topics.share[z], 0);

function branch({ topics, parts, far }) {
  const [first, second, ...others] = [...topics].sort((a, b) => D.topics.share[b] - D.topics.share[a] || a - b);
  if (!parts) return h("li", {}, topicLink(first), h("span.note", {}, ` ${percent(D.topics.share[first])}`));
  const name = [first, second].map((z, n) => [n ? "; " : "", foreign(D.topics.name[z])]);
  return h("li", {}, h("details", { open: topics.length < 5 }, h("summary", {}, name, others.length > 0 && ` and ${others.length} more`, `, ${percent(sharesOf(topics))}, ${far.toFixed(2)}`),
    h("ul.plain", {}, [...parts].sort((a, b) => sharesOf(b.topics) - sharesOf(a.topics)).map(branch))));
}
