// The page as a whole: which video is open, which frame is shown, and what the buttons do now.

import { $, calm, clamp, complain, say, trying } from "./dom.js";
import { ask, frameAddress, post, watch } from "./api.js";
import { decoded } from "./picture.js";
import { Stage } from "./stage.js";
import { Tabs } from "./tabs.js";
import { Targets } from "./targets.js";
import { Timeline } from "./timeline.js";
import { Settings } from "./settings.js";
import { Why } from "./why.js";
import * as home from "./home.js";
import * as exporting from "./export.js";

const MOST_TARGETS = 8;
const BUSY = ["running", "starting", "queued"];
const UNFINISHED = [...BUSY, "paused"];

const stage = new Stage((done) => showTargets(done), () => edited());
const timeline = new Timeline((frame) => seek(frame));
const why = new Why();
const targets = new Targets({ edited: () => { stage.placeBoxes(); edited(); }, seek: (number) => seek(number), correct: (target) => beginCorrecting(target) });
const tabs = new Tabs(["targets", "why", "settings", "export"], (name) => {
  if (name === "why") why.show(run);
  if (name === "export") exporting.show(run);
});
let settings;
let source = null; // what is open: { source, name, width, height, fps, frames, live }
let frame = 0; // the one shown
let drafts = []; // boxes drawn before a run
let history = []; // of them
let run = null; // what is known of the run: { id, series, events, status, epoch, ... }
let watching = null;
let following = true; // show every frame that comes, rather than the one sought
let correcting = null; // the target whose box is being corrected
let playing = false;
let particles = { frame: -1, clouds: [] };

// --- which page

