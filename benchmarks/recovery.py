"""Is a target found again: after two seconds away, and behind a pole?

    python benchmarks/recovery.py [--preset default] [--seeds 10]

First the built-in clip with a full occlusion and a return at the other side of the frame, another scenery per seed: in
how many frames after its return the target is found, and whether events are told within five frames. Then Jogging-1
of the development sequences, where it is there: when she is said to be hidden, and whether she is followed to the end.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console

from development import development_sequences
from metrack import Tracker
from metrack.box import Box, iou
from metrack.evaluation.events import event_precision, event_recall, onsets
from metrack.synth import builtin_clip

FRAMES, WITHIN = 450, 5


def away(preset: str, seed: int) -> tuple[float, float, float, float]:
    """Frames from the return until it is found, share of visible frames followed, precision and recall of events."""
    clip = builtin_clip(FRAMES, seed=seed, elsewhere=True)
    tracker = Tracker(preset, seed=seed)
    tracker.init(clip[0], clip.first_box)
    estimates = [tracker.update(clip[index]) for index in range(1, FRAMES)]
    visible = np.array([truth.visible for truth in clip.truth[1:]])
    overlap = iou([e.box.to_xywh() for e in estimates], [truth.box.to_xywh() for truth in clip.truth[1:]])
    back = int(onsets(visible >= 0.5)[-1])
    found = np.flatnonzero(overlap[back:] > 0.5)
    absent = np.array([estimate.state != "tracking" for estimate in estimates])
    told, true = onsets(absent), onsets(visible < 0.5)
    followed = float((overlap[visible >= 0.5] > 0.5).mean())
    events = event_precision(told, true, WITHIN), event_recall(told, true, WITHIN)
    return float(found[0]) if len(found) else float("inf"), followed, *events


def behind_a_pole(preset: str, seed: int) -> tuple[float, float, list[str]]:
    """Mean overlap, that over the last thirty frames, and the first and last frame of every time she is hidden."""
    (sequence,) = [each for each in development_sequences() if each.name == "Jogging-1"]
    tracker, pictures = Tracker(preset, seed=seed), iter(sequence.pictures)
    tracker.init(next(pictures), Box(*sequence.truth[0]))
    estimates = [tracker.update(picture) for picture in pictures]
    overlap = iou([estimate.box.to_xywh() for estimate in estimates], sequence.truth[1:])
    hidden = np.array([False, *(estimate.state != "tracking" for estimate in estimates), False])
    edges = np.flatnonzero(hidden[1:] != hidden[:-1])
    return float(overlap.mean()), float(overlap[-30:].mean()), [f"{a + 1}-{b}" for a, b in edges.reshape(-1, 2)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    console = Console(highlight=False)
    results = []
    for seed in range(options.seeds):
        results.append(away(options.preset, seed))
        frames, followed, precision, recall = results[-1]
        console.print(
            f"away, seed {seed}: found after {frames:g} frames, followed {followed:.1%} of the visible frames, "
            f"events within {WITHIN} frames: precision {precision:.2f}, recall {recall:.2f}"
        )
    within = sum(frames <= 10 for frames, *_ in results)
    means = np.mean(results, axis=0)
    console.print(f"found within 10 frames: {within} of {len(results)}")
    console.print(f"events: precision {means[2]:.2f}, recall {means[3]:.2f}")
    if not any(each.name == "Jogging-1" for each in development_sequences()):
        return
    ends = []
    for seed in range(options.seeds // 2):
        overlap, end, hidden = behind_a_pole(options.preset, seed)
        ends.append(end)
        told = f"hidden in frames {', '.join(hidden) or 'none'} (counted from 0)"
        console.print(f"Jogging-1, seed {seed}: mean overlap {overlap:.2f}, at the end {end:.2f}, {told}")
    console.print(f"followed to the end: {sum(end > 0.5 for end in ends)} of {len(ends)}")


if __name__ == "__main__":
    main()
