// The panel of targets: the boxes drawn before a run, and how each target fares in the frame shown.

import { $, h, colourOf } from "./dom.js";

export class Targets {
  // `actions` are edited(), seek(frame) and correct(target).
  constructor(actions) { this.actions = actions; }

  // `now` is { run, frame, drafts, correcting }; only what has changed is shown anew, and nothing under a hand that is
  // at work in the panel unless the `whole` of it is asked for.
  show(whole, now) {
    const panel = $("panel-targets"), { run, frame, drafts, correcting } = now;
    if (!whole && document.activeElement?.closest("#panel-targets")) return;
    const records = run?.series[frame - run.status.start] || [], standing = records.map(([, , , , , state, name]) => [state, name]);
    const key = JSON.stringify(run ? [run.id, run.active, standing, run.events.length, run.status.state, run.status.notice, correcting?.target, run.status.corrections] : drafts);
    if (panel.dataset.key === key) { records.forEach((record, n) => this.score(n + 1, record)); return; }
    panel.dataset.key = key;
    const focused = document.activeElement?.id;
    panel.replaceChildren(h("h2", {}, "Targets"), ...(run ? this.followed(now) : this.drawn(drafts)));
    if (focused && panel.contains($(focused))) $(focused).focus();
  }

  drawn(drafts) {
    const start = h("p", { class: "small-text" }, "Tracking starts at the frame that is shown.");
    if (!drafts.length) return [h("p", { class: "muted" }, "Draw a box on the picture with mouse or finger, or press B and use the arrow keys. Draw more boxes to follow more targets."), start];
    return [h("ul", { class: "targets" }, drafts.map((each) => this.draft(drafts, each))), start];
  }

  draft(drafts, each) {
    const remove = () => {
      drafts.splice(drafts.indexOf(each), 1);
      drafts.forEach((one, n) => { one.target = n + 1; });
      this.actions.edited();
    };
    const number = (label, side) => {
      const id = `box-${each.target}-${side}`;
      const take = (event) => { each.box[side] = Number(event.target.value); this.actions.edited(); };
      return h("div", {}, h("label", { for: id }, label), h("input", { id, type: "number", step: "any", value: Math.round(each.box[side] * 10) / 10, onchange: take }));
    };
    return h("li", { class: "target" },
      h("header", {}, swatch(each.target), h("b", {}, `Target ${each.target}`), h("button", { type: "button", class: "quiet", "aria-label": `Remove target ${each.target}`, onclick: remove }, "Remove")),
      h("div", { class: "numbers" }, ["left", "top", "width", "height"].map(number)));
  }

  followed({ run, frame, correcting }) {
    const records = run.series[frame - run.status.start], free = !["running", "starting", "queued"].includes(run.status.state) && run.active && !correcting;
    const targets = Array.from({ length: run.targets }, (_, n) => this.target(n + 1, records?.[n], free, correcting?.target === n + 1));
    return [h("ul", { class: "targets" }, targets),
      run.status.notice ? h("p", { class: "small-text" }, `Note: ${run.status.notice}.`) : null,
      h("h3", {}, "Events"), run.events.length ? h("ul", { class: "events" }, run.events.map((each) => this.event(run, each))) : h("p", { class: "small-text" }, "None so far: the target has been in sight.")].filter(Boolean);
  }

  // The score changes with every frame: it is put in its place without building the panel anew.
  score(number, record) {
    const text = record[4].toFixed(2), shown = $(`score-${number}`);
    if (!shown || shown.textContent === text) return;
    shown.textContent = text;
    $(`meter-${number}`).style.transform = `scaleX(${record[4]})`;
  }

  target(number, record, free, chosen) {
    const meter = h("i", { class: record?.[5], id: `meter-${number}` });
    meter.style.transform = `scaleX(${record?.[4] || 0})`;
    return h("li", { class: chosen ? "target chosen" : "target" },
      h("header", {}, swatch(number), h("b", {}, record?.[6] ? `Target ${number}: ${record[6]}` : `Target ${number}`),
        record ? h("span", { class: `state ${record[5]}` }, record[5]) : null, record ? h("span", { class: "score", id: `score-${number}` }, record[4].toFixed(2)) : null),
      record ? h("div", { class: "meter" }, meter) : h("p", { class: "small-text" }, "Not followed in this frame."),
      free && record ? h("button", { type: "button", class: "quiet", id: `correct-${number}`, onclick: () => this.actions.correct(number) }, "Correct the box here") : null);
  }

  event(run, each) {
    const who = run.targets > 1 ? `Target ${each.target} ` : "";
    return h("li", {}, h("button", { type: "button", title: each.reason, onclick: () => this.actions.seek(each.frame) }, h("b", {}, String(each.frame)),
      h("span", {}, `${who}${each.event}`, h("br"), h("span", { class: "small-text" }, each.reason))));
  }
}

function swatch(target) {
  const mark = h("span", { class: "swatch" });
  mark.style.background = colourOf(target);
  return mark;
}
