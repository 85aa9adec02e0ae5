"use strict";

// Who retried, cancelled, purged or paused what.

const actionTable = { box: null, asked: 0, data: null };

const actionNames = { pause: "paused", resume: "resumed", retry: "retried", cancel: "cancelled", purge: "removed",
  priority: "moved", replay: "sent again" };

function actionsView() {
  Object.assign(actionTable, { box: make("div", { class: "results-body" }), data: null });
  refreshActions();
  return make("section", { class: "card results", "aria-labelledby": "actions-title" },
    make("div", { class: "results-head" }, make("h1", { id: "actions-title", tabindex: -1 }, "Actions")),
    actionTable.box);
}

async function refreshActions() {
  const [here, { box }, asked] = [whereWeAre(), actionTable, ++actionTable.asked];
  if (here.view !== "actions" || !box) return;
  const words = Object.entries({ cursor: here.cursor, limit: "50" }).filter(([, value]) => value);
  const isLatest = () => actionTable.asked === asked && actionTable.box === box;
  try {
    const page = await getJSON(`/v1/actions?${new URLSearchParams(words)}`);
    whenReleased(() => isLatest() && drawActions(page, here));
  } catch (problem) {
    if (problem.status !== 401 && isLatest()) {
      fill(box, make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }
}

function drawActions(page, here) {
  const data = JSON.stringify([page, here]);
  if (actionTable.data === data) return;
  actionTable.data = data;
  if (!page.actions.length) {
    return fill(actionTable.box, make("p", { class: "notice" },
      "No actions. Retries, cancellations, removals, pauses and replays are listed here for 90 days."));
  }
  fill(actionTable.box, make("div", { class: "table scrolls" }, make("table", { class: "plain stacked" },
    make("thead", {}, make("tr", {}, ["Time", "Who", "Did", "What"].map((name) =>
      make("th", { scope: "col" }, name)))),
    make("tbody", {}, page.actions.map(({ date, caller, kind, detail }) => make("tr", {},
      make("td", {}, timeElement(date)), make("td", { "data-label": "Who" }, caller ?? "–"),
      make("td", { "data-label": "Did" }, actionNames[kind] ?? kind),
      make("td", { class: "wraps", "data-label": "What" }, actionDetail(detail))))))),
  make("nav", { class: "pages", "aria-label": "Pages" },
    here.cursor && link({ ...here, cursor: "" }, { class: "button" }, "Newest"),
    page.next && link({ ...here, cursor: page.next }, { class: "button" }, "Older")));
}

/** The detail with a link to the job, if it is about a single one. */
function actionDetail(detail) {
  const job = detail.match(/^job ([0-9a-f-]{36})$/)?.[1];
  return job ? link({ job }, {}, detail) : detail;
}
