"use strict";

// How iOS displays attachments, as measured (docs/reference/apple-attachment-rules.md).

/** The side of the collapsed thumbnail, in points. */
const thumbnailPoints = 35;

/** The square that iOS cuts out of the thumbnail: centered horizontally, a third from the top vertically. */
function deviceSquare(width, height) {
  const side = Math.min(width, height);
  return { x: (width - side) / 2, y: (height - side) / 3, side };
}

/**
 * The resolution of the collapsed thumbnail in pixels: iOS first scales the whole image so that its longest side fits
 * the box, then crops it. A small part of a large image is therefore blurred.
 */
function devicePixels(width, height, part, scale) {
  const box = thumbnailPoints * scale;
  const reduction = Math.min(1, box / Math.max(width, height));
  const side = Math.min(width * part.Width * reduction, height * part.Height * reduction);
  return Math.max(1, Math.min(box, Math.round(side)));
}

/** The part of the attachment that the thumbnail shows, in unit coordinates, origin top left. */
function shownPart(manifest) {
  return manifest.options?.thumbnailClippingRect ?? { X: 0, Y: 0, Width: 1, Height: 1 };
}

/** Why a collapsed notification has no thumbnail; null if it has one. */
function whyNoThumbnail(manifest) {
  if (!manifest.attachment) return "Nothing is attached.";
  if (manifest.options?.thumbnailHidden) return "The thumbnail is hidden as requested.";
  if (manifest.attachment.kind === "audio") return "Audio has no thumbnail.";
  return manifest.thumbnail ? null : "No thumbnail available.";
}

/** Whether iOS shows the original source, and why. */
function originalVerdict(manifest) {
  const { error, source, outcome, reasons } = manifest;
  if (error) {
    // The error is shown beside the drawing.
    if (source.attachable) return { isShown: false, word: "Attachable, but rejected by the request.", why: "" };
    const isFetched = /^(media|limit)\./.test(error.code);
    return { isShown: false, word: isFetched ? "Silently dropped by iOS." : "Nothing to show.", why: "" };
  }
  if (outcome === "passed" || manifest.attachment?.sha256 === source.sha256) {
    return { isShown: true, word: "Shown.", why: "iOS attaches the original." };
  }
  if (source.attachable) return { isShown: true, word: "Shown.", why: `Converted nevertheless: ${sentences(reasons)}` };
  return { isShown: false, word: "Silently dropped by iOS.", why: sentences(reasons) };
}

/** Reasons as sentences, each with a period. */
function sentences(reasons) {
  return reasons.map((reason) => (/[.!?]$/.test(reason) ? reason : `${reason}.`)).join(" ");
}

/** Download time: two round trips for connection and request, then the bytes, as in `NetworkProfile`. */
function fetchSeconds(bytes, network) {
  return Math.round((2 * network.roundTripSeconds + (bytes * 8) / network.bitsPerSecond) * 100) / 100;
}

/** Whether a download ends in time, late on many phones, or after the limit. */
function arrivalVerdict(seconds) {
  if (seconds <= attachprepFacts.measuredSeconds) return "in time";
  return seconds <= attachprepFacts.appleSeconds ? "late" : "lost";
}
