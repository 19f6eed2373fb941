import numpy as np
import pytest

from metrack.box import Box
from metrack.evaluation.plan import PERTURBATIONS, RunProtocol, plan, run_seed, runs_on, starts_of
from metrack.evaluation.sequences import Sequence, builtin_sequences
from metrack.evaluation.trackers import TrackerSpec, parse_trackers


@pytest.fixture(scope="module")
def sequences():
    return builtin_sequences(frames=60, size=(160, 120))


def test_one_pass_is_one_run_from_the_first_box(sequences):
    (run,) = runs_on(TrackerSpec.parse("paper"), sequences[0], RunProtocol())
    assert run.start == 0
    assert run.first_box == Box(*sequences[0].truth[0])
    assert run.name == "balloon-calm_001"


def test_temporal_starts_are_spread_over_the_frames_with_truth():
    truth = np.tile([5.0, 5, 20, 20], (40, 1))
    truth[18:23] = np.nan
    gone = Sequence("gone", builtin_sequences(60, (160, 120))[0].pictures.part(0, 40), truth)
    starts = starts_of(gone, RunProtocol("tre", starts=4))
    assert [frame for frame, _ in starts] == [0, 10, 23, 30]
    runs = runs_on(TrackerSpec.parse("paper"), gone, RunProtocol("tre", starts=4))
    assert [len(run.sequence) for run in runs] == [40, 30, 17, 10]
    assert all(len(run.sequence.pictures) == len(run.sequence) for run in runs)


def test_spatial_perturbations_are_those_of_the_benchmark(sequences):
    box = Box(*sequences[0].truth[0])
    found = [wrong for _, wrong in starts_of(sequences[0], RunProtocol("sre"))]
    assert len(found) == len(set(found)) == 12
    moved = {(round((b.centre[0] - box.centre[0]) / box.w, 6), round((b.centre[1] - box.centre[1]) / box.h, 6))
             for b in found if abs(b.w - box.w) < 1e-9}  # fmt: skip
    assert moved == {(x, y) for x in (-0.1, 0.0, 0.1) for y in (-0.1, 0.0, 0.1)} - {(0.0, 0.0)}
    np.testing.assert_allclose(sorted(b.w / box.w for b in found)[:2], [0.8, 0.9])
    np.testing.assert_allclose(sorted(b.h / box.h for b in found)[-2:], [1.1, 1.2])
    assert len(starts_of(sequences[0], RunProtocol("sre", starts=5))) == 5 < len(PERTURBATIONS)


def test_repetitions_have_seeds_of_their_own_that_depend_on_nothing_else(sequences):
    protocol = RunProtocol(repetitions=3)
    alone = {run.name: run.seed for run in plan([TrackerSpec.parse("paper")], sequences[2:3], protocol)}
    among = {run.name: run.seed for run in plan(parse_trackers(["static", "paper"]), sequences, protocol)}
    assert len(set(alone.values())) == 3
    assert alone.items() <= among.items()
    assert run_seed(0, "a", 1) != run_seed(1, "a", 1) != run_seed(0, "b", 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "once"}, "protocol must be one of ope, tre, sre"),
        ({"starts": 2}, "starts must be between 1 and 1 for ope"),
        ({"kind": "sre", "starts": 13}, "starts must be between 1 and 12"),
        ({"kind": "tre", "starts": 0}, "starts must be at least 1"),
        ({"repetitions": 0}, "repetitions must be at least 1"),
        ({"seed": -1}, "seed must be 0 or more"),
    ],
)
def test_impossible_protocols_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        RunProtocol(**options)


def test_a_sequence_without_truth_cannot_be_run(sequences):
    blind = Sequence("blind", sequences[0].pictures, np.full((60, 4), np.nan))
    with pytest.raises(ValueError, match="blind must have at least one frame with a truth box"):
        starts_of(blind, RunProtocol())


def test_the_notation_of_entrants():
    assert TrackerSpec.parse("paper") == TrackerSpec("paper", "paper")
    few = TrackerSpec.parse("few=paper:motion.particles=50,metric.learning=off")
    assert (few.label, few.name) == ("few", "paper")
    assert few.config().motion.particles == 50
    assert few.settings()["metric.learning"] == "off"
    assert TrackerSpec.parse("paper:motion.particles=50").label == "paper motion.particles=50"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("papr", "must be a preset or a rival, got 'papr'; did you mean 'paper'"),
        ("paper:motion.particels=50", "did you mean"),
        ("paper:motion.particles", r"must be \[LABEL=\]NAME"),
        ("static:a=1", "static takes no settings"),
        ("../up=paper", "label that can name a folder"),
        ("=paper", "label that can name a folder"),
    ],
)
def test_wrong_entrants_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        TrackerSpec.parse(text)


def test_labels_must_differ():
    with pytest.raises(ValueError, match="once per label, got 'paper' 2 times"):
        parse_trackers(["paper", "paper"])
