/* Changes of the catalogue, which the service takes from a reader with its token. */
"use strict";

const TOKEN = `beam-topics-token${location.pathname}`;

/* Take the token from the address that the service prints, and out of that address. */
function takeToken() {
  const [, kind, name] = location.hash.split("/");
  if (kind !== "token") return;
  try { sessionStorage.setItem(TOKEN, name); } catch { /* It is not allowed. */ }
  window.history.replaceState(null, "", "#/");
}

function token() {
  try { return sessionStorage.getItem(TOKEN); } catch { return null; }
}

/* Return what changes the name of a topic, its group, and whether it is hidden; null without a token. */
function editor(topic) {
  if (!token()) return null;
  const { id, given, hidden, parts, name } = D.topics, own = id[topic], said = h("output");
  async function post(fields, then) {
    const headers = { Authorization: `Bearer ${token()}` };
    const answer = await fetch(`topics${location.search}`, { method: "POST", headers, body: JSON.stringify(fields) }).catch(() => null);
    if (!answer?.ok) return said.replaceChildren(foreign(answer ? (await answer.json()).error : "The service does not answer."));
    if (then !== undefined) window.history.replaceState(null, "", `#/topic/${then}`);
    return renew();
  }
  const named = h("input", { id: "topic-name", maxlength: 200, value: given[topic], placeholder: name[topic] });
  const others = TOPICS.filter(z => z !== topic), into = h("select", { id: "topic-into" }, others.map(z => h("option", { value: id[z] }, name[z])));
  return section("Change it for all readers",
    h("form.steps", { onsubmit: event => { event.preventDefault(); post({ topics: [own], name: named.value }); } },
      h("label", { for: "topic-name" }, "Name "), named, h("button", {}, "Rename")),
    others.length > 0 && h("form.steps", { onsubmit: event => { event.preventDefault(); post({ topics: [own], into: Number(into.value) }, into.value); } },
      h("label", { for: "topic-into" }, "Part of "), into, h("button", {}, "Merge")),
    h("p.steps", {}, parts[topic].filter(part => part !== own).map(part => h("button", { type: "button", onclick: () => post({ topics: [part], into: part }) }, `Take ${part} out`)),
      h("button", { type: "button", onclick: () => post({ topics: [own], hidden: !hidden[topic] }) }, hidden[topic] ? "Show in lists" : "Hide in lists"), said));
}

ADDED.push(editor);
takeToken();
show(false);
