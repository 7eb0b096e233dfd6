/* The map of topics: near topics have like words, areas are shares, colours say how they move. */
"use strict";

function topicMap() {
  const box = h("div.map");
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth && box.clientWidth !== width) {
      width = box.clientWidth;
      box.replaceChildren(mapOf(width));
    }
  }).observe(box);
  return h("figure", {}, box, h("figcaption.note", {},
    "Topics with like words are near each other. The area is the share of all tokens. Colours: ",
    Object.keys(KINDS).map(kind => [kindMark(kind), " "]),
    `compare what came since ${date(D.topics.since)} with what came before.`));
}

function mapOf(width) {
  const height = Math.max(260, Math.min(520, width * 0.72));
  const circles = circlesOf(width, height);
  const labels = labelled(circles, width, height);
  const order = [...circles].sort((a, b) => b.r - a.r);
  return s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Map of topics" },
    order.map(c => s(`a.topic.${D.topics.kind[c.topic]}`, { href: `#/topic/${c.topic}`,
      "aria-label": `${D.topics.name[c.topic]}, ${percent(D.topics.share[c.topic])}, ${D.topics.kind[c.topic]}` },
      s("title", {}, `${D.topics.name[c.topic]}: ${percent(D.topics.share[c.topic])}, ${D.topics.kind[c.topic]}`),
      s("circle", { cx: c.x, cy: c.y, r: c.r }))),
    labels.map(l => s("text", { x: l.x, y: l.y, "aria-hidden": "true" }, l.text)));
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
  for (let step = 0; step < 200; step++) found.forEach(a => found.forEach(b => apart(a, b, width, height)));
  return found;
}

function apart(a, b, width, height) {
  if (a.topic >= b.topic) return;
  const dx = b.x - a.x || 0.01, dy = b.y - a.y, far = Math.hypot(dx, dy), over = a.r + b.r + 14 - far;
  if (over <= 0) return;
  for (const [c, way] of [[a, -1], [b, 1]]) {
    c.x = Math.min(width - c.r - 2, Math.max(c.r + 2, c.x + (way * over * dx) / far / 2));
    c.y = Math.min(height - c.r - 14, Math.max(c.r + 2, c.y + (way * over * dy) / far / 2));
  }
}

/* Return names where there is room, for the largest topics first: below, above, or over a circle. */
function labelled(circles, width, height) {
  const taken = circles.map(c => ({ ...around(c.x, c.y, c.r * 0.8, c.r * 0.8), topic: c.topic }));
  const found = [];
  const order = [...circles].sort((a, b) => b.r - a.r || a.topic - b.topic);
  for (const over of [false, true]) {
    for (const c of order.filter(one => !found.some(label => label.topic === one.topic))) {
      const label = labelOf(c, over, taken, width, height);
      if (!label) continue;
      taken.push({ ...label, topic: "label" });
      found.push(label);
    }
  }
  return found;
}

const around = (x, y, dx, dy) => ({ x0: x - dx, x1: x + dx, y0: y - dy, y1: y + dy });

/* Return a free place for the name of a circle; over circles, only other names are in the way. */
function labelOf(c, over, taken, width, height) {
  const name = D.topics.name[c.topic], text = name.length > 30 ? name.slice(0, 28) + "…" : name;
  const half = text.length * 3.4, x = Math.min(width - half - 2, Math.max(half + 2, c.x));
  if (2 * half > width) return null;
  for (const y of over ? [c.y] : [c.y + c.r + 9, c.y - c.r - 7]) {
    const box = around(x, y, half, 7);
    const free = box.y0 > 0 && box.y1 < height && !taken.some(t => (!over || t.topic === "label")
      && t.x0 < box.x1 && t.x1 > box.x0 && t.y0 < box.y1 && t.y1 > box.y0);
    if (free) return { ...box, x, y: y + 4, text, topic: c.topic };
  }
  return null;
}
