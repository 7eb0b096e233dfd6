/* Charts over time, drawn by uPlot, each with its figures as a table; small curves and bars. */
"use strict";

const drawn = new Set();
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const LINES = ["--line-1", "--line-2", "--line-3", "--line-4", "--line-5", "--line-6", "--line-7", "--line-8"];

/*
 * Return a figure with curves over time.
 *   title   what is drawn
 *   time    milliseconds
 *   curves  [{name, values}], null where nothing is known
 *   show    turns a value into text
 *   ranks   whether small values are at the top
 *   open    the first place of the unfinished period, which is dashed
 *   chosen  the first and the last place that are marked
 *   choose  takes the first and the last place of a drag
 */
function timeChart({ title, time, curves, show, ranks = false, open = time.length, chosen = null, choose = null }) {
  const note = open < time.length ? ` ${unfinished()}` : "";
  const box = h("div.chart", { role: "img", "aria-label": `${title}.${note} The figures are in the table below.` });
  const legend = curves.length > 1 && h("ul.legend", { "aria-hidden": "true" }, curves.map((curve, n) =>
    h("li", {}, s("svg", { viewBox: "0 0 20 10" }, s(`path.stroke-${n + 1}`, { d: "M0 5H20" })), foreign(curve.name))));
  const readout = h("p.readout", { "aria-hidden": "true" }, "\u00a0");
  const chart = { box, title, time, curves, show, ranks, open, chosen, choose, readout, plot: null };
  drawn.add(chart);
  new ResizeObserver(() => draw(chart)).observe(box);
  return h("figure", {}, h("figcaption", {}, title, note && ".", note), legend, box, readout, asTable(title + (note && "." + note), time, curves, show));
}

const isOpen = chart => chart.open < chart.time.length;

function draw(chart) {
  if (!chart.box.isConnected) {
    if (chart.plot) chart.plot.destroy();
    drawn.delete(chart);
    return;
  }
  const width = chart.box.clientWidth;
  if (chart.plot && chart.plot.width === width && chart.theme === theme()) return;
  if (chart.plot) chart.plot.destroy();
  chart.theme = theme();
  // The dashed curve begins where the other one ends.
  const part = accepts => chart.curves.map(c => c.values.map((v, n) => (accepts(n) ? v ?? null : null)));
  const data = [chart.time.map(t => t / 1000), ...part(n => n < chart.open), ...(isOpen(chart) ? part(n => n >= chart.open - 1) : [])];
  chart.plot = new uPlot(options(chart, width), data, chart.box);
}

function options(chart, width) {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 } };
  const points = chart.time.length < 40 || chart.curves.some(c => c.values.filter(v => v !== null).length < 3);
  return {
    width, height: chart.ranks ? 300 : 240,
    tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { drag: { x: Boolean(chart.choose), y: false, setScale: false }, y: false },
    scales: { x: { time: true }, y: chart.ranks ? { dir: -1, distr: 3, log: 10, range: (u, min, max) => [1, Math.max(10, max)] }
      : { range: (u, min, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [{ ...axis, space: 64 }, { ...axis, size: 58, values: (u, splits) => splits.map(v => (v === null ? "" : chart.show(v))) }],
    series: [{}, ...(isOpen(chart) ? [undefined, [3, 4]] : [undefined]).flatMap(dash => chart.curves.map((curve, n) => ({
      stroke: colour(LINES[n % LINES.length]), width: 2, spanGaps: chart.ranks, dash,
      points: { show: points, size: 5 },
      fill: n === 0 && !chart.ranks && chart.curves.length < 3 ? colour("--fill-1") : undefined,
    })))],
    hooks: { setCursor: [u => tell(chart, u.cursor.idx)], ready: [u => markChosen(chart, u)], setSelect: [u => dragged(chart, u)] },
  };
}

/* Mark the chosen places; a drag over other ones chooses them. */
function markChosen({ chosen, time }, plot) {
  if (!chosen) return;
  const [left, right] = chosen.map(at => plot.valToPos(time[at] / 1000, "x"));
  plot.setSelect({ left: left - 3, width: right - left + 6, top: 0, height: plot.over.clientHeight }, false);
}

function dragged({ choose, chosen }, plot) {
  const { left, width } = plot.select;
  if (!choose || !width) return;
  const [from, to] = [left, left + width].map(at => plot.posToIdx(at));
  if (from !== chosen[0] || to !== chosen[1]) choose(from, to);
}

function tell(chart, at) {
  chart.readout.replaceChildren();
  if (at === null || at === undefined) return chart.readout.append("\u00a0");
  chart.readout.append(date(chart.time[at]), ": ");
  chart.curves.forEach((curve, n) => {
    const value = curve.values[at];
    chart.readout.append(n ? ", " : "", foreign(chart.curves.length > 1 ? curve.name + " " : ""), value === null || value === undefined ? "–" : chart.show(value));
  });
}

function asTable(title, time, curves, show) {
  const details = h("details", {}, h("summary", {}, "The figures as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    details.append(table({
      caption: title,
      columns: [{ name: "date" }, ...curves.map(curve => ({ name: curve.name, number: true }))],
      rows: time.map((t, n) => [cell(date(t)), ...curves.map(c => cell(c.values[n] === null || c.values[n] === undefined ? "–" : show(c.values[n]), c.values[n] ?? -1))]),
    }));
  });
  return details;
}

/* Draw all charts of the page again, in other colours. */
const redraw = () => drawn.forEach(draw);

const theme = () => (matchMedia("print").matches ? "light" : document.documentElement.dataset.theme
  || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

/* Return a small curve over the periods; it is decoration, because figures stand beside it. */
function sparkline(values) {
  const most = Math.max(1e-9, ...values.map(v => v ?? 0));
  const x = n => (values.length > 1 ? (100 * n) / (values.length - 1) : 50).toFixed(1);
  const point = n => `${x(n)},${(22 - (20 * values[n]) / most).toFixed(1)}`;
  // A period without a value is a gap between two parts.
  const parts = values.reduce((found, v, n) => {
    if (v === null || v === undefined) found.push([]);
    else found.at(-1).push(n);
    return found;
  }, [[]]).filter(part => part.length);
  const open = n => D.periods.unfinished && n === values.length - 1;
  const line = (kind, places) => places.length > 1 && s(kind, { points: places.map(point).join(" ") });
  return s("svg.spark", { viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" }, parts.map(part => [
    s("polygon", { points: `${x(part[0])},22 ${part.map(point).join(" ")} ${x(part.at(-1))},22` }),
    open(part.at(-1)) && line("polyline.open", part.slice(-2)),
    line("polyline", part.filter(n => !open(n)))]));
}

/* Return a bar for a share of 0 to 1. */
function bar(share) {
  return s("svg.bar", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect.track", { width: 100, height: 10 }), s("rect.value", { width: (100 * Math.min(1, Math.max(0, share))).toFixed(2), height: 10 }));
}
