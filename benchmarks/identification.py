"""Identification: who is it, by each frame alone and by all frames so far, with the metric learned and without.

    python benchmarks/identification.py [--draws 60] [--sizes 6,20,50,100] [--seed 0] [--only market|stadtmitte]

market-100: templates of a person are the crops of one camera, the track is the crops of another in name order; of the
cameras with at least three crops both are drawn at random, and so are the people of a gallery. Descriptor and constants
were chosen on the people of even index; the people of odd index were looked at only afterwards. Accuracy is the share
of frames that got the right name, the mean over people; the spread is the standard deviation over draws, and the
difference of metric on and off is paired, with its standard error. Unknown: as many strangers as people (up to 10) are
followed too; the shares of both that were answered with None at the end of their tracks.

TUD-Stadtmitte: templates from the first third of a person's truth, the person then followed by the preset default from
the first box of the rest; the same at truth boxes shows what following costs. Data comes from METRACK_DATA.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.table import Table

from development import data_folder
from metrack import Tracker
from metrack.box import Box
from metrack.evaluation.sequences import Sequence, read_sequences
from metrack.frames.images import read_image
from metrack.identity import Gallery, Identifier, cumulative, nearest
from metrack.identity.describe import describe, family, normal_size, patch_of
from metrack.identity.gallery import COPIES

SIZES = (6, 20, 50, 100)
LEAST_CROPS = 3
STRANGERS = 10
FIRST_PART = 1 / 3
LEAST_FRAMES = 30  # of a person of TUD-Stadtmitte
WAYS = ("each frame, plain", "cumulative, plain", "each frame, metric", "cumulative, metric")
console = Console(width=150)

Person = dict[int, np.ndarray]  # families (n, 1 + copies, D) by camera


def read_people(folder: Path, seed: int) -> list[Person]:
    """Describe every crop, in other light too, by person and camera."""
    return [_read_person(each, seed) for each in sorted(folder.iterdir()) if each.is_dir()]


def _read_person(folder: Path, seed: int) -> Person:
    rng = np.random.default_rng([seed, int(folder.name)])
    by_camera: dict[int, list[np.ndarray]] = {}
    for path in sorted(folder.glob("*.jpg")):
        camera = int(path.name.split("_")[1][1])
        by_camera.setdefault(camera, []).append(family(rng, normal_size(read_image(path)), COPIES))
    return {camera: np.array(each) for camera, each in by_camera.items()}


def two_views(rng: np.random.Generator, person: Person) -> tuple[np.ndarray, np.ndarray]:
    """Families of the template camera, and the track ``(T, D)`` of another."""
    order = sorted(person, key=lambda camera: -len(person[camera]))
    usable = [camera for camera in order if len(person[camera]) >= LEAST_CROPS]
    first, second = rng.permutation(usable if len(usable) > 1 else order[:2])[:2]
    return person[first], person[second][:, 0]


def measure(people: list[Person], size: int, seed: list[int]) -> np.ndarray:
    """One draw: accuracy by :data:`WAYS`, then the shares of unknown among known people and among strangers."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(people))
    views = [two_views(rng, people[number]) for number in order[: size + STRANGERS]]
    known, strangers = views[:size], views[size:]
    families = {str(number): each for number, (each, _) in enumerate(known)}
    templates = {name: each[:, 0] for name, each in families.items()}
    learned = Gallery.learn(templates, families, rng)
    found = [_accuracy(gallery, known) for gallery in (Gallery.measured(templates, families, None), learned)]
    unknown = [
        np.mean([_is_unknown(learned, track) for _, track in each]) if each else np.nan for each in (known, strangers)
    ]
    return np.array([*found[0], *found[1], *unknown])


