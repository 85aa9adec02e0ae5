"use strict";

// A notification as a phone draws it, collapsed and expanded: the one drawing of report, preview and dashboard.
//
// An item is { manifest, media: { attachment, thumbnail, crop }, text: { app, title, subtitle, body } }. A file of
// `media` is an address, or { type, data } with its bytes in base64, or null where it cannot be had.

const keptAddresses = new WeakMap();

/** Where a page loads a file from. Embedded movies and sounds become objects of the browser: they can be sought in. */
function addressOf(file) {
  if (!file || typeof file === "string") return file ?? null;
  if (!keptAddresses.has(file)) {
    const isPicture = file.type.startsWith("image/");
    const bytes = () => Uint8Array.from(atob(file.data), (letter) => letter.charCodeAt(0));
    keptAddresses.set(file, isPicture
      ? `data:${file.type};base64,${file.data}` : URL.createObjectURL(new Blob([bytes()], { type: file.type })));
  }
  return keptAddresses.get(file);
}

/** The square beside the text, with as many pixels as a phone of the screen's density gives it. */
function drawnThumbnail(item, scale) {
  const { manifest, media } = item;
  if (whyNoThumbnail(manifest) || !media.thumbnail) return null;
  const pixels = devicePixels(
    manifest.attachment.width ?? manifest.thumbnail.width, manifest.attachment.height ?? manifest.thumbnail.height,
    shownPart(manifest), Math.min(3, scale * window.devicePixelRatio));
  const canvas = make("canvas", {
    class: "notification-thumbnail", width: pixels, height: pixels, role: "img",
    "aria-label": `Thumbnail, ${pixels} pixels wide`,
  });
  const picture = new Image();
  picture.onerror = () => canvas.remove();
  picture.onload = () => {
    const square = deviceSquare(picture.naturalWidth, picture.naturalHeight);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, square.x, square.y, square.side, square.side, 0, 0, pixels, pixels);
    canvas.dataset.drawn = "yes";
  };
  picture.src = addressOf(media.thumbnail);
  return canvas;
}

/** The lines of a notification: what the payload says, or words that stand for it. */
function drawnText(text, isCollapsed) {
  return make("div", { class: "notification-text" },
    make("div", { class: "notification-title" }, text.title || text.app),
    text.subtitle && make("div", { class: "notification-subtitle" }, text.subtitle),
    text.body && make("div", { class: isCollapsed ? "notification-body clamped" : "notification-body" }, text.body));
}

function drawnIcon() {
  return make("div", { class: "notification-icon", "aria-hidden": "true" },
    make("svg", { viewBox: "0 0 38 38" },
      make("path", { d: "M10 25V13a5 5 0 0 1 10 0v11a3 3 0 0 1-6 0V14" }),
      make("circle", { cx: 27, cy: 12, r: 3.5 })));
}

/** The notification in a list: 35 points of picture. */
function drawnCollapsed(item, scale) {
  return make("div", { class: "notification", role: "group", "aria-label": "Collapsed notification" },
    drawnIcon(), drawnText(item.text, true),
    make("div", { class: "notification-side" },
      make("span", { class: "notification-time" }, "now"), drawnThumbnail(item, scale)));
}

/** The notification when it is pressed: the attachment, then the text. */
function drawnExpanded(item, showsPart) {
  return make("div", { class: "notification expanded", role: "group", "aria-label": "Expanded notification" },
    drawnAttachment(item, showsPart),
    make("div", { class: "notification-row" },
      drawnIcon(), drawnText(item.text, false),
      make("div", { class: "notification-side" }, make("span", { class: "notification-time" }, "now"))));
}

function drawnAttachment(item, showsPart) {
  const { attachment } = item.manifest;
  if (!attachment) return null;
  const content = {
    image: () => drawnPicture(item), movie: () => drawnMovie(item), audio: () => drawnSound(item),
  }[attachment.kind]();
  const part = item.manifest.options?.thumbnailClippingRect;
  const frame = make("div", { class: `notification-media ${attachment.kind}` }, content);
  if (attachment.width && attachment.height) {
    frame.style.setProperty("--ratio", `${attachment.width} / ${attachment.height}`);
  }
  if (showsPart && hasDrawablePart(item.manifest)) frame.append(drawnPart(part, attachment));
  return frame;
}

