"use strict";

// The workers of the queue, on all machines, on the overview.

/** The table of workers; null before the first response. */
function workersCard(data) {
  if (!data.workers) return null;
  const busy = data.workers.reduce((sum, worker) => sum + worker.running, 0);
  const most = data.workers.reduce((sum, worker) => sum + worker.concurrency, 0);
  const count = data.workers.length;
  return make("section", { class: "card gauge workers", "aria-labelledby": "workers-title" },
    make("h2", { id: "workers-title" }, "Workers"),
    count === 0
      ? make("p", {}, make("i", { class: "dot bad", "aria-hidden": "true" }),
        "No worker has reported in the last 30 s: jobs wait until one is started.")
      : [make("p", {}, make("strong", {}, grouped.format(count)), count === 1 ? " worker with " : " workers with ",
        make("strong", {}, grouped.format(busy)), ` of at most ${grouped.format(most)} jobs`),
      versionsNote(data.workers), make("div", { class: "table scrolls" }, workersTable(data.workers))]);
}

/** Names the versions if there are several, as during an update of the machines. */
function versionsNote(workers) {
  const versions = [...new Set(workers.map(({ version }) => version))].sort();
  return versions.length > 1 && make("p", { class: "verdict" }, `Different versions: ${versions.join(", ")}`);
}

function workersTable(workers) {
  const names = ["Worker", "Jobs", "Load", "Media slots", "Version", "Started", "Last report"];
  return make("table", { class: "plain stacked", "aria-label": "Workers" },
    make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, workers.map(workerRow)));
}

function workerRow(worker) {
  const share = worker.running / worker.concurrency;
  return make("tr", {},
    make("th", { scope: "row", class: "wraps", title: worker.host }, worker.name,
      worker.draining && [" ", make("span", { class: "badge warn" }, "draining")],
      (worker.outages ?? []).map(({ dependency, reason }) => [" ", make("span", { class: "badge bad", title: reason },
        `waits for ${dependency.replace("_", " ")}`)])),
    make("td", { "data-label": "Jobs" }, link({ view: "jobs", state: "running", worker: worker.name },
      { "data-focus": `worker ${worker.name}` }, `${grouped.format(worker.running)} of `
      + grouped.format(worker.concurrency))),
    make("td", { "data-label": "Load" }, make("progress", { class: "load", max: 1, value: share,
      "aria-label": `${Math.round(share * 100)} % of its jobs` })),
    make("td", { "data-label": "Media slots" }, worker.mediaSlots),
    make("td", { "data-label": "Version" }, worker.version),
    make("td", { "data-label": "Started" }, timeElement(worker.startedAt)),
    make("td", { "data-label": "Last report" }, timeElement(worker.reportedAt)));
}
