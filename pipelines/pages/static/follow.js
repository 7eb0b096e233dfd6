/* The page of the service: it takes the figures of each new version, and keeps the reader's place. */
"use strict";

const LOOKED = `beam-topics${location.pathname}${location.search}`;
const line = h("p", { id: "followed", role: "status" });
let source = null, looked = null, read = new Date();

/* Return what the service calls what is shown. */
const at = () => D.model.version + D.model.state;

/* Return the names of topics by id. */
const present = () => Object.fromEntries(D.topics.id.map((id, z) => [id, D.topics.name[z]]).filter((_, z) => !D.topics.empty[z]));

/* Return the version that was shown when the reader left, and its topics; null at the first visit. */
function lastLook() {
  try { return JSON.parse(localStorage.getItem(LOOKED)); } catch { return null; }
}

function tell() {
  const now = present(), before = looked?.names, listed = (parts, end) => (parts.length
    ? [": ", parts.slice(0, 5).map((part, n) => [n ? ", " : "", part]), parts.length > 5 ? `, and ${parts.length - 5} more` : "", end] : end);
  const born = before ? TOPICS.filter(z => !(D.topics.id[z] in before)) : [], ended = Object.keys(before || {}).filter(id => !(id in now));
  const bursts = looked?.until && D.now ? D.now.bursts.filter(([start, z]) => start >= looked.until && !D.topics.hidden[z]) : [];
  line.replaceChildren(...[`Version ${D.model.version}, read at ${read.toLocaleTimeString()}.`,
    before && looked.at !== at() && [` Since version ${looked.version}, which you saw last: ${plural(born.length, "new topic")}`, listed(born.map(topicLink), "; "),
      `${whole(ended.length)} ended`, listed(ended.map(id => foreign(before[id])), "; "), plural(bursts.length, "burst"), listed(bursts.map(([, z]) => topicLink(z)), ".")],
  ].flat(Infinity).filter(Boolean));
}

/* Return the elements of the content that take the focus. */
const stops = () => [...document.querySelectorAll("main :is(a, button, input, select, summary, [tabindex])")];

async function renew() {
  const answer = await fetch(location.href).catch(() => null);
  // The service says it again when it is connected again.
  if (!answer?.ok) return undefined;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const { release } = D.model;
  take(page);
  read = new Date();
  // Another release may bring other scripts.
  if (D.model.release !== release) return location.reload();
  const { scrollX: x, scrollY: y } = window, stop = stops().indexOf(document.activeElement);
  show(false);
  searchAgain();
  if (stop >= 0) (stops()[stop] || stops().at(-1))?.focus({ preventScroll: true });
  // Charts are drawn in the next frame.
  requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(x, y)));
  document.querySelector("footer").replaceWith(page.querySelector("footer"));
  return tell();
}

function listen() {
  const address = new URLSearchParams(location.search);
  address.set("version", at());
  source = new EventSource(`follow?${address}`);
  source.onmessage = event => event.data !== at() && renew();
  // The browser connects again by itself, but for an answer that refuses.
  source.onerror = ({ target }) => target.readyState === EventSource.CLOSED && setTimeout(() => target === source && listen(), 60000);
}

/* Listen while the page is seen; what was shown when it is left is what the reader has seen. */
function seen() {
  if (document.visibilityState === "visible") {
    looked = lastLook();
    tell();
    listen();
  } else {
    source?.close();
    source = null;
    try { localStorage.setItem(LOOKED, JSON.stringify({ at: at(), version: D.model.version, until: D.now?.end, names: present() })); } catch { /* It is not allowed. */ }
  }
}

document.getElementById("main").before(line);
document.addEventListener("visibilitychange", seen);
seen();