async function route() {
  const [, kind, rest] = location.hash.match(/^#\/(open|run)\/(.+)$/) || [];
  leave();
  if (kind === "open") await openSource(decodeURIComponent(rest));
  else if (kind === "run") await openRun(decodeURIComponent(rest));
  else await goHome();
}

function leave() {
  watching?.close();
  watching = run = source = correcting = null;
  playing = false;
  calm();
}

async function goHome() {
  page("home");
  $("title").textContent = "";
  await home.show(openHash);
}

const openHash = (text) => { location.hash = `#/open/${encodeURIComponent(text)}`; };

function page(name) {
  $("home").hidden = name !== "home";
  $("work").hidden = name !== "work";
  $("chip").hidden = name === "home";
  window.scrollTo(0, 0);
}

async function openSource(text) {
  say("Opening");
  const opened = await trying(() => post("/api/open", { source: text }));
  if (!opened) { await goHomeKeepingMessage(); return; }
  source = opened;
  drafts = remembered(text);
  history = [];
  following = false;
  enter(source.name, source.frames);
  settings.lock(null);
  await showFrame(0);
  refresh();
}

async function goHomeKeepingMessage() {
  const text = $("alert-text").textContent;
  window.history.replaceState(null, "", "#/");
  await goHome();
  complain(new Error(text));
}

function enter(name, frames) {
  page("work");
  $("title").textContent = name;
  $("work-title").textContent = name;
  stage.open(source.width, source.height);
  timeline.open(source.live ? null : source.source, frames);
  frame = 0;
  particles = { frame: -1, clouds: [] };
  why.clear("Track something first: then this panel shows what the tracker sees.");
}

async function openRun(id) {
  const told = await trying(() => ask(`/api/runs/${encodeURIComponent(id)}`));
  if (!told) { await goHomeKeepingMessage(); return; }
  run = told;
  const camera = run.source.startsWith("run:") && run.active && UNFINISHED.includes(run.status.state);
  if (!camera) source = await trying(() => post("/api/open", { source: run.source }));
  source ??= { source: run.source, name: run.title, width: 640, height: 480, fps: 25, frames: run.series.length, live: true };
  following = BUSY.includes(run.status.state) || camera;
  enter(run.title, source.frames);
  settings.lock(run.job);
  frame = run.status.start;
  if (!camera) await showFrame(run.status.start + (following ? 0 : Math.max(run.series.length - 1, 0)));
  refresh();
  if (run.active) connect();
}

// --- following a run

function connect() {
  watching?.close();
  watching = watch(run.id, { take, lost, putAway, pixels: () => stage.pixels });
}

async function take(message, picture) {
  const known = run;
  if (!known) return;
  if (message.epoch !== known.epoch) { known.epoch = message.epoch; particles = { frame: -1, clouds: [] }; }
  known.series.length = Math.min(known.series.length, message.begin);
  known.series.push(...message.series);
  known.events.length = Math.min(known.events.length, message.events_begin);
  known.events.push(...message.events);
  const before = known.status.state;
  known.status = message.status;
  resize(message.status.size);
  if (picture) {
    particles = { frame: message.frame, clouds: message.particles };
    if (following) await showPicture(message.frame, picture);
  }
  await new Promise((resolve) => requestAnimationFrame(resolve));
  if (known !== run) return;
  if (before !== message.status.state) turned(message.status);
  if (before !== message.status.state || !BUSY.includes(before) || !picture) refresh();
  else refreshSoon();
}

// While frames rush by, only what changes with them is brought up to date, and a few times a second.
let soon = null;
function refreshSoon() {
  soon ??= setTimeout(() => { soon = null; if (run && BUSY.includes(run.status.state)) progress(); else refresh(); }, 250);
}

// How large the pictures of a camera are is known once it runs.
function resize(size) {
  if (!source.live || !size || (size[0] === source.width && size[1] === source.height)) return;
  [source.width, source.height] = size;
  stage.open(source.width, source.height);
}

function turned(status) {
  if (status.state === "failed" || (status.state === "ended early" && status.notice)) complain(new Error(status.notice));
  say(`Run ${stateText(status)}`);
  if (source.live && !UNFINISHED.includes(status.state)) reopen(run.id); // from now on there is a recording to look at
}

async function reopen(id) {
  leave();
  await openRun(id);
}

// Newer runs needed the room: from now on this run is what its folder holds.
async function putAway() {
  const known = run, told = await trying(() => ask(`/api/runs/${known.id}`));
  if (!told || known !== run) return;
  Object.assign(run, { active: told.active, status: told.status });
  if (run.active) connect();
  correcting = null;
  refresh();
}

function lost() {
  const id = run.id;
  complain(new Error("The studio does not answer. Everything up to the last frame is kept; start it again with: metrack studio"));
  const again = async () => {
    if (!run || run.id !== id) return;
    try { await ask(`/api/runs/${id}`); } catch { setTimeout(again, 1000); return; }
    await reopen(id);
  };
  setTimeout(again, 700);
}

// --- frames

let wanted = null, fetching = null;

function seek(number) {
  following = false;
  if (run?.status.live && run.active && UNFINISHED.includes(run.status.state)) return Promise.resolve();
  return showFrame(clamp(number, 0, lastFrame()));
}

const lastFrame = () => Math.max((source?.frames || run?.series.length || 1) - 1, 0);

// Show a frame; of several asked for in haste only the last one is fetched.
function showFrame(number) {
  wanted = number;
  frame = number;
  timeline.place(number);
  fetching ??= (async () => {
    while (wanted !== null) {
      const next = wanted;
      wanted = null;
      await trying(() => fetchFrame(next));
    }
    fetching = null;
    refresh();
  })();
  return fetching;
}

async function fetchFrame(number) {
  const answer = await fetch(frameAddress(source.source, number));
  if (!answer.ok) throw new Error((await answer.json()).error);
  const file = new Uint8Array(await answer.arrayBuffer());
  if (wanted !== null) return;
  await showPicture(number, file);
  placeText();
}

async function showPicture(number, file) {
  const bitmap = await decoded(file);
  if (!source) { bitmap.close(); return; }
  frame = number;
  stage.show(bitmap, ...overlaid());
}

async function play() {
  playing = !playing;
  buttons();
  if (playing && frame >= lastFrame()) await seek(run ? run.status.start : 0);
  while (playing && source && frame < lastFrame()) {
    const started = performance.now();
    await seek(frame + 1);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / source.fps - (performance.now() - started))));
  }
  playing = false;
  buttons();
}

