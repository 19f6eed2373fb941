"""Why an estimate is where it is: what the tracker remembers, what it compares by, and what that makes of each place.

Pictures are made when they are asked for, in the run's thread, and kept until the next ones are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from metrack.arrays import Frame
from metrack.box import Box
from metrack.draw.heat import heat_map
from metrack.draw.pictures import crop, encode
from metrack.features.extractor import ENERGY
from metrack.runs.track import Sample, Track
from metrack.studio import glyphs
from metrack.studio.run_thread import RunThread
from metrack.threads import one_blas_thread
from metrack.tracking.score_map import usual_radius

STEPS = 30  # places scored to either side of the estimate
PANEL, THUMB = 220, 44  # pixels of a map, and of a remembered sample
COLUMNS, MOST_SAMPLES = 8, 40
OUTSIDE = (128, 128, 128)  # beyond the border of the frame
DIRECTIONS = 4  # of the metric, the largest
LEARNED = 1.001  # an eigenvalue above that of no metric


def explain(run: RunThread, target: int) -> dict[str, Any]:
    """Explain the last estimate of a target; only in the run's thread."""
    tracks = run.begun().tracks
    if not 1 <= target <= len(tracks):
        raise ValueError(f"There is no target {target} in this run.")
    track = tracks[target - 1]
    record = track.records[-1]
    image = run.image_of(record.frame)
    maps, reach, scale = _maps(track, image)
    directions, strengths = _directions(track)
    samples = [_chosen(kept) for kept in track.samples]
    sheets = _sheets(run, samples)
    made = {f"{name}.png": encode(panel) for name, panel in maps.items()}
    made |= {f"direction-{n}.png": encode(each) for n, each in enumerate(directions, 1)}
    made |= {f"{name}.png": encode(sheet) for name, sheet in zip(("foreground", "background"), sheets, strict=False)}
    run.explained = made
    return {
        "target": target,
        "frame": record.frame,
        "state": record.state,
        "score": record.score,
        "reason": None if record.verdict is None else record.verdict.reason,
        "pictures": sorted(made),
        "reach": reach,
        "scale": scale,
        "strengths": strengths,
        "columns": COLUMNS,
        "thumb": THUMB,
        "ages": [[record.frame - sample.frame for sample in chosen] for chosen in samples],
        "kept": [len(each) for each in track.samples],
        **_numbers(track),
    }


def picture(run: RunThread, name: str) -> bytes:
    """Return one of the pictures of the last explanation."""
    try:
        return run.explained[name]
    except KeyError:
        raise LookupError(f"There is no picture {name[:40]!r} of this run.") from None


def _numbers(track: Track) -> dict[str, Any]:
    info = track.info
    if info is None:
        return {"theta": None}
    chosen, energy = info.chosen, ENERGY
    return {
        "theta": {
            "foreground": round(float(info.theta_f[chosen]) / energy, 4),
            "background": round(float(info.theta_b[chosen]) / energy, 4),
            "cloud": [
                [round(float(f) / energy, 4), round(float(b) / energy, 4)]
                for f, b in zip(info.theta_f, info.theta_b, strict=True)
            ],
        },
        "likelihood": round(info.likelihood, 4),
        "effective_size": round(info.effective_size, 1),
        "particles": len(info.weights),
        "steps_taken": info.steps_taken,
    }


def _maps(track: Track, image: Frame) -> tuple[dict[str, Frame], int, list[float]]:
    """Score places around the estimate without the metric and with it; return panels, how far they reach, scores."""
    box = track.tracker.box
    reach = usual_radius(box)
    shifts = np.linspace(-reach, reach, 2 * STEPS + 1)
    dy, dx = (grid.ravel() for grid in np.meshgrid(shifts, shifts, indexing="ij"))
    boxes = np.array(box.to_xywh()) + np.stack([dx, dy, 0 * dx, 0 * dy], axis=1)
    plain, learned = (
        track.tracker.score(image, boxes, metric=metric).reshape(len(shifts), -1) for metric in (False, True)
    )
    low, high = float(min(plain.min(), learned.min())), float(max(plain.max(), learned.max()))
    panels = {name: heat_map(scores, low, high, PANEL) for name, scores in (("without", plain), ("with", learned))}
    return panels | {"place": _cut(image, box, reach)}, reach, [round(low, 3), round(high, 3)]


def _cut(image: Frame, box: Box, reach: int) -> Frame:
    cx, cy = box.centre
    return crop(image, (cx - reach, cy - reach, cx + reach, cy + reach), PANEL, OUTSIDE)


def _directions(track: Track) -> tuple[list[Frame], list[float]]:
    """Draw the directions in which the metric stretches most; none where nothing has been learned."""
    metric = track.tracker.appearance.space.metric
    first = max(len(metric) - DIRECTIONS, 0)
    with one_blas_thread():
        values, vectors = eigh(metric.astype(np.float64), subset_by_index=(first, len(metric) - 1))
    chosen = [n for n in range(len(values) - 1, -1, -1) if values[n] > LEARNED]
    kind = track.tracker.config.features.kind
    pictures = [glyphs.picture(_upright(vectors[:, n]), kind) for n in chosen]
    return pictures, [round(float(values[n]), 2) for n in chosen]


def _upright(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A direction has no sign; show most of it as more."""
    return vector if vector.sum() >= 0 else -vector


def _chosen(kept: dict[int, Sample]) -> list[Sample]:
    """Pick samples of all ages, the youngest first."""
    ordered = sorted(kept.values(), key=lambda sample: -sample.frame)
    if len(ordered) <= MOST_SAMPLES:
        return ordered
    return [ordered[n] for n in np.linspace(0, len(ordered) - 1, MOST_SAMPLES).round().astype(int)]


def _sheets(run: RunThread, classes: list[list[Sample]]) -> list[Frame]:
    """Cut samples out of their frames and lay them side by side, a sheet per class; none where frames are gone."""
    if run.live:
        return []
    sheets = [np.zeros((math.ceil(len(each) / COLUMNS) * THUMB or 1, COLUMNS * THUMB, 3), np.uint8) for each in classes]
    wanted = [(sample, sheet, n) for each, sheet in zip(classes, sheets, strict=True) for n, sample in enumerate(each)]
    for sample, sheet, place in sorted(wanted, key=lambda each: each[0].frame):
        row, column = divmod(place, COLUMNS)
        cut = crop(run.image_of(sample.frame), sample.box.to_xyxy(), THUMB, OUTSIDE)
        sheet[row * THUMB : (row + 1) * THUMB, column * THUMB : (column + 1) * THUMB] = cut
    return sheets
