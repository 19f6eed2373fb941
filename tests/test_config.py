import dataclasses
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack import Tracker
from metrack.config import (
    LARGEST_WINDOW,
    PAPER,
    PRESETS,
    MemoryConfig,
    MotionConfig,
    RegressionConfig,
    TrackerConfig,
    kind_of,
    possible_values,
    preset,
)

ALL = {name: each for name, each, _ in TrackerConfig().settings()}
NUMBERS = {name: each for name, each in ALL.items() if kind_of(each) in ("whole", "number")}
WHOLE = {name: each for name, each in ALL.items() if kind_of(each) == "whole"}
CHOICES = {name: each for name, each in ALL.items() if kind_of(each) == "choice"}
SWITCHES = {name: each for name, each in ALL.items() if kind_of(each) == "switch"}


def refusal(changes):
    with pytest.raises(ValueError) as caught:
        TrackerConfig().replace(changes)
    return str(caught.value)


def values_of(each):
    """What a setting may be."""
    low, high = each.metadata["low"], each.metadata["high"]
    if kind_of(each) == "choice":
        return st.sampled_from(each.metadata["choices"])
    if kind_of(each) == "switch":
        return st.booleans()
    return st.integers(int(low), int(high)) if kind_of(each) == "whole" else st.floats(low, high)


def agreeing(changes):
    """The same, but for settings that exclude each other, and the one number that must be odd."""
    if "regression.scales" in changes:
        changes = changes | {"regression.scales": changes["regression.scales"] | 1}
    usual = TrackerConfig().regression
    names = ("cells", "scales", "scale_step")
    cells, scales, ratio = (changes.get(f"regression.{name}", getattr(usual, name)) for name in names)
    if cells * ratio ** (scales // 2) > LARGEST_WINDOW:
        changes = changes | {"regression.scales": 1}
    if not changes.get("regression.enabled", True):
        changes = changes | {"confidence.weights": "particles"}
    rival = changes.get("representation.kind", "metric-weighted") != "metric-weighted"
    return changes | {"metric.learning": "off"} if rival else changes


some_changes = st.fixed_dictionaries({}, optional={name: values_of(each) for name, each in ALL.items()}).map(agreeing)


def test_a_window_at_the_largest_scale_is_bounded():
    refused = refusal({"regression.scales": 33, "regression.scale_step": 1.5})
    assert refused.startswith("RegressionConfig.cells times the largest scale, scale_step ** (scales // 2), must be")


@given(changes=some_changes)
def test_there_and_back(changes):
    config = TrackerConfig().replace(changes)
    assert TrackerConfig.from_dict(config.to_dict()) == config
    assert TrackerConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert {name: config.to_dict()[name] for name in changes} == changes


@given(changes=some_changes)
def test_text_means_what_the_value_means(changes):
    text = {name: str(value) for name, value in changes.items()}
    assert TrackerConfig().replace(text) == TrackerConfig().replace(changes)


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_a_range_that_holds_its_default(name):
    meta = NUMBERS[name].metadata
    assert meta["low"] <= NUMBERS[name].default <= meta["high"]


@pytest.mark.parametrize("name", ALL)
def test_every_setting_says_what_it_means(name):
    text = ALL[name].metadata["text"]
    assert text
    assert "\n" not in text


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), "nan", "inf", 1e300])
def test_numbers_beyond_their_range_are_refused(name, value):
    sentence = refusal({name: value})
    assert name.rpartition(".")[2] in sentence
    assert repr(value) in sentence or repr(float(value)) in sentence


