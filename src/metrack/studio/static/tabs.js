// The tabs beside the picture: one panel of panels/list.js is in front, chosen by pointer or by arrow keys.

import { $, h } from "./dom.js";
import { PANELS } from "./panels/list.js";
import { state, subscribe, update } from "./store.js";

export function setUpTabs() {
  $("tabs").replaceChildren(...PANELS.map(({ name, title }, place) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => choose(name), onkeydown: (event) => key(event, place),
  }, title)));
  $("side").append(...PANELS.map(({ name }) =>
    h("div", { class: "panel", role: "tabpanel", tabindex: 0, id: `panel-${name}`, "aria-labelledby": `tab-${name}` })));
  for (const { name, needs, show } of PANELS) {
    subscribe(needs, () => { if (state.source && state.panel === name) show($(`panel-${name}`), false); });
  }
  subscribe(["panel"], bringToFront);
  choose(PANELS[0].name);
}

const choose = (name) => update({ panel: name });

function bringToFront() {
  for (const { name, show } of PANELS) {
    const chosen = name === state.panel;
    $(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    $(`panel-${name}`).hidden = !chosen;
    if (chosen && state.source) show($(`panel-${name}`), true);
  }
}

function key(event, place) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const { name } = PANELS.at((place + step) % PANELS.length);
  choose(name);
  $(`tab-${name}`).focus();
}
