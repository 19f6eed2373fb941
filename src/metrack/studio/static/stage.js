// The picture, what is drawn over it, and the boxes one can draw, move and resize by mouse, touch or keyboard.

import { $, h, colourOf, clamp } from "./dom.js";

const SMALLEST = 4; // pixels of the video: what the tracker wants at least
const EDGES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
const WIDEST = 1280, SHADES = 4;
const DASHES = { tracking: [], occluded: [9, 6], lost: [3, 6] };

export class Stage {
  // `boxes` are { target, box: [x, y, w, h] }; `changed(boxes, done)` is called while they are edited.
  constructor(changed, finished) {
    this.changed = changed;
    this.finished = finished;
    this.size = [16, 9];
    this.boxes = [];
    this.limit = 0; // how many boxes may be drawn; 0 for none
    this.estimates = [];
    this.particles = [];
    this.element = $("stage");
    this.picture = $("picture");
    this.pen = this.picture.getContext("2d", { alpha: false });
    this.bitmap = null; // the frame shown
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    new ResizeObserver(() => this.layout()).observe(this.element);
    window.addEventListener("resize", () => this.layout());
  }

  open(width, height) {
    this.size = [width, height];
    this.bitmap?.close();
    this.bitmap = null;
    this.picture.style.setProperty("--ratio", width / height);
    this.layout();
  }

  // Show a frame and what is to be drawn over it, in one go.
  show(bitmap, estimates, particles) {
    this.bitmap?.close();
    this.bitmap = bitmap;
    this.overlay(estimates, particles);
  }

  // How many pixels of the screen a picture has across: more of them would not be seen.
  get pixels() { return clamp(Math.min(this.picture.width, this.size[0]), 64, WIDEST); }

