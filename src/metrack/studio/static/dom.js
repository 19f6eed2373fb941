// Small helpers for elements, messages and canvases.

export const $ = (id) => document.getElementById(id);

// Make an element. Functions under "on..." are listeners; `style` is an object, because the page's policy forbids style texts.
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") for (const each of Object.entries(value)) element.style.setProperty(...each);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const note = (...text) => h("p", { class: "small-text" }, ...text);
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

// Give a canvas a pixel for every pixel of the screen, so that nothing is scaled when it is shown; returns that ratio.
export function sharpen(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) { canvas.width = wide; canvas.height = tall; }
  return ratio;
}

// An empty, sharp canvas; returns its context in CSS pixels.
export function blank(canvas, width, height) {
  const ratio = sharpen(canvas, width, height), pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
