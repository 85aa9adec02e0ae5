"use strict";

// Routing: view and filters are in the URL, so that they can be shared and the back button works.

const jobFilterKeys = ["state", "search", "error", "kind", "since", "worker", "cursor"];

function whereWeAre() {
  const words = new URLSearchParams(location.search);
  const place = { job: words.get("job") };
  for (const key of jobFilterKeys) place[key] = words.get(key) ?? "";
  const view = words.has("job") ? "job" : words.get("view") ?? impliedView(place);
  return { ...place, view: Object.hasOwn(views, view) ? view : "overview" };
}

/** The view of a URL without `view`: a job, the jobs if there is a filter, else the overview. */
function impliedView(place) {
  if (place.job) return "job";
  return jobFilterKeys.some((key) => place[key]) ? "jobs" : "overview";
}

/** The URL of a view with its filters; empty and implied parameters are omitted. */
function addressTo(place) {
  const words = Object.entries(place).filter(([key, value]) =>
    value && !(key === "view" && value === impliedView(place)));
  return words.length ? `/?${new URLSearchParams(words)}` : "/";
}

function goTo(place, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", addressTo(place));
  document.dispatchEvent(new CustomEvent("place"));
}

/** A link within the page, which can also be opened in a new tab. */
function link(place, properties, ...children) {
  return make("a", { ...properties, href: addressTo(place), onclick: (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(place);
  } }, ...children);
}
