"use strict";

// Sends a trial to the service and shows its result.

/** The request of the form. */
function trialBody(form, source) {
  const values = new FormData(form);
  const options = {};
  if (values.get("smart")) options.crop = "smart";
  else if (trial.crop) options.crop = trial.crop;
  // Other values are sent unchanged, so that the service reports the error.
  if (trial.time !== null) options.thumbnailTime = Number.isFinite(Number(trial.time)) ? Number(trial.time)
    : trial.time;
  if (values.get("animation")) options.animation = values.get("animation");
  const order = { source, priority: "high", options, rendition: values.get("rendition"),
    oversize: values.get("oversize"), unsupported: values.get("unsupported") };
  const targets = values.get("targets").split(",");
  if (targets[0] !== "ios") order.targets = ["ios", ...targets];
  if (values.get("network")) order.network = values.get("network");
  return order;
}

async function send(form) {
  const { box } = trial;
  const values = new FormData(form);
  const text = { title: values.get("title"), body: values.get("body") };
  if (!trial.file && !box.source.value.trim()) {
    box.note.textContent = "Enter a URL or choose a file.";
    return box.source.focus();
  }
  box.send.disabled = true;
  try {
    box.note.textContent = trial.file ? "Uploading…" : "Preparing…";
    const source = trial.file
      ? (await callAPI("POST", "/v1/uploads", { body: trial.file, type: "application/octet-stream" })).data.source
      : box.source.value.trim();
    box.note.textContent = "Preparing…";
    const answer = await callAPI("POST", "/v1/jobs", { body: trialBody(form, source), headers: { Prefer: "wait=30" } });
    if (box.result.isConnected) showTrial(answer, text);
  } catch (problem) {
    box.note.textContent = "";
    fill(box.result, make("p", { class: "card notice bad", role: "alert" },
      problem.code && [make("code", {}, problem.code), " "], problem.message));
  } finally {
    box.send.disabled = false;
  }
}

function showTrial({ data, status, location: path }, text) {
  const id = path?.split("/").pop();
  if (status !== 200) {
    trial.box.note.textContent = "The job takes longer than 30 s; the job page shows the result.";
    return navigate({ job: id });
  }
  trial.box.note.textContent = "";
  const item = drawnItem(data, text);
  fill(trial.box.result, make("section", { class: "card" },
    make("div", { class: "job-head" }, make("h2", {}, "Result ", outcomeBadge(data.outcome)),
      id && link({ job: id }, { class: "button" }, "Job page")),
    drawing(item), manifestFacts(data)));
  // If the browser cannot show the original, the rectangle is drawn on the result.
  const canBeSeen = item.media.attachment && data.attachment.kind !== "audio";
  if (!trial.box.stage.querySelector(".try-frame") && canBeSeen) {
    fill(trial.box.stage, stageFor(item.media.attachment, data.attachment.kind === "movie" ? "video" : "image"));
  }
}
