"use strict";

// A form to try what the service makes of a picture, a sound or a movie: by address or as a file.

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
    field("Address", source), make("span", { class: "soft" }, "or drop a file here, or"), field("File", chooser)),
    make("fieldset", {}, make("legend", {}, "Words of the notification"),
      field("Title", make("input", { type: "text", name: "title", value: "Title", maxlength: 200 })),
      field("Text", make("input", { type: "text", name: "body", value: "The text of the notification stands here.",
        maxlength: 1000 }))),
    make("fieldset", {}, make("legend", {}, "How"),
      choice("Rendition", "rendition", ["original", "display"]),
      choice("Network", "network", ["", "3g", "lte", "wifi"]),
      choice("Animation", "animation", ["", "still", "gif", "mp4"]),
      choice("Too large", "oversize", ["shrink", "reject"]),
      choice("Other types", "unsupported", ["convert", "reject"]),
      field("Smart crop", make("input", { type: "checkbox", name: "smart" }))),
    trial.box.stage, trial.box.numbers, make("div", { class: "actions" }, trial.box.send, trial.box.note));
  return make("div", {}, form, trial.box.result);
}

function field(label, input) {
  return make("label", { class: "field" }, make("span", {}, label), input);
}

function choice(label, name, values) {
  return field(label, make("select", { name }, values
    .map((value) => make("option", { value }, value || "as it comes"))));
}

/** A file that was chosen or dropped; null for an address. */
function take(file) {
  trial.file = file;
  Object.assign(trial, { crop: null, time: null });
  if (trial.preview) URL.revokeObjectURL(trial.preview);
  trial.preview = file && URL.createObjectURL(file);
  if (file) trial.box.source.value = "";
  else trial.box.chooser.value = "";
  trial.box.note.textContent = file ? `${file.name}, ${bytesText(file.size)}` : "";
  fill(trial.box.stage, file && stageFor(trial.preview, file.type.split("/")[0]));
  drawNumbers();
}

/** The picture or the movie in which a part or a moment is chosen. */
function stageFor(address, family) {
  if (family !== "image" && family !== "video") return null;
  trial.layer = croppingLayer((part) => {
    trial.crop = part;
    // One part is meant: the one that was drawn last.
    const smart = document.querySelector("form.try [name=smart]");
    if (part && smart) smart.checked = false;
    drawNumbers();
  });
  const isMovie = family === "video";
  const media = isMovie
    ? make("video", { src: address, muted: true, playsinline: true, preload: "auto", "aria-label": "The source" })
    : make("img", { src: address, alt: "The source" });
  const frame = make("div", { class: "try-frame" }, media, trial.layer.layer);
  media.addEventListener("error", () => fill(trial.box.stage, make("p", { class: "soft" },
    "This browser cannot show that file. Prepare it first; part and moment can be chosen on the result then.")));
  trial.layer.show(null);
  return [make("p", { class: "soft" }, isMovie
    ? "Pull a rectangle over the part that the thumbnail shows; pick the moment below."
    : "Pull a rectangle over the part that the thumbnail shows."), frame, isMovie && timePicker(media)];
}

function timePicker(video) {
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.01, value: 0, class: "time-slider",
    "aria-label": "Moment of the movie", oninput: () => {
      video.currentTime = Number(slider.value);
      trial.time = Math.round(Number(slider.value) * 100) / 100;
      drawNumbers();
    } });
  const ready = () => {
    if (Number.isFinite(video.duration)) slider.max = video.duration;
  };
  video.addEventListener("loadedmetadata", ready);
  video.addEventListener("durationchange", ready);
  return slider;
}

