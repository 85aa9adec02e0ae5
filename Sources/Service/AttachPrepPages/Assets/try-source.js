"use strict";

// The source of a trial: URL or file, clipping rectangle and thumbnail time.

/** Sets the chosen or dropped file; null for a URL. */
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

/** The image or movie on which the clipping rectangle and the time are chosen. */
function stageFor(address, family) {
  if (family !== "image" && family !== "video") return null;
  trial.layer = croppingLayer((part) => {
    trial.crop = part;
    // A drawn rectangle overrides the smart crop.
    const smart = document.querySelector("form.try [name=smart]");
    if (part && smart) smart.checked = false;
    drawNumbers();
  });
  const isMovie = family === "video";
  const media = isMovie
    ? make("video", { src: withFirstFrame(address), muted: true, playsinline: true, preload: "auto",
      "aria-label": "The source" })
    : make("img", { src: address, alt: "The source" });
  const frame = make("div", { class: "try-frame" }, media, trial.layer.layer);
  media.addEventListener("error", () => fill(trial.box.stage, make("p", { class: "soft" },
    "This browser cannot show the file. Prepare it first, then choose clipping rectangle and time on the result.")));
  trial.layer.show(null);
  return [make("p", { class: "soft" }, isMovie
    ? "Draw a rectangle around the part for the thumbnail; choose the frame below."
    : "Draw a rectangle around the part for the thumbnail."), frame, isMovie && timePicker(media)];
}

function timePicker(video) {
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.01, value: 0, class: "time-slider",
    "aria-label": "Thumbnail time", oninput: () => {
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

/** Input fields for clipping rectangle and time. */
function numberFields() {
  const number = (label, key) => field(label, make("input", { type: "number", min: 0, max: 1, step: "any",
    "data-part": key, onchange: ({ target }) => {
      const whole = { x: 0, y: 0, width: 1, height: 1, ...trial.crop };
      trial.crop = target.value === "" ? null
        : roundedPart(keptInside({ ...whole, [key]: Number(target.value) }));
      trial.layer?.show(trial.crop);
      drawNumbers();
    } }));
  return make("fieldset", {}, make("legend", {}, "Thumbnail"),
    number("X, 0 to 1", "x"), number("Y, 0 to 1", "y"), number("Width, 0 to 1", "width"),
    number("Height, 0 to 1", "height"),
    field("Time in s", make("input", { type: "text", inputmode: "decimal", "data-part": "time",
      placeholder: "seconds, frame or auto",
      onchange: ({ target }) => { trial.time = target.value.trim() || null; } })),
    make("button", { class: "button", type: "button", onclick: () => {
      Object.assign(trial, { crop: null, time: null });
      trial.layer?.show(null);
      drawNumbers();
    } }, "Reset"));
}

/** Updates the values of the input fields, which keep the focus. */
function drawNumbers() {
  for (const input of trial.box.numbers.querySelectorAll("[data-part]")) {
    const value = input.dataset.part === "time" ? trial.time : trial.crop?.[input.dataset.part];
    input.value = value ?? "";
  }
}
