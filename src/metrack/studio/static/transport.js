// The bar below the picture, its keys, the hint over the picture, and the status in the header.

import * as actions from "./actions.js";
import { $ } from "./dom.js";
import { addBox } from "./boxes.js";
import { play, seek, showFrame } from "./frames.js";
import { busy, meaning, paused, statusText, unfinished } from "./status.js";
import { state, subscribe, update } from "./store.js";

export function setUpTransport() {
  const clicks = {
    main: () => actions.mainAction().act(), play, back: () => seek(state.frame - 1), forth: () => seek(state.frame + 1),
    add: addBox, undo: actions.undo, step: actions.step, stop: actions.stop, cancel: actions.cancelCorrecting,
    newest: () => update({ following: true }), "picture-again": () => showFrame(0),
  };
  for (const [id, click] of Object.entries(clicks)) $(id).onclick = click;
  $("cloud").onchange = () => update({ showParticles: $("cloud").checked });
  $("fast").onchange = () => actions.setPace($("fast").checked);
  document.addEventListener("keydown", key);
  subscribe(["source", "run", "drafts", "history", "correcting", "playing", "following"], showButtons);
  subscribe(["source", "run", "progress", "shown"], showPlace);
  subscribe(["page", "run", "progress"], showStatus);
}

function showButtons() {
  const { source, run, correcting, drafts, playing } = state;
  if (!source) return;
  const running = Boolean(run) && busy(run), waiting = Boolean(run) && paused(run), { text, possible } = actions.mainAction();
  const shown = {
    add: !run, "picture-again": !run && source.live, step: waiting && !correcting, cancel: correcting, undo: !correcting,
    stop: run?.active && (running || waiting) && !correcting, newest: running && !state.following,
  };
  for (const [id, visible] of Object.entries(shown)) $(id).hidden = !visible;
  $("main").textContent = text;
  $("main").disabled = !possible;
  $("play").textContent = playing ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", playing ? "Pause playback" : "Play");
  for (const id of ["play", "back", "forth"]) $(id).disabled = running || Boolean(correcting) || source.live;
  $("undo").disabled = run ? !run.status.can_undo || running : state.history.length === 0;
  $("hint").textContent = hint(run, drafts, correcting);
}

function hint(run, drafts, correcting) {
  if (!run) return drafts.length ? "" : "Draw a box around what should be followed";
  return correcting ? `Move the box of target ${correcting.target} to where it belongs` : meaning(run).hint;
}

function showPlace() {
  const { source, shown } = state;
  if (!source) return;
  const seconds = source.fps ? ` · ${(shown / source.fps).toFixed(2)} s` : "";
  $("place").textContent = source.live ? `Frame ${shown}` : `Frame ${shown} / ${source.frames === null ? "?" : source.frames - 1}${seconds}`;
}

function showStatus() {
  const { run, page, source } = state;
  if (page === "work" && !source) return; // another one is being opened
  $("chip").hidden = !run;
  if (!run) return;
  $("chip").textContent = statusText(run);
  $("chip").className = busy(run) ? "chip busy" : "chip";
}

function key(event) {
  if (state.page !== "work" || event.target.closest("input, select, textarea") || event.altKey || event.metaKey) return;
  if (event.ctrlKey && event.key === "z") { event.preventDefault(); if (!$("undo").disabled) actions.undo(); return; }
  if (event.ctrlKey) return;
  const { run } = state, press = (id) => !$(id).disabled && !$(id).hidden && $(id).click();
  const action = {
    ArrowLeft: () => press("back"), ArrowRight: () => press("forth"), b: () => press("add"),
    t: () => !run && press("main"), Escape: () => press("cancel"),
    " ": () => !event.target.closest("button, a, summary, label") && press(run && unfinished(run) ? "main" : "play"),
  }[event.key];
  if (action && action() !== false) event.preventDefault();
}
