"""A slice of every torture campaign: two minutes in all. ``make torture`` has the full length."""

import pytest

from torture.campaign import Campaign, MissError, Tally, run
from torture.register import CAMPAIGNS, find

SECONDS = 120.0
PATIENT = {  # limits of time, for a machine that runs other tests beside
    "torture.studio_server.IN_TIME": 20.0,
    "torture.studio_lines.PATIENCE": 60.0,
    "torture.api_answers.SECONDS": 6.0,
    "torture.streams.SECONDS": 120.0,
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_nothing_is_missed(name, seed, tmp_path, monkeypatch):
    for limit, seconds in PATIENT.items():
        monkeypatch.setattr(limit, seconds)
    campaign, tally = find(name)(tmp_path, seed), Tally(seed)
    total = sum(find(each).share for each in CAMPAIGNS)
    run(campaign, tally, SECONDS * campaign.share / total, lambda _: None)
    assert not tally.misses, "\n".join(tally.misses)
    assert tally.units > 0


class Odd(Campaign):
    name, unit, aim, share, passes = "odd", "numbers", 1, 1.0, "it is even"

    def case(self, rng):
        if rng.integers(2):
            raise MissError("an odd number")
        return 1


def test_a_miss_is_noted_with_its_case_and_can_be_repeated(tmp_path):
    first, again = Tally(3), Tally(3)
    for tally in (first, again):
        run(Odd(tmp_path, 3), tally, 0.05, lambda _: None)
    assert first.misses
    assert all("an odd number" in miss for miss in first.misses)
    assert first.misses[0] == again.misses[0]


def test_a_stopped_campaign_goes_on_where_it_was(tmp_path):
    file = tmp_path / "odd.json"
    tally = Tally.load(file, 3)
    run(Odd(tmp_path, 3), tally, 0.001, lambda now: now.save(file))
    cases = tally.cases
    later = Tally.load(file, 3)
    assert later == tally
    run(Odd(tmp_path, 3), later, tally.seconds + 0.05, lambda _: None)
    assert later.cases > cases
