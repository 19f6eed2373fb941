// Colours of targets and states, which the server gives, for light and for dark surroundings.

import { state } from "./store.js";

export const darkScheme = matchMedia("(prefers-color-scheme: dark)");

const scheme = () => (darkScheme.matches ? "dark" : "light");
const ofTarget = (colours, target) => colours[(target - 1) % colours.length];

export const targetColour = (target) => ofTarget(state.about.target_colours, target); // on a picture
export const lineColour = (target) => ofTarget(state.about.line_colours[scheme()], target); // on the page
export const stateNamed = (name) => state.about.states.find((each) => each.name === name);
export const stateColour = (name) => stateNamed(name)[scheme()].mark;

// For style.css: what has one of these styles can use --state and --state-text.
export const stateStyle = (name) => ({ "--state": `var(--${name})`, "--state-text": `var(--${name}-text)` });

function apply() {
  const { style } = document.documentElement;
  for (const each of state.about.states) {
    style.setProperty(`--${each.name}`, each[scheme()].mark);
    style.setProperty(`--${each.name}-text`, each[scheme()].text);
  }
  style.setProperty("--heat", `linear-gradient(90deg, ${state.about.heat_colours.join(", ")})`);
}

export function setUpColours() {
  apply();
  darkScheme.addEventListener("change", apply);
}
