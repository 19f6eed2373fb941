"""Adding a representation: one file with a class, and one line in the list of kinds."""

import copy

import numpy as np
import pytest

from metrack import Tracker
from metrack.config import PAPER, TrackerConfig
from metrack.metric.sample_space import SampleSpace
from metrack.representation import kinds
from metrack.representation.base import Representation
from metrack.representation.kinds import KINDS, make_representation
from metrack.synth import builtin_clip


class NearestSample(Representation):
    """The example: the squared distance to the nearest sample of a class."""

    def residual_energy(self, samples, candidates):
        return np.square(candidates[:, None] - samples).sum(axis=2).min(axis=1)


def with_kind(kind):
    """A light configuration of a kind that the list of choices in metrack.config need not know."""
    config = PAPER.replace({"metric.learning": "off", "motion.particles": 100, "memory.size": 40})
    representation = copy.copy(config.representation)
    object.__setattr__(representation, "kind", kind)
    object.__setattr__(config, "representation", representation)
    return config


def test_the_choices_of_the_configuration_are_the_kinds_there_are():
    choices = {name: each.metadata["choices"] for name, each, _ in TrackerConfig().settings()}
    assert choices["representation.kind"] == tuple(KINDS)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"representation\.kind must be one of .*omp, got 'nearest'"):
        make_representation(with_kind("nearest"), SampleSpace(3, 4))


def test_a_tracker_follows_with_a_new_representation(monkeypatch, seed):
    monkeypatch.setitem(kinds.KINDS, "nearest", NearestSample)
    clip = builtin_clip(60, (320, 240), seed, occlusion=False, departure=False)
    tracker = Tracker(with_kind("nearest"), seed=seed)
    tracker.init(clip[0], clip.first_box)
    boxes = [tracker.update(clip[index]).box for index in range(1, 15)]
    assert boxes[-1].iou(clip.truth[14].box) > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_explains_its_own_samples_best(kind, seed):
    rng = np.random.default_rng(seed)
    space = SampleSpace(12, 5)
    representation = make_representation(with_kind(kind), space)
    own, other = rng.standard_normal((2, 5, 12)).astype(np.float32)
    slots = np.arange(5)
    representation.put((slots, slots), (own, other))
    representation.prepare()
    theta_f, theta_b = representation.energies(own)
    assert (theta_f < theta_b).all()
