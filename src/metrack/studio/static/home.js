// The start: ways to open a video, and the runs so far.

import { openSource } from "./actions.js";
import { ask, frameAddress, upload } from "./api.js";
import { $, calm, h, sizeText, trying } from "./dom.js";
import { meaning } from "./status.js";
import { state } from "./store.js";

const CARD_WIDTH = 320;

export function setUp() {
  $("file").accept = ["video/*", ...state.about.upload_types].join();
  $("open-clip").onclick = () => openSource("clip");
  $("camera-form").onsubmit = (event) => { event.preventDefault(); openSource(`camera:${Number($("camera").value)}`); };
  $("file").onchange = () => { if ($("file").files[0]) send($("file").files[0]); $("file").value = ""; };
  const drop = $("drop");
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.remove("over"); });
  drop.addEventListener("drop", (event) => { if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]); });
}

async function send(file) {
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
  if (answer) openSource(answer.source);
}

export async function show() {
  await trying(async () => {
    await Promise.all([showFolder(""), showRuns()]);
  });
}

async function showFolder(under) {
  const listing = await ask(`/api/files?under=${encodeURIComponent(under)}`);
  $("folder").hidden = listing.folder === null;
  $("folder-name").textContent = `In ${[listing.folder, under].filter(Boolean).join("/")}`;
  const up = under ? [h("li", {}, h("button", { type: "button", onclick: () => showFolder(under.split("/").slice(0, -1).join("/")) }, "← back"))] : [];
  const entries = listing.entries.map((entry) => h("li", {}, h("button", {
    type: "button", title: entry.name,
    onclick: () => (entry.kind === "folder" ? trying(() => showFolder(entry.under)) : openSource(entry.source)),
  }, h("span", {}, entry.name), h("small", {}, entry.bytes === undefined ? entry.kind : sizeText(entry.bytes)))));
  $("files").replaceChildren(...up, ...entries);
}

async function showRuns() {
  const runs = await ask("/api/runs");
  $("no-runs").hidden = runs.length > 0;
  $("runs").replaceChildren(...runs.map((run) => h("li", {}, h("a", { class: "run", href: `#/run/${run.id}` },
    run.status.live ? null : h("img", { src: frameAddress(run.source, run.status.start, CARD_WIDTH), alt: "", loading: "lazy" }),
    h("div", {}, h("b", {}, run.title), h("span", {}, summary(run)), h("span", {}, when(run)))))));
}

function summary(run) {
  const targets = run.targets > 1 ? `${run.targets} targets, ` : "";
  return `${targets}${run.status.frames} ${run.status.frames === 1 ? "frame" : "frames"}, ${meaning(run).text}`;
}

const when = (run) => new Date(run.created * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
