"use strict";

// Formats numbers, times and names.

const grouped = new Intl.NumberFormat("en-US");

/** Decimal bytes: 812 B, 61.2 KB, 4.5 MB. */
function bytesText(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Seconds: 0.05 s, 2.3 s, 48 s, 3 min 20 s, 2 h 5 min, 3 d. */
function secondsText(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 0.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

function millisecondsText(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "–";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : secondsText(milliseconds / 1000);
}

/** A relative time, such as "5 s ago" or "in 2 h 5 min". */
function sinceText(date, now) {
  const seconds = (now - date) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  const whole = Math.round(Math.abs(seconds));
  const words = whole < 60 ? `${whole} s` : secondsText(whole < 3600 ? whole : whole - (whole % 60));
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

/** The short name of a MIME type. */
function formatName(mimeType) {
  if (!mimeType) return "unknown";
  const words = {
    "image/jpeg": "JPEG", "image/png": "PNG", "image/gif": "GIF", "image/webp": "WebP", "image/avif": "AVIF",
    "image/heic": "HEIC", "image/heif": "HEIF", "image/tiff": "TIFF", "image/bmp": "BMP", "image/svg+xml": "SVG",
    "audio/mpeg": "MP3", "audio/mp4": "M4A", "audio/wav": "WAV", "audio/aiff": "AIFF", "audio/ogg": "Ogg",
    "audio/flac": "FLAC", "video/mp4": "MP4", "video/quicktime": "QuickTime", "video/webm": "WebM",
    "video/x-matroska": "Matroska", "video/mpeg": "MPEG", "video/x-msvideo": "AVI",
  };
  return words[mimeType] ?? mimeType.split("/").pop();
}

/** The last path component of a URL or path. */
function nameOf(address) {
  const path = address.split(/[?#]/)[0].replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1) || address;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Median, 95th percentile and sum; median and percentile are null for an empty list. */
function spread(numbers) {
  if (!numbers.length) return { median: null, p95: null, sum: 0 };
  const sorted = [...numbers].sort((one, other) => one - other);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { median: at(0.5), p95: at(0.95), sum: sorted.reduce((total, number) => total + number, 0) };
}
