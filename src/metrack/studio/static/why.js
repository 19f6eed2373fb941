// Why the estimate is where it is: maps, memory, residuals, and what the metric looks for.

import { $, h, css, lineColourOf, sharp, trying } from "./dom.js";
import { ask } from "./api.js";

export class Why {
  constructor() { this.target = 1; this.shown = null; }

  clear(text) {
    this.shown = null;
    $("panel-why").replaceChildren(h("h2", {}, "Why"), h("p", { class: "muted" }, text));
  }

  // `run` is what app.js knows of a run; nothing is asked again while nothing has changed.
  async show(run) {
    if (!run) { this.clear("Track something first: then this panel shows what the tracker sees."); return; }
    if (!run.active) { this.clear("The results of this run are kept; the memory of its tracker is not, because newer runs came after it or the studio was closed. Go on with it, or track again, to look inside."); return; }
    if (["running", "starting", "queued"].includes(run.status.state)) {
      this.shown = null;
      $("panel-why").replaceChildren(h("h2", {}, "Why"), h("p", { class: "muted" }, "Pause to look inside the tracker."));
      return;
    }
    const key = `${run.id} ${run.epoch} ${run.series.length} ${this.target}`;
    if (key === this.shown) return;
    this.shown = key;
    $("panel-why").setAttribute("aria-busy", "true");
    const told = await trying(() => ask(`/api/runs/${run.id}/why?target=${Math.min(this.target, run.targets)}`));
    $("panel-why").removeAttribute("aria-busy");
    if (told) this.fill(run, told, key);
  }

  fill(run, told, key) {
    const picture = (name) => `/api/runs/${run.id}/why/${name}.png?of=${encodeURIComponent(key)}`;
    const has = (name) => told.pictures.includes(`${name}.png`);
    const choose = run.targets > 1 ? h("div", { class: "row" }, h("label", { for: "why-target" }, "Target"),
      h("select", { id: "why-target", onchange: (event) => { this.target = Number(event.target.value); this.show(run); } },
        Array.from({ length: run.targets }, (_, n) => h("option", { value: n + 1, selected: n + 1 === told.target }, n + 1)))) : null;
    $("panel-why").replaceChildren(...[
      h("h2", {}, `Why, at frame ${told.frame}`), choose,
      h("h3", {}, "How well every place would do"),
      h("div", { class: "pictures" }, [["place", "the place"], ["without", "without metric"], ["with", "with metric"]].map(([name, text]) =>
        h("figure", {}, h("img", { src: picture(name), alt: altOf(name, told), width: 220, height: 220 }), h("figcaption", {}, text)))),
      h("div", { class: "scale" }, told.scale[0].toFixed(2), h("i", {}), told.scale[1].toFixed(2)),
      h("p", { class: "small-text" }, `Score of the box moved by up to ${told.reach} pixels each way. The darker the surroundings of the peak, the less there is to mistake for the target.`),
      ...this.residuals(told),
      ...this.memory(told, picture, has),
      h("h3", {}, "What the metric looks for"),
      told.strengths.length ? h("div", { class: "pictures four" }, told.strengths.map((strength, n) =>
        h("figure", {}, h("img", { src: picture(`direction-${n + 1}`), alt: `Direction ${n + 1} of the metric as strokes along edges, stretched ${strength} times`, width: 132, height: 132 }), h("figcaption", {}, `× ${strength}`))))
        : h("p", { class: "small-text" }, "No metric has been learned here: all directions count the same."),
      told.strengths.length ? h("p", { class: "small-text" }, "Its largest directions as edges of the target: teal counts for, orange against; × is how much such a difference is stretched.") : null,
      ...this.identity(run, told),
    ].filter(Boolean));
    if (told.theta) this.plot($("thetas"), told);
    if (run.known.length) this.curves($("curves"), run, told.target);
  }

