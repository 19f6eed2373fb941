// The timeline: thumbnails, the score of every target, states as colours, events as marks, and the frame shown.

import { frameAddress } from "./api.js";
import { darkScheme, lineColour, stateColour, stateStyle } from "./colours.js";
import { $, blank, clamp, css, h } from "./dom.js";
import { seek } from "./frames.js";
import { frameCount } from "./records.js";
import { state, subscribe } from "./store.js";

const HEIGHT = 84, BAND = 7, ZOOMS = [1, 2, 4, 8, 16, 32];
const THUMBS = 14, THUMB_WIDTH = 160;
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -25, PageUp: 25, Home: -Infinity, End: Infinity };

class Timeline {
  constructor() {
    this.frames = 1;
    this.zoom = 1;
    this.marked = ""; // the marks that are shown, as JSON
    this.painting = false; // at the next repaint of the screen
    this.inner = $("rail-inner");
    this.head = $("playhead");
    $("legend").replaceChildren(...state.about.states.flatMap(({ name }) => [h("i", { class: "dot", style: stateStyle(name) }), `${name} `]));
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
    darkScheme.addEventListener("change", () => this.draw());
    subscribe(["source"], () => this.open());
    subscribe(["run", "progress"], () => this.follow());
    subscribe(["source", "frame", "run", "progress"], () => this.place());
  }

  open() {
    if (!state.source) return;
    const { source, frames, live } = state.source;
    this.frames = Math.max(frames || 1, 1);
    this.zoom = 1;
    this.inner.style.width = "100%";
    const count = !live && this.frames > 1 ? Math.min(THUMBS, this.frames) : 0;
    $("thumbs").replaceChildren(...Array.from({ length: count }, (_, n) =>
      h("img", { src: frameAddress(source, Math.floor((n + 0.5) * this.frames / count), THUMB_WIDTH), alt: "", loading: "lazy", draggable: "false" })));
    this.follow();
  }

  follow() {
    if (!state.source) return;
    const { run } = state;
    if (run) this.frames = Math.max(this.frames, run.status.start + Math.max(run.status.total ?? 0, frameCount(run.series)));
    this.showMarks(run?.events ?? [], run?.status.corrections ?? []);
    this.draw();
  }

  place() {
    if (!state.source) return;
    this.slide();
    if (this.zoom > 1) this.keepInView((state.frame + 0.5) / this.frames);
    this.head.setAttribute("aria-valuemax", this.frames - 1);
    this.head.setAttribute("aria-valuenow", state.frame);
    this.head.setAttribute("aria-valuetext", `Frame ${state.frame} of ${this.frames}`);
  }

  // Moved as a layer of its own, so that the thumbnails below it are not painted again.
  slide() { this.head.style.transform = `translateX(${Math.round((state.frame + 0.5) / this.frames * this.inner.clientWidth)}px)`; }

  keepInView(share) {
    const rail = $("rail"), at = share * this.inner.clientWidth;
    if (at < rail.scrollLeft || at > rail.scrollLeft + rail.clientWidth) rail.scrollLeft = at - rail.clientWidth / 2;
  }

  showMarks(events, corrections) {
    const all = [
      ...events.map((each) => ({ ...each, kind: state.about.events[each.event], text: `${each.event}, ${each.reason}` })),
      ...corrections.map((each) => ({ ...each, kind: "corrected", text: "corrected by hand" })),
    ].sort((one, other) => one.frame - other.frame);
    const marked = JSON.stringify([all, this.frames]);
    if (marked === this.marked) return;
    this.marked = marked;
    $("marks").replaceChildren(...all.map(({ frame, target, kind, text }) => {
      const title = `Frame ${frame}: target ${target} ${text}`, style = { ...stateStyle(kind), left: `${100 * (frame + 0.5) / this.frames}%` };
      return h("button", { type: "button", class: `mark ${kind}`, "aria-label": title, title, style, onclick: () => seek(frame) });
    }));
  }

  draw() {
    if (this.painting) return;
    this.painting = true;
    requestAnimationFrame(() => { this.painting = false; this.paint(); });
  }

  paint() {
    const width = this.inner.clientWidth, { run } = state;
    if (!width) return;
    const series = run?.series ?? [], pen = blank($("curve"), width, HEIGHT);
    const top = 8, bottom = HEIGHT - 6 - Math.max(series.length, 1) * (BAND + 2);
    const x = (n) => (n + (run?.status.start ?? 0) + 0.5) / this.frames * width;
    const y = (score) => bottom - score * (bottom - top);
    pen.strokeStyle = css("--line"); pen.lineWidth = 1;
    for (const level of [0, 0.5, 1]) {
      const height = Math.round(y(level)) + 0.5;
      pen.beginPath(); pen.moveTo(0, height); pen.lineTo(width, height); pen.stroke();
    }
    series.forEach((columns, n) => {
      pen.strokeStyle = series.length > 1 ? lineColour(n + 1) : css("--accent");
      this.paintScores(pen, columns.score, x, y, width);
      this.paintStates(pen, columns.state, x, bottom + 5 + n * (BAND + 2));
    });
  }

  paintScores(pen, scores, x, y, width) {
    const step = Math.max(1, Math.floor(scores.length / (width * 2)));
    pen.lineWidth = 1.75; pen.lineJoin = "round";
    pen.beginPath();
    for (let n = 0; n < scores.length; n += step) pen.lineTo(x(n), y(scores[n]));
    pen.stroke();
  }

  paintStates(pen, states, x, top) {
    for (let n = 0; n < states.length;) {
      let end = n;
      while (end < states.length && states[end] === states[n]) end += 1;
      pen.fillStyle = stateColour(states[n]);
      pen.fillRect(x(n - 0.5), top, Math.max(x(end - 0.5) - x(n - 0.5), 1), BAND);
      n = end;
    }
  }

  setZoom(step) {
    this.zoom = ZOOMS[clamp(ZOOMS.indexOf(this.zoom) + step, 0, ZOOMS.length - 1)];
    this.inner.style.width = `${100 * this.zoom}%`;
    const rail = $("rail");
    rail.scrollLeft = (state.frame + 0.5) / this.frames * this.inner.clientWidth - rail.clientWidth / 2;
    this.draw();
  }

  press(event) {
    if (event.target.closest("button") || event.button > 0) return;
    event.preventDefault();
    const go = (next) => {
      const area = this.inner.getBoundingClientRect();
      seek(clamp(Math.floor((next.clientX - area.left) / area.width * this.frames), 0, this.frames - 1));
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
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    seek(clamp(state.frame + step, 0, this.frames - 1));
  }
}

export const setUpTimeline = () => new Timeline();
