"""Pictures become fewer where a tracker waits for a processor, and come back."""

from hypothesis import given
from hypothesis import strategies as st

from metrack.studio.watching import FEWEST_PICTURES, LOOK_AFTER, MOST_PICTURES, FrameRateLimit


def shown(limit, shares, busy=100.0, worked=30.0):
    """Rates after looks at which the tracker had a processor for these shares of its time."""
    rates = []
    for share in shares:
        busy, worked = busy + LOOK_AFTER, worked + LOOK_AFTER * share
        rates.append(limit.update(busy, worked))
    return rates


def test_a_tracker_that_waits_is_relieved_soon_and_pages_get_everything_again_later():
    rates = shown(FrameRateLimit(100.0, 30.0), [0.98, 0.7, 0.7, 0.7, 0.7, *[0.97] * 12])
    assert rates[0] == MOST_PICTURES
    assert rates[4] == FEWEST_PICTURES
    assert rates[4:] == sorted(rates[4:])
    assert rates[-1] == MOST_PICTURES


def test_between_looks_nothing_changes():
    limit = FrameRateLimit(0.0, 0.0)
    assert [limit.update(LOOK_AFTER * 0.9, 0.0) for _ in range(5)] == [MOST_PICTURES] * 5


@given(st.lists(st.floats(0, 1.2), max_size=60))
def test_there_are_never_more_or_fewer_than_said(shares):
    assert all(FEWEST_PICTURES <= rate <= MOST_PICTURES for rate in shown(FrameRateLimit(100.0, 30.0), shares))
