// Boxes [x, y, width, height] changed by hand.

import { clamp } from "./dom.js";

export const between = ([x, y], [u, v]) => [Math.min(x, u), Math.min(y, v), Math.abs(u - x), Math.abs(v - y)];
export const enlarged = ([x, y, width, height], smallest) => [x, y, Math.max(width, smallest), Math.max(height, smallest)];

// Moved, but not out of a picture of a size.
export function shifted([x, y, width, height], dx, dy, [widest, tallest]) {
  return [clamp(x + dx, 0, Math.max(widest - width, 0)), clamp(y + dy, 0, Math.max(tallest - height, 0)), width, height];
}

// With one of its edges, or two at a corner ("n", "se", ...), moved to a place.
export function resized([x, y, width, height], edge, [u, v], smallest) {
  let [left, top, right, bottom] = [x, y, x + width, y + height];
  if (edge.includes("w")) left = Math.min(u, right - smallest);
  if (edge.includes("e")) right = Math.max(u, left + smallest);
  if (edge.includes("n")) top = Math.min(v, bottom - smallest);
  if (edge.includes("s")) bottom = Math.max(v, top + smallest);
  return [left, top, right - left, bottom - top];
}
