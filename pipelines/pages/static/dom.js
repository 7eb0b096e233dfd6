/* Elements, texts and numbers. Text of documents only ever becomes text nodes. */
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/* Return an element: h("p.note", {id: "x"}, "text", child). */
function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElement(name), classes, attributes, children);
}

/* Return an element of SVG. */
function s(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  return filled(document.createElementNS(SVG, name), classes, attributes, children);
}

function filled(element, classes, attributes, children) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/* Return foreign text whose writing direction does not reach its neighbours. */
const foreign = text => h("bdi", {}, text);

const link = (route, ...children) => h("a", { href: "#/" + route }, ...children);

const whole = value => Math.round(value).toLocaleString("en");
const percent = share => (share === null || share === undefined ? "–"
  : (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %");
const figure = value => (value === null || value === undefined ? "–"
  : value.toLocaleString("en", { maximumSignificantDigits: 4 }));
const plural = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

/* Return the date of a time in milliseconds. */
function date(milliseconds) {
  const moment = new Date(milliseconds);
  return Number.isNaN(moment.getTime()) ? "–" : moment.toISOString().replace(/T.*/, "");
}

function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), ...children);
}
