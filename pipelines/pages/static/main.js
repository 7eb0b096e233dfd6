/* Routes, which are fragments of the address, and the choice of colours. */
"use strict";

const VIEWS = {
  "": overview, time: timeView, documents: documentsView, health: healthView,
  topic: name => topicView(Number(name)), word: name => wordView(Number(name)), document: name => documentView(Number(name)),
};
const NUMBERED = new Set(["topic", "word", "document"]);

function show(focus) {
  const [, kind = "", name = ""] = location.hash.split("/");
  const main = document.getElementById("main");
  let place = name;
  try { place = decodeURIComponent(name); } catch { /* It is shown as it is. */ }
  const known = Object.hasOwn(VIEWS, kind) && (!NUMBERED.has(kind) || /^-?\d+$/.test(place));
  main.replaceChildren(...(known ? VIEWS[kind](place) : missing("page", kind + (place && "/" + place))).filter(Boolean));
  document.title = `${main.querySelector("h1").textContent.slice(0, 80)} – ${document.body.dataset.title}`;
  document.querySelectorAll("header nav a").forEach(a => {
    if (a.getAttribute("href") === `#/${kind}`) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  });
  if (focus) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

function colours() {
  const button = document.getElementById("colours");
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
    redraw();
  });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw);
}

addEventListener("hashchange", () => show(true));
const searchAgain = searchBox();
colours();
document.getElementById("search").closest("form").addEventListener("submit", event => event.preventDefault());
document.querySelector("header nav").hidden = false;
document.querySelector("header form").hidden = false;
show(false);
