// Why the estimate is where it is: maps, memory, residuals, and what the metric looks for.

import { ask } from "../api.js";
import { lineColour } from "../colours.js";
import { $, blank, css, h, note, trying } from "../dom.js";
import { busy } from "../status.js";
import { state, update } from "../store.js";

export const why = { name: "why", title: "Why", needs: ["source", "run", "whyTarget"], show };

const HEIGHT = 150; // pixels of a plot
const NEAREST = 5; // known targets that are compared
const MAPS = [["place", "the place"], ["without", "without metric"], ["with", "with metric"]];
const MEMORIES = [["foreground", "Remembered as target"], ["background", "Remembered as surroundings"]];

// Nothing is asked again while nothing has changed.
async function show(panel) {
  const { run } = state, reason = nothingToShow(run);
  const key = reason ?? `${run.id} ${run.epoch} ${run.series[0]?.score.length} ${state.whyTarget}`;
  if (panel.dataset.key === key) return;
  panel.dataset.key = key;
  if (reason) { panel.replaceChildren(h("h2", {}, "Why"), h("p", { class: "muted" }, reason)); return; }
  panel.setAttribute("aria-busy", "true");
  const told = await trying(() => ask(`/api/runs/${run.id}/why?target=${Math.min(state.whyTarget, run.targets)}`));
  panel.removeAttribute("aria-busy");
  if (told && panel.dataset.key === key) fill(panel, run, told, key);
}

function nothingToShow(run) {
  if (!run) return "Track something first: then this panel shows what the tracker sees.";
  if (!run.active) return "The results of this run are kept; the memory of its tracker is not, because newer runs came after it or the studio was closed. Go on with it, or track again, to look inside.";
  return busy(run) ? "Pause to look inside the tracker." : null;
}

function fill(panel, run, told, key) {
  const picture = (name) => `/api/runs/${run.id}/why/${name}.png?of=${encodeURIComponent(key)}`;
  panel.replaceChildren(
    h("h2", {}, `Why, at frame ${told.frame}`), ...chooser(run, told),
    told.reason ? note(`Judged as ${told.state}: ${told.reason}.`) : "",
    ...maps(told, picture), ...residuals(told), ...memory(told, picture), ...metric(told, picture), ...identity(run, told),
  );
  if (told.theta) plotResiduals($("thetas"), told);
  if (run.known.length) plotDistances($("curves"), run, told.target);
}

function chooser(run, told) {
  if (run.targets < 2) return [];
  const options = Array.from({ length: run.targets }, (_, n) => h("option", { value: n + 1, selected: n + 1 === told.target }, n + 1));
  const choose = (event) => { update({ whyTarget: Number(event.target.value) }); };
  return [h("div", { class: "row" }, h("label", { for: "why-target" }, "Target"), h("select", { id: "why-target", onchange: choose }, options))];
}

const figure = (src, alt, caption) => h("figure", {}, h("img", { src, alt }), h("figcaption", {}, caption));

function maps(told, picture) {
  const alt = { place: `The surroundings of the estimate at frame ${told.frame}`, without: "Map of scores without the metric", with: "Map of scores with the metric" };
  return [
    h("h3", {}, "How well every place would do"),
    h("div", { class: "pictures" }, MAPS.map(([name, text]) => figure(picture(name), alt[name], text))),
    h("div", { class: "scale" }, told.scale[0].toFixed(2), h("i", {}), told.scale[1].toFixed(2)),
    note(`Score of the box moved by up to ${told.reach} pixels each way. The darker the surroundings of the peak, the less there is to mistake for the target.`),
  ];
}

function residuals(told) {
  if (!told.theta) return [note("The box was given here by hand, so there are no residuals yet. Go on by one frame.")];
  const facts = [
    ["θ_f, not explained as target", told.theta.foreground.toFixed(3)], ["θ_b, not explained as surroundings", told.theta.background.toFixed(3)],
    ["Likelihood of the estimate", told.likelihood.toFixed(3)], ["Score", told.score.toFixed(3)],
    ["Particles, and what they are worth", `${told.particles}, ${told.effective_size}`], ["Triplets that changed the metric", told.steps_taken],
  ];
  return [
    h("h3", {}, "Residuals"),
    h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))])),
    h("h3", {}, "All particles"),
    h("canvas", { class: "plot", id: "thetas", role: "img", "aria-label": "Residuals of all particles: theta f to the right, theta b upwards; the estimate is the large dot" }),
    note("→ θ_f, ↑ θ_b. The best particles are at the left; the estimate is the large dot."),
  ];
}

