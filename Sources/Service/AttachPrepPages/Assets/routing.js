"use strict";

// Routing: view and filters are in the URL, so that they can be shared and the back button works.

/** Exact filters by words that callers chose, with their labels; as the API names them. */
const wordFilters = { callerID: "Caller's ID", batch: "Batch", tag: "Tag", host: "Host",
  idempotencyKey: "Idempotency key" };

const jobFilterKeys = ["state", "search", "error", "kind", "since", "worker", ...Object.keys(wordFilters), "cursor"];

function whereWeAre() {
  const words = new URLSearchParams(location.search);
  const route = { job: words.get("job") };
  for (const key of jobFilterKeys) route[key] = words.get(key) ?? "";
  const view = words.has("job") ? "job" : words.get("view") ?? defaultView(route);
  return { ...route, view: Object.hasOwn(views, view) ? view : "overview" };
}

/** The view of a URL without `view`: a job, the jobs if there is a filter, else the overview. */
function defaultView(route) {
  if (route.job) return "job";
  return jobFilterKeys.some((key) => route[key]) ? "jobs" : "overview";
}

/** The URL of a view with its filters; empty and implied parameters are omitted. */
function routeURL(route) {
  const words = Object.entries(route).filter(([key, value]) =>
    value && !(key === "view" && value === defaultView(route)));
  return words.length ? `${basePath}?${new URLSearchParams(words)}` : basePath;
}

function navigate(route, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", routeURL(route));
  document.dispatchEvent(new CustomEvent("route"));
}

/** A link within the page, which can also be opened in a new tab. */
function link(route, properties, ...children) {
  return make("a", { ...properties, href: routeURL(route), onclick: (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(route);
  } }, ...children);
}