def _accuracy(gallery: Gallery, views: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    apart = [gallery.distances(track) for _, track in views]
    single = [np.mean(nearest(each) == number) for number, each in enumerate(apart)]
    together = [np.mean(nearest(cumulative(each, np.ones(len(each)))) == number) for number, each in enumerate(apart)]
    return float(np.mean(single)), float(np.mean(together))


def _is_unknown(gallery: Gallery, track: np.ndarray) -> bool:
    identifier = Identifier(gallery)
    return [identifier.take_in(row, 1.0) for row in track][-1].name is None


def market(folder: Path, draws: int, sizes: list[int], seed: int) -> None:
    people = read_people(folder, seed)
    halves = {"chosen on (even)": people[::2], "held out (odd)": people[1::2], "all": people}
    table = Table("people", "gallery", "draws", *WAYS, "metric - plain", "unknown: known / strangers")
    for half, some in halves.items():
        for size in sizes:
            if size <= len(some) and (size != 50 or half != "all"):
                count = draws if size < 50 else max(draws // 6, 1)
                results = np.array([measure(some, size, [seed, size, draw]) for draw in range(count)])
                table.add_row(half, str(size), f"{count} (seeds {seed}, {size}, 0-{count - 1})", *_cells(results))
        table.add_section()
    console.print(table)


def _cells(results: np.ndarray) -> list[str]:
    cells = [f"{column.mean():.3f} ± {column.std():.3f}" for column in results[:, :4].T]
    gap = results[:, 3] - results[:, 1]
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else float("nan")
    known, strangers = results[:, 4:].mean(axis=0)
    return [*cells, f"{gap.mean():+.3f} ± {error:.3f}", f"{known:.2f} / {strangers:.2f}"]


def stadtmitte(folder: Path, seed: int) -> None:
    people = [each for each in read_sequences(folder) if len(each.present()) >= LEAST_FRAMES]
    cuts = [int(each.present()[int(len(each.present()) * FIRST_PART)]) for each in people]
    families = {each.name: _families(each.part(0, cut), seed) for each, cut in zip(people, cuts, strict=True)}
    templates = {name: each[:, 0] for name, each in families.items()}
    learned = Gallery.learn(templates, families, np.random.default_rng(seed))
    galleries = (Gallery.measured(templates, families, None), learned)
    table = Table("person", "templates", "frames", "overlap", *WAYS, "named None")
    rests = [each.part(cut) for each, cut in zip(people, cuts, strict=True)]
    rows = [_followed(rest, number, galleries, seed) for number, rest in enumerate(rests)]
    for each, (row, _) in zip(people, rows, strict=True):
        table.add_row(each.name, str(len(templates[each.name])), *_figures(row))
    table.add_section()
    kept = [row for row, _ in rows if row[1] > 0.5]
    table.add_row("mean", "", *_figures(np.mean([row for row, _ in rows], axis=0)))
    table.add_row(f"mean of {len(kept)} with overlap > 0.5", "", *_figures(np.mean(kept, axis=0)))
    table.add_row("mean at truth boxes", "", *_figures(np.mean([row for _, row in rows], axis=0)))
    console.print(table)


def _figures(row: np.ndarray) -> list[str]:
    return [f"{row[0]:.0f}", *(f"{value:.3f}" for value in row[1:])]


def _families(first: Sequence, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    seen = zip(first.pictures, first.truth, strict=True)
    return np.array(
        [family(rng, patch_of(frame, tuple(box)), COPIES) for frame, box in seen if not np.isnan(box).any()]
    )


def _followed(
    rest: Sequence, number: int, galleries: tuple[Gallery, Gallery], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Follow a person, then identify what was followed, and beside it what was there."""
    tracker, frames = Tracker("default", seed=seed), iter(rest.pictures)
    tracker.init(next(frames), tuple(rest.truth[0]))
    followed, there = [], []
    for frame, truth in zip(frames, rest.truth[1:], strict=True):
        estimate = tracker.update(frame)
        if not np.isnan(truth).any():
            overlap = estimate.box.iou(Box(*truth))
            followed.append((describe(patch_of(frame, estimate.box)), estimate.score, overlap))
            there.append((describe(patch_of(frame, tuple(truth))), 1.0, 1.0))
    return _judged(followed, number, galleries), _judged(there, number, galleries)


def _judged(seen: list[tuple[np.ndarray, float, float]], number: int, galleries: tuple[Gallery, Gallery]) -> np.ndarray:
    """Frames, mean overlap, accuracy by :data:`WAYS`, share of None; over frames in which the person is there."""
    rows, scores, overlaps = (np.array(each) for each in zip(*seen, strict=True))
    apart = [gallery.distances(rows) for gallery in galleries]
    chosen = [nearest(way) for each in apart for way in (each, cumulative(each, scores))]
    identifier = Identifier(galleries[1])
    names = [identifier.take_in(row, score).name for row, score in zip(rows, scores, strict=True)]
    shares = [np.mean(each == number) for each in chosen]
    return np.array([len(rows), overlaps.mean(), *shares, np.mean([name is None for name in names])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=60, help="galleries of 6 and 20 people; a sixth as many larger")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of galleries of market-100")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("market", "stadtmitte"))
    options = parser.parse_args()
    folder = data_folder()
    if folder is None:
        raise SystemExit("there is no data: set METRACK_DATA to a folder that holds people/market-100")
    if options.only != "stadtmitte":
        sizes = [int(size) for size in options.sizes.split(",")]
        market(folder / "people" / "market-100", options.draws, sizes, options.seed)
    if options.only != "market":
        stadtmitte(folder / "people" / "TUD-Stadtmitte", options.seed)


if __name__ == "__main__":
    main()
