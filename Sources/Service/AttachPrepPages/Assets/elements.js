"use strict";

// Creates DOM elements without HTML parsing: untrusted values can only become text or attribute values.

const svgNames = new Set(["svg", "g", "rect", "line", "circle", "path", "polyline", "title"]);

/** Creates an element. Properties become attributes, or event listeners if they begin with `on`; false omits one. */
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

/** Text for screen readers only. */
function unseen(text) {
  return make("span", { class: "unseen" }, text);
}

/** Preformatted text in a box that can be scrolled with the keyboard. */
function codeBlock(label, text) {
  return make("pre", { tabindex: 0, role: "group", "aria-label": label }, text);
}

/** Replaces the children and restores the focus: to the element with the same `data-focus`, else to a heading. */
function fill(element, ...children) {
  const former = element.contains(document.activeElement) ? document.activeElement : null;
  const name = former?.getAttribute("data-focus");
  const next = children.flat(Infinity).filter(Boolean);
  if (next.length === element.childNodes.length && next.every((child, index) => child === element.childNodes[index])) {
    return;
  }
  element.replaceChildren(...next);
  if (!former || former === element) return;
  // Moving an element in the DOM removes its focus.
  if (element.contains(former)) return former.focus({ preventScroll: true });
  const heir = (name && element.querySelector(`[data-focus="${CSS.escape(name)}"]`))
    || element.querySelector("h1[tabindex], h2[tabindex]") || element.closest("main") || document.querySelector("main");
  heir?.focus({ preventScroll: true });
}

/** Runs an action when no pointer is pressed, so that a pressed element is not replaced before its click event. */
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

/** Calls an action at most once per animation frame, with the latest arguments. */
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

/** Debounces an action. */
function afterQuiet(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}
