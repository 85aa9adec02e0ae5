"use strict";

// The details of a manifest, for the report and the job page.

const outcomeStyles = { passed: "good", converted: "good", shrunk: "good", bestAttempt: "warn", rejected: "bad" };
const outcomeNames = {
  passed: "passed", converted: "converted", shrunk: "shrunk", bestAttempt: "best attempt", rejected: "rejected",
};

function outcomeBadge(outcome) {
  return make("span", { class: `badge ${outcomeStyles[outcome] ?? ""}` }, outcomeNames[outcome] ?? outcome);
}

/** The kind of media; for a rejected source from its MIME type. */
function kindOf(manifest) {
  if (manifest.attachment) return manifest.attachment.kind;
  const family = (manifest.source.mimeType ?? "").split("/")[0];
  return { image: "image", audio: "audio", video: "movie" }[family] ?? "other";
}

function factList(rows) {
  return make("dl", { class: "facts" }, rows
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

/** The options of a UNNotificationAttachment as a sentence each. */
function optionsText(options) {
  const { typeHint, thumbnailTime, thumbnailHidden, thumbnailClippingRect, ...others } = withoutEmpty(options);
  const rectangle = thumbnailClippingRect && ["x", "y", "width", "height"]
    .filter((key) => key in thumbnailClippingRect).map((key) => `${key} ${thumbnailClippingRect[key]}`).join(", ");
  const texts = [typeHint && `Type ${typeHint}`,
    thumbnailTime !== undefined && `thumbnail at ${typeof thumbnailTime === "number" ? `${thumbnailTime} s`
      : thumbnailTime}`, thumbnailHidden && "no thumbnail", rectangle && `clipping rectangle ${rectangle}`,
    ...Object.entries(others).map(([key, value]) => `${key} ${value}`)].filter(Boolean);
  return texts.join("; ") || null;
}

/** Source, result and reasons; `hasError` includes the error. */
function manifestFacts(manifest, { hasError = true } = {}) {
  const { source, attachment, thumbnail, crop, options } = manifest;
  return factList([
    ["Source", source.url],
    ["Final URL", source.finalURL && source.finalURL !== source.url ? source.finalURL : null],
    ["Original", sourceText(source)],
    ["Attachment", attachment && fileText(attachment)],
    ["Reasons", manifest.error ? null : sentences(manifest.reasons)],
    ["Thumbnail", thumbnail && fileText(thumbnail)],
    ["Crop", crop && fileText(crop)],
    ...Object.entries(manifest.renditions ?? {}).sort().map(([name, file]) => [name, fileText(file)]),
    ["Options", options && optionsText(options)],
    ["Warnings", manifest.warnings.length
      ? manifest.warnings.map(({ code, message }) => make("p", {}, make("code", {}, code), " ", message)) : null],
    ["Error", !hasError || !manifest.error ? null : [
      make("p", {}, make("code", {}, manifest.error.code), manifest.error.retryable ? " (retrying may help)" : ""),
      make("p", {}, manifest.error.message)]],
    ["SHA-256", attachment && make("code", {}, attachment.sha256)],
  ]);
}

function sourceText(source) {
  if (source.bytes === null && !source.mimeType) return null;
  const claim = source.declaredMIMEType && source.declaredMIMEType !== source.mimeType
    ? ` (declared as ${source.declaredMIMEType})` : "";
  return `${source.mimeType ?? "unknown"}${claim}, ${grouped.format(source.bytes ?? 0)} bytes`;
}

function fileText(file) {
  const parts = [file.uti ?? file.mimeType ?? file.type, `${grouped.format(file.bytes)} bytes`];
  if (file.width) parts.push(`${file.width} × ${file.height}`);
  if (file.frames > 1) parts.push(`${file.frames} frames`);
  if (file.duration) parts.push(secondsText(file.duration));
  if (file.time !== null && file.time !== undefined) parts.push(`at ${file.time}`);
  const words = parts.join(", ");
  return file.url ? [make("a", { href: safeAddress(file.url), rel: "noreferrer" }, file.file), ` ${words}`]
    : `${file.file}: ${words}`;
}

/** An http(s) URL or a path of this host; "#" for any other URL, such as javascript:. */
function safeAddress(address) {
  return /^(https?:\/\/|\/(?!\/))/i.test(address) ? address : "#";
}

function withoutEmpty(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

const stages = [
  ["dns", "DNS"], ["connect", "Connect"], ["tls", "TLS"], ["firstByte", "First byte"],
  ["transfer", "Transfer"], ["identify", "Identify"], ["inspect", "Inspect"], ["render", "Render"],
  ["publish", "Publish"],
];

/**
 * The time of each stage as bars. With "Other" they add up to the total; a note explains a larger sum, which results
 * from concurrent stages. Waiting time is listed separately.
 */
function timingBars(timings) {
  const sum = stages.reduce((total, [key]) => total + (timings[key] ?? 0), 0);
  // Omits stages that would be shown as 0.0 ms.
  const shown = stages.filter(([key]) => timings[key] >= 0.05).map(([key, label]) => [label, timings[key]]);
  const other = timings.total - sum;
  if (!(timings.total > 0) && !shown.length) return null;
  if (other >= 0.05 && shown.length) shown.push(["Other", other]);
  const longest = Math.max(...shown.map(([, time]) => time), timings.total, 0.01);
  const foot = (label, time) => make("tr", {}, make("th", { scope: "row" }, label), make("td", {}),
    make("td", { class: "number" }, millisecondsText(time)));
  return make("div", {}, make("table", { class: "bars" }, make("caption", {}, "Time by stage"),
    make("tbody", {}, shown.map(([label, time]) => barRow(label, time / longest, millisecondsText(time)))),
    make("tfoot", {}, foot("Total", timings.total),
      timings.queue > 0 && foot("Waiting, not in the total", timings.queue))),
  !shown.length && make("p", { class: "soft bars-note" }, "No times of individual stages were recorded."),
  other < -0.05 && make("p", { class: "soft bars-note" }, `The stages add up to ${millisecondsText(sum)}, more than `
    + "the total, because some run at the same time: a file is identified while it is still being downloaded."));
}

function barRow(label, share, ...values) {
  const bar = make("div", { class: "bar" });
  bar.style.setProperty("--share", Math.min(1, share));
  return make("tr", {}, make("th", { scope: "row" }, label),
    make("td", { class: "bar-cell" }, bar), values.map((value) => make("td", { class: "number" }, value)));
}
