// Which page is shown: the start, a video to draw boxes on, or a run. The part of the address after # says which.

import { ask, post } from "./api.js";
import { $, calm, complain, say, trying } from "./dom.js";
import { rememberedDrafts } from "./drafts.js";
import { connect, disconnect } from "./following.js";
import { showFrame } from "./frames.js";
import * as home from "./home.js";
import { frameCount } from "./records.js";
import { busy, unfinished } from "./status.js";
import { state, subscribe, update } from "./store.js";

const UNKNOWN_SIZE = { width: 640, height: 480, fps: 25 }; // of a camera, until its first picture comes
const CLEAN = { correcting: null, playing: false, drafts: [], history: [], particles: { frame: -1, clouds: [] } };

export function setUpPages() {
  subscribe(["page", "source"], show);
  window.addEventListener("hashchange", route);
}

export async function route() {
  const [, kind, rest] = location.hash.match(/^#\/(open|run)\/(.+)$/) || [];
  disconnect();
  update({ ...CLEAN, run: null, source: null });
  calm();
  if (kind === "open") await openSource(decodeURIComponent(rest));
  else if (kind === "run") await openRun(decodeURIComponent(rest));
  else await goHome();
}

function show() {
  const { page, source, run } = state, name = page === "work" ? run?.title ?? source?.name ?? "" : "";
  if (page === "work" && !source) return; // another one is being opened
  $("home").hidden = page !== "home";
  $("work").hidden = page !== "work";
  $("title").textContent = name;
  $("work-title").textContent = name;
}

async function goHome() {
  update({ page: "home" });
  window.scrollTo(0, 0);
  await home.show();
}

// Home, with what went wrong still told.
async function goBack() {
  const text = $("alert-text").textContent;
  window.history.replaceState(null, "", "#/");
  await goHome();
  complain(new Error(text));
}

async function openSource(name) {
  say("Opening");
  const source = await trying(() => post("/api/open", { source: name }));
  if (!source) { await goBack(); return; }
  enter({ source, drafts: rememberedDrafts(name), following: false }, 0);
  await showFrame(0);
}

async function openRun(id) {
  const run = await trying(() => ask(`/api/runs/${encodeURIComponent(id)}`));
  if (!run) { await goBack(); return; }
  const frames = frameCount(run.series), { start, live } = run.status;
  const camera = live && run.active && unfinished(run), following = busy(run) || camera;
  const opened = camera ? null : await trying(() => post("/api/open", { source: run.source }));
  const source = opened ?? { source: run.source, name: run.title, frames, live: true, ...UNKNOWN_SIZE };
  const first = start + (following ? 0 : Math.max(frames - 1, 0));
  enter({ source, run, following, progress: frames }, first);
  if (!camera) await showFrame(first);
  if (run.active && run === state.run) connect();
}

function enter(opened, frame) {
  update({ page: "work", frame, shown: frame, ...opened });
  window.scrollTo(0, 0);
}
