"use strict";

// The details of a result, in a dialog of the report or on the preview page.

const dialog = make("dialog", { class: "details", "aria-labelledby": "details-title" });
let formerAddress = "#";

function details() {
  dialog.addEventListener("close", () => {
    // Stops playback.
    dialog.replaceChildren();
    if (location.hash.includes("item=")) {
      history.replaceState(null, "", formerAddress);
      if (!rowsBox.childElementCount) readAddress();
    }
  });
  addEventListener("hashchange", ({ oldURL }) => {
    if (!oldURL.includes("item=")) formerAddress = new URL(oldURL).hash || "#";
  });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  return dialog;
}

function show(index) {
  const item = items[index];
  if (!item) return;
  if (!rowsBox.childElementCount) draw();
  const place = drawn.items.indexOf(item);
  const step = (label, other) => make("a", {
    class: "button", href: other ? `#item=${other.index}` : null, "aria-disabled": other ? null : "true" }, label);
  fill(dialog, make("div", { class: "details-head" },
    make("h2", { id: "details-title", tabindex: -1 }, item.name), outcomeBadge(item.manifest.outcome),
    make("span", { class: "spring" }), step("Previous", drawn.items[place - 1]), step("Next", drawn.items[place + 1]),
    make("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Close")), ...bodyOf(item));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("details-title").focus();
}

function bodyOf(item) {
  return [drawing(item), manifestFacts(item.manifest), timingBars(item.manifest.timings),
    make("details", {}, make("summary", {}, "Manifest"), codeBlock("Manifest", JSON.stringify(item.manifest, null, 2)))]
      .filter(Boolean);
}

function previewOf(item) {
  return make("article", { class: "card preview" }, make("div", { class: "details-head" },
    make("h2", {}, item.name), outcomeBadge(item.manifest.outcome)), ...bodyOf(item));
}
