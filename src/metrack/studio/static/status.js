// What the status of a run means; the names and texts are the server's.

import { state } from "./store.js";

export function meaning({ status }) {
  const known = state.about.statuses.find((each) => each.name === status.state);
  return known ?? { name: status.state, text: status.state, hint: "", busy: false, over: true };
}

export const busy = (run) => meaning(run).busy;
export const unfinished = (run) => !meaning(run).over;
export const paused = (run) => unfinished(run) && !busy(run);

export function statusText(run) {
  const { before, fps, watching } = run.status, pages = watching > 1 ? ` · ${watching} pages` : "";
  if (busy(run) && before) return `waiting for ${before === 1 ? "another run" : `${before} other runs`}${pages}`;
  return `${meaning(run).text}${busy(run) && fps ? ` · ${Math.round(fps)} fps` : ""}${pages}`;
}
