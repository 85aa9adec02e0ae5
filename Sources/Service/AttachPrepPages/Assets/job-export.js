"use strict";

// Export of a job: its request as a curl command, its manifest as a file.

/** The request without null values and empty objects. */
function requestOf(job) {
  const prune = (value) => value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, prune(inner)])
      .filter(([, inner]) => inner !== null && !(typeof inner === "object" && !Object.keys(inner).length)))
    : value;
  return prune(job.request);
}

/** The request as a curl command, with a comment about redacted secrets or expired uploads. */
function curlOf(job) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const { notBefore, notAfter, headers, ...request } = requestOf(job);
  const note = request.source.startsWith("upload:")
    ? "# Uploads expire after a day: upload the file again if necessary.\n"
    : request.source.includes("REDACTED")
      ? "# The URL is redacted: replace REDACTED with its secrets.\n" : "";
  return note + [`curl ${quoted(`${location.origin}/v1/jobs`)}`, "-H 'Authorization: Bearer TOKEN'",
    "-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request))}`].join(" \\\n  ");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    showToast("Copied.");
  } catch {
    const field = make("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    showToast(document.execCommand("copy") ? "Copied." : "The browser denied access to the clipboard.");
    field.remove();
  }
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
