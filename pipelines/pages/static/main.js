/* Routes, which are fragments of the address, and the choice of colours. */
"use strict";

const VIEWS = {
  "": overview, time: timeView, documents: documentsView, health: healthView,
  topic: name => (/^-?\d+$/.test(name) ? topicView(Number(name)) : missing("topic", name)), word: wordView, document: documentView,
};

function show(focus) {
  const [, kind = "", name = "", time] = location.hash.split("/");
  const main = document.getElementById("main");
  let place = name;
  try { place = decodeURIComponent(name); } catch { /* It is shown as it is. */ }
  main.replaceChildren(...(Object.hasOwn(VIEWS, kind) ? VIEWS[kind](place, time) : missing("page", kind + (place && "/" + place))).filter(Boolean));
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
