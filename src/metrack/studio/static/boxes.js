// The boxes over the picture that can be drawn, moved and resized by mouse, touch or keyboard: the drafts before a run,
// and of a run the one that is being corrected. Places are in pixels of the video.

import { targetColour } from "./colours.js";
import { $, clamp, h } from "./dom.js";
import { edited, focusBox } from "./drafts.js";
import { between, enlarged, resized, shifted } from "./geometry.js";
import { state, subscribe, update } from "./store.js";

const EDGES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
const TINY = 52; // pixels of the screen: smaller boxes have handles at their corners only
const DRAG = 5; // pixels of the screen that a pointer moves before a box is begun
const STEP = 4, SMALL_STEP = 1; // pixels of the video, by arrow keys

const boxes = () => (state.run ? state.correcting?.boxes ?? [] : state.drafts);
const scale = () => $("picture").clientWidth / state.source.width;
const size = () => [state.source.width, state.source.height];

function limit() {
  if (!state.source) return 0;
  return state.run ? Number(Boolean(state.correcting)) : state.about.most_targets;
}

export function setUpBoxes() {
  $("stage").addEventListener("pointerdown", press);
  subscribe(["source", "run", "drafts", "correcting"], show);
}

function show() {
  $("stage").classList.toggle("drawing", limit() > 0);
  const focused = document.activeElement?.dataset?.target;
  $("boxes").replaceChildren(...(limit() ? boxes().map(element) : []));
  placeBoxes();
  if (focused) focusBox(focused);
}

function element(each) {
  return h("div", { class: "box", tabindex: 0, role: "group", "data-target": each.target, style: { color: targetColour(each.target) }, onkeydown: (event) => key(event, each) },
    h("b", {}, h("i", {}, String(each.target))), EDGES.map(handle));
}

function handle(edge) {
  const left = edge.includes("w") ? "0%" : edge.includes("e") ? "100%" : "50%";
  const top = edge.includes("n") ? "0%" : edge.includes("s") ? "100%" : "50%";
  return h("span", { class: "handle", "data-edge": edge, style: { left, top, cursor: `${edge}-resize` } });
}

const boxOfElement = (element) => boxes().find(({ target }) => String(target) === element.dataset.target);

export function placeBoxes() {
  for (const element of $("boxes").children) {
    const each = boxOfElement(element);
    if (!each) continue;
    const [x, y, width, height] = each.box, [left, top, wide, tall] = each.box.map((side) => `${side * scale()}px`);
    Object.assign(element.style, { left, top, width: wide, height: tall });
    element.classList.toggle("tiny", Math.min(width, height) * scale() < TINY);
    element.setAttribute("aria-label", `Box of target ${each.target}: ${Math.round(width)} by ${Math.round(height)} pixels at ${Math.round(x)}, ${Math.round(y)}. Arrow keys move it, with Shift they resize it, Delete removes it.`);
  }
}

function placeOf(event) {
  const area = $("picture").getBoundingClientRect(), [width, height] = size();
  return [clamp((event.clientX - area.left) / scale(), 0, width), clamp((event.clientY - area.top) / scale(), 0, height)];
}

function press(event) {
  if (!limit() || event.button > 0) return;
  const stage = $("stage"), pressed = event.target.closest(".box"), start = placeOf(event);
  const drag = pressed ? dragOf(boxOfElement(pressed), event.target.dataset.edge, start) : newBox(start);
  let each = null;
  const move = (next) => {
    each = drag(placeOf(next));
    if (!each) return;
    placeBoxes();
    update({ moving: true });
  };
  const end = () => {
    stage.removeEventListener("pointermove", move);
    stage.removeEventListener("pointerup", end);
    stage.removeEventListener("pointercancel", end);
    state.moving = false;
    if (each) {
      each.box = enlarged(each.box, state.about.smallest_side);
      edited();
    }
    focusBox(each?.target ?? pressed?.dataset.target);
  };
  event.preventDefault();
  stage.setPointerCapture(event.pointerId);
  for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) stage.addEventListener(name, listener);
}

// Each returns a function that takes where the pointer is and returns the box that it has changed, if any.
function dragOf(each, edge, [startX, startY]) {
  const before = [...each.box];
  return ([x, y]) => {
    each.box = edge ? resized(before, edge, [x, y], state.about.smallest_side) : shifted(before, x - startX, y - startY, size());
    return each;
  };
}

function newBox(start) {
  let each = null;
  return (end) => {
    if (!each && Math.hypot(end[0] - start[0], end[1] - start[1]) * scale() < DRAG) return null;
    each ??= begin();
    each.box = between(start, end);
    return each;
  };
}

// A new box, or the last one drawn anew where no more are allowed.
function begin() {
  if (boxes().length >= limit()) return boxes().at(-1);
  const target = Math.max(0, ...boxes().map((each) => each.target)) + 1, side = state.about.smallest_side;
  const each = { target, box: [0, 0, side, side] };
  boxes().push(each);
  $("boxes").append(element(each));
  return each;
}

export function addBox() {
  const [width, height] = size(), side = Math.min(width, height) / 5, each = begin();
  each.box = [(width - side) / 2, (height - side) / 2, side, side];
  edited();
  focusBox(each.target);
}

function key(event, each) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
  const step = event.ctrlKey || event.altKey ? SMALL_STEP : STEP;
  if (dx || dy) {
    const [x, y, width, height] = each.box, [widest, tallest] = size(), side = state.about.smallest_side;
    each.box = event.shiftKey
      ? [x, y, clamp(width + dx * step, side, widest - x), clamp(height + dy * step, side, tallest - y)]
      : shifted(each.box, dx * step, dy * step, size());
  } else if ((event.key === "Delete" || event.key === "Backspace") && limit() > 1) {
    boxes().splice(boxes().indexOf(each), 1);
  } else return;
  event.preventDefault();
  event.stopPropagation();
  edited();
}
