"use strict";

// The dashboard: assembles the page and handles navigation.

const views = {
  overview: overviewView, jobs: jobsView, job: () => jobView(whereWeAre().job), try: tryView, webhooks: webhooksView,
  actions: actionsView, campaigns: campaignsView,
};
const parts = { main: null, nav: null, live: null, trouble: null, session: { required: false } };

async function start() {
  const saved = savedTheme();
  if (saved && saved !== "system") document.documentElement.dataset.theme = saved;
  let session;
  try {
    session = await getJSON("/v1/session");
  } catch (problem) {
    return document.body.replaceChildren(make("main", {}, make("p", { class: "card notice bad", role: "alert" },
      problem.message)));
  }
  parts.session = session;
  if (session.authorized) begin();
  else signIn();
}

/** The saved theme of this browser; null if there is none. */
function savedTheme() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

function keepTheme(theme) {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Without storage the theme lasts until the page is closed.
  }
}

// MARK: The page

function begin() {
  parts.nav = make("nav", { "aria-label": "Views" });
  parts.main = make("main", { id: "main", tabindex: -1 });
  parts.live = make("span", { class: "live", role: "status" });
  parts.trouble = make("p", { class: "trouble", role: "alert" });
  overview.data = null;
  document.body.replaceChildren(
    make("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); parts.main.focus(); } },
      "Skip to content"),
    pageHead(), parts.trouble, parts.main, make("div", { id: "toasts", class: "toasts", role: "status" }));
  showPlace();
  refreshOverview();
  events.begin();
}

function pageHead() {
  return make("header", { class: "page-head" }, link({}, { class: "brand" }, "attachprep"), environmentBadge(), parts.nav, parts.live,
    make("span", { class: "spring" }), themeChoice(keepTheme),
    parts.session.required && make("button", { class: "button", type: "button", onclick: signOut }, "Sign out"));
}

/** The title of the tab, which begins with the environment: tabs show the first letters only. */
function showTitle(words) {
  document.title = [parts.session.environment?.name, `${words} – attachprep`].filter(Boolean).join(": ");
}

/** The name of the environment, so that nobody takes one for the other. */
function environmentBadge() {
  const { name, color } = parts.session.environment ?? {};
  return name && make("span", { class: `environment ${color}` }, unseen("Environment: "), name);
}

function drawNav() {
  const here = whereWeAre().view;
  const entry = (view, words) => link({ view }, {
    "aria-current": here === view || (view === "jobs" && here === "job") ? "page" : null,
    "data-focus": `nav ${view}` }, words);
  fill(parts.nav, entry("overview", "Overview"), entry("jobs", "Jobs"), entry("try", "Try it"),
    entry("campaigns", "Campaigns"), entry("webhooks", "Webhooks"), entry("actions", "Actions"));
}

function showPlace() {
  const { view } = whereWeAre();
  if (!parts.main?.isConnected) return;
  showTitle({ overview: "Overview", jobs: "Jobs", try: "Try it", webhooks: "Webhooks", job: "Job",
    actions: "Actions", campaigns: "Campaigns" }[view]);
  overview.box = jobTable.box = jobPage.box = webhookTable.box = actionTable.box = campaignTable.box = null;
  jobPage.id = null;
  parts.main.replaceChildren(...[views[view]()].flat());
  drawNav();
}

document.addEventListener("route", () => {
  showPlace();
  scrollTo(0, 0);
  parts.main.focus({ preventScroll: true });
});
addEventListener("popstate", () => {
  showPlace();
  parts.main?.focus({ preventScroll: true });
});
document.addEventListener("signedout", signIn);
document.addEventListener("counts", ({ detail }) => takeCounts(detail));
document.addEventListener("job", ({ detail }) => {
  if (jobPage.id === detail.id) refreshJob();
  jobsChanged();
});
/** Whether the signed-in token may pause, purge and act on many jobs. */
function mayOperate() {
  return parts.session.roles?.includes("operate") ?? true;
}

document.addEventListener("overview", () => {
  webhooksChanged();
  // Without an event stream, jobs are refreshed together with the overview.
  if (events.source?.readyState !== EventSource.OPEN) jobsChanged();
});
document.addEventListener("live", ({ detail }) => {
  // Loads changes that happened while the stream was closed.
  if (detail) refreshAll();
  parts.live?.replaceChildren(make("i", { class: `dot ${detail ? "good" : "bad"}`, "aria-hidden": "true" }),
    detail ? "live" : "not connected");
});
document.addEventListener("visibilitychange", () => {
  if (!parts.main?.isConnected) return;
  if (document.hidden) events.end();
  else events.begin();
});

function refreshAll() {
  refreshOverview();
  refreshJobs();
  refreshJob();
  refreshWebhooks();
  refreshActions();
  refreshCampaigns();
}

setInterval(() => {
  for (const element of document.querySelectorAll("time.since")) {
    element.textContent = sinceText(new Date(element.dateTime), new Date());
  }
}, 5000);

start();
