// Taking results away: files, the annotated video, the report page, and the command line that does the same.

import { ask, post } from "../api.js";
import { h, note, say, sizeText, trying } from "../dom.js";
import { state } from "../store.js";

export const exporting = { name: "export", title: "Export", needs: ["source", "run"], show };

// What is there is asked again when the tab is chosen, and when another run is opened.
function show(panel, chosen) {
  const { run } = state, key = run?.id ?? "";
  if (!chosen && panel.dataset.run === key) return;
  panel.dataset.run = key;
  if (run) fill(panel, run);
  else panel.replaceChildren(h("h2", {}, "Export"), h("p", { class: "muted" }, "Track something first: then its results can be taken from here."));
}

async function fill(panel, run) {
  const address = `/api/runs/${run.id}/export`, told = await trying(() => ask(address));
  if (!told || panel.dataset.run !== run.id) return;
  const again = () => fill(panel, run), file = (name) => `${address}/files/${encodeURIComponent(name)}`;
  panel.replaceChildren(
    h("h2", {}, "Export"),
    h("div", { class: "stack" }, h("a", { class: "button", id: "export-zip", href: `${address}/zip`, download: true }, "Save everything (.zip)"),
      video(told.video, address, file, again), report(told.files, address, again)),
    told.video.error ? note(told.video.error) : "",
    h("h3", {}, "Single files"),
    h("ul", { class: "exports" }, told.files.map(({ name, bytes }) => h("li", {}, h("a", { href: file(name), download: true }, name), h("span", { class: "muted" }, sizeText(bytes))))),
    h("h3", {}, "The same on the command line"),
    h("pre", { id: "command", tabindex: 0, "aria-label": "Command line" }, run.command),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => copy(run.command) }, "Copy"), h("a", { href: `${address}/command`, download: true }, "Save as a script")),
    run.status.corrections.length ? note("Corrections by hand are in the results but not in this command.") : "",
  );
  if (told.video.state === "drawing") setTimeout(() => { if (!panel.hidden) again(); }, 500);
}

function video(drawing, address, file, again) {
  if (drawing.state === "ready") return h("a", { class: "button", href: file(state.about.files.video), download: true }, "Save the annotated video");
  const under = drawing.state === "drawing", text = under ? `Drawing, ${Math.round(100 * drawing.done / Math.max(drawing.total, 1))} %` : "Draw the annotated video";
  const draw = async () => { if (await trying(() => post(`${address}/video`))) again(); };
  return h("button", { type: "button", disabled: under, onclick: draw }, text);
}

function report(files, address, again) {
  const written = files.some(({ name }) => name === state.about.files.report);
  const write = async () => {
    if (!await trying(() => post(`${address}/report`))) return;
    say("The report page is written.");
    again();
  };
  return h("button", { type: "button", id: "export-report", onclick: write }, written ? "Write the report page again" : "Write the report page");
}

const copy = (text) => trying(async () => {
  await navigator.clipboard.writeText(text);
  say("Copied.");
});
