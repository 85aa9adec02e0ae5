"use strict";

// The summary of a report: totals, outcomes by kind, time by stage, slowest and largest results, failures.

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
  if (page.left) tiles.push(["Not processed", grouped.format(page.left)]);
  return make("dl", { class: "tiles" }, tiles.map(([name, value]) =>
    make("div", { class: "card" }, make("dt", {}, name), make("dd", {}, value))));
}

function byKind() {
  const kinds = ["image", "audio", "movie", "other"]
    .filter((kind) => items.some((item) => kindOf(item.manifest) === kind));
  const outcomes = Object.keys(outcomeNames)
    .filter((outcome) => items.some(({ manifest }) => manifest.outcome === outcome));
  const count = (kind, outcome) => items.filter(({ manifest }) =>
    kindOf(manifest) === kind && manifest.outcome === outcome).length;
  return panel("Outcome by kind", make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, unseen("Kind")),
      outcomes.map((outcome) => make("th", { scope: "col", class: "number" }, outcomeNames[outcome])))),
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
      make("th", { scope: "col" }, "Total"),
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
  return make("section", { class: "card failures" }, make("h2", {}, "Rejected sources"),
    sorted.map(([code, found]) => make("details", { open: sorted.length === 1 || found.length <= 3 },
      make("summary", {}, make("code", {}, code), " ", make("span", { class: "badge bad" },
        grouped.format(found.length)),
        found[0].manifest.error.retryable && make("span", { class: "soft" }, " retrying may help")),
      make("ul", {}, found.slice(0, 20).map((item) => make("li", {},
        make("a", { href: `#item=${item.index}` }, item.name), " ", item.manifest.error.message))),
      found.length > 20 && make("p", {}, make("a", { href: `#code=${code}` },
        `All ${grouped.format(found.length)}`)))));
}

function panel(title, table) {
  table.setAttribute("aria-label", title);
  return make("section", { class: "card panel" }, make("h2", {}, title), table);
}
