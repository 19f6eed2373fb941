// Small helpers for the page.

export const $ = (id) => document.getElementById(id);

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const COLOURS = ["#40e078", "#ffb020", "#48a8ff", "#ff6090", "#be84ff", "#40dcdc", "#ece048", "#ff8454"];
export const colourOf = (target) => COLOURS[(target - 1) % COLOURS.length];
// The same hues where they are lines on a light ground rather than on a picture.
const ON_LIGHT = ["#15803d", "#b45309", "#1d6fd1", "#d02f64", "#7c3aed", "#0e7490", "#857a00", "#c2410c"];
const dark = matchMedia("(prefers-color-scheme: dark)");
export const lineColourOf = (target) => (dark.matches ? COLOURS : ON_LIGHT)[(target - 1) % COLOURS.length];
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function complain(error) {
  $("alert-text").textContent = error.message || String(error);
  $("alert").hidden = false;
}
export function calm() { $("alert").hidden = true; }
export function say(text) { $("says").textContent = text; }

// Run something that may fail; a failure is told, never swallowed.
export async function trying(action) {
  try { return await action(); } catch (error) { complain(error); return undefined; }
}

export function sizeText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// A canvas as sharp as the screen; returns its context in CSS pixels.
export function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) { canvas.width = wide; canvas.height = tall; }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
