// Taking results away.

import { $, h, say, sizeText, trying } from "./dom.js";
import { ask, post } from "./api.js";

export async function show(run) {
  const panel = $("panel-export");
  if (!run) { panel.replaceChildren(h("h2", {}, "Export"), h("p", { class: "muted" }, "Track something first: then its results can be taken from here.")); return; }
  const told = await trying(() => ask(`/api/runs/${run.id}/export`));
  if (!told) return;
  const address = `/api/runs/${run.id}/export`;
  const video = told.video.state === "ready" ? h("a", { class: "button", href: `${address}/files/tracked.mp4`, download: true }, "Save the annotated video")
    : h("button", { type: "button", disabled: told.video.state === "drawing", onclick: () => draw(run) }, drawText(told.video));
  panel.replaceChildren(
    h("h2", {}, "Export"),
    h("div", { class: "stack" }, h("a", { class: "button", id: "export-zip", href: `${address}/zip`, download: true }, "Save everything (.zip)"), video,
      h("button", { type: "button", id: "export-report", onclick: () => report(run) }, told.files.some((file) => file.name === "report.html") ? "Write the report page again" : "Write the report page")),
    told.video.error ? h("p", { class: "small-text" }, told.video.error) : "",
    h("h3", {}, "Single files"),
    h("ul", { class: "exports" }, told.files.map((file) => h("li", {}, h("a", { href: `${address}/files/${encodeURIComponent(file.name)}`, download: true }, file.name), h("span", { class: "muted" }, sizeText(file.bytes))))),
    h("h3", {}, "The same on the command line"),
    h("pre", { id: "command", tabindex: 0, "aria-label": "Command line" }, run.command),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => copy(run.command) }, "Copy"), h("a", { href: `${address}/command`, download: true }, "Save as a script")),
    run.status.corrections.length ? h("p", { class: "small-text" }, "Corrections by hand are in the results but not in this command.") : "",
  );
  if (told.video.state === "drawing") setTimeout(() => { if (!panel.hidden) show(run); }, 500);
}

function drawText(video) {
  if (video.state !== "drawing") return "Draw the annotated video";
  return `Drawing, ${Math.round(100 * video.done / Math.max(video.total, 1))} %`;
}

async function draw(run) {
  if (await trying(() => post(`/api/runs/${run.id}/export/video`))) show(run);
}

async function report(run) {
  if (await trying(() => post(`/api/runs/${run.id}/export/report`))) { say("The report page is written."); show(run); }
}

async function copy(text) {
  await trying(async () => {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  });
}
