// Following a run that is in the server's memory: its records, events, status and pictures as they are pushed.

import { ask, watch } from "./api.js";
import { complain, say, trying } from "./dom.js";
import { showPicture } from "./frames.js";
import { frameCount, replaceFrom } from "./records.js";
import { pixels } from "./stage.js";
import { busy, meaning, statusText, unfinished } from "./status.js";
import { state, update } from "./store.js";

const LOOK_AFTER = 250; // milliseconds: while frames rush by, what shows progress is brought up to date this often
const NO_PARTICLES = { frame: -1, clouds: [] };
let watching = null, soon = null;

export function connect() {
  disconnect();
  watching = watch(state.run.id, state.about.put_away_code, { take, lost, putAway, pixels });
}

export function disconnect() {
  watching?.close();
  watching = null;
}

// Open the run that is open anew, from what the server says of it now.
const reopen = () => window.dispatchEvent(new HashChangeEvent("hashchange"));

async function take(message, picture) {
  const { run } = state;
  if (!run) return;
  if (message.epoch !== run.epoch) { run.epoch = message.epoch; state.particles = NO_PARTICLES; }
  replaceFrom(run.series, message.begin, message.series);
  run.events.splice(message.events_begin, Infinity, ...message.events);
  const before = run.status.state, rushing = busy(run);
  run.status = message.status;
  resize(message.status.size);
  if (picture) {
    state.particles = { frame: message.frame, clouds: message.particles };
    if (state.following) await showPicture(message.frame, picture);
  }
  await new Promise((resolve) => requestAnimationFrame(resolve));
  if (run !== state.run) return;
  if (before !== run.status.state) turned(run);
  if (before !== run.status.state || !rushing || !picture) look();
  else if (soon === null) soon = setTimeout(lookAgain, LOOK_AFTER);
}

function lookAgain() {
  soon = null;
  if (state.run && busy(state.run)) update({ progress: frameCount(state.run.series) });
  else look();
}

function look() {
  if (state.run) update({ run: state.run, progress: frameCount(state.run.series) });
}

// How large the pictures of a camera are is known once it runs.
function resize(size) {
  const { source } = state;
  if (!source.live || !size || (size[0] === source.width && size[1] === source.height)) return;
  update({ source: { ...source, width: size[0], height: size[1] } });
}

// Tell that a run has another status.
export function turned(run) {
  const { alarming } = meaning(run), { notice } = run.status;
  if (alarming && notice) complain(new Error(notice));
  say(`Run ${statusText(run)}`);
  if (state.source.live && !unfinished(run)) reopen(); // from now on there is a recording to look at
}

// Newer runs needed the room: from now on this run is what its folder holds.
async function putAway() {
  const { run } = state, told = await trying(() => ask(`/api/runs/${run.id}`));
  if (!told || run !== state.run) return;
  Object.assign(run, { active: told.active, status: told.status });
  if (run.active) connect();
  update({ run, correcting: null });
}

function lost() {
  const { id } = state.run;
  complain(new Error("The studio does not answer. Everything up to the last frame is kept; start it again with: metrack studio"));
  const again = async () => {
    if (state.run?.id !== id) return;
    try { await ask(`/api/runs/${id}`); } catch (error) {
      if (error.status === 401) complain(error); // another studio is there now, which wants its own token
      else setTimeout(again, 1000);
      return;
    }
    reopen();
  };
  setTimeout(again, 700);
}
