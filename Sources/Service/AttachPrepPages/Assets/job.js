"use strict";

// The job page: result, notification preview, times, request and log.

/** `asked` counts requests; responses to earlier ones are ignored. */
const jobPage = { id: null, box: null, data: null, asked: 0, drawnOf: null, drawing: null };

function jobView(id) {
  jobPage.box = make("article", { class: "job" }, make("p", { class: "notice" }, "…"));
  Object.assign(jobPage, { id, data: null, drawnOf: null });
  refreshJob();
  return jobPage.box;
}

async function refreshJob() {
  const [{ id, box }, asked] = [jobPage, ++jobPage.asked];
  const isLatest = () => jobPage.box === box && jobPage.asked === asked;
  if (!id || !box) return;
  try {
    const [job, log] = await Promise.all([getJSON(`/v1/jobs/${encodeURIComponent(id)}`),
      getJSON(`/v1/jobs/${encodeURIComponent(id)}/log`)]);
    whenReleased(() => isLatest() && drawJob(job, log.lines));
  } catch (problem) {
    jobPage.data = null;
    if (problem.status !== 401 && isLatest()) fill(box, make("h1", { tabindex: -1 }, "Cannot show the job"),
      make("p", { class: "card bad", role: "alert" }, problem.message),
      make("p", {}, link({ view: "jobs" }, { class: "button" }, "All jobs")));
  }
}

function drawJob(job, lines) {
  const data = JSON.stringify([job, lines]);
  // Unchanged content is not redrawn, so that elements are not replaced while they are used.
  if (jobPage.data === data) return;
  jobPage.data = data;
  showTitle([job.request.id, nameOf(job.request.source)].filter(Boolean).join(" · "));
  fill(jobPage.box, jobHead(job), jobError(job), jobDrawing(job), jobTimes(job),
    job.result && make("section", { class: "card" }, make("h2", {}, "Result"),
      manifestFacts(job.result, { hasError: !jobError(job) })),
    job.result && make("section", { class: "card" }, timingBars(job.result.timings)),
    make("section", { class: "card" }, make("h2", {}, "Request"),
      codeBlock("Request", JSON.stringify(requestOf(job), null, 2))),
    jobLog(lines));
}

function jobHead(job) {
  const act = (word, method, path, message) => make("button", { class: "button", type: "button", "data-focus": word,
    onclick: async () => {
      try {
        await callAPI(method, path);
        showToast(message);
      } catch (problem) {
        showToast(problem.message, true);
      }
      refreshJob();
    } }, word);
  const path = `/v1/jobs/${job.id}`;
  return make("header", { class: "job-head" },
    make("div", {}, make("h1", { tabindex: -1 }, nameOf(job.request.source),
      job.request.id && [" ", make("code", { class: "caller-id" }, job.request.id)]), " ", stateBadge(job.state),
      job.result?.attachment && [" ", outcomeBadge(job.result.outcome)],
      make("p", { class: "soft job-id" }, "Job ", make("code", {}, job.id))),
    make("div", { class: "actions" },
      retryableStates.includes(job.state) && act("Retry", "POST", `${path}/retry`,
        "The job is queued again."),
      job.state === "queued" && make("button", { class: "button", type: "button", "data-focus": "Snooze",
        onclick: () => askForSnooze(job) }, "Snooze"),
      job.state === "queued" && act("Run now", "POST", `${path}/run`, "The job starts now."),
      ["queued", "running"].includes(job.state) && act("Cancel", "DELETE", path, "The job is cancelled."),
      job.result && make("button", { class: "button", type: "button", "data-focus": "manifest",
        onclick: () => download(`${job.result.id}.json`, JSON.stringify(job.result, null, 2)) }, "Download manifest"),
      make("button", { class: "button", type: "button", "data-focus": "edit", onclick: () => editAndResubmit(job) },
        "Edit and resubmit"),
      make("button", { class: "button", type: "button", "data-focus": "curl", onclick: () => copy(curlOf(job)) },
        "Copy as curl")));
}

/** Asks for how long a queued job waits. */
function askForSnooze(job) {
  const time = make("select", {}, [[15, "15 minutes"], [60, "1 hour"], [240, "4 hours"], [1440, "1 day"]]
    .map(([value, name]) => make("option", { value }, name)));
  confirmAction({ title: "Snooze the job", word: "Snooze", content: [field("For", time)],
    sentence: "It starts later, whatever it waits for now. \"Run now\" ends the snooze." }, async () => {
    const notBefore = new Date(Date.now() + Number(time.value) * 60_000).toISOString();
    await callAPI("POST", `/v1/jobs/${job.id}/snooze`, { body: { notBefore } });
    showToast("The job is snoozed.");
    refreshJob();
  });
}

function jobError(job) {
  const failure = failureOf(job);
  if (!failure) return null;
  return make("section", { class: "card failure", "aria-label": "Error" },
    make("p", {}, link({ error: failure.code }, { class: "code" }, make("code", {}, failure.code)),
      failure.retryable ? " (retrying may help)" : " (retrying will fail the same way)"),
    make("p", { class: "failure-message" }, failure.message));
}

/** Drawn once per result, so that an event does not restart a movie. */
function jobDrawing(job) {
  if (!job.result) return null;
  const key = JSON.stringify(job.result);
  if (jobPage.drawnOf !== key) {
    jobPage.drawnOf = key;
    jobPage.drawing = make("section", { class: "card" }, make("h2", {}, "Notification"),
      drawing(drawnItem(job.result, attachprepFacts.sample)));
  }
  return jobPage.drawing;
}

function jobTimes(job) {
  const span = (from, to) => from && to ? millisecondsText(new Date(to) - new Date(from)) : null;
  return make("section", { class: "card" }, make("h2", {}, "Times"), factList([
    ["Created", timeElement(job.createdAt)],
    ["Not before", job.request.notBefore && timeElement(job.request.notBefore)],
    [new Date(job.dueAt) > new Date() ? "Starts" : "Due since", job.dueAt && timeElement(job.dueAt)],
    [job.attempts > 1 ? "Last attempt" : "Started", job.startedAt && [timeElement(job.startedAt),
      `, ${span(job.createdAt, job.startedAt)} after it was created`]],
    ["Finished", job.finishedAt && [timeElement(job.finishedAt),
      job.startedAt && `, ${span(job.startedAt, job.finishedAt)} after it started`]],
    ["Took", job.finishedAt && `${span(job.createdAt, job.finishedAt)} from created to finished`],
    ["Attempts", String(job.attempts)], [job.attempts > 1 ? "Worker of the last attempt" : "Worker", job.worker],
    ["Priority", job.request.priority],
    ["Tags", job.request.tags?.length && job.request.tags.map((tag) => [link({ tag }, { class: "tag" }, tag), " "])],
    ["Batch", job.batch && link({ batch: job.batch }, {}, make("code", {}, job.batch))],
    ["Idempotency key", job.idempotencyKey && link({ idempotencyKey: job.idempotencyKey }, {},
      make("code", {}, job.idempotencyKey))],
    ["Webhook", job.request.callbackURL]]));
}

function jobLog(lines) {
  if (!lines.length) return null;
  return make("section", { class: "card" }, make("h2", {}, "Log"), make("ol", { class: "log" }, lines.map((line) =>
    make("li", { class: line.level }, make("time", { datetime: line.date }, new Date(line.date).toLocaleTimeString()),
      make("span", { class: "log-level" }, line.level), make("span", { class: "log-text" }, line.text)))));
}
