"use strict";

// A job as somebody takes it along: its request as curl, its manifest as a file.

/** The request without what says nothing. */
function requestOf(job) {
  const prune = (value) => value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, prune(inner)])
      .filter(([, inner]) => inner !== null && !(typeof inner === "object" && !Object.keys(inner).length)))
    : value;
  return prune(job.request);
}

/** The same request from a terminal; a line before it names what is not known here, or is over. */
function curlOf(job) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const { notBefore, notAfter, headers, ...request } = requestOf(job);
  const note = request.source.startsWith("upload:")
    ? "# Uploads are kept for a day: send the file again if it is gone.\n"
    : request.source.includes("REDACTED")
      ? "# The secrets of the address are not known here: put them in for REDACTED.\n" : "";
  return note + [`curl ${quoted(`${location.origin}/v1/jobs`)}`, "-H 'Authorization: Bearer TOKEN'",
    "-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request))}`].join(" \\\n  ");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch {
    const field = make("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    tell(document.execCommand("copy") ? "Copied." : "The browser does not let this page copy.");
    field.remove();
  }
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
