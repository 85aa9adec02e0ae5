"use strict";

// The page of a run: totals, where the time went, every failure with its remedy, and a table of all that was drawn.

const page = JSON.parse(document.getElementById("data").textContent);
const items = page.items.map((item, index) => ({ ...item, index, name: nameOf(item.manifest.source.url) }));
const rowOf = new Map();
const state = { q: "", outcome: "", kind: "", code: "", sort: "order", down: false, item: null };

const sorts = {
  order: ["In order", ({ index }) => index],
  name: ["Source", ({ name }) => name.toLowerCase()],
  outcome: ["Outcome", ({ manifest }) => manifest.outcome],
  bytesIn: ["Came as", ({ manifest }) => manifest.source.bytes ?? -1],
  bytesOut: ["Became", ({ manifest }) => manifest.attachment?.bytes ?? -1],
  fetch: ["On 3G", ({ manifest }) => manifest.deviceFetch?.["3g"] ?? -1],
  time: ["Time", ({ manifest }) => manifest.timings.total],
};

function start() {
  const main = make("main", { id: "main", tabindex: -1 });
  document.body.prepend(make("a", { class: "skip", href: "#main", onclick: (event) => {
    event.preventDefault();
    main.focus();
  } }, "To the results"));
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
  const themes = ["light", "dark"].map((theme) => ({
    label: theme === "light" ? "Light" : "Dark", isChosen: (isDark() ? "dark" : "light") === theme,
    choose: () => { document.documentElement.dataset.theme = theme; } }));
  const bar = make("div", {});
  const show = () => fill(bar, choiceGroup("Page", themes.map((choice, index) => ({
    ...choice, isChosen: isDark() === (index === 1) })), show));
  show();
  return make("header", { class: "page-head" },
    make("div", {}, make("h1", {}, page.title), make("p", { class: "soft" }, page.subtitle)), bar);
}

// MARK: What it came to

function totals() {
  const ready = items.filter(({ manifest }) => manifest.attachment).length;
  const sum = (value) => items.reduce((total, { manifest }) => total + (value(manifest) ?? 0), 0);
  const tiles = [
    ["Sources", grouped.format(items.length)], ["Ready to attach", grouped.format(ready)],
    ["Rejected", grouped.format(items.length - ready)],
    ["With warnings", grouped.format(items.filter(({ manifest }) => manifest.warnings.length).length)],
    ["Bytes in", bytesText(sum((manifest) => manifest.source.bytes))],
    ["Bytes out", bytesText(sum((manifest) => manifest.attachment?.bytes))],
  ];
  if (page.seconds) tiles.push(["Took", secondsText(page.seconds)],
    ["Rate", `${(items.length / page.seconds).toFixed(1)}/s`]);
  if (page.left) tiles.push(["Not begun", grouped.format(page.left)]);
  return make("dl", { class: "tiles" }, tiles.map(([name, value]) =>
    make("div", { class: "card" }, make("dt", {}, name), make("dd", {}, value))));
}

function byKind() {
  const kinds = ["image", "audio", "movie", "other"]
    .filter((kind) => items.some((item) => kindOf(item.manifest) === kind));
  const outcomes = Object.keys(outcomeWords)
    .filter((outcome) => items.some(({ manifest }) => manifest.outcome === outcome));
  const count = (kind, outcome) => items.filter(({ manifest }) =>
    kindOf(manifest) === kind && manifest.outcome === outcome).length;
  return panel("Outcome by kind", make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, unseen("Kind")),
      outcomes.map((outcome) => make("th", { scope: "col", class: "number" }, outcomeWords[outcome])))),
    make("tbody", {}, kinds.map((kind) => make("tr", {}, make("th", { scope: "row" }, kind),
      outcomes.map((outcome) => {
        const number = count(kind, outcome);
        return make("td", { class: "number" }, number ? make("a", {
          href: `#kind=${kind}&outcome=${outcome}` }, grouped.format(number)) : "0");
      }))))));
}

function byStage() {
  const rows = stages.map(([key, label]) => [label, spread(
    items.map(({ manifest }) => manifest.timings[key]).filter((value) => value > 0))])
      .filter(([, found]) => found.sum > 0);
  const longest = Math.max(...rows.map(([, found]) => found.sum), 0.01);
  return panel("Time by stage", make("table", { class: "bars" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, unseen("Stage")),
      make("th", { scope: "col" }, "All together"),
      ["Sum", "Median", "95 %"].map((name) => make("th", { scope: "col", class: "number" }, name)))),
    make("tbody", {}, rows.map(([label, found]) => barRow(label, found.sum / longest,
      ...[found.sum, found.median, found.p95].map(millisecondsText))))));
}

