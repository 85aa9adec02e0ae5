"use strict";

// The table of webhooks; each can be sent again.

const webhookTable = { box: null, asked: 0, data: null };

function webhooksView() {
  Object.assign(webhookTable, { box: make("div", { class: "results-body" }), data: null });
  const here = whereWeAre();
  const filter = (values, step = "pushState") => {
    const { state, search: text } = whereWeAre();
    history[step](null, "", routeURL({ view: "webhooks", state, search: text, ...values }));
    refreshWebhooks();
  };
  const search = make("input", { type: "search", value: here.search, placeholder: "Search URL, job, ID, error",
    "aria-label": "Search webhooks by URL, job, ID or error", maxlength: 200,
    oninput: afterQuiet(250, () => search.isConnected && filter({ search: search.value.trim() }, "replaceState")) });
  const select = make("select", { "aria-label": "State", onchange: ({ target }) => filter({ state: target.value }) },
    make("option", { value: "" }, "Any state"),
    Object.keys(overview.data?.webhooks ?? { pending: 0, delivered: 0, givenUp: 0 })
      .map((state) => make("option", { value: state }, webhookStateNames[state] ?? state)));
  select.value = here.state;
  refreshWebhooks();
  return make("section", { class: "card results", "aria-labelledby": "webhooks-title" },
    make("div", { class: "results-head" }, make("h1", { id: "webhooks-title", tabindex: -1 }, "Webhooks"),
      make("div", { class: "filters", role: "search" }, search, select)), webhookTable.box);
}

async function refreshWebhooks() {
  const [here, { box }, asked] = [whereWeAre(), webhookTable, ++webhookTable.asked];
  if (here.view !== "webhooks" || !box) return;
  const words = Object.entries({ state: here.state, search: here.search, cursor: here.cursor, limit: "50" })
    .filter(([, value]) => value);
  const isLatest = () => webhookTable.asked === asked && webhookTable.box === box;
  try {
    const page = await getJSON(`/v1/webhooks?${new URLSearchParams(words)}`);
    whenReleased(() => isLatest() && drawWebhooks(page, here));
  } catch (problem) {
    if (problem.status === 401 || !isLatest()) return;
    webhookTable.data = null;
    fill(webhookTable.box, make("p", { class: "notice bad", role: "alert" }, problem.message));
  }
}

/** Refreshes the webhooks while the view is open: their states change without a change of a job. */
function webhooksChanged() {
  if (!document.hidden && !whereWeAre().cursor) refreshWebhooks();
}

function drawWebhooks(page, here) {
  const data = JSON.stringify([page, here]);
  // Unchanged content is not redrawn, so that elements are not replaced while they are used.
  if (webhookTable.data === data) return;
  webhookTable.data = data;
  if (!page.webhooks.length) {
    return fill(webhookTable.box, make("p", { class: "notice" },
      here.state || here.search || here.cursor ? "No matching webhooks"
        : "No webhooks. A job with a callbackURL sends one when it ends."));
  }
  fill(webhookTable.box, make("div", { class: "table scrolls" }, make("table", { class: "plain stacked" },
    make("thead", {}, make("tr", {}, ["URL", "Job", "Created", "Event", "State", "Attempts", "Last response", "Next", ""]
      .map((name) => make("th", { scope: "col" }, name || unseen("Actions"))))),
    make("tbody", {}, page.webhooks.map(webhookRow)))),
  make("nav", { class: "pages", "aria-label": "Pages" },
    here.cursor && link({ ...here, cursor: "" }, { class: "button" }, "Newest"),
    page.next && link({ ...here, cursor: page.next }, { class: "button" }, "Older")));
}

function webhookRow(webhook) {
  const looks = { pending: "run", delivered: "good" };
  return make("tr", {}, make("td", { class: "wraps" }, webhook.url),
    make("td", { "data-label": "Job" }, webhook.type === "batch.done"
      ? link({ batch: webhook.job }, {}, "batch ", make("code", {}, webhook.job.slice(-8)))
      : link({ job: webhook.job }, {}, webhook.callerID ?? make("code", {}, webhook.job.slice(-8)))),
    make("td", { "data-label": "Created" }, timeElement(webhook.createdAt)),
    make("td", {}, webhook.type),
    make("td", {}, make("span", { class: `badge ${looks[webhook.state] ?? "bad"}` },
      webhookStateNames[webhook.state] ?? webhook.state)),
    make("td", { "data-label": "Attempts" }, webhook.attempts),
    make("td", { class: "wraps", "data-label": "Last response" }, webhook.lastError ?? webhook.lastStatus ?? "–"),
    make("td", { "data-label": "Next" }, webhook.nextAt ? timeElement(webhook.nextAt) : "–"),
    make("td", {}, make("button", { class: "button", type: "button", "data-focus": webhook.id, onclick: async () => {
      try {
        await callAPI("POST", "/v1/webhooks/replay", { body: { ids: [webhook.id] } });
        showToast("The webhook will be sent again.");
      } catch (problem) {
        showToast(problem.message, true);
      }
      refreshWebhooks();
    } }, "Send again", unseen(` to ${webhook.url}`))));
}
