// The picture, and what a run has found drawn over it: boxes, labels and particles.

import { placeBoxes } from "./boxes.js";
import { stateNamed, targetColour } from "./colours.js";
import { $, clamp, sharpen } from "./dom.js";
import { boxOf, recordsShown } from "./records.js";
import { state, subscribe } from "./store.js";

const SHADES = 4; // of particles
const DASH_UNIT = 1.3; // pixels of the screen
const SHADOW = "rgb(0 0 0 / 50%)", DARK = "rgb(12 16 20 / 85%)", INK = "#10141a";

export function setUpStage() {
  subscribe(["source"], open);
  subscribe(["picture", "run", "correcting", "showParticles"], draw);
  new ResizeObserver(layout).observe($("stage"));
  window.addEventListener("resize", layout);
}

// How many pixels of the screen a picture has across: more of them would not be seen.
export function pixels() {
  const { narrowest, widest } = state.about.picture_widths;
  return clamp(Math.min($("picture").width, state.source?.width ?? widest), narrowest, widest);
}

function open() {
  if (!state.source) return;
  state.picture?.close();
  state.picture = null;
  $("picture").style.setProperty("--ratio", state.source.width / state.source.height);
  layout();
}

function layout() {
  if (!state.source) return;
  const picture = $("picture"), { style } = picture;
  style.width = style.height = "";
  const width = Math.floor(picture.clientWidth) || 1, height = Math.floor(width * state.source.height / state.source.width) || 1;
  const outer = $("stage").getBoundingClientRect();
  Object.assign(style, { width: `${width}px`, height: `${height}px` });
  sharpen(picture, width, height);
  const inner = picture.getBoundingClientRect();
  Object.assign($("boxes").style, { left: `${inner.left - outer.left}px`, top: `${inner.top - outer.top}px`, width: `${width}px`, height: `${height}px` });
  draw();
  placeBoxes();
}

function draw() {
  if (!state.source) return;
  const picture = $("picture"), pen = picture.getContext("2d", { alpha: false }), ratio = window.devicePixelRatio || 1;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, picture.width, picture.height);
  if (!state.picture) return;
  pen.drawImage(state.picture, 0, 0, picture.width, picture.height);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const scale = picture.clientWidth / state.source.width, records = recordsShown(state);
  if (state.showParticles && state.particles.frame === state.shown) {
    state.particles.clouds.forEach((cloud, n) => { drawCloud(pen, cloud, targetColour(n + 1), scale); });
  }
  const drawn = records.filter(({ target }) => target !== state.correcting?.target);
  for (const record of drawn) drawBox(pen, record, scale);
  for (const record of drawn) drawLabel(pen, record, scale, records.length === 1);
}

// Particles { x, y, weight } of about the same weight are drawn at once.
function drawCloud(pen, { x, y, weight }, colour, scale) {
  const most = Math.max(...weight, 1e-9), groups = Array.from({ length: SHADES }, () => []);
  weight.forEach((each, n) => { groups[Math.min(Math.floor(each / most * SHADES), SHADES - 1)].push([x[n] * scale, y[n] * scale]); });
  groups.forEach((group, n) => {
    pen.globalAlpha = 0.45 + 0.55 * n / (SHADES - 1);
    drawDots(pen, group, 2.7, "rgb(0 0 0 / 35%)");
    drawDots(pen, group, 1.9, colour);
  });
  pen.globalAlpha = 1;
}

function drawDots(pen, group, radius, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  for (const [x, y] of group) {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 7);
  }
  pen.fill();
}

function drawBox(pen, record, scale) {
  const sides = boxOf(record).map((side) => side * scale);
  pen.lineJoin = "round";
  pen.setLineDash([]);
  pen.strokeStyle = SHADOW; pen.lineWidth = 5; pen.strokeRect(...sides);
  pen.setLineDash(stateNamed(record.state).dash.map((length) => length * DASH_UNIT));
  pen.strokeStyle = targetColour(record.target); pen.lineWidth = 2.5; pen.strokeRect(...sides);
  pen.setLineDash([]);
}

function drawLabel(pen, { target, x, y, score, state: name, identity }, scale, alone) {
  const { seen } = stateNamed(name), colour = targetColour(target);
  const text = [identity || (alone ? null : target), seen ? null : name, score.toFixed(2)].filter(Boolean).join("  ");
  pen.font = "600 13px system-ui, sans-serif";
  const width = pen.measureText(text).width + 14, above = y * scale;
  const left = clamp(x * scale - 1, 0, Math.max(state.source.width * scale - width, 0)), top = above > 24 ? above - 23 : above + 3;
  pen.fillStyle = seen ? colour : DARK;
  pen.beginPath(); pen.roundRect(left, top, width, 20, 5); pen.fill();
  pen.fillStyle = seen ? INK : colour;
  pen.fillText(text, left + 7, top + 14.5);
}