/** The chosen part and moment as numbers, which can be typed as well. */
function numberFields() {
  const number = (label, key) => field(label, make("input", { type: "number", min: 0, max: 1, step: "any",
    "data-part": key, onchange: ({ target }) => {
      const whole = { x: 0, y: 0, width: 1, height: 1, ...trial.crop };
      trial.crop = target.value === "" ? null
        : roundedPart(keptInside({ ...whole, [key]: Number(target.value) }));
      trial.layer?.show(trial.crop);
      drawNumbers();
    } }));
  return make("fieldset", {}, make("legend", {}, "Part and moment of the thumbnail"),
    number("X", "x"), number("Y", "y"), number("Width", "width"), number("Height", "height"),
    field("Time", make("input", { type: "text", inputmode: "decimal", "data-part": "time",
      placeholder: "seconds, frame or auto",
        onchange: ({ target }) => { trial.time = target.value.trim() || null; } })),
    make("button", { class: "button", type: "button", onclick: () => {
      Object.assign(trial, { crop: null, time: null });
      trial.layer?.show(null);
      drawNumbers();
    } }, "Whole picture"));
}

/** Writes the numbers into their fields: the fields stay, and the focus in them. */
function drawNumbers() {
  for (const input of trial.box.numbers.querySelectorAll("[data-part]")) {
    const value = input.dataset.part === "time" ? trial.time : trial.crop?.[input.dataset.part];
    input.value = value ?? "";
  }
}

/** What the form asks for. */
function orderOf(form, source) {
  const values = new FormData(form);
  const options = {};
  if (values.get("smart")) options.crop = "smart";
  else if (trial.crop) options.crop = trial.crop;
  // What is no number goes as it is: the service says what is wrong with it.
  if (trial.time !== null) options.thumbnailTime = Number.isFinite(Number(trial.time)) ? Number(trial.time)
    : trial.time;
  if (values.get("animation")) options.animation = values.get("animation");
  const order = { source, priority: "high", options, rendition: values.get("rendition"),
    oversize: values.get("oversize"), unsupported: values.get("unsupported") };
  if (values.get("network")) order.network = values.get("network");
  return order;
}

async function send(form) {
  const { box } = trial;
  const values = new FormData(form);
  const text = { title: values.get("title"), body: values.get("body") };
  if (!trial.file && !box.source.value.trim()) {
    box.note.textContent = "Give an address or a file.";
    return box.source.focus();
  }
  box.send.disabled = true;
  try {
    box.note.textContent = trial.file ? "Sending the file…" : "Preparing…";
    const source = trial.file
      ? (await ask("POST", "/v1/uploads", { body: trial.file, type: "application/octet-stream" })).said.source
      : box.source.value.trim();
    box.note.textContent = "Preparing…";
    const answer = await ask("POST", "/v1/jobs", { body: orderOf(form, source), headers: { Prefer: "wait=30" } });
    if (box.result.isConnected) showTrial(answer, text);
  } catch (problem) {
    box.note.textContent = "";
    fill(box.result, make("p", { class: "card notice bad", role: "alert" },
      problem.code && [make("code", {}, problem.code), " "], problem.message));
  } finally {
    box.send.disabled = false;
  }
}

function showTrial({ said, status, location: path }, text) {
  const id = path?.split("/").pop();
  if (status !== 200) {
    trial.box.note.textContent = "It takes longer; its page shows it when it is ready.";
    return goTo({ job: id });
  }
  trial.box.note.textContent = "";
  const item = drawnItem(said, text);
  fill(trial.box.result, make("section", { class: "card" },
    make("div", { class: "job-head" }, make("h2", {}, "What came of it ", outcomeBadge(said.outcome)),
      id && link({ job: id }, { class: "button" }, "The job's page")),
    drawing(item), manifestFacts(said)));
  // What no browser shows as it came can be cropped on what was made of it.
  const canBeSeen = item.media.attachment && said.attachment.kind !== "audio";
  if (!trial.box.stage.querySelector(".try-frame") && canBeSeen) {
    fill(trial.box.stage, stageFor(item.media.attachment, said.attachment.kind === "movie" ? "video" : "image"));
  }
}
