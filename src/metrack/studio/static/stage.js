// The picture, what is drawn over it, and the boxes one can draw, move and resize by mouse, touch or keyboard.

import { $, h, colourOf, clamp, sharp } from "./dom.js";

const SMALLEST = 4; // pixels of the video: what the tracker wants at least
const EDGES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
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
    this.screen = this.picture.getContext("bitmaprenderer");
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    new ResizeObserver(() => this.layout()).observe(this.picture);
  }

  open(width, height) {
    this.size = [width, height];
    const scale = Math.min(1, 1280 / width);
    this.picture.width = Math.round(width * scale);
    this.picture.height = Math.round(height * scale);
    this.layout();
  }

  show(bitmap) {
    this.screen.transferFromImageBitmap(bitmap); // without a copy, unlike drawing
  }

  // Where the video is on the page: the canvas may have room beside it.
  layout() {
    const outer = this.element.getBoundingClientRect(), inner = this.picture.getBoundingClientRect();
    const scale = Math.min(inner.width / this.size[0], inner.height / this.size[1]) || 1;
    const [width, height] = [this.size[0] * scale, this.size[1] * scale];
    this.scale = scale;
    this.left = inner.left - outer.left + (inner.width - width) / 2;
    this.top = inner.top - outer.top + (inner.height - height) / 2;
    for (const id of ["overlay", "boxes"]) {
      Object.assign($(id).style, { left: `${this.left}px`, top: `${this.top}px`, width: `${width}px`, height: `${height}px` });
    }
    this.draw();
    this.placeBoxes();
  }

  // Estimates are { target, box, score, state, name }; particles are lists of [x, y, weight] per target.
  overlay(estimates, particles) {
    this.estimates = estimates;
    this.particles = particles;
    this.draw();
  }

  draw() {
    const pen = sharp($("overlay"), this.size[0] * this.scale, this.size[1] * this.scale);
    this.particles.forEach((cloud, n) => this.drawCloud(pen, cloud, colourOf(n + 1)));
    for (const each of this.estimates) this.drawEstimate(pen, each);
  }

  drawCloud(pen, cloud, colour) {
    const most = Math.max(...cloud.map((particle) => particle[2]), 1e-9);
    for (const [x, y, weight] of cloud) {
      pen.globalAlpha = 0.45 + 0.55 * weight / most;
      pen.fillStyle = "rgb(0 0 0 / 35%)";
      pen.beginPath(); pen.arc(x * this.scale, y * this.scale, 2.7, 0, 7); pen.fill();
      pen.fillStyle = colour;
      pen.beginPath(); pen.arc(x * this.scale, y * this.scale, 1.9, 0, 7); pen.fill();
    }
    pen.globalAlpha = 1;
  }

  drawEstimate(pen, { target, box, score, state, name }) {
    const [x, y, w, hh] = box.map((side) => side * this.scale), colour = colourOf(target);
    pen.lineJoin = "round";
    pen.setLineDash([]);
    pen.strokeStyle = "rgb(0 0 0 / 50%)"; pen.lineWidth = 5; pen.strokeRect(x, y, w, hh);
    pen.setLineDash(DASHES[state] || []);
    pen.strokeStyle = colour; pen.lineWidth = 2.5; pen.strokeRect(x, y, w, hh);
    pen.setLineDash([]);
    const text = [name || (this.estimates.length > 1 ? target : null), state === "tracking" ? null : state, score.toFixed(2)].filter(Boolean).join("  ");
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
