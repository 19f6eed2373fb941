"""Lines with checksums: any change is found, and named by its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack.frames.checked_lines import NOTHING, add_check, verified, whole_lines

BODIES = [f'{{"frame": {number}, "score": 0.5}}' for number in range(5)]


def chained(bodies):
    lines, check = [], NOTHING
    for body in bodies:
        line, check = add_check(body, check)
        lines.append(line)
    return lines


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "trajectory.jsonl"
    path.write_text("".join(f"{line}\n" for line in chained(BODIES)))
    return path


def test_every_line_is_given_with_and_without_its_checksum(path):
    read = list(verified(path))
    assert [body for _, body, _ in read] == BODIES
    assert [line for line, _, _ in read] == chained(BODIES)
    assert len({check for _, _, check in read}) == 5


@given(st.data())
def test_any_flipped_bit_but_in_a_last_line_feed_is_found(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flips") / "trajectory.jsonl"
    whole = "".join(f"{line}\n" for line in chained(BODIES)).encode()
    at, bit = data.draw(st.integers(0, len(whole) - 2)), data.draw(st.integers(0, 7))
    flipped = bytearray(whole)
    flipped[at] ^= 1 << bit
    path.write_bytes(bytes(flipped))
    with pytest.raises(ValueError, match=r"line [1-6] of .*trajectory\.jsonl' is damaged"):
        list(verified(path))


@pytest.mark.parametrize("order", [[0, 2, 3, 4], [0, 1, 1, 2, 3, 4], [1, 0, 2, 3, 4], [1, 2, 3, 4]])
def test_lines_that_are_missing_doubled_or_swapped_are_found(path, order):
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{lines[number]}\n" for number in order))
    with pytest.raises(ValueError, match="is damaged"):
        list(verified(path))


def test_an_unfinished_last_line_does_not_count(path):
    path.write_text(path.read_text()[:-9])
    assert [body for _, body, _ in verified(path)] == BODIES[:-1]


def test_what_comes_before_the_damage_can_be_read(path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], lines[3].replace("0.5", "0.6"), lines[4], ""]))
    read = verified(path)
    assert [next(read)[1] for _ in range(3)] == BODIES[:3]
    with pytest.raises(ValueError, match="line 4"):
        next(read)


def test_files_of_earlier_versions_have_no_checksums(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text("".join(f"{body}\n" for body in BODIES))
    assert list(verified(path)) == [(body, body, NOTHING) for body in BODIES]


def test_bytes_that_are_no_text_do_not_stop_the_reader(tmp_path):
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(b"\xff\xfe\n\x00\n")
    assert whole_lines(path) == ["��", "\x00"]
