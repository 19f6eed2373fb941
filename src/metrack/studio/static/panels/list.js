// The panels beside the picture, in the order of their tabs.
//
// To add one, write a module here in panels/ and put it into this list; nothing else knows the panels by name:
//
//   import { h } from "../dom.js";
//   import { state } from "../store.js";
//
//   export const notes = {
//     name: "notes", // of the tab and of the panel: #tab-notes, #panel-notes
//     title: "Notes", // on the tab
//     needs: ["run", "shown"], // names in the state (store.js) after whose changes it is shown again
//     // Fill the panel's element. Called while the panel is in front and a video is open; `chosen` when its tab was.
//     show(element, chosen) {
//       element.replaceChildren(h("h2", {}, "Notes"), h("p", {}, `Frame ${state.shown}`));
//     },
//   };

import { exporting } from "./export.js";
import { settings } from "./settings.js";
import { targets } from "./targets.js";
import { why } from "./why.js";

export const PANELS = [targets, why, settings, exporting];
