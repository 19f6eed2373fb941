// The timeline: thumbnails, the score of every target, states as colours, events as marks, and the frame shown.

import { $, h, clamp, css, lineColourOf, sharp } from "./dom.js";
import { frameAddress } from "./api.js";

const HEIGHT = 84, BAND = 7, ZOOMS = [1, 2, 4, 8, 16, 32];
const THUMBS = 14;

export class Timeline {
  constructor(seek) {
    this.seek = seek;
    this.frames = 1;
    this.start = 0;
    this.series = [];
    this.zoom = 1;
    this.drawn = { marks: "" };
    this.inner = $("rail-inner");
    this.head = $("playhead");
    $("zoom-in").onclick = () => this.setZoom(1);
    $("zoom-out").onclick = () => this.setZoom(-1);
    this.head.addEventListener("keydown", (event) => this.key(event));
    this.inner.addEventListener("pointerdown", (event) => this.press(event));
    $("rail").addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.setZoom(event.deltaY < 0 ? 1 : -1);
    }, { passive: false });
    new ResizeObserver(() => { this.slide(); this.draw(); }).observe(this.inner);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  open(source, frames) {
    this.frames = Math.max(frames || 1, 1);
    this.zoom = 1;
    this.inner.style.width = "100%";
    this.series = [];
    this.marks([], []);
    const count = source && this.frames > 1 ? Math.min(THUMBS, this.frames) : 0;
    $("thumbs").replaceChildren(...Array.from({ length: count }, (_, n) =>
      h("img", { src: frameAddress(source, Math.floor((n + 0.5) * this.frames / count), 160), alt: "", loading: "lazy", draggable: "false" })));
    this.draw();
  }

  follow(start, series, total) {
    this.start = start;
    this.series = series;
    if (total && total + start > this.frames) this.frames = total + start;
    if (start + series.length > this.frames) this.frames = start + series.length;
    this.draw();
  }

  place(frame) {
    this.frame = frame;
    this.slide();
    if (this.zoom > 1) this.keepInView((frame + 0.5) / this.frames);
    this.head.setAttribute("aria-valuemax", this.frames - 1);
    this.head.setAttribute("aria-valuenow", frame);
    this.head.setAttribute("aria-valuetext", `Frame ${frame} of ${this.frames}`);
  }

  // Moved as a layer of its own, so that the thumbnails below it are not painted again.
  slide() { this.head.style.transform = `translateX(${Math.round(((this.frame || 0) + 0.5) / this.frames * this.inner.clientWidth)}px)`; }

  keepInView(share) {
    const rail = $("rail"), at = share * this.inner.clientWidth;
    if (at < rail.scrollLeft || at > rail.scrollLeft + rail.clientWidth) rail.scrollLeft = at - rail.clientWidth / 2;
  }

  marks(events, corrections) {
    const all = [
      ...events.map((each) => ({ frame: each.frame, kind: kindOf(each.event), text: `Frame ${each.frame}: target ${each.target} ${each.event}, ${each.reason}` })),
      ...corrections.map((each) => ({ frame: each.frame, kind: "corrected", text: `Frame ${each.frame}: target ${each.target} corrected by hand` })),
    ].sort((one, other) => one.frame - other.frame);
    const told = JSON.stringify([all, this.frames]);
    if (told === this.drawn.marks) return;
    this.drawn.marks = told;
    $("marks").replaceChildren(...all.map((each) => {
      const button = h("button", { type: "button", class: `mark ${each.kind}`, "aria-label": each.text, title: each.text, onclick: () => this.seek(each.frame) });
      button.style.left = `${100 * (each.frame + 0.5) / this.frames}%`;
      return button;
    }));
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  paint() {
    const width = this.inner.clientWidth;
    if (!width) return;
    const pen = sharp($("curve"), width, HEIGHT), targets = this.series[0]?.length || 0;
    const top = 8, bottom = HEIGHT - 6 - Math.max(targets, 1) * (BAND + 2);
    const x = (n) => (n + this.start + 0.5) / this.frames * width;
    pen.strokeStyle = css("--line"); pen.lineWidth = 1;
    for (const level of [0, 0.5, 1]) {
      const y = Math.round(bottom - level * (bottom - top)) + 0.5;
      pen.beginPath(); pen.moveTo(0, y); pen.lineTo(width, y); pen.stroke();
    }
    const states = { tracking: css("--tracking"), occluded: css("--occluded"), lost: css("--lost") };
    const step = Math.max(1, Math.floor(this.series.length / (width * 2)));
    for (let target = 0; target < targets; target += 1) {
      pen.strokeStyle = targets > 1 ? lineColourOf(target + 1) : css("--accent");
      pen.lineWidth = 1.75; pen.lineJoin = "round";
      pen.beginPath();
      for (let n = 0; n < this.series.length; n += step) pen.lineTo(x(n), bottom - this.series[n][target][4] * (bottom - top));
      pen.stroke();
      const y = bottom + 5 + target * (BAND + 2);
      for (let n = 0; n < this.series.length;) {
        let end = n;
        while (end < this.series.length && this.series[end][target][5] === this.series[n][target][5]) end += 1;
        pen.fillStyle = states[this.series[n][target][5]];
        pen.fillRect(x(n - 0.5), y, Math.max(x(end - 0.5) - x(n - 0.5), 1), BAND);
        n = end;
      }
    }
  }

  setZoom(step) {
    this.zoom = ZOOMS[clamp(ZOOMS.indexOf(this.zoom) + step, 0, ZOOMS.length - 1)];
    this.inner.style.width = `${100 * this.zoom}%`;
    const rail = $("rail");
    rail.scrollLeft = (this.frame + 0.5) / this.frames * this.inner.clientWidth - rail.clientWidth / 2;
    this.draw();
  }

  press(event) {
    if (event.target.closest("button") || event.button > 0) return;
    event.preventDefault();
    const go = (next) => {
      const area = this.inner.getBoundingClientRect();
      this.seek(clamp(Math.floor((next.clientX - area.left) / area.width * this.frames), 0, this.frames - 1));
    };
    this.inner.setPointerCapture(event.pointerId);
    this.inner.addEventListener("pointermove", go);
    const end = () => this.inner.removeEventListener("pointermove", go);
    this.inner.addEventListener("pointerup", end, { once: true });
    this.inner.addEventListener("pointercancel", end, { once: true });
    go(event);
    this.head.focus({ preventScroll: true });
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -25, PageUp: 25, Home: -1e9, End: 1e9 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.seek(clamp(this.frame + step, 0, this.frames - 1));
  }
}

function kindOf(event) { return ["occluded", "lost"].includes(event) ? event : "tracking"; }