// --- boxes

function edited() {
  if (!correcting) {
    history.push(sessionStorage.getItem(memoryKey()) || "[]");
    sessionStorage.setItem(memoryKey(), JSON.stringify(drafts));
  }
  refresh();
}

const memoryKey = () => `boxes of ${source.source}`;
function remembered(text) {
  try { return JSON.parse(sessionStorage.getItem(`boxes of ${text}`)) || []; } catch { return []; }
}

function beginCorrecting(target) {
  const records = run.series[frame - run.status.start];
  if (!records) return;
  correcting = { target, boxes: [{ target, box: records[target - 1].slice(0, 4) }] };
  refresh();
  stage.focus(target);
}

async function undo() {
  if (run) { await act("undo"); following = true; return; }
  if (!history.length) return;
  drafts = JSON.parse(history.pop());
  sessionStorage.setItem(memoryKey(), JSON.stringify(drafts));
  refresh();
}

// --- what the main button does

function mainAction() {
  if (!run) return ["Track", start, drafts.length > 0];
  const { state } = run.status;
  if (correcting) return ["Go on from here", correct, true];
  if (BUSY.includes(state)) return ["Pause", pause, true];
  if (state === "paused" || (state === "interrupted" && (run.active || run.status.can_go_on) && !run.status.live)) return ["Go on", goOn, true];
  return ["Track again", again, !run.status.live];
}

async function start() {
  const body = { source: source.source, boxes: drafts.map((each) => rounded(each.box)), start: source.live ? 0 : frame, fast: $("fast").checked, ...settings.values() };
  const told = await trying(() => post("/api/runs", body));
  if (told) location.hash = `#/run/${told.id}`;
}

// To a hundredth of a pixel, so that the command line that does the same can be read.
const rounded = (box) => box.map((side) => Math.round(side * 100) / 100);

async function act(verb, body) {
  const asked = run, status = await trying(() => post(`/api/runs/${asked.id}/${verb}`, body));
  if (status && run === asked) {
    const before = run.status.state;
    run.status = { ...run.status, ...status };
    if (before !== run.status.state) turned(run.status);
  }
  refresh();
  return status;
}

const pause = () => act("pause");
async function goOn() {
  following = true;
  const revived = !run.active;
  if (await act("go") && revived) { run.active = true; connect(); }
}

async function correct() {
  const [{ target, box }] = correcting.boxes;
  if (!await act("correct", { frame, target, box: rounded(box) })) return;
  correcting = null;
  await goOn();
}

function again() {
  sessionStorage.setItem(`boxes of ${run.source}`, JSON.stringify(run.job.boxes.map((box, n) => ({ target: n + 1, box }))));
  openHash(run.source);
}

// --- showing how things stand

function refresh() {
  if (!source) return;
  stage.edit(run ? correcting?.boxes || [] : drafts, run ? (correcting ? 1 : 0) : MOST_TARGETS);
  overlay();
  buttons();
  if (tabs.current === "why") why.show(run);
  $("chip").hidden = !run;
  progress();
}

// How far the run is.
function progress() {
  if (run) {
    timeline.follow(run.status.start, run.series, run.status.total);
    timeline.marks(run.events, run.status.corrections);
    $("chip").textContent = stateText(run.status);
    $("chip").className = BUSY.includes(run.status.state) ? "chip running" : "chip";
  }
  timeline.place(frame);
  placeText();
  showTargets(true);
}

function stateText(status) {
  const pages = status.watching > 1 ? ` · ${status.watching} pages` : "";
  if (status.state === "queued") return `waiting for ${status.before === 1 ? "another run" : `${status.before} other runs`}${pages}`;
  if (status.state === "running" && status.fps) return `running · ${Math.round(status.fps)} fps${pages}`;
  return ({ interrupted: "stopped" }[status.state] || status.state) + pages;
}

