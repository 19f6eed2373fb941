// The boxes drawn before a run: kept while the page is reloaded, and with a history to undo changes.

import { $ } from "./dom.js";
import { state, update } from "./store.js";

const key = (source) => `boxes of ${source}`;
const stored = (source) => sessionStorage.getItem(key(source)) || "[]";

export function rememberedDrafts(source) {
  try { return JSON.parse(stored(source)) || []; } catch { return []; }
}

export const rememberDrafts = (source, drafts) => sessionStorage.setItem(key(source), JSON.stringify(drafts));

// To be called after boxes have been changed in place, whether they are drafts or one that is being corrected.
export function edited() {
  if (state.correcting) { update({ correcting: state.correcting }); return; }
  const history = [...state.history, stored(state.source.source)];
  rememberDrafts(state.source.source, state.drafts);
  update({ drafts: state.drafts, history });
}

export function undoDraft() {
  if (!state.history.length) return;
  const drafts = JSON.parse(state.history.at(-1));
  rememberDrafts(state.source.source, drafts);
  update({ drafts, history: state.history.slice(0, -1) });
}

export const focusBox = (target) => $("boxes").querySelector(`[data-target="${target}"]`)?.focus();
