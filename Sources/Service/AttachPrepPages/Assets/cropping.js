"use strict";

// A clipping rectangle drawn over an image by pointer or keyboard, in unit coordinates.

const leastSide = 0.02;

/** Clamps a rectangle to the image and to a minimum size. */
function keptInside({ x, y, width, height }) {
  const side = (value) => Math.min(1, Math.max(leastSide, value));
  const [w, h] = [side(width), side(height)];
  const place = (value, room) => Math.min(1 - room, Math.max(0, value));
  return { x: place(x, w), y: place(y, h), width: w, height: h };
}

/** Rounds coordinates to four digits, which is more precise than a pixel. */
function roundedPart(part) {
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, Math.round(value * 10_000) / 10_000]));
}

/**
 * A layer over an image for a rectangle: dragging creates one, dragging inside moves it, dragging a corner resizes it.
 * On the keyboard, arrows move it, Shift and arrows resize it, Delete removes it.
 */
function croppingLayer(onChange) {
  let part = null;
  const box = make("div", { class: "crop-box", tabindex: 0, role: "group", hidden: true });
  const corners = ["nw", "ne", "sw", "se"]
    .map((name) => make("i", { class: `crop-corner ${name}`, "data-corner": name }));
  box.append(...corners);
  const layer = make("div", { class: "crop-layer" }, box);

  const show = (next, tells = true) => {
    part = next && keptInside(next);
    box.hidden = !part;
    if (part) {
      for (const [key, value] of Object.entries(part)) box.style.setProperty(`--${key}`, value);
      const percent = (value) => `${Math.round(value * 100)} %`;
      box.setAttribute("aria-label", `Clipping rectangle, ${percent(part.x)} from the left, ${percent(part.y)} from `
        + `the top, ${percent(part.width)} wide, ${percent(part.height)} high. Arrows move, Shift and arrows resize.`);
    }
    if (tells) onChange(part && roundedPart(part));
  };

  layer.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    layer.setPointerCapture(event.pointerId);
    const corner = event.target.dataset?.corner;
    const grip = corner ? "corner" : box.contains(event.target) ? "move" : "new";
    pull(layer, event, { grip, corner, part }, show);
  });
  box.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!part) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      return show(null);
    }
    if (!moves) return;
    event.preventDefault();
    const [x, y] = moves.map((way) => way * 0.01);
    show(event.shiftKey ? { ...part, width: part.width + x, height: part.height + y }
      : { ...part, x: part.x + x, y: part.y + y });
  });
  return { layer, show: (next) => show(next, false) };
}

/** Tracks the pointer from press to release. */
function pull(layer, pressed, { grip, corner, part }, show) {
  const frame = layer.getBoundingClientRect();
  const at = (event) => ({
    x: Math.min(1, Math.max(0, (event.clientX - frame.left) / frame.width)),
    y: Math.min(1, Math.max(0, (event.clientY - frame.top) / frame.height)),
  });
  const between = (one, other) => ({
    x: Math.min(one.x, other.x), y: Math.min(one.y, other.y),
    width: Math.abs(one.x - other.x), height: Math.abs(one.y - other.y),
  });
  const start = at(pressed);
  const anchor = corner && { x: corner.includes("w") ? part.x + part.width : part.x,
    y: corner.includes("n") ? part.y + part.height : part.y };
  const follow = (event) => {
    const now = at(event);
    if (grip === "move") show({ ...part, x: part.x + now.x - start.x, y: part.y + now.y - start.y });
    else show(between(grip === "corner" ? anchor : start, now));
  };
  const end = () => {
    layer.removeEventListener("pointermove", follow);
    layer.removeEventListener("pointerup", end);
    layer.removeEventListener("pointercancel", end);
  };
  layer.addEventListener("pointermove", follow);
  layer.addEventListener("pointerup", end);
  layer.addEventListener("pointercancel", end);
}
