"use strict";

// The table of a report, with search, filters and sorting; rows are created while scrolling.

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
    choose("outcome", "Any outcome", Object.entries(outcomeNames).filter(([outcome]) => outcomes.has(outcome))),
    choose("kind", "Any kind", ["image", "audio", "movie", "other"].filter((kind) => kinds.has(kind))
      .map((kind) => [kind, kind])),
    codes.length ? choose("code", "Any error", codes.map((code) => [code, code])) : null);
}

function drawHead() {
  fill(headRow, make("div", { role: "columnheader" }, unseen("Thumbnail")),
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
    cell("bytesIn", formatName(manifest.source.mimeType), " ", bytesText(manifest.source.bytes)),
    cell("bytesOut", manifest.attachment
      ? `${formatName(manifest.attachment.mimeType)} ${bytesText(manifest.attachment.bytes)}` : "–"),
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

/** Draws the first 100 rows; `more` adds the next ones while scrolling. */
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
