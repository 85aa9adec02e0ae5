"use strict";

// Draws the notification of each other system beside iOS's: Android, browsers, and the pictures of further targets.

/** The drawings of the renditions of a manifest; null without any. */
function drawnTargets(item) {
  const renditions = item.manifest.renditions ?? {};
  const names = Object.keys(renditions);
  if (!names.length) return null;
  const own = names.filter((name) => !drawnTogether.has(name));
  return make("div", { class: "targets", role: "group", "aria-label": "Other systems" },
    renditions.iosSmall && targetFigure("iOS, slow networks", [renditions.iosSmall],
      targetPicture(item, "iosSmall", "target-own")),
    renditions.android && targetFigure("Android", [renditions.android], drawnAndroid(item)),
    (renditions.web || renditions.webIcon) && targetFigure("Web", webParts(renditions), drawnWeb(item)),
    renditions.avatar && targetFigure("Avatar", [renditions.avatar], targetPicture(item, "avatar", "target-avatar")),
    own.map((name) => targetFigure(name, [renditions[name]], targetPicture(item, name, "target-own"))));
}

/** Renditions with a drawing of their own; all others are profiles of the operator. */
const drawnTogether = new Set(["iosSmall", "android", "web", "webIcon", "webBadge", "avatar"]);

function webParts(renditions) {
  return ["web", "webIcon", "webBadge"].map((name) => renditions[name]).filter(Boolean);
}

function targetFigure(title, files, content) {
  return make("figure", { class: "target" },
    make("figcaption", {}, make("h3", {}, title), files.map((file) => make("p", { class: "verdict good" },
      make("strong", {}, `${formatName(file.type)}, ${file.width} × ${file.height}, ${bytesText(file.bytes)}. `)))),
    content);
}

/** Android's expanded notification: small icon, text, big picture. */
function drawnAndroid(item) {
  return make("div", { class: "target-card", role: "group", "aria-label": "Android notification" },
    make("div", { class: "target-head" }, make("span", { class: "target-dot", "aria-hidden": "true" }),
      `${item.text.app} · now`),
    targetText(item.text), targetPicture(item, "android", "target-image"));
}

/** A browser's notification: icon beside the text, image below. */
function drawnWeb(item) {
  return make("div", { class: "target-card", role: "group", "aria-label": "Web notification" },
    make("div", { class: "target-row" },
      targetPicture(item, "webIcon", "target-icon"), targetText(item.text),
      targetPicture(item, "webBadge", "target-badge")),
    targetPicture(item, "web", "target-image"));
}

function targetText(text) {
  return make("div", { class: "target-text" },
    make("strong", {}, text.title || text.app), text.body && make("div", {}, text.body));
}

/** The picture of a rendition; its name where the page does not contain it. */
function targetPicture(item, name, style) {
  if (!item.manifest.renditions[name]) return null;
  const address = addressOf(item.media.renditions?.[name]);
  const missing = () => make("span", { class: `${style} missing` }, name);
  if (!address) return missing();
  const picture = make("img", { class: style, src: address, alt: `The picture ${name}`, decoding: "async",
    onerror: () => picture.replaceWith(missing()) });
  return picture;
}
