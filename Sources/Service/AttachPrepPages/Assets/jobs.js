"use strict";

// The table of jobs, with search and filters in the URL; its first page is updated live.

/** `asked` counts requests; responses to earlier ones are ignored. */
const jobTable = { box: null, parts: null, chosen: null, paused: null, bulk: null, data: null, asked: 0, rows: new Map() };

/** Jobs on a page, and on the overview. */
const [jobPageCount, latestJobCount] = [50, 10];

function jobsView() {
  const view = make("section", { class: "card results selecting", "aria-labelledby": "jobs-title" },
    make("div", { class: "results-head" }, make("h1", { id: "jobs-title", tabindex: -1 }, "Jobs"), jobFilters()),
    pausedBox(), batchBox(), newJobTable());
  refreshJobs();
  return view;
}

function pausedBox() {
  jobTable.paused = make("p", { class: "paused-jobs" });
  drawPausedJobs();
  return jobTable.paused;
}

/** The latest jobs, on the overview. */
function latestJobsView() {
  const view = make("section", { class: "card results", "aria-labelledby": "jobs-title" },
    make("div", { class: "results-head" }, make("h2", { id: "jobs-title" }, "Latest jobs"),
      make("span", { class: "spring" }), link({ view: "jobs" }, { class: "button" }, "All jobs")),
    newJobTable());
  refreshJobs();
  return view;
}

function newJobTable() {
  selectedJobs.clear();
  Object.assign(jobTable, {
    box: make("div", { class: "results-body" }), parts: null, bulk: null, data: null, rows: new Map() });
  return jobTable.box;
}

function jobFilters() {
  const here = whereWeAre();
  const search = make("input", { type: "search", value: here.search, placeholder: "Search source, ID, error",
    "aria-label": "Search jobs by source, ID or error code", maxlength: 200,
    oninput: afterQuiet(250, () => search.isConnected && filterJobs({ search: search.value.trim() },
      "replaceState")) });
  const select = make("select", { "aria-label": "State", onchange: () => filterJobs({ state: select.value }) },
    make("option", { value: "" }, "Any state"), stateNames.map((state) => make("option", { value: state }, state)));
  select.value = here.state;
  const kind = filterSelect("Kind", { "": "Any kind", image: "Images", audio: "Audio", movie: "Movies" }, here.kind,
    (value) => filterJobs({ kind: value }));
  const since = filterSelect("Created", timeSpans, here.since, (value) => filterJobs({ since: value }));
  jobTable.chosen = make("span", { class: "chosen" });
  drawChosenFilters();
  return make("div", { class: "filters", role: "search" }, search, select, kind, since, wordFilter(), jobTable.chosen);
}

/** Finds jobs by exactly one of the caller's own words; several are set one after the other. */
function wordFilter() {
  const key = make("select", { "aria-label": "Exact filter" },
    Object.entries(wordFilters).map(([value, name]) => make("option", { value }, name)));
  const value = make("input", { type: "text", "aria-label": "Exact value", placeholder: "Exactly…", maxlength: 255,
    autocomplete: "off", spellcheck: "false" });
  return make("form", { class: "word-filter", onsubmit: (event) => {
    event.preventDefault();
    const text = value.value.trim();
    if (!text) return;
    value.value = "";
    const former = whereWeAre().tag;
    filterJobs({ [key.value]: key.value === "tag" && former ? `${former},${text}` : text });
  } }, key, value, make("button", { class: "button", type: "submit" }, "Find"));
}

/** The spans of the filter by time, as in the URL. */
const timeSpans = { "": "Any time", "15m": "Last 15 minutes", "1h": "Last hour", "24h": "Last day", "7d": "Last week" };

/** The beginning of a span as the API takes it; null without one. */
function spanStart(span) {
  const seconds = { m: 60, h: 3600, d: 86400 }[span.at(-1)] * Number.parseInt(span, 10);
  return seconds > 0 ? new Date(Date.now() - seconds * 1000).toISOString() : null;
}

/** A select with a name for each value. */
function filterSelect(label, names, value, onchange) {
  const select = make("select", { "aria-label": label, onchange: () => onchange(select.value) },
    Object.entries(names).map(([key, name]) => make("option", { value: key }, name)));
  select.value = Object.hasOwn(names, value) ? value : "";
  return select;
}

