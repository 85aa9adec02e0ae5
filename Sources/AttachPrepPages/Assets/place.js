"use strict";

// Where somebody is in the page, as its address says: what is shown can be sent to a colleague, and gone back to.

function whereWeAre() {
  const words = new URLSearchParams(location.search);
  const view = words.has("job") ? "job" : words.get("view") ?? "jobs";
  return {
    view: ["jobs", "job", "try", "webhooks"].includes(view) ? view : "jobs", job: words.get("job"),
    state: words.get("state") ?? "", search: words.get("search") ?? "", error: words.get("error") ?? "",
    cursor: words.get("cursor") ?? "",
  };
}

/** The address of a place; what is empty is left out. */
function addressTo(place) {
  const words = Object.entries(place).filter(([key, value]) =>
    value && !(key === "view" && ["jobs", "job"].includes(value)));
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
