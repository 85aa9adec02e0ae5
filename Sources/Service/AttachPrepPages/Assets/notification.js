"use strict";

// Draws a notification as iOS does, collapsed and expanded; shared by report, preview and dashboard.
//
// An item is { manifest, media: { attachment, thumbnail, crop }, text: { app, title, subtitle, body } }. A file of
// `media` is a URL, { type, data } with base64 content, or null if it is not available.

const keptAddresses = new WeakMap();

/** The URL of a file. Embedded movies and audio become blob URLs, which support seeking. */
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

/** The square thumbnail beside the text, with the resolution that iOS gives it on this screen. */
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

/** The text of a notification, from the payload or placeholder text. */
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

/** The collapsed notification, with a thumbnail of 35 points. */
function drawnCollapsed(item, scale) {
  return make("div", { class: "notification", role: "group", "aria-label": "Collapsed notification" },
    drawnIcon(), drawnText(item.text, true),
    make("div", { class: "notification-side" },
      make("span", { class: "notification-time" }, "now"), drawnThumbnail(item, scale)));
}

/** The expanded notification: the attachment, then the text. */
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
    image: () => drawnPicture(item), movie: () => drawnMovie(item), audio: () => drawnAudio(item),
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
  if (!whole) return [picture, missingNote("This page contains only the thumbnail.")];
  return moves ? heldOrPlayed(picture) : picture;
}

/** A GIF with a pause button; it starts paused if the user prefers reduced motion. */
function heldOrPlayed(picture) {
  const held = make("canvas", { class: "held", role: "img", "aria-label": "The attachment, paused" });
  const button = make("button", { class: "motion", type: "button", "data-focus": "motion",
    onclick: () => show(!plays) });
  let plays = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = (value) => {
    plays = value;
    [picture.hidden, held.hidden] = [!plays, plays];
    button.textContent = plays ? "Pause" : "Play";
    button.setAttribute("aria-label", plays ? "Pause the animation" : "Play the animation");
  };
  picture.addEventListener("load", () => {
    [held.width, held.height] = [picture.naturalWidth, picture.naturalHeight];
    held.getContext("2d").drawImage(picture, 0, 0);
  });
  show(plays);
  return [picture, held, button];
}

function drawnMovie({ manifest, media }) {
  // With a clipping rectangle the thumbnail shows only a part of the frame, so it is not used as poster.
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
    missingNote("This page contains only the poster of the movie."),
  ];
}

/** A movie URL whose first frame is shown before playback: iOS loads a frame only after a seek. */
function withFirstFrame(address) {
  return `${address}#t=0.001`;
}

function drawnAudio({ manifest, media }) {
  const whole = addressOf(media.attachment);
  if (whole) return make("audio", { src: whole, controls: true, preload: "metadata",
    "aria-label": "The attached audio" });
  return make("div", { class: "player" },
    make("span", { class: "play", "aria-hidden": "true" }), make("span", { class: "track", "aria-hidden": "true" }),
    make("span", {}, secondsText(manifest.attachment.duration)));
}

function missingFile(attachment) {
  if (attachment.sealed) return make("div", { class: "missing" }, "Sealed: only the phone can show it.");
  return make("div", { class: "missing" }, `${formatName(attachment.mimeType)} not available in this page: too large `
    + "to embed, deleted, or without a public URL (--base-url).");
}

function missingNote(sentence) {
  return make("span", { class: "missing-note" }, sentence);
}

/** Whether the clipping rectangle can be drawn over the attachment; not for movies with a rotation flag. */
function hasDrawablePart({ attachment, options, warnings }) {
  return Boolean(options?.thumbnailClippingRect) && attachment?.kind !== "audio"
    && !warnings.some(({ code }) => code === "video.rotated");
}

/** The clipping rectangle over the image, with a cross at its center and the square that iOS shows. */
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