  // The canvas has a pixel for every pixel of the screen, so that nothing is scaled when it is shown.
  layout() {
    const { style } = this.picture, ratio = window.devicePixelRatio || 1;
    style.width = style.height = "";
    const width = Math.floor(this.picture.clientWidth) || 1, height = Math.floor(width * this.size[1] / this.size[0]) || 1;
    Object.assign(style, { width: `${width}px`, height: `${height}px` });
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.picture.width !== wide || this.picture.height !== tall) { this.picture.width = wide; this.picture.height = tall; }
    const outer = this.element.getBoundingClientRect(), inner = this.picture.getBoundingClientRect();
    this.scale = width / this.size[0];
    this.left = inner.left - outer.left;
    this.top = inner.top - outer.top;
    Object.assign($("boxes").style, { left: `${this.left}px`, top: `${this.top}px`, width: `${width}px`, height: `${height}px` });
    this.draw();
    this.placeBoxes();
  }

  // Estimates are { target, box, score, state, name, alone }; particles are lists of [x, y, weight] per target.
  overlay(estimates, particles) {
    this.estimates = estimates;
    this.particles = particles;
    this.draw();
  }

  draw() {
    const { pen, picture, bitmap } = this, ratio = window.devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    if (bitmap) pen.drawImage(bitmap, 0, 0, picture.width, picture.height);
    else pen.clearRect(0, 0, picture.width, picture.height);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.particles.forEach((cloud, n) => this.drawCloud(pen, cloud, colourOf(n + 1)));
    for (const each of this.estimates) this.drawEstimate(pen, each);
    for (const each of this.estimates) this.drawLabel(pen, each);
  }

  // Particles of about the same weight are drawn at once.
  drawCloud(pen, cloud, colour) {
    const most = Math.max(...cloud.map((particle) => particle[2]), 1e-9), groups = Array.from({ length: SHADES }, () => []);
    for (const particle of cloud) groups[Math.min(Math.floor(particle[2] / most * SHADES), SHADES - 1)].push(particle);
    groups.forEach((group, n) => {
      pen.globalAlpha = 0.45 + 0.55 * n / (SHADES - 1);
      this.drawDots(pen, group, 2.7, "rgb(0 0 0 / 35%)");
      this.drawDots(pen, group, 1.9, colour);
    });
    pen.globalAlpha = 1;
  }

  drawDots(pen, group, radius, colour) {
    pen.fillStyle = colour;
    pen.beginPath();
    for (const [x, y] of group) {
      pen.moveTo(x * this.scale + radius, y * this.scale);
      pen.arc(x * this.scale, y * this.scale, radius, 0, 7);
    }
    pen.fill();
  }

  drawEstimate(pen, { target, box, state }) {
    const [x, y, w, hh] = box.map((side) => side * this.scale), colour = colourOf(target);
    pen.lineJoin = "round";
    pen.setLineDash([]);
    pen.strokeStyle = "rgb(0 0 0 / 50%)"; pen.lineWidth = 5; pen.strokeRect(x, y, w, hh);
    pen.setLineDash(DASHES[state] || []);
    pen.strokeStyle = colour; pen.lineWidth = 2.5; pen.strokeRect(x, y, w, hh);
    pen.setLineDash([]);
  }

  drawLabel(pen, { target, box, score, state, name, alone }) {
    const [x, y] = box.map((side) => side * this.scale), colour = colourOf(target);
    const text = [name || (alone ? null : target), state === "tracking" ? null : state, score.toFixed(2)].filter(Boolean).join("  ");
    pen.font = "600 13px system-ui, sans-serif";
    const wide = pen.measureText(text).width + 14;
    const left = clamp(x - 1, 0, Math.max(this.size[0] * this.scale - wide, 0)), top = y > 24 ? y - 23 : y + 3;
    pen.fillStyle = state === "tracking" ? colour : "rgb(12 16 20 / 85%)";
    pen.beginPath(); pen.roundRect(left, top, wide, 20, 5); pen.fill();
    pen.fillStyle = state === "tracking" ? "#10141a" : colour;
    pen.fillText(text, left + 7, top + 14.5);
  }

  edit(boxes, limit) {
    this.boxes = boxes;
    this.limit = limit;
    this.element.classList.toggle("drawing", limit > 0);
    const focused = document.activeElement?.dataset?.target;
    $("boxes").replaceChildren(...(limit ? boxes.map((each) => this.boxElement(each)) : []));
    this.placeBoxes();
    if (focused) this.focus(Number(focused));
  }

  focus(target) { $("boxes").querySelector(`[data-target="${target}"]`)?.focus(); }

  boxElement(each) {
    const element = h("div", { class: "box", tabindex: 0, role: "group", "data-target": each.target, onkeydown: (event) => this.key(event, each) },
      h("b", {}, h("i", {}, String(each.target))), EDGES.map((edge) => h("span", { class: "handle", "data-edge": edge })));
    element.style.color = colourOf(each.target);
    return element;
  }

  placeBoxes() {
    for (const element of $("boxes").children) {
      const each = this.boxes.find(({ target }) => String(target) === element.dataset.target);
      if (!each) continue;
      const [x, y, w, hh] = each.box;
      Object.assign(element.style, { left: `${x * this.scale}px`, top: `${y * this.scale}px`, width: `${w * this.scale}px`, height: `${hh * this.scale}px` });
      element.classList.toggle("tiny", Math.min(w, hh) * this.scale < 52);
      element.setAttribute("aria-label", `Box of target ${each.target}: ${Math.round(w)} by ${Math.round(hh)} pixels at ${Math.round(x)}, ${Math.round(y)}. Arrow keys move it, with Shift they resize it, Delete removes it.`);
      for (const handle of element.querySelectorAll(".handle")) {
        const edge = handle.dataset.edge;
        handle.style.left = edge.includes("w") ? "0%" : edge.includes("e") ? "100%" : "50%";
        handle.style.top = edge.includes("n") ? "0%" : edge.includes("s") ? "100%" : "50%";
        handle.style.cursor = `${edge}-resize`;
      }
    }
  }

  at(event) {
    const outer = this.element.getBoundingClientRect();
    return [
      clamp((event.clientX - outer.left - this.left) / this.scale, 0, this.size[0]),
      clamp((event.clientY - outer.top - this.top) / this.scale, 0, this.size[1]),
    ];
  }

  press(event) {
    if (!this.limit || event.button > 0) return;
    const element = event.target.closest(".box");
    const edge = event.target.dataset.edge;
    const start = this.at(event);
    let each = element && this.boxes.find(({ target }) => String(target) === element.dataset.target);
    let move;
    if (each) {
      const before = [...each.box];
      move = ([x, y]) => { each.box = edge ? resized(before, edge, x, y) : this.shifted(before, x - start[0], y - start[1]); };
    } else {
      move = ([x, y]) => {
        if (!each) {
          if (Math.hypot(x - start[0], y - start[1]) * this.scale < 5) return;
          each = this.begin();
        }
        each.box = between(start, [x, y]);
      };
    }
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    const follow = (next) => { move(this.at(next)); if (each) { this.placeBoxes(); this.changed(false); } };
    const end = () => {
      this.element.removeEventListener("pointermove", follow);
      this.element.removeEventListener("pointerup", end);
      this.element.removeEventListener("pointercancel", end);
      if (!each) return;
      each.box = atLeast(each.box);
      this.finished();
      this.focus(each.target);
    };
    this.element.addEventListener("pointermove", follow);
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
  }

  // A new box, or the last one drawn anew where no more are allowed.
  begin() {
    if (this.boxes.length >= this.limit) return this.boxes[this.boxes.length - 1];
    const target = Math.max(0, ...this.boxes.map((each) => each.target)) + 1;
    const each = { target, box: [0, 0, SMALLEST, SMALLEST] };
    this.boxes.push(each);
    $("boxes").append(this.boxElement(each));
    return each;
  }

  add() {
    const side = Math.min(...this.size) / 5;
    const each = this.begin();
    each.box = [(this.size[0] - side) / 2, (this.size[1] - side) / 2, side, side];
    this.finished();
    this.focus(each.target);
  }

  shifted([x, y, w, hh], dx, dy) {
    return [clamp(x + dx, 0, Math.max(this.size[0] - w, 0)), clamp(y + dy, 0, Math.max(this.size[1] - hh, 0)), w, hh];
  }

  key(event, each) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [0, 0];
    const step = event.ctrlKey || event.altKey ? 1 : 4;
    if (dx || dy) {
      const [x, y, w, hh] = each.box;
      each.box = event.shiftKey
        ? [x, y, clamp(w + dx * step, SMALLEST, this.size[0] - x), clamp(hh + dy * step, SMALLEST, this.size[1] - y)]
        : this.shifted(each.box, dx * step, dy * step);
    } else if ((event.key === "Delete" || event.key === "Backspace") && this.limit > 1) {
      this.boxes.splice(this.boxes.indexOf(each), 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.finished();
  }
}

function between([x, y], [u, v]) { return [Math.min(x, u), Math.min(y, v), Math.abs(u - x), Math.abs(v - y)]; }
function atLeast([x, y, w, hh]) { return [x, y, Math.max(w, SMALLEST), Math.max(hh, SMALLEST)]; }
function resized([x, y, w, hh], edge, u, v) {
  let [left, top, right, bottom] = [x, y, x + w, y + hh];
  if (edge.includes("w")) left = Math.min(u, right - SMALLEST);
  if (edge.includes("e")) right = Math.max(u, left + SMALLEST);
  if (edge.includes("n")) top = Math.min(v, bottom - SMALLEST);
  if (edge.includes("s")) bottom = Math.max(v, top + SMALLEST);
  return [left, top, right - left, bottom - top];
}
