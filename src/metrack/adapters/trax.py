"""A TraX server: ``python -m metrack.adapters.trax --preset paper --seed 0`` waits for frames on its standard input.

For the vot-toolkit, in ``trackers.ini``::

    [metrack]
    label = metrack
    protocol = trax
    command = python -m metrack.adapters.trax --preset paper

A TraX rectangle is ``x, y, w, h`` in single precision with the first pixel number zero: the convention of this
package, so nothing is shifted. Frames are paths of files. The score is reported as the property ``confidence``.
Needs vot-trax.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from metrack.frames.images import read_image
from metrack.tracking.tracker import Tracker


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve one client until it quits; what is wrong is said in one sentence, with exit code 1."""
    parser = _Parser(prog="python -m metrack.adapters.trax", description="A TraX server that tracks one target.")
    parser.add_argument("--preset", default="default", help="settings to track with (default: default)")
    parser.add_argument("--seed", default=0, type=int, help="same frames and same seed, same boxes (default: 0)")
    options = parser.parse_args(arguments)
    try:
        tracker, trax = Tracker(options.preset, seed=options.seed), _import_trax()
    except ValueError as error:
        parser.error(str(error))
    with trax.Server([trax.Region.RECTANGLE], [trax.Image.PATH], tracker_name="metrack") as server:
        serve(server, trax, tracker)


def serve(server: Any, trax: ModuleType, tracker: Tracker) -> None:
    """Answer requests until the client quits."""
    while True:
        request = server.wait()
        if request.type == trax.TraxStatus.QUIT:
            return
        frame = read_image(Path(request.image["color"].path()))
        if request.type == trax.TraxStatus.INITIALIZE:
            box, score = request.objects[0][0].bounds(), 1.0
            tracker.init(frame, box)
        else:
            estimate = tracker.update(frame)
            box, score = estimate.box.to_xywh(), estimate.score
        server.status([(trax.Rectangle.create(*box), {"confidence": score})])


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(f"metrack: {message}")


def _import_trax() -> ModuleType:
    try:
        import trax
    except ImportError as missing:
        raise ValueError(f"the TraX server must have its protocol: pip install vot-trax, got {missing}") from None
    module: ModuleType = trax
    return module


if __name__ == "__main__":
    main()