function placeText() {
  if (!source) return;
  const seconds = source.fps ? ` · ${(frame / source.fps).toFixed(2)} s` : "";
  $("place").textContent = source.live ? `Frame ${frame}` : `Frame ${frame} / ${source.frames === null ? "?" : source.frames - 1}${seconds}`;
}

// What belongs over the frame shown: estimates, and the particles they came from.
function overlaid() {
  const records = run?.series[frame - run.status.start] || [];
  const estimates = records.map(([x, y, w, hh, score, state, name], n) => ({ target: n + 1, box: [x, y, w, hh], score, state, name, alone: records.length === 1 }))
    .filter(({ target }) => target !== correcting?.target);
  return [estimates, $("cloud").checked && particles.frame === frame ? particles.clouds : []];
}

const overlay = () => stage.overlay(...overlaid());

function buttons() {
  const state = run?.status.state, busy = BUSY.includes(state), [text, , possible] = mainAction();
  const set = (id, shown) => { $(id).hidden = !shown; };
  $("main").textContent = text;
  $("main").disabled = !possible;
  $("play").textContent = playing ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", playing ? "Pause playback" : "Play");
  for (const id of ["play", "back", "forth"]) $(id).disabled = busy || Boolean(correcting) || source.live;
  set("add", !run);
  set("picture-again", !run && source.live);
  set("step", state === "paused" && !correcting);
  set("stop", run?.active && (busy || state === "paused") && !correcting);
  set("cancel", Boolean(correcting));
  set("newest", run && busy && !following);
  set("undo", !correcting);
  $("undo").disabled = run ? !run.status.can_undo || busy : history.length === 0;
  $("hint").textContent = !run && !drafts.length ? "Draw a box around what should be followed" : correcting ? `Move the box of target ${correcting.target} to where it belongs` : state === "starting" ? "Getting ready; the first time this takes a while" : state === "queued" ? "Waiting until another run is over or paused" : "";
}

const showTargets = (whole) => targets.show(whole, { run, frame, drafts, correcting });

// --- keys

function keys(event) {
  if ($("work").hidden || event.target.closest("input, select, textarea") || event.altKey || event.metaKey) return;
  if (event.ctrlKey && event.key === "z") { event.preventDefault(); if (!$("undo").disabled) undo(); return; }
  if (event.ctrlKey) return;
  const action = {
    ArrowLeft: () => !$("back").disabled && seek(frame - 1), ArrowRight: () => !$("forth").disabled && seek(frame + 1),
    " ": () => !event.target.closest("button, a, summary, label") && (run && UNFINISHED.includes(run.status.state) ? mainAction()[1]() : play()),
    b: () => !run && stage.add(), t: () => !run && !$("main").disabled && start(), Escape: () => correcting && $("cancel").click(),
  }[event.key];
  if (!action) return;
  if (action() !== false) event.preventDefault();
}

async function begin() {
  const about = await trying(() => ask("/api/about"));
  if (!about) return;
  settings = new Settings(about);
  home.setUp(openHash);
  $("alert-close").onclick = calm;
  $("main").onclick = () => mainAction()[1]();
  $("play").onclick = play;
  $("back").onclick = () => seek(frame - 1);
  $("forth").onclick = () => seek(frame + 1);
  $("add").onclick = () => stage.add();
  $("undo").onclick = undo;
  $("step").onclick = () => { following = true; act("step"); };
  $("stop").onclick = () => act("stop");
  $("newest").onclick = () => { following = true; refresh(); };
  $("picture-again").onclick = () => showFrame(0);
  $("cancel").onclick = () => { correcting = null; refresh(); };
  $("cloud").onchange = overlay;
  $("fast").onchange = () => { if (run?.active) act("pace", { fast: $("fast").checked }); };
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", route);
  await route();
  document.body.dataset.ready = "yes";
}

begin();
