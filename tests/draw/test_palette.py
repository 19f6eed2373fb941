import re
from colorsys import rgb_to_hsv
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from metrack.draw import page as page_module
from metrack.draw.palette import MARKERS, PALETTE, SHADES, TARGETS, from_hex, heat_colours, looks_of, target_colour

SIGHTS = {  # what the eye of the colour-blind makes of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


def linear(colour):
    values = np.array(from_hex(colour)) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(values):
    xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]] @ np.clip(values, 0, 1)
    f = np.cbrt(xyz / [0.9505, 1, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(colour, ground):
    low, high = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (colour, ground))
    return (high + 0.05) / (low + 0.05)


def test_colours_have_enough_contrast_on_light_and_dark_pages():
    css = Path(page_module.__file__).with_name("page.css").read_text()
    grounds = re.findall(r"--paper: (#\w{6})", css)
    assert len(grounds) == 2
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    lines = [*PALETTE, *(target_colour(target) for target in range(1, len(TARGETS) + 1))]
    for ground in grounds:
        assert min(contrast(colour, ground) for colour in lines) >= 3


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_differ_also_for_the_colour_blind(sight):
    seen = [lab(np.asarray(SIGHTS[sight]) @ linear(colour)) for colour in PALETTE]
    gaps = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(range(len(PALETTE)), 2)}
    assert min(gaps.values()) > 10
    assert min(gap for (_, last), gap in gaps.items() if last < 4) > 20  # the usual number of trackers


def test_a_targets_curve_has_about_the_hue_of_its_boxes():
    for target, bright in enumerate(TARGETS, 1):
        hues = [rgb_to_hsv(*colour)[0] for colour in (bright, from_hex(target_colour(target)))]
        assert min(abs(hues[0] - hues[1]), 1 - abs(hues[0] - hues[1])) < 0.05
    assert target_colour(1) == target_colour(1 + len(TARGETS))


def test_more_names_than_colours_differ_in_their_lines():
    looks = looks_of(str(number) for number in range(2 * len(PALETTE)))
    assert len({(look.colour, look.dash) for look in looks.values()}) == 2 * len(PALETTE)
    assert [look.colour for look in looks.values()] == [*PALETTE, *PALETTE]


def test_markers_are_of_about_one_size_and_differ():
    areas = [0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) for x, y in (marker.T for marker in MARKERS)]
    assert min(areas) > 1
    assert max(areas) < 2.5
    assert len({(len(marker), round(float(marker[0, 0]), 3)) for marker in MARKERS}) == len(MARKERS)


def test_heat_colours_go_from_the_first_shade_to_the_last_in_even_steps_of_lightness():
    colours = heat_colours(np.linspace(0, 1, 41))
    assert (tuple(colours[0]), tuple(colours[-1])) == (SHADES[0], SHADES[-1])
    lightness = np.array([lab(linear("#" + bytes(colour).hex()))[0] for colour in colours])
    np.testing.assert_allclose(np.diff(lightness), 2, atol=0.8)
