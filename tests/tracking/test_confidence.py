import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack.estimate import RULES, Evidence
from metrack.tracking.confidence import (
    FAINT,
    FAMILIAR,
    FIRM,
    HALVED,
    LIKELY,
    PATIENCE,
    SETTLING,
    SURE,
    SUSPICIOUS,
    Presence,
    log_odds,
    probability,
)

SEEN, HIDDEN = Evidence(0.15, 0.1, 0.05), Evidence(1.0, 1.0, 0.5)
error = st.floats(0, 1e6)


def odds(evidence):
    """By the weights of the tracker that has such evidence."""
    return log_odds(evidence, "particles" if evidence.response is None else "regression")


def sure(evidence):
    return probability(odds(evidence))


def judge(presence, evidence):
    return presence.judge(evidence, sure(evidence))


def looking(evidence, wanted):
    """The same evidence with the distance to the first frame at which the probability is as wanted."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sure(dataclasses.replace(evidence, template=middle)) > wanted else (low, middle)
    return dataclasses.replace(evidence, template=low)


def judged(presence, evidence):
    return [judge(presence, each).state for each in evidence]


@given(
    error,
    error,
    st.floats(0, 2),
    st.floats(0, 10),
    st.sampled_from(["foreground", "template", "colour", "response"]),
    st.floats(0, 10),
)
def test_more_error_never_means_more_confidence(foreground, template, colour, response, what, more):
    evidence = Evidence(foreground, template, colour, response)
    change = -more if what == "response" else more
    worse = dataclasses.replace(evidence, **{what: getattr(evidence, what) + change})
    assert 0 <= sure(worse) <= sure(evidence) <= 1


@given(error, error, st.floats(0, 2), st.sampled_from(["foreground", "template", "colour"]), st.floats(0, 10))
def test_nor_does_it_without_a_regression(foreground, template, colour, what, more):
    evidence = Evidence(foreground, template, colour)
    worse = dataclasses.replace(evidence, **{what: getattr(evidence, what) + more})
    assert 0 <= sure(worse) <= sure(evidence) <= 1


def test_without_a_regression_memory_and_colours_have_to_say_more():
    """Each kind of tracker has weights of its own, fitted on what it has to go by."""
    with_answer = Evidence(0.3, 0.5, 0.1, 1.0)
    for what, more in (("foreground", 0.5), ("colour", 0.3)):
        worse = dataclasses.replace(with_answer, **{what: more + getattr(with_answer, what)})
        drops = [
            odds(dataclasses.replace(with_answer, response=response))
            - odds(dataclasses.replace(worse, response=response))
            for response in (1.0, None)
        ]
        assert drops[0] < drops[1]


def test_a_steady_target_is_tracked():
    assert set(judged(Presence(), [SEEN, Evidence(0.2, 0.15, 0.06)] * 30)) == {"tracking"}


def test_a_jump_is_occluded_then_lost_and_forgiven_when_it_ends():
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING)
    assert judged(presence, [HIDDEN] * (PATIENCE + 5)) == ["occluded"] * PATIENCE + ["lost"] * 5
    assert judge(presence, SEEN).state == "tracking"
    assert judge(presence, HIDDEN).state == "occluded"


def test_a_jump_of_something_that_still_looks_like_the_first_frame_is_a_change_of_appearance():
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING)
    assert judge(presence, Evidence(0.5, 0.3, 0.06)).state == "tracking"


def test_it_takes_more_to_come_back_than_to_stay():
    middling = Evidence(0.28, 0.8, 0.3)  # less than twice the usual residual, but quite another look
    staying, coming_back = Presence(), Presence()
    judged(staying, [SEEN] * 2 * SETTLING)
    judged(coming_back, [SEEN] * 2 * SETTLING + [HIDDEN])
    assert judge(staying, middling).state == "tracking"
    assert judge(coming_back, middling).state == "occluded"


def test_one_that_was_lost_may_come_back_changed():
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING + [HIDDEN])
    changed = looking(SEEN, LIKELY + 0.05)  # by its shape: much farther from the first frame than is usual
    assert judge(presence, changed).state == "occluded"
    judged(presence, [HIDDEN] * PATIENCE)
    assert judge(presence, changed).state == "tracking"


def test_no_judgement_before_a_level_is_known():
    assert set(judged(Presence(), [SEEN, HIDDEN] * (SETTLING // 2))) == {"tracking"}


def test_what_is_hidden_does_not_move_the_level():
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING)
    level = (presence.foreground, presence.template, presence.colour)
    judged(presence, [HIDDEN] * 100)
    assert (presence.foreground, presence.template, presence.colour) == level


def test_saved_fields_rebuild_it():
    presence = Presence()
    judged(presence, [SEEN] * 15 + [HIDDEN] * 3)
    assert Presence(**presence.to_dict()) == presence
    assert presence.to_dict() == dataclasses.asdict(presence)


@pytest.mark.parametrize("value", [0.0, 1e300])
def test_extremes_stay_finite(value):
    assert 0 <= sure(Evidence(value, value, value)) <= 1


def test_a_look_alike_in_other_colours_is_not_the_target():
    presence = Presence()
    usual = looking(Evidence(0.4, 0.5, 0.1), 0.8)
    judged(presence, [usual] * 2 * SETTLING + [HIDDEN])
    assert judge(presence, dataclasses.replace(usual, colour=0.45)).state == "occluded"
    assert judge(presence, dataclasses.replace(usual, colour=0.12)).state == "tracking"


def test_a_firm_answer_of_the_regression_is_not_a_hidden_target():
    """Another look in the place where the regression finds it as loudly as ever is a change of appearance."""
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING)
    assert judge(presence, dataclasses.replace(HIDDEN, response=FAINT + 0.05)).state == "tracking"
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING)
    assert judge(presence, dataclasses.replace(HIDDEN, response=FAINT - 0.05)).state == "occluded"
    assert judge(presence, dataclasses.replace(HIDDEN, response=FIRM - 0.05)).state == "occluded"
    assert judge(presence, dataclasses.replace(HIDDEN, response=FIRM)).state == "tracking"


def test_half_the_usual_answer_in_other_colours_is_a_covered_target():
    """Something else stands in its place, in shape so alike that the probability stays high, as a pole does."""
    followed = dataclasses.replace(SEEN, response=0.8)
    covered = dataclasses.replace(followed, colour=0.2, response=0.4)
    assert sure(covered) > SURE
    presence = Presence()
    judged(presence, [followed] * 2 * SETTLING)
    assert judge(presence, dataclasses.replace(covered, colour=followed.colour)).state == "tracking"
    assert judge(presence, dataclasses.replace(covered, response=0.6)).state == "tracking"
    assert judge(presence, covered).state == "occluded"
    assert judge(presence, covered).state == "occluded"
    assert judge(presence, followed).state == "tracking"


def test_without_a_regression_nothing_is_covered():
    presence = Presence()
    judged(presence, [SEEN] * 2 * SETTLING)
    assert judge(presence, dataclasses.replace(SEEN, colour=0.2)).state == "tracking"


class TestVerdict:
    """What a state was decided by: one rule, its value and its limit."""

    def followed(self, evidence=SEEN):
        presence = Presence()
        judged(presence, [evidence] * 2 * SETTLING)
        return presence

    def test_the_first_frames_are_not_judged(self):
        verdict = judge(Presence(), HIDDEN)
        assert (verdict.state, verdict.rule, verdict.value, verdict.limit) == ("tracking", "settling", 0, SETTLING)

    def test_a_residual_above_its_limit_hides_the_target(self):
        presence = self.followed()
        limit = SUSPICIOUS * presence.foreground
        seen, hidden = judge(presence, SEEN), judge(presence, HIDDEN)
        assert (seen.state, seen.rule, seen.value) == ("tracking", "residual", SEEN.foreground)
        assert (hidden.state, hidden.rule, hidden.value) == ("occluded", "residual", HIDDEN.foreground)
        assert hidden.limit == pytest.approx(limit)

    def test_a_covered_target_is_told_by_the_response(self):
        presence = self.followed(dataclasses.replace(SEEN, response=0.8))
        verdict = judge(presence, dataclasses.replace(SEEN, colour=0.2, response=0.4))
        assert (verdict.state, verdict.rule, verdict.value) == ("occluded", "response", 0.4)
        assert verdict.limit == pytest.approx(HALVED * 0.8)

    def test_a_hidden_target_stays_hidden_by_its_largest_change(self):
        presence = self.followed()
        judge(presence, HIDDEN)
        verdict = judge(presence, HIDDEN)
        largest = max(1.0 / 0.15, 1.0 / 0.1, 0.5 / 0.05)
        assert (verdict.rule, verdict.limit, verdict.value) == ("change", FAMILIAR, pytest.approx(largest))

    def test_another_target_in_its_place_hides_it(self):
        verdict = self.followed().displace(0.7, 0.5)
        assert (verdict.state, verdict.rule, verdict.value, verdict.limit) == ("occluded", "overlap", 0.7, 0.5)

    @given(st.lists(st.tuples(error, error, st.floats(0, 2), st.none() | st.floats(0, 10)), max_size=60))
    def test_the_margin_says_whether_it_is_hidden(self, errors):
        presence = self.followed()
        for each in errors:
            hidden = presence.is_hidden(Evidence(*each), sure(Evidence(*each)))
            verdict = judge(presence, Evidence(*each))
            assert (verdict.state != "tracking") == hidden
            assert (verdict.margin > 1) == hidden or verdict.margin == pytest.approx(1)
            assert verdict.rule in RULES
            assert f"limit {verdict.limit:.2f}" in verdict.reason