function extremes(title, sort) {
  const value = sorts[sort][1];
  const first = [...items].sort((one, other) => value(other) - value(one)).filter((item) => value(item) > 0)
    .slice(0, 8);
  const longest = first.length ? value(first[0]) : 1;
  const words = (item) => sort === "time" ? millisecondsText(value(item)) : bytesText(value(item));
  return panel(title, make("table", { class: "bars" }, make("tbody", {}, first.map((item) =>
    barRow(make("a", { href: `#item=${item.index}` }, item.name), value(item) / longest, words(item))))));
}

function failures() {
  const codes = new Map();
  for (const item of items.filter(({ manifest }) => manifest.error)) {
    const { code } = item.manifest.error;
    codes.set(code, [...(codes.get(code) ?? []), item]);
  }
  if (!codes.size) return null;
  const sorted = [...codes].sort(([, one], [, other]) => other.length - one.length);
  return make("section", { class: "card failures" }, make("h2", {}, "What was rejected, and what helps"),
    sorted.map(([code, found]) => make("details", { open: sorted.length === 1 || found.length <= 3 },
      make("summary", {}, make("code", {}, code), " ", make("span", { class: "badge bad" },
        grouped.format(found.length)),
        found[0].manifest.error.retryable && make("span", { class: "soft" }, " trying again may help")),
      make("ul", {}, found.slice(0, 20).map((item) => make("li", {},
        make("a", { href: `#item=${item.index}` }, item.name), " ", item.manifest.error.message))),
      found.length > 20 && make("p", {}, make("a", { href: `#code=${code}` },
        `All ${grouped.format(found.length)}`)))));
}

function panel(title, table) {
  table.setAttribute("aria-label", title);
  return make("section", { class: "card panel" }, make("h2", {}, title), table);
}

// MARK: The table

let rowsBox, countLine, headRow;

function table() {
  rowsBox = make("div", { class: "rows", role: "rowgroup" });
  countLine = make("p", { class: "soft", role: "status" });
  headRow = make("div", { class: "row head", role: "row" });
  return make("section", { class: "card results", "aria-labelledby": "results-title" },
    make("div", { class: "results-head" }, make("h2", { id: "results-title" }, "Results"), filters(), countLine),
    make("div", { class: "table", role: "table", "aria-labelledby": "results-title",
      "aria-rowcount": items.length + 1 },
      make("div", { role: "rowgroup" }, headRow), rowsBox));
}

function filters() {
  const choose = (key, label, words) => make("select", { "aria-label": label, id: `filter-${key}`,
    onchange: ({ target }) => change({ [key]: target.value }) },
    make("option", { value: "" }, label), words.map(([value, text]) => make("option", { value }, text)));
  const present = (value) => new Set(items.map(({ manifest }) => value(manifest)).filter(Boolean));
  const [outcomes, kinds] = [present((manifest) => manifest.outcome), present(kindOf)];
  const codes = [...present((manifest) => manifest.error?.code)].sort();
  return make("div", { class: "filters", role: "search" },
    make("input", { type: "search", id: "filter-q", placeholder: "Search",
      "aria-label": "Search sources, names and errors",
      oninput: afterQuiet(80, () => change({ q: document.getElementById("filter-q").value })) }),
    choose("outcome", "Any outcome", Object.entries(outcomeWords).filter(([outcome]) => outcomes.has(outcome))),
    choose("kind", "Any kind", ["image", "audio", "movie", "other"].filter((kind) => kinds.has(kind))
      .map((kind) => [kind, kind])),
    codes.length ? choose("code", "Any error", codes.map((code) => [code, code])) : null);
}

function drawHead() {
  fill(headRow, make("div", { role: "columnheader" }, unseen("Picture")),
    Object.entries(sorts).slice(1).map(([key, [label]]) => {
    const isSorted = state.sort === key;
    return make("div", { role: "columnheader", class: `cell-${key}`,
      "aria-sort": isSorted ? (state.down ? "descending" : "ascending") : "none" },
      make("button", { type: "button", "data-focus": key,
        onclick: () => change({ sort: key, down: isSorted ? !state.down : !["name", "outcome"].includes(key) }) },
        label, make("span", { "aria-hidden": "true" }, isSorted ? (state.down ? " ↓" : " ↑") : "")));
  }));
}

