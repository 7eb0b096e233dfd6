/* The page of the service: it takes the figures of each new version, and keeps the reader's place. */
"use strict";

const LOOKED = `beam-topics${location.pathname}${location.search}`;
const line = h("p", { id: "followed", role: "status" });
let source = null, looked = null, read = new Date();

const present = () => D.topics.id.filter((_, z) => !D.topics.empty[z]);

/* Return the version that was shown when the reader left, and its topics; null at the first visit. */
function lastLook() {
  try { return JSON.parse(localStorage.getItem(LOOKED)); } catch { return null; }
}

function tell() {
  const now = present(), before = new Set(looked?.topics), after = new Set(now);
  const born = now.filter(id => !before.has(id)).length, ended = [...before].filter(id => !after.has(id)).length;
  line.replaceChildren(`Version ${D.model.version}, read at ${read.toLocaleTimeString()}.`,
    looked && looked.version !== D.model.version ? ` Since version ${looked.version}, which you saw last: ${plural(born, "new topic")}, ${whole(ended)} ended.` : "");
}

/* Return the elements of the content that take the focus. */
const stops = () => [...document.querySelectorAll("main :is(a, button, input, select, summary, [tabindex])")];

async function renew() {
  const answer = await fetch(location.href).catch(() => null);
  // The service says it again when it is connected again.
  if (!answer?.ok) return undefined;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const release = D.model.release, [, kind, name] = location.hash.split("/"), word = kind === "word" && D.words.text[name];
  take(page);
  read = new Date();
  // Another release may bring other scripts.
  if (D.model.release !== release) return location.reload();
  // A word of the address is a place among the words of the version.
  if (word) window.history.replaceState(null, "", `#/word/${D.words.text.indexOf(word)}`);
  const { scrollX: x, scrollY: y } = window, at = stops().indexOf(document.activeElement);
  show(false);
  searchAgain();
  if (at >= 0) (stops()[at] || stops().at(-1))?.focus({ preventScroll: true });
  // Charts are drawn in the next frame.
  requestAnimationFrame(() => requestAnimationFrame(() => scrollTo(x, y)));
  document.querySelector("footer").replaceWith(page.querySelector("footer"));
  return tell();
}

function listen() {
  const address = new URLSearchParams(location.search);
  address.set("version", D.model.version);
  source = new EventSource(`follow?${address}`);
  source.onmessage = event => event.data !== D.model.version && renew();
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
    try { localStorage.setItem(LOOKED, JSON.stringify({ version: D.model.version, topics: present() })); } catch { /* It is not allowed. */ }
  }
}

document.getElementById("main").before(line);
document.addEventListener("visibilitychange", seen);
seen();
