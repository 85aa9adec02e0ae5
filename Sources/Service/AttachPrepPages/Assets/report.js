"use strict";

// The report: totals, time by stage, failures with remedies, and a table of results.

const page = JSON.parse(document.getElementById("data").textContent);
const items = page.items.map((item, index) => ({ ...item, index, name: nameOf(item.manifest.source.url) }));
const rowOf = new Map();
const state = { q: "", outcome: "", kind: "", code: "", sort: "order", down: false, item: null };

const sorts = {
  order: ["In order", ({ index }) => index],
  name: ["Source", ({ name }) => name.toLowerCase()],
  outcome: ["Outcome", ({ manifest }) => manifest.outcome],
  bytesIn: ["Original", ({ manifest }) => manifest.source.bytes ?? -1],
  bytesOut: ["Attachment", ({ manifest }) => manifest.attachment?.bytes ?? -1],
  fetch: ["On 3G", ({ manifest }) => manifest.deviceFetch?.["3g"] ?? -1],
  time: ["Time", ({ manifest }) => manifest.timings.total],
};

function start() {
  const main = make("main", { id: "main", tabindex: -1 });
  document.body.prepend(make("a", { class: "skip", href: "#main", onclick: (event) => {
    event.preventDefault();
    main.focus();
  } }, "Skip to results"));
  document.body.append(head(), main);
  if (page.kind === "preview") main.append(...items.map(previewOf));
  else main.append(totals(), make("div", { class: "panels" }, byKind(), byStage(), extremes("Slowest", "time"),
    extremes("Largest", "bytesOut")), failures(), table(), details());
  if (page.kind !== "preview") {
    readAddress();
    addEventListener("hashchange", readAddress);
  }
}

function head() {
  return make("header", { class: "page-head" },
    make("div", {}, make("h1", {}, page.title), make("p", { class: "soft" }, page.subtitle)), themeChoice());
}

// MARK: State in the URL

function change(values) {
  Object.assign(state, values);
  const words = Object.entries({ ...state, down: state.down ? "1" : "" })
    .filter(([key, value]) => value !== "" && value !== null && !(key === "sort" && value === "order"));
  history.replaceState(null, "", `#${new URLSearchParams(words)}`);
  draw();
}

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (words.has("item")) return show(Number(words.get("item")));
  dialog.close();
  Object.assign(state, { q: words.get("q") ?? "", outcome: words.get("outcome") ?? "", kind: words.get("kind") ?? "",
    code: words.get("code") ?? "", sort: words.get("sort") ?? "order", down: words.get("down") === "1" });
  for (const key of ["q", "outcome", "kind", "code"]) {
    const field = document.getElementById(`filter-${key}`);
    if (field) field.value = state[key];
  }
  draw();
  if (location.hash.length > 1) document.getElementById("results-title").scrollIntoView({ block: "start" });
}

start();
