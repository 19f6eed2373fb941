// The form of all settings, made from what the server says of them. Those of a run can only be looked at.

import { $, h, note } from "../dom.js";
import { state, update } from "../store.js";

export const settings = { name: "settings", title: "Settings", needs: ["source", "run", "form"], show };

const opened = new Set(); // names of sections that are unfolded

function show(panel) {
  const job = state.run?.job ?? null, values = job ?? state.form;
  const key = JSON.stringify([state.run?.id, values.preset, values.changes]); // what was typed elsewhere is there already
  if (panel.dataset.key === key) return;
  panel.dataset.key = key;
  const usual = state.about.presets[values.preset] ?? {}, locked = Boolean(job);
  panel.replaceChildren(
    h("h2", {}, job ? "Settings of this run" : "Settings"),
    row("preset", "Preset", presets(values.preset, locked), job ? "What this run started from. Track again to change it." : "A set of values to start from; change any of them below."),
    row("seed", "Seed", count("seed", values.seed, locked, (text) => ({ seed: Math.max(0, Math.floor(Number(text))) || 0 })), "Same frames, same boxes and same seed: same result."),
    row("stop-at", "Stop before frame", count("stop-at", values.stop, locked, (text) => ({ stop: text === "" ? null : Math.floor(Number(text)) })), "Empty: follow to the end."),
    summary(values.changes, locked),
    ...sections(usual, values.changes, locked),
  );
}

const change = (changes) => update({ form: { ...state.form, ...changes } });

// Change what makes the panel be shown anew, and leave the focus where it was.
function changeAnew(id, changes) {
  change(changes);
  $(id)?.focus({ preventScroll: true });
}

const row = (id, label, input, text, changed = false) =>
  h("div", { class: changed ? "field changed" : "field" }, h("label", { for: id }, label), input, h("small", {}, text));

const count = (id, value, disabled, read) =>
  h("input", { id, type: "number", min: 0, step: 1, value: value ?? "", disabled, onchange: (event) => change(read(event.target.value)) });

const choice = (id, names, value, disabled, onchange) =>
  h("select", { id, disabled, onchange }, names.map((name) => h("option", { value: name, selected: name === value }, name)));

function presets(name, locked) {
  const choose = (event) => {
    const preset = event.target.value, usual = state.about.presets[preset];
    const changes = Object.entries(state.form.changes).filter(([each, value]) => usual[each] !== value);
    changeAnew("preset", { preset, changes: Object.fromEntries(changes) });
  };
  return choice("preset", Object.keys(state.about.presets), name, locked, choose);
}

function summary(changes, locked) {
  const names = Object.keys(changes);
  if (!names.length) return note("Nothing is changed from the preset.");
  const reset = h("button", { type: "button", class: "quiet", onclick: () => changeAnew("preset", { changes: {} }) }, "Reset all");
  return h("div", { class: "changes" }, h("b", {}, `${names.length} changed: `), names.map((name) => `${name} = ${changes[name]}`).join(", "), " ", locked ? null : reset);
}

function sections(usual, changes, locked) {
  const groups = {};
  for (const each of state.about.settings) {
    const [section] = each.name.split(".");
    groups[section] = [...(groups[section] ?? []), each];
  }
  const remember = (name, open) => { if (open) opened.add(name); else opened.delete(name); };
  return Object.entries(groups).map(([name, group]) => h("details", { open: opened.has(name), ontoggle: (event) => remember(name, event.target.open) },
    h("summary", {}, name), group.map((each) => field(each, usual[each.name], changes, locked))));
}

function field(each, usual, changes, locked) {
  const changed = each.name in changes, value = changed ? changes[each.name] : usual, id = `set-${each.name}`;
  const text = `${each.text[0].toUpperCase()}${each.text.slice(1)}.`;
  const range = each.low === null ? "" : ` From ${each.low} to ${each.high}; preset ${usual}.`;
  return row(id, each.name.split(".")[1], inputOf(each, id, value, locked, (event) => take(each, usual, event.target)), text + range, changed);
}

function inputOf(each, id, value, disabled, onchange) {
  if (each.kind === "choice") return choice(id, each.choices, value, disabled, onchange);
  if (each.kind === "switch") return h("input", { id, type: "checkbox", checked: value, disabled, onchange });
  return h("input", { id, type: "number", disabled, min: each.low, max: each.high, step: each.kind === "whole" ? 1 : "any", value, onchange });
}

// Take over a value; one that the preset has anyway, or that cannot be, is no change.
function take(each, usual, input) {
  const value = { choice: () => input.value, switch: () => input.checked }[each.kind]?.() ?? Number(input.value);
  const changes = { ...state.form.changes };
  if (input.value === "" || value === usual || !input.checkValidity()) delete changes[each.name];
  else changes[each.name] = value;
  $("panel-settings").dataset.key = ""; // also show what stands again where the value is refused
  changeAnew(input.id, { changes });
}