function drawnPicture({ manifest, media }) {
  const [whole, still] = [addressOf(media.attachment), addressOf(media.thumbnail)];
  if (!whole && !still) return missingFile(manifest.attachment);
  const picture = make("img", { src: whole ?? still, alt: "The attachment", decoding: "async",
    onerror: () => picture.replaceWith(missingFile(manifest.attachment)) });
  const moves = manifest.attachment.mimeType === "image/gif" && (manifest.attachment.frames ?? 1) > 1;
  if (!whole) return [picture, missingNote("Only its thumbnail is in this page.")];
  return moves ? heldOrPlayed(picture) : picture;
}

/** A GIF plays, as on the phone; a button holds it, and for who wants less motion it is held from the beginning. */
function heldOrPlayed(picture) {
  const held = make("canvas", { class: "held", role: "img", "aria-label": "The attachment, held" });
  const button = make("button", { class: "motion", type: "button", "data-focus": "motion",
    onclick: () => show(!plays) });
  let plays = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = (value) => {
    plays = value;
    [picture.hidden, held.hidden] = [!plays, plays];
    button.textContent = plays ? "Hold" : "Play";
    button.setAttribute("aria-label", plays ? "Hold the animation" : "Play the animation");
  };
  picture.addEventListener("load", () => {
    [held.width, held.height] = [picture.naturalWidth, picture.naturalHeight];
    held.getContext("2d").drawImage(picture, 0, 0);
  });
  show(plays);
  return [picture, held, button];
}

function drawnMovie({ manifest, media }) {
  // With a clip rect the thumbnail is a part of the picture, and no poster.
  const poster = manifest.options?.thumbnailClippingRect ? null : addressOf(media.thumbnail);
  const whole = addressOf(media.attachment);
  if (whole) {
    return make("video", {
      src: poster ? whole : withFirstFrame(whole), poster, controls: true, playsinline: true,
      preload: "metadata", "aria-label": "The attached movie",
    });
  }
  if (!poster) return missingFile(manifest.attachment);
  return [
    make("img", { src: poster, alt: "The movie's poster" }), make("span", { class: "play", "aria-hidden": "true" }),
    missingNote("Only the poster of the movie is in this page."),
  ];
}

/** The address of a movie that shows its first frame before it is played: phones load none unless they have to seek. */
function withFirstFrame(address) {
  return `${address}#t=0.001`;
}

function drawnSound({ manifest, media }) {
  const whole = addressOf(media.attachment);
  if (whole) return make("audio", { src: whole, controls: true, preload: "metadata",
    "aria-label": "The attached sound" });
  return make("div", { class: "player" },
    make("span", { class: "play", "aria-hidden": "true" }), make("span", { class: "track", "aria-hidden": "true" }),
    make("span", {}, secondsText(manifest.attachment.duration)));
}

function missingFile(attachment) {
  return make("div", { class: "missing" }, `${formatWord(attachment.mimeType)} that this page does not have: it was `
    + "too large for it, is gone, or has no public address (--base-url).");
}

function missingNote(sentence) {
  return make("span", { class: "missing-note" }, sentence);
}

/** Whether the clipping rectangle can be laid over the picture: that of a movie which is stored turned counts there. */
function hasDrawablePart({ attachment, options, warnings }) {
  return Boolean(options?.thumbnailClippingRect) && attachment?.kind !== "audio"
    && !warnings.some(({ code }) => code === "video.rotated");
}

/** The clipping rectangle over the whole picture: dark outside, a cross in its middle, the device's square. */
function drawnPart(part, { width, height }) {
  const [x, y, w, h] = [part.X, part.Y, part.Width, part.Height].map((share, index) =>
    share * (index % 2 === 0 ? width : height));
  const square = deviceSquare(w, h);
  const outside = `M0 0H${width}V${height}H0ZM${x} ${y}V${y + h}H${x + w}V${y}Z`;
  const [middleX, middleY, arm] = [x + w / 2, y + h / 2, Math.max(width, height) / 40];
  return make("svg", { class: "part", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Clipping rectangle: ${[part.X, part.Y, part.Width, part.Height].join(", ")}` },
    make("path", { class: "part-outside", d: outside, "fill-rule": "evenodd" }),
    make("rect", { class: "part-rect", x, y, width: w, height: h }),
    make("rect", {
      class: "part-square", x: x + square.x, y: y + square.y, width: square.side, height: square.side }),
    make("path", {
      class: "part-focus",
      d: `M${middleX - arm} ${middleY}H${middleX + arm}M${middleX} ${middleY - arm}V${middleY + arm}` }));
}
