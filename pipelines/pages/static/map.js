/* The map of topics: near topics have like words, areas are shares, colours say how they move. */
"use strict";

function topicMap() {
  const box = h("div.map");
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth && box.clientWidth !== width) {
      width = box.clientWidth;
      box.replaceChildren(width < NARROW ? topicList() : mapOf(width));
    }
  }).observe(box);
  return h("figure", {}, box, h("figcaption.note", {},
    "Topics with like words are near each other. The area is the share of all tokens. Colours: ",
    Object.keys(KINDS).map(kind => [kindMark(kind), " "]),
    `compare what came since ${date(D.topics.since)} with what came before.`));
}

/* Below this width names have no room beside circles, and topics are a list. */
const NARROW = 420;

function topicList() {
  const most = Math.max(...TOPICS.map(z => D.topics.share[z]));
  return h("ul.movers", {}, [...TOPICS].sort((a, b) => D.topics.share[b] - D.topics.share[a] || a - b).map(z => h("li", {}, h(`span.kind.${D.topics.kind[z]}`, {}, topicLink(z)),
    bar(D.topics.share[z] / most), h("span.number", {}, percent(D.topics.share[z])))));
}

function mapOf(width) {
  const height = Math.max(260, Math.min(620, width * 0.72));
  const circles = circlesOf(width, height);
  const labels = labelled(circles, width, height);
  const order = [...circles].sort((a, b) => b.r - a.r);
  return s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Map of topics" },
    order.map(c => s(`a.topic.${D.topics.kind[c.topic]}`, { href: `#/${topicRoute(c.topic)}`,
      "aria-label": `${D.topics.name[c.topic]}, ${percent(D.topics.share[c.topic])}, ${D.topics.kind[c.topic]}` },
      s("title", {}, `${D.topics.name[c.topic]}: ${percent(D.topics.share[c.topic])}, ${D.topics.kind[c.topic]}\n${D.topics.first[c.topic].join(" ")}`),
      s("circle", { cx: c.x, cy: c.y, r: c.r }))),
    labels.map(l => s("text", { "aria-hidden": "true" }, l.lines.map((line, n) =>
      s("tspan", { x: l.x, y: l.y + 4 + LINE * (n - (l.lines.length - 1) / 2) }, line)))));
}

/* Return circles at the places of the topics, moved apart where they overlap. */
function circlesOf(width, height) {
  const place = D.topics.place, total = D.topics.share.reduce((a, b) => a + b, 0) || 1;
  const span = axis => [Math.min(...place.map(p => p[axis])), Math.max(...place.map(p => p[axis]))];
  const [left, right] = span(0), [top, bottom] = span(1);
  const area = 0.2 * width * height;
  const found = TOPICS.map(topic => ({ topic, r: Math.max(5, Math.sqrt((area * D.topics.share[topic]) / total / Math.PI)) }));
  const most = Math.max(...found.map(c => c.r)) + 12;
  const scale = (value, low, high, size) => most + (high > low ? (value - low) / (high - low) : 0.5) * (size - 2 * most);
  found.forEach(c => { c.x = scale(place[c.topic][0], left, right, width); c.y = scale(place[c.topic][1], top, bottom, height); });
  for (let step = 0; step < 200; step++) found.forEach((a, n) => { for (let m = n + 1; m < found.length; m++) apart(a, found[m], width, height); });
  return found;
}

function apart(a, b, width, height) {
  const dx = b.x - a.x || 0.01, dy = b.y - a.y, reach = a.r + b.r + 14;
  if (Math.abs(dx) >= reach || Math.abs(dy) >= reach) return;
  const far = Math.hypot(dx, dy), over = reach - far;
  if (over <= 0) return;
  for (const [c, way] of [[a, -1], [b, 1]]) {
    c.x = Math.min(width - c.r - 2, Math.max(c.r + 2, c.x + (way * over * dx) / far / 2));
    c.y = Math.min(height - c.r - 14, Math.max(c.r + 2, c.y + (way * over * dy) / far / 2));
  }
}

/* Return names where there is room, for the largest topics first: in, beside, or over a circle. */
function labelled(circles, width, height) {
  const taken = circles.map(c => ({ ...around(c.x, c.y, c.r * 0.8, c.r * 0.8), topic: c.topic }));
  const found = [];
  const order = [...circles].sort((a, b) => b.r - a.r || a.topic - b.topic);
  for (const over of [false, true]) {
    for (const c of order.filter(one => !found.some(label => label.topic === one.topic))) {
      const label = placesOf(c, over).find(box => box.x0 > 0 && box.x1 < width && box.y0 > 0 && box.y1 < height
        && !taken.some(t => (t.topic === "label" || (!over && t.topic !== box.inside)) && meet(t, box)));
      if (!label) continue;
      taken.push({ ...label, topic: "label" });
      found.push({ ...label, topic: c.topic });
    }
  }
  return found;
}

const LETTER = 6.6, LINE = 13;
const around = (x, y, dx, dy) => ({ x0: x - dx, x1: x + dx, y0: y - dy, y1: y + dy });
const meet = (a, b) => a.x0 < b.x1 && a.x1 > b.x0 && a.y0 < b.y1 && a.y1 > b.y0;
const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

/* Return the boxes that may hold the name of a circle, the best one first. */
function placesOf(c, over) {
  const name = D.topics.name[c.topic], lines = cut(name, 60).split(/(?<=,) /).slice(0, 4).map(line => cut(line, 18));
  const stacked = boxOf(c.x, c.y, lines);
  const fits = Math.hypot(stacked.x1 - c.x, stacked.y1 - c.y - 3) < c.r;
  const short = cut(name.split(",")[0], 18), beside = lines => {
    const half = halfOf(lines) + 4;
    return [boxOf(c.x, c.y + c.r + 9, lines), boxOf(c.x, c.y - c.r - 7, lines), boxOf(c.x + c.r + half, c.y, lines), boxOf(c.x - c.r - half, c.y, lines)];
  };
  if (over) return [stacked, boxOf(c.x, c.y, [short]), ...beside([short])];
  return [...(fits ? [{ ...stacked, inside: c.topic }] : []), ...beside([cut(name, 30)]), ...beside([short])];
}

const halfOf = lines => (Math.max(...lines.map(line => line.length)) * LETTER) / 2;

function boxOf(x, y, lines) {
  return { ...around(x, y, halfOf(lines), (lines.length * LINE) / 2), x, y, lines };
}
