"use strict";

// The overview: job counts, throughput, latency, health and the latest jobs.

const stateNames = ["queued", "running", "succeeded", "failed", "dead", "cancelled"];
/** States from which a job can be retried. */
const retryableStates = ["failed", "dead", "cancelled"];
const stateStyles = { queued: "", running: "run", succeeded: "good", failed: "bad", dead: "bad", cancelled: "warn" };

function stateBadge(state) {
  return make("span", { class: `badge ${stateStyles[state] ?? ""}` }, state);
}

/** Placeholder before the first response, which keeps the layout stable. */
const unknown = {
  jobs: {}, errors: [], webhooks: {}, due: 0, paused: 0, oldestDueSeconds: null, mediaBytes: null, version: "",
  ready: null, reasons: [],
  hour: { minutes: [], medianSeconds: null, p95Seconds: null }, children: null,
  queue: { kind: "…", name: "", healthy: null, reason: null }, publish: { target: "…", healthy: null, reason: null },
};

/** `problem` is the error of the last request; `data` is then outdated. */
const overview = { data: null, problem: null, counted: { at: -1, numbers: {} }, box: null, timer: 0 };

function overviewView() {
  overview.box = make("div", { class: "overview" });
  showOverview();
  return [make("section", { "aria-labelledby": "overview-title" },
    make("h1", { id: "overview-title", tabindex: -1 }, "Overview"), overview.box), latestJobsView()];
}

async function refreshOverview() {
  clearTimeout(overview.timer);
  overview.timer = setTimeout(refreshOverview, document.hidden ? 30_000 : 5_000);
  const asked = performance.now();
  try {
    const data = await getJSON("/v1/overview");
    // Counts received by an event meanwhile are newer.
    overview.data = overview.counted.at > asked ? { ...data, ...overview.counted.numbers } : data;
    overview.problem = null;
    drawOverview();
    document.dispatchEvent(new CustomEvent("overview"));
  } catch (problem) {
    if (problem.status === 401) clearTimeout(overview.timer);
    else showAbsence(problem);
  }
}

function showAbsence(problem) {
  overview.problem = problem.message;
  drawOverview();
}

/** Applies counts received by an event. */
function takeCounts({ jobs, due, paused, oldestDueSeconds }) {
  overview.counted = { at: performance.now(), numbers: { jobs, due, paused, oldestDueSeconds } };
  if (!overview.data) return;
  Object.assign(overview.data, overview.counted.numbers);
  drawOverview();
}

const drawOverview = perFrame(() => whenReleased(showOverview));

function showOverview() {
  const data = overview.data ?? unknown;
  showTrouble();
  drawPausedJobs();
  if (!overview.box) return;
  fill(overview.box, stateTiles(data), make("div", { class: "gauges" },
    throughputCard(data.hour), latencyCard(data.hour), healthCard(data)), historyBox(),
  pausesCard(data), workersCard(data), errorChips(data.errors));
}

/** Shows above every view that the service is not reachable. */
function showTrouble() {
  const words = overview.problem ?? "";
  if (parts.trouble && parts.trouble.textContent !== words) parts.trouble.textContent = words;
}

/** The most frequent errors, with links to their jobs. */
function errorChips(errors) {
  if (!errors.length) return null;
  return make("nav", { class: "card gauge", "aria-labelledby": "errors-title" },
    make("h2", { id: "errors-title" }, "Failed and dead jobs by error"),
    make("div", { class: "chips" }, errors.slice(0, 8).map(({ code, jobs }) =>
      link({ error: code }, { class: "chip", "data-focus": `error ${code}` },
        make("code", {}, code), " ", grouped.format(jobs)))));
}

function stateTiles(data) {
  const tile = (state) => link({ state, view: "jobs" }, {
    class: `tile ${stateStyles[state]}${data.jobs[state] ? "" : " none"}`, "data-focus": `tile ${state}` },
    make("span", { class: "tile-number" }, state in data.jobs ? grouped.format(data.jobs[state]) : "–"),
    make("span", { class: "tile-name" }, state));
  return make("nav", { class: "tiles", "aria-label": "Jobs by state" }, stateNames.map(tile));
}

