import dataclasses

from metrack.confidence import PATIENCE, SETTLING, Presence


def judged(presence, residuals):
    return [presence.judge(value) for value in residuals]


def test_a_steady_residual_is_tracking():
    assert set(judged(Presence(), [0.05, 0.04, 0.06] * 30)) == {"tracking"}


def test_a_jump_is_occluded_then_lost_and_forgiven_when_it_ends():
    presence = Presence()
    judged(presence, [0.05] * 2 * SETTLING)
    hidden = judged(presence, [0.5] * (PATIENCE + 5))
    assert hidden == ["occluded"] * PATIENCE + ["lost"] * 5
    assert presence.judge(0.05) == "tracking"
    assert presence.judge(0.5) == "occluded"


def test_no_judgement_before_a_level_is_known():
    assert set(judged(Presence(), [0.01, 5.0] * (SETTLING // 2))) == {"tracking"}


def test_what_is_hidden_does_not_move_the_level():
    presence = Presence()
    judged(presence, [0.05] * 2 * SETTLING)
    level = presence.usual
    judged(presence, [0.5] * 100)
    assert presence.usual == level


def test_saved_fields_rebuild_it():
    presence = Presence()
    judged(presence, [0.05] * 15 + [0.5] * 3)
    assert Presence(**presence.to_dict()) == presence
    assert presence.to_dict() == dataclasses.asdict(presence)
