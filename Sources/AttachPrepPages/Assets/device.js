"use strict";

// What a phone was seen to do with an attachment (reference/apple-attachments.md 1.5). Pure: numbers in, numbers out.

/** The side of the collapsed thumbnail, in points. */
const thumbnailPoints = 35;

/** What a phone cuts out of a picture to fill the box: centred across, and a third from the top where it is tall. */
function deviceSquare(width, height) {
  const side = Math.min(width, height);
  return { x: (width - side) / 2, y: (height - side) / 3, side };
}

/**
 * How many pixels the collapsed thumbnail really has: the whole picture is reduced until its longest side fits the
 * box, and cut only then. So a small part of a large picture is blurred.
 */
function devicePixels(width, height, part, scale) {
  const box = thumbnailPoints * scale;
  const reduction = Math.min(1, box / Math.max(width, height));
  const side = Math.min(width * part.Width * reduction, height * part.Height * reduction);
  return Math.max(1, Math.min(box, Math.round(side)));
}

/** The part of the attachment that its thumbnail shows, in fractions from the top left. */
function shownPart(manifest) {
  return manifest.options?.thumbnailClippingRect ?? { X: 0, Y: 0, Width: 1, Height: 1 };
}

/** Why a collapsed notification has no thumbnail; null when it has one. */
function whyNoThumbnail(manifest) {
  if (!manifest.attachment) return "Nothing is attached.";
  if (manifest.options?.thumbnailHidden) return "Its thumbnail is hidden on request.";
  if (manifest.attachment.kind === "audio") return "A sound has no thumbnail.";
  return manifest.thumbnail ? null : "There is no picture of it.";
}

/** What a phone does with the source as it came, in a word, and the sentence that says why. */
function rawFate(manifest) {
  const { error, reasons } = manifest;
  if (error) {
    const isFetched = /^(media|limit)\./.test(error.code);
    // The error itself is shown once, beside the drawing.
    return { isShown: false, word: isFetched ? "Silently dropped by iOS." : "Nothing to show.", why: "" };
  }
  if (manifest.outcome === "passed" || manifest.attachment?.sha256 === manifest.source.sha256) {
    return { isShown: true, word: "Shown.", why: "A phone takes it as it is." };
  }
  if (isFitForPhone(manifest)) return { isShown: true, word: "Shown.",
    why: `It became another file: ${sentences(reasons)}` };
  return { isShown: false, word: "Silently dropped by iOS.", why: sentences(reasons) };
}

/** Whether it was within Apple's rules, and was made anew because somebody wanted it otherwise. */
function isFitForPhone({ source, outcome, reasons }) {
  const isSmall = source.bytes <= (attachprepFacts.attachable[source.mimeType] ?? -1);
  const isWish = reasons.some((reason) => / is to be(come)? /.test(reason));
  return isSmall && (outcome === "shrunk" || outcome === "bestAttempt" || isWish);
}

/** Reasons as sentences, each with its full stop. */
function sentences(reasons) {
  return reasons.map((reason) => (/[.!?]$/.test(reason) ? reason : `${reason}.`)).join(" ");
}

/** Two round trips for connection and request, then the bytes, as `NetworkProfile` has it. */
function fetchSeconds(bytes, network) {
  return Math.round((2 * network.roundTripSeconds + (bytes * 8) / network.bitsPerSecond) * 100) / 100;
}

/** In time, late on many phones, or lost. */
function arrivalVerdict(seconds) {
  if (seconds <= attachprepFacts.secondsMeasured) return "in time";
  return seconds <= attachprepFacts.secondsGiven ? "late" : "lost";
}
