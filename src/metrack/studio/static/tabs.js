// Tabs: one panel shown at a time, chosen by pointer or by arrow keys.

import { $ } from "./dom.js";

export class Tabs {
  // `chosen(name)` is called whenever a tab is chosen.
  constructor(names, chosen) {
    this.names = names;
    this.chosen = chosen;
    this.current = names[0];
    for (const [place, name] of names.entries()) {
      $(`tab-${name}`).onclick = () => this.choose(name);
      $(`tab-${name}`).onkeydown = (event) => this.key(event, place);
    }
  }

  choose(name) {
    this.current = name;
    for (const each of this.names) {
      $(`tab-${each}`).setAttribute("aria-selected", String(each === name));
      $(`tab-${each}`).tabIndex = each === name ? 0 : -1;
      $(`panel-${each}`).hidden = each !== name;
    }
    this.chosen(name);
  }

  key(event, place) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.names[(place + step + this.names.length) % this.names.length];
    this.choose(next);
    $(`tab-${next}`).focus();
  }
}
