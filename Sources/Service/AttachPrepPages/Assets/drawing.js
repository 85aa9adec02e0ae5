"use strict";

// Notifications with the original and the prepared attachment side by side, with scale and appearance controls.

const drawingChoices = { scale: 1, appearance: null, showsPart: false };

/** The drawing of a result: original and prepared notification, controls and download times. */
function drawing(item) {
  const stage = make("div", { class: "drawing-stage" });
  // A group: named sections are landmarks, and a page may have many drawings.
  const section = make("div", {
    class: "drawing", role: "group", "aria-label": "Notification preview" });
  const draw = () => {
    stage.dataset.scale = drawingChoices.scale;
    fill(stage, rawPhone(item), preparedPhone(item));
  };
  section.append(...[drawingControls(item, draw), stage, drawnTargets(item), arrivalBars(item.manifest)].filter(Boolean));
  draw();
  return section;
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** The switch between light and dark; `keep` stores the choice. */
function themeChoice(keep = () => {}) {
  const bar = make("div", {});
  const chosen = () => document.documentElement.dataset.theme ?? "system";
  const names = { system: "System", light: "Light", dark: "Dark" };
  const show = () => fill(bar, choiceGroup("Page", Object.entries(names).map(([theme, label]) => ({
    label, isChosen: chosen() === theme,
    choose: () => {
      if (theme === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = theme;
      keep(theme);
    } })), show));
  show();
  return bar;
}

function drawingControls(item, draw) {
  const choose = (change) => () => {
    Object.assign(drawingChoices, change);
    draw();
  };
  const appearance = () => drawingChoices.appearance ?? (isDark() ? "dark" : "light");
  const bar = make("div", { class: "drawing-controls", role: "toolbar", "aria-label": "Preview options" });
  const show = () => fill(bar,
    choiceGroup("Scale", [1, 2, 3].map((scale) => ({
      label: `${scale}x`, isChosen: drawingChoices.scale === scale, choose: choose({ scale }) })), show),
    choiceGroup("Appearance", ["light", "dark"].map((name) => ({
      label: name === "light" ? "Light" : "Dark", isChosen: appearance() === name,
      choose: choose({ appearance: name }) })), show),
    hasDrawablePart(item.manifest) && choiceGroup("Overlay", [{
      label: "Clip rect", isChosen: drawingChoices.showsPart,
      choose: choose({ showsPart: !drawingChoices.showsPart }) }], show));
  show();
  return bar;
}

function choiceGroup(label, choices, show) {
  return make("div", { class: "choices", role: "group", "aria-label": label },
    choices.map(({ label: text, isChosen, choose }) => make("button", {
      type: "button", "aria-pressed": String(isChosen), "data-focus": `${label} ${text}`,
      onclick: () => { choose(); show(); } }, text)));
}

/** The notification with the original source: with the attachment if iOS shows it, else without. */
function rawPhone(item) {
  const verdict = originalVerdict(item.manifest);
  const bare = { ...item.manifest, attachment: null, thumbnail: null };
  return phone("Original", verdict.isShown ? item : { ...item, manifest: bare },
    make("p", { class: verdict.isShown ? "verdict good" : "verdict bad" },
      make("strong", {}, `${verdict.word} `), verdict.why));
}

function preparedPhone(item) {
  const { manifest } = item;
  if (!manifest.attachment) {
    return phone("Prepared", item, make("p", { class: "verdict bad" },
      make("strong", {}, "Nothing can be attached.")));
  }
  const [none, file] = [whyNoThumbnail(manifest), manifest.attachment];
  const size = file.width ? `, ${file.width} × ${file.height}` : "";
  return phone("Prepared", item, make("p", { class: "verdict good" },
    make("strong", {}, `${formatName(file.mimeType)}${size}, ${bytesText(file.bytes)}. `), none ?? ""));
}

function phone(title, item, caption) {
  const { scale, showsPart } = drawingChoices;
  const screen = make("div", {
    class: "phone", "data-appearance": drawingChoices.appearance ?? (isDark() ? "dark" : "light") },
    drawnCollapsed(item, scale), drawnExpanded(item, showsPart));
  screen.dataset.scale = scale;
  screen.style.setProperty("--scale", scale);
  return make("figure", { class: "drawing-side" },
    make("figcaption", {}, make("h3", {}, title), caption), make("div", {
      class: "phone-frame", tabindex: 0, role: "group", "aria-label": `${title}, on a phone` }, screen));
}

/** Download times of original and attachment by network, with the time limits of iOS. */
function arrivalBars(manifest) {
  const rows = attachprepFacts.networks.map((network) => ({
    network,
    sides: [["original", manifest.source.bytes], ["prepared", manifest.attachment?.bytes]]
      .filter(([, bytes]) => bytes !== null && bytes !== undefined)
      .map(([side, bytes]) => ({ side, seconds: fetchSeconds(bytes, network) })),
  })).filter(({ sides }) => sides.length);
  if (!rows.length) return null;
  return make("table", { class: "arrivals" },
    make("caption", {}, "Expected download time on a phone"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Network"), make("th", { scope: "col" }, "File"),
      make("th", { scope: "col", class: "arrival-axis" }, unseen("Bar"), arrivalAxis()),
      make("th", { scope: "col" }, "Time"))),
    make("tbody", {}, rows.flatMap(({ network, sides }) => sides.map(({ side, seconds }, index) =>
      arrivalRow(index === 0 ? network.label : null, sides.length, side, seconds)))));
}

/** Bar length on a square-root scale, which keeps short times visible; capped at 1. */
function arrivalShare(seconds) {
  return Math.min(1, Math.sqrt(seconds / (attachprepFacts.appleSeconds * 1.25)));
}

function arrivalRow(network, rowCount, side, seconds) {
  const verdict = arrivalVerdict(seconds);
  const bar = make("div", { class: `arrival-bar ${verdict.replace(" ", "-")}` });
  bar.style.setProperty("--share", arrivalShare(seconds));
  return make("tr", {},
    network && make("th", { scope: "row", rowspan: rowCount }, network), make("td", {}, side),
    make("td", { class: "arrival-cell" }, make("div", { class: "arrival-track" }, bar, arrivalMarks())),
    make("td", { class: "number" }, secondsText(seconds), " ",
      make("span", { class: `verdict ${verdict.replace(" ", "-")}` }, verdict)));
}

function arrivalMarks() {
  return [attachprepFacts.measuredSeconds, attachprepFacts.appleSeconds].map((seconds) => {
    const mark = make("i", { class: "arrival-mark", "aria-hidden": "true" });
    mark.style.setProperty("--share", arrivalShare(seconds));
    return mark;
  });
}

function arrivalAxis() {
  return make("span", { class: "arrival-track" }, [attachprepFacts.measuredSeconds, attachprepFacts.appleSeconds].map(
    (seconds) => {
      const label = make("span", { class: "arrival-label" }, `${seconds} s`);
      label.style.setProperty("--share", arrivalShare(seconds));
      return label;
    }));
}
