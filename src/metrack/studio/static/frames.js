// Which frame is shown: fetched when it is sought or played, or pushed by a run.

import { frameAddress } from "./api.js";
import { clamp, trying } from "./dom.js";
import { decoded } from "./picture.js";
import { frameCount } from "./records.js";
import { unfinished } from "./status.js";
import { state, update } from "./store.js";

let wanted = null, fetching = null;

export const lastFrame = () => Math.max((state.source?.frames || (state.run && frameCount(state.run.series)) || 1) - 1, 0);

export function seek(number) {
  update({ following: false });
  const { run } = state;
  if (run?.status.live && run.active && unfinished(run)) return Promise.resolve(); // a camera has no earlier frames yet
  return showFrame(clamp(number, 0, lastFrame()));
}

// Show a frame; of several asked for in haste only the last one is fetched.
export function showFrame(number) {
  wanted = number;
  update({ frame: number });
  fetching ??= fetchAll();
  return fetching;
}

async function fetchAll() {
  while (wanted !== null) {
    const next = wanted;
    wanted = null;
    await trying(() => fetchFrame(next));
  }
  fetching = null;
}

async function fetchFrame(number) {
  if (!state.source) return;
  const answer = await fetch(frameAddress(state.source.source, number));
  if (!answer.ok) throw new Error((await answer.json()).error);
  const file = new Uint8Array(await answer.arrayBuffer());
  if (wanted !== null) return;
  await showPicture(number, file);
  update({ shown: number });
}

// Show a JPEG file as the frame of that number.
export async function showPicture(number, file) {
  const bitmap = await decoded(file);
  if (!state.source) { bitmap.close(); return; }
  state.picture?.close();
  state.shown = number; // told to those who depend on it by the caller: while a run rushes by, not for every frame
  state.frame = number;
  update({ picture: bitmap });
}

export async function play() {
  update({ playing: !state.playing });
  if (state.playing && state.frame >= lastFrame()) await seek(state.run ? state.run.status.start : 0);
  while (state.playing && state.source && state.frame < lastFrame()) {
    const started = performance.now();
    await seek(state.frame + 1);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / state.source.fps - (performance.now() - started))));
  }
  update({ playing: false });
}