function row(item) {
  if (rowOf.has(item.index)) return rowOf.get(item.index);
  const { manifest } = item;
  const cell = (key, ...content) => make("div", { role: "cell", class: `cell-${key}` }, content);
  const made = make("div", { class: "row", role: "row" },
    cell("picture", item.media.thumbnail ? make("img", {
      src: addressOf(item.media.thumbnail), alt: "", loading: "lazy", decoding: "async" })
      : kindOf(manifest) === "audio" && make("span", { class: "note", "aria-hidden": "true" }, "♪")),
    cell("name", make("a", { href: `#item=${item.index}` }, item.name),
      make("span", { class: "row-note" }, manifest.error?.message ?? manifest.reasons[0] ?? "")),
    cell("outcome", outcomeBadge(manifest.outcome),
      manifest.warnings.length ? make("span",
        { class: "badge warn", title: manifest.warnings.map(({ message }) => message).join(" ") },
        `${manifest.warnings.length} ⚠`) : null),
    cell("bytesIn", formatWord(manifest.source.mimeType), " ", bytesText(manifest.source.bytes)),
    cell("bytesOut", manifest.attachment
      ? `${formatWord(manifest.attachment.mimeType)} ${bytesText(manifest.attachment.bytes)}` : "–"),
    cell("fetch", secondsText(manifest.deviceFetch?.["3g"])),
    cell("time", millisecondsText(manifest.timings.total)));
  rowOf.set(item.index, made);
  return made;
}

function chosen() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (item) => item.searched ??= [item.manifest.source.url, item.manifest.id, item.manifest.error?.code,
    item.manifest.error?.message, ...item.manifest.reasons, item.manifest.source.mimeType].join(" ").toLowerCase();
  const found = items.filter((item) => (!state.outcome || item.manifest.outcome === state.outcome)
    && (!state.kind || kindOf(item.manifest) === state.kind)
      && (!state.code || item.manifest.error?.code === state.code)
    && words.every((word) => text(item).includes(word)));
  const value = (sorts[state.sort] ?? sorts.order)[1];
  const order = (one, other) => (one < other ? -1 : one > other ? 1 : 0) * (state.down ? -1 : 1);
  return state.sort === "order" ? found : found.sort((one, other) => order(value(one), value(other))
    || one.index - other.index);
}

const drawn = { items: [], upTo: 0, watch: null };

/** The first rows at once; more come when somebody gets near to the end of what is there. */
function draw() {
  drawn.items = chosen();
  drawn.upTo = 0;
  rowsBox.replaceChildren();
  more();
  drawHead();
  countLine.textContent = drawn.items.length === items.length
    ? `${grouped.format(items.length)} results`
      : `${grouped.format(drawn.items.length)} of ${grouped.format(items.length)}`;
}

function more() {
  drawn.watch?.disconnect();
  const next = drawn.items.slice(drawn.upTo, drawn.upTo + 100);
  drawn.upTo += next.length;
  rowsBox.append(...next.map(row));
  if (drawn.upTo >= drawn.items.length) return;
  drawn.watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && more(),
    { rootMargin: "1500px" });
  drawn.watch.observe(rowsBox.lastElementChild);
}

// MARK: What the address says

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

// MARK: One result

const dialog = make("dialog", { class: "details", "aria-labelledby": "details-title" });
let formerAddress = "#";

function details() {
  dialog.addEventListener("close", () => {
    // What is hidden would go on playing.
    dialog.replaceChildren();
    if (location.hash.includes("item=")) {
      history.replaceState(null, "", formerAddress);
      if (!rowsBox.childElementCount) readAddress();
    }
  });
  addEventListener("hashchange", ({ oldURL }) => {
    if (!oldURL.includes("item=")) formerAddress = new URL(oldURL).hash || "#";
  });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  return dialog;
}

function show(index) {
  const item = items[index];
  if (!item) return;
  if (!rowsBox.childElementCount) draw();
  const place = drawn.items.indexOf(item);
  const step = (label, other) => make("a", {
    class: "button", href: other ? `#item=${other.index}` : null, "aria-disabled": other ? null : "true" }, label);
  fill(dialog, make("div", { class: "details-head" },
    make("h2", { id: "details-title", tabindex: -1 }, item.name), outcomeBadge(item.manifest.outcome),
    make("span", { class: "spring" }), step("Previous", drawn.items[place - 1]), step("Next", drawn.items[place + 1]),
    make("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Close")), ...bodyOf(item));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("details-title").focus();
}

function bodyOf(item) {
  return [drawing(item), manifestFacts(item.manifest), timingBars(item.manifest.timings),
    make("details", {}, make("summary", {}, "Manifest"), make("pre", {}, JSON.stringify(item.manifest, null, 2)))]
      .filter(Boolean);
}

function previewOf(item) {
  return make("article", { class: "card preview" }, make("div", { class: "details-head" },
    make("h2", {}, item.name), outcomeBadge(item.manifest.outcome)), ...bodyOf(item));
}

start();
