// The studio's page. It asks what Python knows, sets up what is on the page, and shows what the address says.

import { ask } from "./api.js";
import { setUpBoxes } from "./boxes.js";
import { setUpColours } from "./colours.js";
import { $, calm, trying } from "./dom.js";
import * as home from "./home.js";
import { route, setUpPages } from "./pages.js";
import { setUpStage } from "./stage.js";
import { state, update } from "./store.js";
import { setUpTabs } from "./tabs.js";
import { setUpTimeline } from "./timeline.js";
import { setUpTransport } from "./transport.js";

async function begin() {
  const about = await trying(() => ask("/api/about"));
  if (!about) return;
  update({ about, form: { ...state.form, preset: about.default_preset } });
  $("alert-close").onclick = calm;
  setUpColours();
  setUpPages(); // first of those who watch the state: what is hidden has no size
  setUpStage();
  setUpBoxes();
  setUpTransport();
  setUpTimeline();
  setUpTabs();
  home.setUp();
  await route();
  document.body.dataset.ready = "yes";
}

begin();
