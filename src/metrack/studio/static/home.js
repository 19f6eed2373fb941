// The start: ways to open a video, and the runs so far.

import { $, h, calm, sizeText, trying } from "./dom.js";
import { ask, frameAddress, upload } from "./api.js";

const STATES = { interrupted: "stopped", done: "done", "ended early": "ended early", failed: "failed", running: "running", paused: "paused", queued: "waiting", starting: "starting" };

export function setUp(open) {
  $("open-clip").onclick = () => open("clip");
  $("camera-form").onsubmit = (event) => { event.preventDefault(); open(`camera:${Number($("camera").value)}`); };
  $("file").onchange = () => { if ($("file").files[0]) send($("file").files[0], open); $("file").value = ""; };
  const drop = $("drop");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.remove("over"); });
  drop.addEventListener("drop", (event) => { if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0], open); });
}

async function send(file, open) {
  calm();
  const sending = upload(file, (share) => {
    $("upload-progress").value = share;
    $("upload-text").textContent = share < 1 ? `${Math.round(100 * share)} %` : "looking at it";
  });
  $("uploading").hidden = false;
  $("upload-text").textContent = "0 %";
  $("upload-stop").onclick = sending.cancel;
  const answer = await trying(() => sending.done);
  $("uploading").hidden = true;
  if (answer) open(answer.source);
}

export async function show(open) {
  await trying(async () => {
    await Promise.all([showFolder("", open), showRuns()]);
  });
}

async function showFolder(under, open) {
  const listing = await ask(`/api/files?under=${encodeURIComponent(under)}`);
  $("folder").hidden = listing.folder === null;
  $("folder-name").textContent = `In ${[listing.folder, under].filter(Boolean).join("/")}`;
  const up = under ? [h("li", {}, h("button", { type: "button", onclick: () => showFolder(under.split("/").slice(0, -1).join("/"), open) }, "← back"))] : [];
  const entries = listing.entries.map((entry) => h("li", {}, h("button", {
    type: "button", title: entry.name,
    onclick: () => (entry.kind === "folder" ? trying(() => showFolder(entry.under, open)) : open(entry.source)),
  }, h("span", {}, entry.name), h("small", {}, entry.bytes === undefined ? entry.kind : sizeText(entry.bytes)))));
  $("files").replaceChildren(...up, ...entries);
}

async function showRuns() {
  const runs = await ask("/api/runs");
  $("no-runs").hidden = runs.length > 0;
  $("runs").replaceChildren(...runs.map((run) => h("li", {}, h("a", { class: "run", href: `#/run/${run.id}` },
    run.source.startsWith("camera") ? null : h("img", { src: frameAddress(run.source, run.status.start, 320), alt: "", loading: "lazy" }),
    h("div", {}, h("b", {}, run.title), h("span", {}, summary(run)), h("span", {}, when(run)))))));
}

function summary(run) {
  const targets = run.targets > 1 ? `${run.targets} targets, ` : "";
  return `${targets}${run.status.frames} ${run.status.frames === 1 ? "frame" : "frames"}, ${STATES[run.status.state] || run.status.state}`;
}

const when = (run) => new Date(run.created * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
