"use strict";

// Export of a job: its request as a curl command or as a new job, its manifest as a file.

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
  return note + [`curl ${quoted(`${location.origin}${serviceURL("/v1/jobs")}`)}`, "-H 'Authorization: Bearer TOKEN'",
    "-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request))}`].join(" \\\n  ");
}

/** Asks for changes of the request, and submits it as a new job. */
function editAndResubmit(job) {
  const { notBefore, notAfter, headers, ...request } = requestOf(job);
  const text = make("textarea", { rows: 14, spellcheck: "false", "aria-label": "Request", class: "request-text" });
  text.value = JSON.stringify(request, null, 2);
  confirmAction({ title: "Edit and resubmit", word: "Submit", isLong: true,
    sentence: request.source.includes("REDACTED")
      ? "The URL is redacted: replace REDACTED with its secrets, and add its headers again if it had any."
      : "The job stays as it is; a new one is made. Add headers again if the request had any.",
    content: [text] }, async () => {
    let body;
    try {
      body = JSON.parse(text.value);
    } catch (problem) {
      throw new Error(`The request is not JSON: ${problem.message}`);
    }
    const { data } = await callAPI("POST", "/v1/jobs", { body });
    showToast("A new job was made.");
    navigate({ job: data.id });
  });
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
