"use strict";

// Where somebody is in the page, as its address says: what is shown can be sent to a colleague, and gone back to.

const jobFilterKeys = ["state", "search", "error", "cursor"];

function whereWeAre() {
  const words = new URLSearchParams(location.search);
  const place = { job: words.get("job") };
  for (const key of jobFilterKeys) place[key] = words.get(key) ?? "";
  const view = words.has("job") ? "job" : words.get("view") ?? impliedView(place);
  return { ...place, view: Object.hasOwn(views, view) ? view : "overview" };
}

/** The view of an address that names none: a filter leads to the jobs. */
function impliedView(place) {
  if (place.job) return "job";
  return jobFilterKeys.some((key) => place[key]) ? "jobs" : "overview";
}

/** The address of a place; what is empty or implied is left out. */
function addressTo(place) {
  const words = Object.entries(place).filter(([key, value]) =>
    value && !(key === "view" && value === impliedView(place)));
  return words.length ? `/?${new URLSearchParams(words)}` : "/";
}

function goTo(place, { replaces = false } = {}) {
  history[replaces ? "replaceState" : "pushState"](null, "", addressTo(place));
  document.dispatchEvent(new CustomEvent("place"));
}

/** A link within the page: it can be opened in a tab of its own as well. */
function link(place, properties, ...children) {
  return make("a", { ...properties, href: addressTo(place), onclick: (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    goTo(place);
  } }, ...children);
}