@pytest.mark.parametrize("name", NUMBERS)
def test_the_refusal_names_the_range(name):
    meta = NUMBERS[name].metadata
    for value in (meta["low"] - 1, meta["high"] + 1):
        value = int(value) if name in WHOLE else value
        sentence = refusal({name: value})
        assert f"must be between {meta['low']:g} and {meta['high']:g}, got {value!r}" in sentence


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [True, False, None, [1], "many", ""])
def test_only_numbers_are_numbers(name, value):
    kind = "a whole number" if name in WHOLE else "a number"
    assert f"must be {kind}, got {value!r}" in refusal({name: value})


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [2.5, 3.0, "2.5"])
def test_whole_numbers_are_whole(name, value):
    assert f"must be a whole number, got {value!r}" in refusal({name: value})


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["nonsense", 3, None])
def test_choices_are_listed_in_the_refusal(name, value):
    sentence = refusal({name: value})
    for choice in CHOICES[name].metadata["choices"]:
        assert choice in sentence
    assert repr(value) in sentence


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_are_true_or_false(name):
    assert possible_values(ALL[name]) == "true or false"
    for value in (1, 0, None, "maybe", "", 1.0):
        assert f"must be true or false, got {value!r}" in refusal({name: value})


@pytest.mark.parametrize(("text", "value"), [("true", True), ("yes", True), ("False", False), ("no", False)])
def test_the_text_of_a_switch(text, value):
    changed = TrackerConfig().replace({"regression.enabled": text, "confidence.weights": "particles"})
    assert changed.regression.enabled is value


def test_weights_fitted_with_a_response_need_one():
    assert "confidence.weights must be 'particles'" in refusal({"regression.enabled": False})


def test_the_default_configuration_is_that_of_a_tracker():
    assert TrackerConfig() == PRESETS["default"] == Tracker().config
    assert RegressionConfig().enabled


def test_every_preset_says_which_confidence_weights_it_uses():
    for config in PRESETS.values():
        assert config.confidence.weights == ("regression" if config.regression.enabled else "particles")


def test_unknown_names_fail_with_a_suggestion():
    assert refusal({"motion.particels": 3}) == (
        "there is no setting 'motion.particels'; did you mean 'motion.particles'?"
    )
    assert "did you mean 'motion.shift_std'?" in refusal({"shiftstd": 3})
    assert "known are" in refusal({"@": 3})
    with pytest.raises(ValueError, match=r"there is no setting 'motion'"):
        TrackerConfig().replace({"motion": 3})


def test_a_whole_number_may_stand_for_a_number():
    assert TrackerConfig().replace({"motion.shift_std": 7}).motion.shift_std == 7


def test_sections_check_themselves():
    with pytest.raises(ValueError, match=r"MotionConfig\.particles must be between 1 and 20000, got 0"):
        MotionConfig(particles=0)
    with pytest.raises(ValueError, match=r"MemoryConfig\.sampling must be one of time-weighted, uniform"):
        MemoryConfig(sampling="random")


def test_an_even_number_of_sizes_is_refused():
    with pytest.raises(ValueError, match=r"RegressionConfig\.scales must be odd, so that one keeps the size, got 4"):
        TrackerConfig().replace({"regression.scales": "4"})


def test_replace_leaves_the_original_alone():
    before = TrackerConfig()
    after = before.replace({"motion.particles": 17, "memory.size": 9})
    assert (after.motion.particles, after.memory.size) == (17, 9)
    assert before == TrackerConfig()
    assert after.features == before.features
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.motion = after.motion


def test_the_paper_prints_these():
    printed = {
        "motion.particles": 200,
        "memory.size": 300,
        "memory.growth": 1.6,
        "metric.triplets": 500,
        "representation.gamma_f": 1.0,
        "representation.gamma_b": 1.0,
        "representation.rho": 0.1,
    }
    assert {name: PAPER.to_dict()[name] for name in printed} == printed


def test_the_first_frame_is_sampled_by_a_number_of_its_own():
    memory = MemoryConfig(first=50, positives=2, negatives=3)
    assert memory.counts(0) == (50, 50)
    assert memory.counts(1) == (2, 3)


def test_presets_by_name():
    assert preset("paper") is PRESETS["paper"]
    with pytest.raises(ValueError, match=r"there is no preset 'papper'; did you mean 'paper'\?"):
        preset("papper")


def test_the_rooms_of_the_package_are_there_after_importing_it_alone():
    code = "import metrack; metrack.config.preset('paper'); metrack.tracking; metrack.identity.Gallery"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
