// The boxes drawn before a run; of a run, how each target fares in the frame shown, and what happened to them.

import { beginCorrecting } from "../actions.js";
import { stateStyle, targetColour } from "../colours.js";
import { $, h, note } from "../dom.js";
import { edited } from "../drafts.js";
import { seek } from "../frames.js";
import { recordsShown } from "../records.js";
import { busy } from "../status.js";
import { state } from "../store.js";

export const targets = { name: "targets", title: "Targets", needs: ["source", "run", "drafts", "correcting", "progress", "shown", "moving"], show };

// Only what has changed is shown anew, and while a box is dragged nothing under a hand that is at work in the panel.
function show(panel) {
  if (state.moving && panel.contains(document.activeElement)) return;
  const { run, drafts } = state, records = recordsShown(state), content = run ? standing(run, records) : drafts;
  const key = JSON.stringify(content);
  if (panel.dataset.key === key) { records.forEach(showScore); return; }
  panel.dataset.key = key;
  const focused = document.activeElement?.id;
  panel.replaceChildren(h("h2", {}, "Targets"), ...(run ? followed(run, records) : drawn(drafts)));
  if (focused && panel.contains($(focused))) $(focused).focus();
}

// Everything that the panel tells of a run but the scores, which change with every frame.
function standing({ id, active, events, status }, records) {
  const found = records.map((record) => [record.state, record.identity]);
  return [id, active, found, events.length, status.state, status.notice, status.corrections, state.correcting?.target];
}

function showScore({ target, score }) {
  const text = score.toFixed(2), shown = $(`score-${target}`);
  if (!shown || shown.textContent === text) return;
  shown.textContent = text;
  $(`meter-${target}`).style.transform = `scaleX(${score})`;
}

const swatch = (target) => h("span", { class: "swatch", style: { background: targetColour(target) } });

function drawn(drafts) {
  const start = note("Tracking starts at the frame that is shown.");
  if (drafts.length) return [h("ul", { class: "targets" }, drafts.map(draft)), start];
  return [h("p", { class: "muted" }, "Draw a box on the picture with mouse or finger, or press B and use the arrow keys. Draw more boxes to follow more targets."), start];
}

function draft(each) {
  const remove = () => {
    state.drafts.splice(state.drafts.indexOf(each), 1);
    state.drafts.forEach((one, n) => { one.target = n + 1; });
    edited();
  };
  const number = (label, side) => {
    const id = `box-${each.target}-${side}`;
    const take = (event) => { each.box[side] = Number(event.target.value); edited(); };
    return h("div", {}, h("label", { for: id }, label), h("input", { id, type: "number", step: "any", value: Math.round(each.box[side] * 10) / 10, onchange: take }));
  };
  return h("li", { class: "target" },
    h("header", {}, swatch(each.target), h("b", {}, `Target ${each.target}`), h("button", { type: "button", class: "quiet", "aria-label": `Remove target ${each.target}`, onclick: remove }, "Remove")),
    h("div", { class: "numbers" }, ["left", "top", "width", "height"].map(number)));
}

function followed(run, records) {
  const free = run.active && !busy(run) && !state.correcting, { notice } = run.status;
  return [
    h("ul", { class: "targets" }, Array.from({ length: run.targets }, (_, n) => target(n + 1, records[n], free))),
    ...(notice ? [note(`Note: ${notice}.`)] : []),
    h("h3", {}, "Events"),
    run.events.length ? h("ul", { class: "events" }, run.events.map((each) => event(run, each))) : note("None so far: the target has been in sight."),
  ];
}

function target(number, record, free) {
  const chosen = state.correcting?.target === number, name = h("b", {}, record?.identity ? `Target ${number}: ${record.identity}` : `Target ${number}`);
  if (!record) return h("li", { class: "target" }, h("header", {}, swatch(number), name), note("Not followed in this frame."));
  const correct = h("button", { type: "button", class: "quiet", id: `correct-${number}`, onclick: () => beginCorrecting(number) }, "Correct the box here");
  return h("li", { class: chosen ? "target chosen" : "target", style: stateStyle(record.state) },
    h("header", {}, swatch(number), name, h("span", { class: "state" }, record.state), h("span", { class: "score", id: `score-${number}` }, record.score.toFixed(2))),
    h("div", { class: "meter" }, h("i", { id: `meter-${number}`, style: { transform: `scaleX(${record.score})` } })),
    free && correct);
}

function event(run, { frame, target, event, reason }) {
  const who = run.targets > 1 ? `Target ${target} ` : "";
  return h("li", {}, h("button", { type: "button", title: reason, onclick: () => seek(frame) }, h("b", {}, String(frame)),
    h("span", {}, `${who}${event}`, h("br"), h("span", { class: "small-text" }, reason))));
}
