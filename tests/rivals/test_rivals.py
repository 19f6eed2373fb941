import math
import sys

import numpy as np
import pytest

from metrack.box import Box, iou
from metrack.estimate import LOST
from metrack.evaluation.execute import execute
from metrack.evaluation.plan import RunProtocol, runs_on
from metrack.evaluation.sequences import builtin_sequences
from metrack.evaluation.trackers import TrackerSpec
from metrack.rivals import RIVALS, Rival, RivalTracker
from metrack.synth import builtin_clip
from metrack.testing import check_tracker


@pytest.fixture(scope="module")
def clip():
    return builtin_clip(60, (320, 240), occlusion=False, departure=False, twin=False, lighting=False)


PANNED = 16  # frames, over more than one size of the target
DRAWN_ANEW = ("mil", "tld")  # OpenCV's draw from the clock, whatever the seed


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_follows_a_panning_camera(name, clip):
    """The plainest of motions: the whole picture moves by two pixels a frame."""
    tracker, box = TrackerSpec.parse(name).make(seed=1), clip.first_box
    tracker.init(clip[0], box)
    estimates = [tracker.update(np.roll(clip[0], 2 * i, axis=1)) for i in range(1, PANNED)]
    truth = [(box.x + 2 * i, box.y, box.w, box.h) for i in range(1, PANNED)]
    overlap = iou([estimate.box.to_xywh() for estimate in estimates], truth)
    known = [estimate.state != LOST for estimate in estimates]  # MOSSE gives this one up, and says so
    if name == "static":
        assert overlap[-1] == 0
    elif name in DRAWN_ANEW:  # only that they end nearer to the target than to where they began is certain
        assert estimates[-1].box.x - box.x > PANNED - 1
    else:
        assert all(overlap[known] > 0.5)
    assert any(known) != (name == "mosse")
    assert all(math.isnan(estimate.score) for estimate in estimates)
    assert {estimate.state for estimate in estimates} <= {"tracking", "lost"}


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_gives_a_box_when_there_is_nothing_to_see(name, clip):
    tracker = TrackerSpec.parse(name).make(seed=1)
    tracker.init(clip[0][:, :, 0], clip.first_box)  # grey frames do as well
    blank = np.zeros(clip[0].shape[:2], np.uint8)
    last = [tracker.update(blank) for _ in range(5)][-1]
    assert np.all(np.isfinite(last.box.to_xywh()))


def test_a_lost_target_keeps_its_last_box(clip):
    tracker = TrackerSpec.parse("kcf").make(seed=1)
    tracker.init(clip[0], clip.first_box)
    last = tracker.update(clip[1]).box
    blank = [tracker.update(np.zeros_like(clip[0])) for _ in range(5)]
    lost = [estimate for estimate in blank if estimate.state == LOST]
    seen = [last, *(estimate.box for estimate in blank if estimate.state != LOST)]
    assert lost
    assert all(estimate.box == seen[-1] for estimate in lost)


def test_a_box_that_a_rival_cannot_take_is_a_sentence(clip):
    with pytest.raises(ValueError, match="box must"):
        TrackerSpec.parse("csrt").make(0).init(clip[0], Box(0, 0, 0, 5))
    with pytest.raises(ValueError, match="OpenCV cannot start on the box"):
        TrackerSpec.parse("csrt").make(0).init(clip[0], Box(5, 5, 300, 4))


@pytest.mark.parametrize(("name", "module"), [("csrt", "cv2"), ("dsst", "dlib")])
def test_a_missing_package_is_named_with_its_install_line(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=rf"tracker {name} needs .*pip install 'metrack\[peers\]'"):
        TrackerSpec.parse(name)


def test_a_new_rival_is_one_file_and_one_line(clip, monkeypatch):
    """The file: a tracker that drifts to the right, and its Rival. The line: its entry in RIVALS."""

    class Drift(RivalTracker):
        def _start(self, frame, box):
            pass

        def _find(self, frame):
            return self._box.grow(1, 0)

    monkeypatch.setitem(RIVALS, "drift", Rival("drift", "metrack", lambda: lambda seed: Drift()))
    check_tracker(lambda seed: RIVALS["drift"].make(seed), leave_out=["picklable"])  # a class inside a function
    spec = TrackerSpec.parse("mine=drift")
    (sequence,) = [each.part(0, 3) for each in builtin_sequences() if each.name == "balloon-calm"]
    (run,) = runs_on(spec, sequence, RunProtocol())
    np.testing.assert_allclose(execute(run).boxes[:, 2], run.first_box.w + np.array([0, 2, 4]))
    assert spec.settings()["rival"] == "drift"
