"use strict";

// A form to prepare a URL or a file.

const trial = { file: null, preview: null, crop: null, time: null, box: null };

function tryView() {
  if (trial.preview) URL.revokeObjectURL(trial.preview);
  Object.assign(trial, { file: null, preview: null, layer: null, crop: null, time: null });
  const source = make("input", { type: "url", id: "try-source", placeholder: "https://cdn.example/cat.webp",
    autocomplete: "off", spellcheck: "false", oninput: () => take(null) });
  const chooser = make("input", { type: "file", id: "try-file",
    accept: "image/*,audio/*,video/*,.heic,.avif,.webp,.mkv",
    onchange: () => take(chooser.files[0] ?? null) });
  trial.box = {
    source, chooser, stage: make("div", { class: "try-stage" }),
    numbers: make("div", { class: "try-numbers" }, numberFields()),
    result: make("section", { class: "try-result", "aria-live": "polite" }),
    note: make("p", { class: "soft", role: "status" }),
    send: make("button", { class: "button primary", type: "submit" }, "Prepare"),
  };
  const form = make("form", { class: "card try", onsubmit: (event) => { event.preventDefault(); send(form); } },
    make("h1", { tabindex: -1 }, "Try it"),
    make("div", { class: "drop",
      ondragover: (event) => { event.preventDefault(); event.currentTarget.classList.add("over"); },
      ondragleave: ({ currentTarget }) => currentTarget.classList.remove("over"),
      ondrop: (event) => {
        event.preventDefault();
        event.currentTarget.classList.remove("over");
        if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
      } },
    field("URL", source), make("span", { class: "soft" }, "or drop a file here, or"), field("File", chooser)),
    make("fieldset", {}, make("legend", {}, "Notification text"),
      field("Title", make("input", {
        type: "text", name: "title", value: attachprepFacts.sample.title, maxlength: 200 })),
      field("Text", make("input", {
        type: "text", name: "body", value: attachprepFacts.sample.body, maxlength: 1000 }))),
    make("fieldset", {}, make("legend", {}, "Options"),
      choice("Rendition", "rendition", ["original", "display"]),
      choice("Network", "network", ["", "3g", "lte", "wifi"]),
      choice("Animation", "animation", ["", "still", "gif", "mp4"]),
      choice("Also for", "targets", ["ios", "android", "web", "android,web"]),
      choice("Oversize", "oversize", ["shrink", "reject"]),
      choice("Unsupported types", "unsupported", ["convert", "reject"]),
      field("Smart crop", make("input", { type: "checkbox", name: "smart" }))),
    trial.box.stage, trial.box.numbers, make("div", { class: "actions" }, trial.box.send, trial.box.note));
  return make("div", {}, form, trial.box.result);
}

function field(label, input) {
  return make("label", { class: "field" }, make("span", {}, label), input);
}

function choice(label, name, values) {
  return field(label, make("select", { name }, values
    .map((value) => make("option", { value }, value || "any"))));
}
