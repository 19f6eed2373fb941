// The state of the page, all of it in one object.
//
// Modules read `state`, change it with `update({ name: value })`, and with `subscribe` ask to be called after the names
// they depend on have changed, in the order in which they subscribed.

export const state = {
  about: null, // what Python knows and the page does not repeat: limits, colours, states, settings (protocol.py)
  page: null, // "home" or "work"
  source: null, // the video that is open: { source, name, width, height, fps, frames, live }
  run: null, // the run that is open: { id, job, series, events, status, epoch, active, ... }; records.js reads series
  progress: 0, // frames of the run at the last look; while it runs, a few looks a second
  frame: 0, // number of the frame asked for last
  shown: 0, // number of the frame in `picture`
  picture: null, // the frame shown, as a bitmap
  particles: { frame: -1, clouds: [] }, // of the newest frame, a cloud { x, y, weight } of columns per target
  following: true, // show every frame that comes, rather than the one sought
  playing: false,
  drafts: [], // boxes drawn before a run: [{ target, box: [x, y, w, h] }]
  history: [], // earlier drafts, as JSON
  correcting: null, // { target, boxes } while a box of a run is corrected
  moving: false, // a box is being dragged
  panel: null, // name of the panel in front
  whyTarget: 1, // the target that the Why panel explains
  form: { preset: null, changes: {}, seed: 0, stop: null }, // settings of the next run
  fast: true, // follow at full speed rather than at the speed of the video
  showParticles: true,
};

const listeners = [];

export function update(changes) {
  Object.assign(state, changes);
  const changed = Object.keys(changes);
  for (const { names, listener } of listeners) if (names.some((name) => changed.includes(name))) listener();
}

export function subscribe(names, listener) {
  listeners.push({ names, listener });
}
