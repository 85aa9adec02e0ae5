"use strict";

// The table of jobs: searched and filtered by the address, kept up to date while its first page is looked at.

/** `asked` numbers the questions: an answer to an earlier one comes too late. */
const jobTable = { box: null, errorBox: null, bulk: null, said: null, asked: 0, rows: new Map() };

function jobsView() {
  Object.assign(jobTable, {
    box: make("div", { class: "results-body" }), errorBox: make("span", {}), said: null, rows: new Map() });
  const view = make("section", { class: "card results", "aria-labelledby": "jobs-title" },
    make("div", { class: "results-head" }, make("h1", { id: "jobs-title", tabindex: -1 }, "Jobs"), jobFilters()),
    jobTable.box);
  refreshJobs();
  return view;
}

function jobFilters() {
  const here = whereWeAre();
  const search = make("input", { type: "search", value: here.search, placeholder: "Search address, id, error",
    "aria-label": "Search jobs by address, id or error code", maxlength: 200,
    oninput: afterQuiet(250, () => search.isConnected && filterJobs({ search: search.value.trim() },
      "replaceState")) });
  const select = make("select", { "aria-label": "State", onchange: () => filterJobs({ state: select.value }) },
    make("option", { value: "" }, "Any state"), stateWords.map((state) => make("option", { value: state }, state)));
  select.value = here.state;
  drawErrorFilter();
  return make("div", { class: "filters", role: "search" }, search, select, jobTable.errorBox);
}

/** Other jobs in the same table: what chooses them keeps the focus. */
function filterJobs(values, step = "pushState") {
  history[step](null, "", addressTo({ ...whereWeAre(), cursor: "", ...values }));
  drawErrorFilter();
  showOverview();
  refreshJobs();
}

function drawErrorFilter() {
  const { error } = whereWeAre();
  fill(jobTable.errorBox, error && make("button", { class: "button", type: "button",
    onclick: () => filterJobs({ error: "" }) }, make("code", {}, error), " ✕", unseen(" take this filter away")));
}

async function refreshJobs() {
  const [here, { box }, asked] = [whereWeAre(), jobTable, ++jobTable.asked];
  if (here.view !== "jobs" || !box) return;
  const words = Object.entries({
    state: here.state, search: here.search, error: here.error, cursor: here.cursor, limit: "50" });
  const isLatest = () => jobTable.asked === asked && jobTable.box === box;
  try {
    const page = await look(`/v1/jobs?${new URLSearchParams(words.filter(([, value]) => value))}`);
    whenReleased(() => isLatest() && drawJobs(page));
  } catch (problem) {
    if (problem.status !== 401 && isLatest()) {
      jobTable.said = null;
      fill(box, make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }
}

/** At most one look in a while, however much happens. */
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
  const said = JSON.stringify([page, here]);
  // What has not changed stays as it is, with whatever somebody is about to press in it.
  if (jobTable.said === said) return;
  jobTable.said = said;
  jobTable.rows = new Map(page.jobs.map((job) => [job.id, standingRow(job)]));
  if (!page.jobs.length) return fill(jobTable.box, emptyJobs(here));
  fill(jobTable.box, standingBulkBar(here),
    make("div", { class: "table", role: "table", "aria-labelledby": "jobs-title" },
      make("div", { role: "rowgroup" }, make("div", { class: "row head", role: "row" },
        ["", "Source", "State", "Result", "Attempts", "Created", "Took"].map((name) =>
          make("div", { role: "columnheader", class: ["Attempts", "Took"].includes(name) ? "number" : null },
            name || unseen("Picture"))))),
      make("div", { class: "rows", role: "rowgroup" }, [...jobTable.rows.values()].map(({ row }) => row))),
    make("nav", { class: "pages", "aria-label": "Pages" },
      here.cursor && link({ ...here, cursor: "" }, { class: "button", "data-focus": "newest" }, "Newest"),
      page.next && link({ ...here, cursor: page.next }, { class: "button", "data-focus": "older" }, "Older")));
}

/** The same element while nothing about the job has changed: who reads it is not disturbed. */
function standingRow(job) {
  const [former, said] = [jobTable.rows.get(job.id), JSON.stringify(job)];
  return former?.said === said ? former : { said, row: drawnRow(job) };
}

function drawnRow(job) {
  const cell = (name, ...content) => make("div", { role: "cell", class: `cell-${name}` }, content);
  const picture = localAddress(job.result?.thumbnail?.url);
  const failure = job.error ?? job.result?.error;
  return make("div", { class: "row", role: "row" },
    cell("picture", picture ? make("img", { src: picture, alt: "", loading: "lazy", decoding: "async" })
      : job.result?.attachment?.kind === "audio" && make("span", { class: "note", "aria-hidden": "true" }, "♪")),
    cell("name", link({ job: job.id }, { "data-focus": job.id }, nameOf(job.request.source)),
      make("span", { class: "row-note" }, failure && job.state !== "succeeded" ? failure.message : job.request.source)),
    cell("state", stateBadge(job.state)),
    cell("result", resultWords(job, failure)),
    cell("attempts", job.attempts),
    cell("created", timeElement(job.createdAt)),
    cell("took", tookWords(job)));
}

function resultWords(job, failure) {
  if (job.result?.attachment) {
    const { outcome, attachment } = job.result;
    return `${outcomeWords[outcome]}: ${formatWord(attachment.mimeType)} ${bytesText(attachment.bytes)}`;
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

function tookWords({ startedAt, finishedAt }) {
  if (!startedAt || !finishedAt) return "–";
  return millisecondsText(new Date(finishedAt) - new Date(startedAt));
}

/** What nobody has done yet, and how to do it; or that nothing is found. */
function emptyJobs(here) {
  if (here.state || here.search || here.error || here.cursor) {
    return make("div", { class: "notice" }, make("p", {}, "No job is like that."),
      link({}, { class: "button" }, "Show all jobs"));
  }
  const token = parts.session.required ? "-H 'Authorization: Bearer TOKEN' \\\n  " : "";
  const command = `curl ${location.origin}/v1/jobs ${token}-H 'Content-Type: application/json' \\\n`
    + `  -d '{"source": "https://cdn.example/cat.webp"}'`;
  return make("div", { class: "notice" }, make("p", {}, "No jobs yet. Send one, or try it here:"),
    make("pre", {}, command), link({ view: "try" }, { class: "button primary" }, "Try it"));
}