/** Applies a filter; the filter controls keep the focus. */
function filterJobs(values, step = "pushState") {
  const route = { ...whereWeAre(), view: "jobs", cursor: "", ...values };
  if (whereWeAre().view !== "jobs") return navigate(route);
  history[step](null, "", routeURL(route));
  selectedJobs.clear();
  drawChosenFilters();
  refreshJobs();
}

/** The filters without a control of their own, each with a button to remove it. */
function drawChosenFilters() {
  const here = whereWeAre();
  const names = { error: "", worker: "", ...wordFilters };
  fill(jobTable.chosen, Object.entries(names).map(([key, name]) => here[key] && make("button", { class: "button",
    type: "button", onclick: () => filterJobs({ [key]: "" }) }, name && `${name} `, make("code", {}, here[key]), " ✕",
  unseen(" remove this filter"))));
}

/** The exact filters of a place in the form of the API. */
function chosenWords(here) {
  return Object.fromEntries(Object.keys(wordFilters).filter((key) => here[key]).map((key) =>
    [key, key === "tag" ? here.tag.split(",") : here[key]]));
}

async function refreshJobs() {
  refreshBatch();
  const [here, { box }, asked] = [whereWeAre(), jobTable, ++jobTable.asked];
  if (!["overview", "jobs"].includes(here.view) || !box) return;
  const words = Object.entries({ state: here.state, search: here.search, error: here.error, cursor: here.cursor,
    kind: here.kind, worker: here.worker, createdAfter: spanStart(here.since), ...chosenWords(here),
    limit: String(here.view === "jobs" ? jobPageCount : latestJobCount) });
  const isLatest = () => jobTable.asked === asked && jobTable.box === box;
  try {
    const page = await getJSON(`/v1/jobs?${new URLSearchParams(words.filter(([, value]) => value))}`);
    whenReleased(() => isLatest() && drawJobs(page));
  } catch (problem) {
    if (problem.status !== 401 && isLatest()) {
      jobTable.data = null;
      fill(box, make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }
}

/** Refreshes the jobs after a change, at most every 2 s. */
const jobsChanged = (() => {
  let [timer, last] = [0, 0];
  return () => {
    if (timer || document.hidden || whereWeAre().cursor) return;
    timer = setTimeout(() => {
      [timer, last] = [0, Date.now()];
      refreshJobs();
    }, Math.max(150, last + 2000 - Date.now()));
  };
})();

function drawJobs(page) {
  const here = whereWeAre();
  const data = JSON.stringify([page, here]);
  // Unchanged content is not redrawn, so that elements are not replaced while they are used.
  if (jobTable.data === data) return;
  jobTable.data = data;
  const selects = here.view === "jobs";
  jobTable.rows = new Map(page.jobs.map((job) => [job.id, existingRow(job, selects)]));
  if (!page.jobs.length) return fill(jobTable.box, emptyJobs(here));
  const parts = jobTable.parts ??= tableParts(selects);
  // Moves rows within one table: moving them through another one would remove the focus.
  fill(parts.rows, [...jobTable.rows.values()].map(({ row }) => row));
  if (selects) fill(parts.pages,
    here.cursor && link({ ...here, cursor: "" }, { class: "button", "data-focus": "newest" }, "Newest"),
    page.next && link({ ...here, cursor: page.next }, { class: "button", "data-focus": "older" }, "Older"));
  fill(jobTable.box, selects && existingBulkBar(here), parts.table, selects && parts.pages);
  if (selects) showSelection();
}

/** The parts of the table that stay while rows are replaced. */
function tableParts(selects) {
  const rows = make("div", { class: "rows", role: "rowgroup" });
  return { rows, pages: make("nav", { class: "pages", "aria-label": "Pages" }),
    table: make("div", { class: "table", role: "table", "aria-labelledby": "jobs-title" },
      make("div", { role: "rowgroup" }, jobsHead(selects)), rows) };
}

function jobsHead(selects) {
  const names = ["", "Source and ID", "State", "Result", "Created", "Took", "Attempts"];
  return make("div", { class: "row head", role: "row" },
    selects && make("div", { role: "columnheader", class: "cell-select" }, selectAllBox()),
    names.map((name) => make("div", { role: "columnheader",
      class: ["Attempts", "Took"].includes(name) ? "number" : null }, name || unseen("Thumbnail"))));
}

/** The row of a job; the same element while the job is unchanged. */
function existingRow(job, selects) {
  const [former, data] = [jobTable.rows.get(job.id), JSON.stringify(job)];
  return former?.data === data ? former : { job, data, row: drawnRow(job, selects) };
}

function drawnRow(job, selects) {
  const cell = (name, ...content) => make("div", { role: "cell", class: `cell-${name}` }, content);
  const failure = failureOf(job);
  return make("div", { class: failure ? "row failed" : "row", role: "row" },
    selects && cell("select", selectionBox(job)),
    cell("picture", rowPicture(job, failure)),
    cell("name", make("span", { class: "row-title" },
      link({ job: job.id }, { "data-focus": job.id }, nameOf(job.request.source)), " ",
      job.request.id && make("code", { class: "caller-id" }, job.request.id)),
    make("span", { class: "row-note" }, failure ? failure.message : job.request.source)),
    cell("state", stateBadge(job.state)),
    cell("result", resultText(job, failure)),
    cell("created", timeElement(job.createdAt)),
    cell("took", durationText(job)),
    cell("attempts", job.attempts));
}

/** The error of a job or of its last attempt; null if it succeeded. */
function failureOf(job) {
  return job.state === "succeeded" ? null : job.error ?? job.result?.error ?? null;
}

function rowPicture(job, failure) {
  if (job.result?.sealed) return make("span", { class: "note", "aria-hidden": "true" }, "🔒");
  const picture = localAddress(job.result?.thumbnail?.url);
  if (picture) return make("img", { src: picture, alt: "", loading: "lazy", decoding: "async" });
  if (failure) return make("span", { class: "note bad", "aria-hidden": "true" }, "!");
  return job.result?.attachment?.kind === "audio" && make("span", { class: "note", "aria-hidden": "true" }, "♪");
}

function resultText(job, failure) {
  if (job.result?.attachment) {
    const { outcome, attachment } = job.result;
    const name = attachment.sealed ? `sealed ${attachment.kind}` : formatName(attachment.mimeType);
    return `${outcomeNames[outcome]}: ${name} ${bytesText(attachment.bytes)}`;
  }
  if (!failure) return "";
  return make("button", { class: "code", type: "button", title: "Jobs with this error",
    "data-focus": `${job.id} error`, onclick: () => filterJobs({ error: failure.code }) },
  make("code", {}, failure.code));
}

function timeElement(text) {
  if (!text) return "–";
  const date = new Date(text);
  return make("time", { datetime: text, title: date.toLocaleString(), class: "since" }, sinceText(date, new Date()));
}

/** The time from acceptance to end, including waits and all attempts. */
function durationText({ createdAt, finishedAt, attempts }) {
  if (!finishedAt) return "–";
  return [millisecondsText(new Date(finishedAt) - new Date(createdAt)),
    attempts > 1 && make("span", { class: "took-attempts" }, make("span", { class: "comma" }, ", "),
      `${attempts} attempts`)];
}

/** The text of an empty table: no matching jobs, or how to send the first one. */
function emptyJobs(here) {
  if (jobFilterKeys.some((key) => here[key])) {
    return make("div", { class: "notice" }, make("p", {}, "No matching jobs"),
      link({ view: "jobs" }, { class: "button" }, "Show all jobs"));
  }
  const token = parts.session.required ? "-H 'Authorization: Bearer TOKEN' \\\n  " : "";
  const command = `curl ${location.origin}${serviceURL("/v1/jobs")} ${token}-H 'Content-Type: application/json' \\\n`
    + `  -d '{"source": "https://cdn.example/cat.webp"}'`;
  return make("div", { class: "notice" }, make("p", {}, "No jobs yet. Send one, or try it here:"),
    codeBlock("Command to send a job", command), link({ view: "try" }, { class: "button primary" }, "Try it"));
}
