// What the buttons do with a run: start, pause, go on, correct, undo.

import { post } from "./api.js";
import { trying } from "./dom.js";
import { focusBox, rememberDrafts, undoDraft } from "./drafts.js";
import { connect, turned } from "./following.js";
import { boxOf, recordsShown } from "./records.js";
import { busy, meaning, paused } from "./status.js";
import { state, update } from "./store.js";

export const openSource = (source) => { location.hash = `#/open/${encodeURIComponent(source)}`; };

// What the main button does now: { text, act, possible }.
export function mainAction() {
  const { run } = state;
  if (!run) return { text: "Track", act: start, possible: state.drafts.length > 0 };
  if (state.correcting) return { text: "Go on from here", act: correct, possible: true };
  if (busy(run)) return { text: "Pause", act: () => ask("pause"), possible: true };
  if (paused(run) || canGoOn(run)) return { text: "Go on", act: goOn, possible: true };
  return { text: "Track again", act: again, possible: !run.status.live };
}

const canGoOn = (run) => meaning(run).resumable && (run.active || run.status.can_go_on) && !run.status.live;

export async function start() {
  const { source, drafts, form, frame, fast } = state, boxes = drafts.map((each) => rounded(each.box));
  const body = { source: source.source, boxes, start: source.live ? 0 : frame, fast, ...form };
  const told = await trying(() => post("/api/runs", body));
  if (told) location.hash = `#/run/${told.id}`;
}

// To a hundredth of a pixel, so that the command line that does the same can be read.
const rounded = (box) => box.map((side) => Math.round(side * 100) / 100);

// Ask the server to do something with the run, and take over the status that follows.
async function ask(verb, body) {
  const { run } = state, status = await trying(() => post(`/api/runs/${run.id}/${verb}`, body));
  if (status && run === state.run) {
    const before = run.status.state;
    run.status = { ...run.status, ...status };
    if (before !== run.status.state) turned(run);
  }
  if (state.run) update({ run: state.run });
  return status;
}

export const stop = () => ask("stop");

export function setPace(fast) {
  update({ fast });
  if (state.run?.active) ask("pace", { fast });
}

export function step() {
  update({ following: true });
  ask("step");
}

async function goOn() {
  update({ following: true });
  const { run } = state, revived = !run.active;
  if (await ask("go") && revived && run === state.run) {
    run.active = true;
    connect();
    update({ run });
  }
}

function again() {
  const { run } = state;
  rememberDrafts(run.source, run.job.boxes.map((box, n) => ({ target: n + 1, box })));
  openSource(run.source);
}

export function beginCorrecting(target) {
  const record = recordsShown(state)[target - 1];
  if (!record) return;
  update({ correcting: { target, boxes: [{ target, box: boxOf(record) }] } });
  focusBox(target);
}

export const cancelCorrecting = () => update({ correcting: null });

async function correct() {
  const [{ target, box }] = state.correcting.boxes;
  if (!await ask("correct", { frame: state.shown, target, box: rounded(box) })) return;
  update({ correcting: null });
  await goOn();
}

export async function undo() {
  if (!state.run) { undoDraft(); return; }
  await ask("undo");
  update({ following: true });
}