function memory(told, picture) {
  return MEMORIES.flatMap(([name, title], n) => {
    if (!told.pictures.includes(`${name}.png`)) return [];
    const ages = told.ages[n], rows = Math.ceil(ages.length / told.columns), share = (place, count) => `${100 * place / Math.max(count - 1, 1)}%`;
    const cells = ages.map((age, place) => h("span", { title: age === 0 ? "this frame" : `${age} frames ago`, style: {
      "background-image": `url("${picture(name)}")`,
      "background-position": `${share(place % told.columns, told.columns)} ${share(Math.floor(place / told.columns), rows)}`,
    } }));
    const samples = `${ages.length} of ${told.kept[n]} samples`;
    const label = `${title}: ${samples}, the youngest ${ages[0]}, the oldest ${ages.at(-1)} frames ago`;
    return [h("h3", {}, title), h("div", { class: "memory", role: "img", "aria-label": label, style: { "--columns": told.columns } }, cells),
      note(`${samples}, the youngest first; the oldest is ${ages.at(-1)} frames old.`)];
  });
}

function metric({ strengths }, picture) {
  const title = h("h3", {}, "What the metric looks for");
  if (!strengths.length) return [title, note("No metric has been learned here: all directions count the same.")];
  const alt = (strength, n) => `Direction ${n + 1} of the metric as strokes along edges, stretched ${strength} times`;
  return [
    title, h("div", { class: "pictures four" }, strengths.map((strength, n) => figure(picture(`direction-${n + 1}`), alt(strength, n), `× ${strength}`))),
    note("Its largest directions as edges of the target: teal counts for, orange against; × is how much such a difference is stretched."),
  ];
}

function identity(run, told) {
  if (!run.known.length) return [];
  return [h("h3", {}, "Who it is"), h("canvas", { class: "plot", id: "curves", role: "img", "aria-label": `Distance to every known target, summed over frames, of target ${told.target}` }), h("div", { id: "curves-legend", class: "small-text row" })];
}

function plotResiduals(canvas, { theta }) {
  const width = canvas.clientWidth, pen = blank(canvas, width, HEIGHT), backgrounds = theta.cloud.map(([, background]) => background);
  const right = Math.max(...theta.cloud.map(([foreground]) => foreground), 1e-6) * 1.08;
  const low = Math.min(...backgrounds), range = Math.max(Math.max(...backgrounds) - low, 1e-6);
  const dot = ([foreground, background], radius) => {
    pen.beginPath();
    pen.arc(10 + foreground / right * (width - 20), HEIGHT - 14 - (background - low) / range * (HEIGHT - 28), radius, 0, 7);
    pen.fill();
  };
  pen.fillStyle = css("--accent"); pen.globalAlpha = 0.45;
  for (const each of theta.cloud) dot(each, 2.4);
  pen.fillStyle = css("--highlight"); pen.globalAlpha = 1;
  dot([theta.foreground, theta.background], 6);
}

// Sums of distances weighted by score, as the tracker adds them up, of the few nearest.
function plotDistances(canvas, run, target) {
  const { score, distances = [] } = run.series[target - 1], sums = run.known.map(() => [0]);
  score.forEach((weight, frame) => {
    sums.forEach((each, n) => { each.push(each.at(-1) + weight * (distances[frame]?.[n] ?? 0)); });
  });
  const order = sums.map((each, n) => [each.at(-1), n]).sort((one, other) => one[0] - other[0]).slice(0, NEAREST);
  const width = canvas.clientWidth, pen = blank(canvas, width, HEIGHT), most = Math.max(...order.map(([last]) => last), 1e-9);
  order.forEach(([, n], rank) => {
    pen.strokeStyle = lineColour(rank + 1); pen.lineWidth = 2; pen.beginPath();
    sums[n].forEach((value, place) => { pen.lineTo(8 + place / sums[n].length * (width - 16), HEIGHT - 8 - value / most * (HEIGHT - 16)); });
    pen.stroke();
  });
  $("curves-legend").replaceChildren(...order.map(([last, n], rank) =>
    h("span", {}, h("span", { class: "dot", style: { background: lineColour(rank + 1) } }), `${run.known[n]} ${last.toFixed(2)}`)));
}
