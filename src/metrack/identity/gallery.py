"""The known targets: a name and a set of templates for each, and a metric learned from all of them.

A gallery also knows its ``usual`` distance: the median with which copies of a template in other light are explained by
the other templates of the same target (leave one out; a single template must explain its own copies). It is the unit of
distances: a target seen by another camera lies about there, and what lies well beyond is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from unicodedata import category

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from metrack.arrays import Floats, Frame, as_floats, shown
from metrack.box import Box
from metrack.checks import check_number, check_path, check_seed, writing
from metrack.files import LARGEST, Expectations, Expected, read_state, write_state
from metrack.identity.crops import NamedCrop, box_crops, folder_crops, spread
from metrack.identity.describe import DIMENSION, Patch, describe, family
from metrack.identity.metric import learn_from_families
from metrack.identity.residual import TemplateSets
from metrack.threads import one_blas_thread

RIDGE = 0.02  # in units of the trace of the Gram matrix
COPIES = 4  # of a template in other light
MOST_SAMPLES = 3000  # templates and copies from which the metric is learned, but at least one family per target
SMALLEST_USUAL = 1e-6  # of descriptors of squared length 1: what rounding makes of zero
ROUNDING = 1e-3  # of the numbers of a descriptor of length 1
LARGEST_NUMBER = 1e9  # of a descriptor: what they are squared to is finite
KIND = "gallery"
LONGEST_NAME = 200  # characters
UNNAMEABLE = {"Cc", "Cs", "Zl", "Zp"}  # kinds of characters: control, halves of others, ends of lines
WANTED = "gallery must be a file made by metrack gallery build"


@dataclass(frozen=True, eq=False)
class Gallery:
    """K named sets of templates ``(n, D)``, the metric ``(D, D)`` or None for the plain one, and the usual distance."""

    names: tuple[str, ...]
    templates: tuple[NDArray[np.float32], ...]
    metric: NDArray[np.float32] | None
    usual: float
    _sets: TemplateSets = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.names, tuple) or not self.names or len(set(map(_name, self.names))) < len(self.names):
            raise ValueError(f"names must be a tuple of different names, got {shown(self.names)}")
        if not isinstance(self.templates, tuple) or len(self.templates) != len(self.names):
            raise ValueError(f"templates must be one array for each of {len(self.names)} names")
        check_number("usual", self.usual, SMALLEST_USUAL, LARGEST_NUMBER)
        with one_blas_thread():
            object.__setattr__(self, "_sets", TemplateSets(self.templates, RIDGE, self.metric))

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str], *, seed: int = 0) -> Self:
        """Learn from crops, ``FOLDER/<name>/*.jpg``; other image files do as well."""
        return cls.from_crops(folder_crops(check_path("folder", folder)), seed=seed)

    @classmethod
    def from_boxes(
        cls, boxes: Iterable[tuple[str, Frame, Box | tuple[float, float, float, float]]], *, seed: int = 0
    ) -> Self:
        """Learn from boxes on frames: ``(name, frame, box)`` for each."""
        return cls.from_crops(box_crops(boxes), seed=seed)

    @classmethod
    def from_crops(cls, crops: Iterable[NamedCrop], *, seed: int = 0) -> Self:
        """Learn from named patches, as :mod:`metrack.identity.crops` makes them."""
        rng = np.random.default_rng(check_seed(seed))
        patches: dict[str, list[Patch]] = {}
        for name, patch in crops:
            patches.setdefault(_name(name), []).append(patch)
        known = {name: spread(each) for name, each in patches.items()}
        relit = MOST_SAMPLES // ((1 + COPIES) * max(len(known), 1))
        families = {
            name: np.array([family(rng, patch, COPIES) for patch in spread(each, max(relit, 1))])
            for name, each in known.items()
        }
        return cls.learn({name: np.array([describe(patch) for patch in known[name]]) for name in known}, families, rng)

    @classmethod
    def learn(cls, templates: Mapping[str, Floats], families: Mapping[str, Floats], rng: np.random.Generator) -> Self:
        """Learn the metric from templates ``(n, D)`` and families ``(m, 1 + copies, D)`` of some of them, by name."""
        if not templates:
            raise ValueError("a gallery must hold at least one target, got none")
        names = tuple(templates)
        with one_blas_thread():
            metric = learn_from_families(rng, [families[name] for name in names])
            return cls.measured(templates, families, metric)

    @classmethod
    def measured(cls, templates: Mapping[str, Floats], families: Mapping[str, Floats], metric: Floats | None) -> Self:
        """Make a gallery with this metric, None for the plain one, and measure its usual distance."""
        single = None if metric is None else np.asarray(metric, np.float32)
        rows = [np.asarray(each, np.float32) for each in templates.values()]
        apart = [_left_out(known, families[name], single) for name, known in zip(templates, rows, strict=True)]
        return cls(tuple(templates), tuple(rows), single, max(float(np.median(np.concatenate(apart))), SMALLEST_USUAL))

    def distances(self, descriptors: Floats) -> NDArray[np.float64]:
        """How badly each target explains each descriptor by itself: ``(T, K)`` for ``(T, D)``."""
        seen = as_floats("descriptors", descriptors, columns=self.templates[0].shape[1])
        if not (np.abs(seen) <= LARGEST_NUMBER).all():
            raise ValueError(f"descriptors must be finite numbers up to {LARGEST_NUMBER:g}, got others")
        with one_blas_thread():
            return self._sets.distances(seen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the gallery to an ``.npz`` file, without pickle."""
        file = check_path("path", path)
        meta = {
            "kind": KIND,
            "names": self.names,
            "counts": [len(each) for each in self.templates],
            "usual": self.usual,
        }
        metric = {} if self.metric is None else {"metric": self.metric}
        with writing("path", file):
            write_state(file, meta, {"templates": np.concatenate(self.templates), **metric})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read back what :meth:`save` wrote."""
        path = check_path("gallery", path)
        if not os.path.isfile(path):
            raise ValueError(f"{WANTED}, but there is no file {shown(str(path))}")
        try:
            meta, arrays = read_state(Path(path), expected=cls._expected)
            gallery = cls._restored(meta, arrays)
            if not np.isfinite(gallery.distances(arrays["templates"][:1])).all():
                raise ValueError
        except (ValueError, np.linalg.LinAlgError):
            raise ValueError(f"{WANTED}, but {shown(str(path))} is not one") from None
        return gallery

    @staticmethod
    def _expected(meta: Mapping[str, Any]) -> Expectations:
        """Say what saved arrays must be, by the values saved beside them, which are checked too."""
        names, counts, usual = meta["names"], meta["counts"], meta["usual"]
        if meta["kind"] != KIND or not names or len(names) != len(counts) or len(set(names)) != len(names):
            raise ValueError("it is none of a gallery")
        if not all(isinstance(name, str) for name in names) or not all(type(n) is int and n > 0 for n in counts):
            raise ValueError("every name must have templates")
        if type(usual) is not float or not SMALLEST_USUAL <= usual <= LARGEST:
            raise ValueError("the usual distance must be above 0")
        return {
            "templates": Expected("float32", (sum(counts), DIMENSION), -1 - ROUNDING, 1 + ROUNDING),
            "metric": Expected("float32", (DIMENSION, DIMENSION), optional=True),
        }

    @classmethod
    def _restored(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        rows, metric = arrays["templates"], arrays.get("metric")
        if metric is not None:
            cholesky(metric.astype(np.float64), check_finite=False)
        templates = np.split(rows, np.cumsum(meta["counts"])[:-1])
        return cls(tuple(meta["names"]), tuple(templates), metric, meta["usual"])


def check_gallery(gallery: object) -> Gallery | None:
    """Return ``gallery`` if it is one, or None."""
    if gallery is not None and not isinstance(gallery, Gallery):
        raise ValueError(f"gallery must be a Gallery or None, got {shown(gallery)}")
    return gallery


def _name(name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or UNNAMEABLE & set(map(category, name)):
        raise ValueError(
            f"name must be a text of 1 to {LONGEST_NAME} characters without control ones, got {shown(name)}"
        )
    return name


def _left_out(templates: Floats, families: Floats, metric: Floats | None) -> NDArray[np.float64]:
    """Distances of copies in other light to the templates of their target without their own."""
    return np.concatenate(
        [_explained(_others(templates, each[0]), each[1:], metric) for each in np.asarray(families, np.float32)]
    )


def _others(templates: Floats, one: Floats) -> Floats:
    """Return the templates that are not this one, or all where it is the only one."""
    other = np.abs(templates - one).max(axis=1) > 0
    return templates[other] if other.any() else templates


def _explained(templates: Floats, seen: Sequence[Floats] | Floats, metric: Floats | None) -> NDArray[np.float64]:
    return TemplateSets([templates], RIDGE, metric).distances(np.asarray(seen))[:, 0]