function throughputCard(hour) {
  const done = hour.minutes.reduce((sum, minute) => sum + minute.succeeded, 0);
  const failed = hour.minutes.reduce((sum, minute) => sum + minute.failed, 0);
  const most = Math.max(1, ...hour.minutes.map((minute) => minute.succeeded + minute.failed));
  const bars = hour.minutes.flatMap(({ succeeded, failed: lost }, index) => [
    succeeded > 0 && make("rect", { class: "good", x: index * 4, width: 3, y: 48 - (48 * succeeded) / most,
      height: (48 * succeeded) / most }),
    lost > 0 && make("rect", { class: "bad", x: index * 4, width: 3, y: 48 - (48 * (succeeded + lost)) / most,
      height: (48 * lost) / most })]);
  const words = `${grouped.format(done)} succeeded and ${grouped.format(failed)} failed in the last hour, `
    + `at most ${grouped.format(done + failed ? most : 0)} in a minute`;
  return gauge("Jobs in the last hour", [chartKey("good"), make("strong", {}, grouped.format(done)), " succeeded",
    failed > 0 && [" ", chartKey("bad"), make("strong", {}, grouped.format(failed)), " failed"]],
    make("svg", { class: "chart", viewBox: "0 0 240 48", preserveAspectRatio: "none", role: "img",
      "aria-label": words }, bars),
    chartFoot(done + failed ? `up to ${grouped.format(most)} a minute` : ""));
}

function latencyCard(hour) {
  const most = Math.max(0.001, ...hour.minutes.map((minute) => minute.p95Seconds ?? 0));
  const lines = (key) => runs(hour.minutes.map((minute) => minute[key])).map((run) => make("polyline", {
    class: key, points: run
      .map(([index, value]) => `${index * 4 + 1.5},${(48 - (46 * value) / most).toFixed(1)}`).join(" ") }));
  const words = `Half of the jobs finished within ${secondsText(hour.medianSeconds)}, 95 % within `
    + `${secondsText(hour.p95Seconds)}`;
  return gauge("Latency, from accepted to finished", [
    chartKey("medianSeconds"), make("strong", {}, secondsText(hour.medianSeconds)), " median ",
    chartKey("p95Seconds"), make("strong", {}, secondsText(hour.p95Seconds)), " 95th percentile"],
  make("svg", { class: "chart", viewBox: "0 0 240 48", preserveAspectRatio: "none", role: "img", "aria-label": words },
    lines("p95Seconds"), lines("medianSeconds")),
  chartFoot(hour.p95Seconds === null ? "" : `up to ${secondsText(most)}`));
}

/** Runs of consecutive non-null values as pairs of index and value; a single value becomes a short line. */
function runs(values) {
  const found = [];
  values.forEach((value, index) => {
    if (value === null) return;
    if (index === 0 || values[index - 1] === null) found.push([]);
    found.at(-1).push([index, value]);
  });
  return found.map((run) => run.length > 1 ? run : [run[0], [run[0][0] + 0.6, run[0][1]]]);
}

/** The color of a line or bar, for the legend. */
function chartKey(name) {
  return make("i", { class: `chart-key ${name}`, "aria-hidden": "true" });
}

/** The labels below a chart. */
function chartFoot(most) {
  return make("p", { class: "chart-foot", "aria-hidden": "true" }, make("span", {}, "an hour ago"),
    make("span", {}, most), make("span", {}, "now"));
}

function gauge(title, words, ...content) {
  return make("div", { class: "card gauge" }, make("h2", {}, title), make("p", {}, words), content);
}

/** The health of the service and its dependencies. */
function healthCard(data) {
  const row = (name, isGood, words) => make("div", {}, make("dt", {}, name),
    make("dd", {}, make("i", { class: `dot ${isGood === null ? "" : isGood ? "good" : "bad"}`, "aria-hidden": "true" }),
      isGood === false && unseen("not healthy: "), words));
  const { children, webhooks, queue, publish } = data;
  const waiting = (data.oldestDueSeconds === null
    ? "no jobs due" : `${grouped.format(data.due)} due, the oldest for ${secondsText(data.oldestDueSeconds)}`)
    + (data.paused ? `; ${grouped.format(data.paused)} paused` : "");
  return make("div", { class: "card gauge" }, make("h2", {}, "Health"), make("dl", { class: "health" },
    row("Service", data.ready, data.ready ? `ready, ${data.version}` : data.reasons.join(" ") || "…"),
    row("Queue", queue.healthy, [make("span", { title: queue.name }, queue.kind), ", ", queue.reason ?? waiting]),
    row("Media processes", children ? true : null, children
      ? [children.slots, " slots, ", grouped.format(children.failed), " failed, ", grouped.format(children.recycled),
        " recycled"]
      : data === unknown ? "…" : "this process accepts jobs only"),
    row("Publish", publish.healthy, publish.reason ?? publish.target),
    row("Webhooks", data === unknown ? null : !(webhooks.givenUp > 0),
      link({ view: "webhooks" }, { "data-focus": "webhooks" },
      webhookText(webhooks))),
    row("Files", null, `${bytesText(data.mediaBytes)} stored`)));
}

const webhookStateNames = { pending: "pending", delivered: "delivered", givenUp: "given up" };

function webhookText(webhooks) {
  const words = Object.entries(webhooks).filter(([, number]) => number > 0)
    .map(([state, number]) => `${grouped.format(number)} ${webhookStateNames[state] ?? state}`);
  return words.length ? words.join(", ") : "none";
}
