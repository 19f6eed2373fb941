// The form of all settings, made from what the server says of them.

import { $, h } from "./dom.js";

export class Settings {
  constructor(about) {
    this.about = about;
    this.preset = "default";
    this.changes = {};
    this.seed = 0;
    this.stop = null;
    this.locked = null; // the job of a run, whose settings can only be looked at
    this.show();
  }

  values() { return { preset: this.preset, changes: this.changes, seed: this.seed, stop: this.stop }; }

  lock(job) {
    this.locked = job;
    this.show();
  }

  show() {
    const job = this.locked, preset = job ? job.preset : this.preset, changes = job ? job.changes : this.changes;
    const usual = this.about.presets[preset] || {};
    const chosen = h("select", { id: "preset", disabled: Boolean(job), onchange: (event) => { this.preset = event.target.value; this.tidy(); this.show(); $("preset").focus(); } },
      Object.keys(this.about.presets).map((name) => h("option", { value: name, selected: name === preset }, name)));
    const number = (id, label, value, text, take) => h("div", { class: "field" }, h("label", { for: id }, label),
      h("input", { id, type: "number", min: 0, step: 1, value: value ?? "", disabled: Boolean(job), onchange: (event) => take(event.target.value) }), h("small", {}, text));
    $("panel-settings").replaceChildren(
      h("h2", {}, job ? "Settings of this run" : "Settings"),
      h("div", { class: "field" }, h("label", { for: "preset" }, "Preset"), chosen, h("small", {}, job ? "What this run started from. Track again to change it." : "A set of values to start from; change any of them below.")),
      number("seed", "Seed", job ? job.seed : this.seed, "Same frames, same boxes and same seed: same result.", (text) => { this.seed = Math.max(0, Math.floor(Number(text))) || 0; }),
      number("stop-at", "Stop before frame", job ? job.stop : this.stop, "Empty: follow to the end.", (text) => { this.stop = text === "" ? null : Math.floor(Number(text)); }),
      this.summary(changes, Boolean(job)),
      ...this.sections(usual, changes, Boolean(job)),
    );
  }

  summary(changes, locked) {
    const names = Object.keys(changes);
    if (!names.length) return h("p", { class: "small-text" }, "Nothing is changed from the preset.");
    const list = names.map((name) => `${name} = ${changes[name]}`).join(", ");
    return h("div", { class: "changes" }, h("b", {}, `${names.length} changed: `), list, " ",
      locked ? null : h("button", { type: "button", class: "quiet", onclick: () => { this.changes = {}; this.show(); } }, "Reset all"));
  }

  sections(usual, changes, locked) {
    const groups = Map.groupBy ? Map.groupBy(this.about.settings, sectionOf) : grouped(this.about.settings);
    return [...groups].map(([name, settings]) => h("details", { open: this.opened?.has(name) || false, ontoggle: (event) => this.remember(name, event.target.open) },
      h("summary", {}, name), settings.map((each) => this.field(each, usual[each.name], changes, locked))));
  }

  remember(name, open) {
    this.opened ??= new Set();
    if (open) this.opened.add(name); else this.opened.delete(name);
  }

  field(each, usual, changes, locked) {
    const changed = each.name in changes, value = changed ? changes[each.name] : usual, id = `set-${each.name}`;
    const take = (event) => this.take(each, usual, event.target);
    const input = each.kind === "choice"
      ? h("select", { id, disabled: locked, onchange: take }, each.choices.map((choice) => h("option", { value: choice, selected: choice === value }, choice)))
      : h("input", { id, type: "number", disabled: locked, min: each.low, max: each.high, step: each.kind === "whole" ? 1 : "any", value, onchange: take });
    const range = each.kind === "choice" ? "" : ` From ${each.low} to ${each.high}; preset ${usual}.`;
    return h("div", { class: changed ? "field changed" : "field" }, h("label", { for: id }, each.name.split(".")[1]), input, h("small", {}, `${each.text[0].toUpperCase()}${each.text.slice(1)}.${range}`));
  }

  take(each, usual, input) {
    const text = input.value, value = each.kind === "choice" ? text : Number(text);
    if (text === "" || value === usual || !input.checkValidity()) delete this.changes[each.name];
    else this.changes[each.name] = value;
    this.show();
    $(input.id)?.focus();
  }

  // Forget changes that say what the preset says anyway.
  tidy() {
    for (const [name, value] of Object.entries(this.changes)) if (this.about.presets[this.preset][name] === value) delete this.changes[name];
  }
}

const sectionOf = (each) => each.name.split(".")[0];
function grouped(settings) {
  const groups = new Map();
  for (const each of settings) groups.set(sectionOf(each), [...(groups.get(sectionOf(each)) || []), each]);
  return groups;
}
