"use strict";

// Elements without markup: what comes from outside can only ever become text or an attribute's value.

const svgNames = new Set(["svg", "g", "rect", "line", "circle", "path", "polyline", "title"]);

/** Makes an element. Its properties are attributes, and listeners with `on` before their name; false leaves one out. */
function make(name, properties = {}, ...children) {
  const inPicture = svgNames.has(name) && name !== "title";
  const element = inPicture
    ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined
    && child !== false));
  return element;
}

/** A name for the eyes of screen readers alone. */
function unseen(text) {
  return make("span", { class: "unseen" }, text);
}

/** Text that may be wider than its box; it can be scrolled with the keyboard. */
function codeBlock(label, text) {
  return make("pre", { tabindex: 0, role: "group", "aria-label": label }, text);
}

/** Shows other children, and keeps the focus: on what has the same name, else on the next heading above. */
function fill(element, ...children) {
  const former = element.contains(document.activeElement) ? document.activeElement : null;
  const name = former?.getAttribute("data-focus");
  const next = children.flat(Infinity).filter(Boolean);
  if (next.length === element.childNodes.length && next.every((child, index) => child === element.childNodes[index])) {
    return;
  }
  element.replaceChildren(...next);
  if (!former || former === element) return;
  // An element that was put in again has lost the focus on the way.
  if (element.contains(former)) return former.focus({ preventScroll: true });
  const heir = (name && element.querySelector(`[data-focus="${CSS.escape(name)}"]`))
    || element.querySelector("h1[tabindex], h2[tabindex]") || element.closest("main") || document.querySelector("main");
  heir?.focus({ preventScroll: true });
}

/** Calls when no button or finger is down: what is pressed must not be replaced before it is let go. */
const whenReleased = (() => {
  let [isDown, waiting] = [false, []];
  const release = () => setTimeout(() => {
    isDown = false;
    const actions = waiting;
    waiting = [];
    for (const action of new Set(actions)) action();
  });
  addEventListener("pointerdown", () => { isDown = true; }, true);
  addEventListener("pointerup", release, true);
  addEventListener("pointercancel", release, true);
  addEventListener("blur", release);
  return (action) => isDown ? waiting.push(action) : action();
})();

/** Calls at most once a frame, with the latest arguments. */
function perFrame(action) {
  let pending = null;
  return (...values) => {
    if (pending === null) requestAnimationFrame(() => {
      const latest = pending;
      pending = null;
      action(...latest);
    });
    pending = values;
  };
}

/** Calls when there was quiet for so many milliseconds. */
function afterQuiet(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}