  residuals(told) {
    if (!told.theta) return [h("p", { class: "small-text" }, "The box was given here by hand, so there are no residuals yet. Go on by one frame.")];
    return [
      h("h3", {}, "Residuals"),
      h("dl", { class: "facts" }, ...[
        ["θ_f, not explained as target", told.theta.foreground.toFixed(3)], ["θ_b, not explained as surroundings", told.theta.background.toFixed(3)],
        ["Likelihood of the estimate", told.likelihood.toFixed(3)], ["Score", told.score.toFixed(3)],
        ["Particles, and what they are worth", `${told.particles}, ${told.effective_size}`], ["Triplets that changed the metric", told.steps_taken],
      ].flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))])),
      h("h3", {}, "All particles"),
      h("canvas", { class: "plot", id: "thetas", role: "img", "aria-label": "Residuals of all particles: theta f to the right, theta b upwards; the estimate is the large dot" }),
      h("p", { class: "small-text" }, "→ θ_f, ↑ θ_b. The best particles are at the left; the estimate is the large dot."),
    ];
  }

  memory(told, picture, has) {
    return [["foreground", "Remembered as target"], ["background", "Remembered as surroundings"]].flatMap(([name, title], n) => {
      if (!has(name)) return [];
      const ages = told.ages[n];
      const rows = Math.ceil(ages.length / told.columns);
      const cells = ages.map((age, place) => {
        const cell = h("span", { title: age === 0 ? "this frame" : `${age} frames ago` });
        const row = Math.floor(place / told.columns), column = place % told.columns;
        cell.style.backgroundImage = `url("${picture(name)}")`;
        cell.style.backgroundPosition = `${100 * column / Math.max(told.columns - 1, 1)}% ${100 * row / Math.max(rows - 1, 1)}%`;
        return cell;
      });
      const label = `${title}: ${ages.length} of ${told.kept[n]} samples, the youngest ${ages[0]}, the oldest ${ages[ages.length - 1]} frames ago`;
      return [h("h3", {}, title), h("div", { class: "memory", role: "img", "aria-label": label }, cells),
        h("p", { class: "small-text" }, `${ages.length} of ${told.kept[n]} samples, the youngest first; the oldest is ${ages[ages.length - 1]} frames old.`)];
    });
  }

  identity(run, told) {
    if (!run.known.length) return [];
    return [h("h3", {}, "Who it is"), h("canvas", { class: "plot", id: "curves", role: "img", "aria-label": `Distance to every known target, summed over frames, of target ${told.target}` }), h("div", { id: "curves-legend", class: "small-text row" })];
  }

  plot(canvas, told) {
    const width = canvas.clientWidth, height = 150, pen = sharp(canvas, width, height), cloud = told.theta.cloud;
    const right = Math.max(...cloud.map((each) => each[0]), 1e-6) * 1.08, highs = cloud.map((each) => each[1]);
    const [low, top] = [Math.min(...highs), Math.max(...highs)];
    const at = ([f, b]) => [10 + f / right * (width - 20), height - 14 - (b - low) / Math.max(top - low, 1e-6) * (height - 28)];
    pen.fillStyle = css("--accent"); pen.globalAlpha = 0.45;
    for (const each of cloud) { pen.beginPath(); pen.arc(...at(each), 2.4, 0, 7); pen.fill(); }
    pen.globalAlpha = 1;
    pen.beginPath(); pen.arc(...at([told.theta.foreground, told.theta.background]), 6, 0, 7); pen.fillStyle = css("--occluded"); pen.fill();
  }

  // Sums of distances weighted by score, as the tracker adds them up, of the few nearest.
  curves(canvas, run, target) {
    const sums = run.known.map(() => [0]);
    for (const frame of run.series) {
      const [, , , , score, , , distances] = frame[target - 1];
      sums.forEach((each, n) => each.push(each[each.length - 1] + (distances ? score * distances[n] : 0)));
    }
    const order = sums.map((each, n) => [each[each.length - 1], n]).sort((one, other) => one[0] - other[0]).slice(0, 5);
    const width = canvas.clientWidth, height = 150, pen = sharp(canvas, width, height), most = Math.max(...order.map(([last]) => last), 1e-9);
    order.forEach(([, n], rank) => {
      pen.strokeStyle = lineColourOf(rank + 1); pen.lineWidth = 2; pen.beginPath();
      sums[n].forEach((value, place) => pen.lineTo(8 + place / sums[n].length * (width - 16), height - 8 - value / most * (height - 16)));
      pen.stroke();
    });
    $("curves-legend").replaceChildren(...order.map(([last, n], rank) => {
      const swatch = h("span", { class: "dot" });
      swatch.style.background = lineColourOf(rank + 1);
      return h("span", {}, swatch, `${run.known[n]} ${last.toFixed(2)}`);
    }));
  }
}

function altOf(name, told) {
  return { place: `The surroundings of the estimate at frame ${told.frame}`, without: "Map of scores without the metric", with: "Map of scores with the metric" }[name];
}
