"""The values of a checkpoint's note, checked before a run goes on with them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

STATE = re.compile(r"state_\d+\.npz")
MOST = 1 << 53  # frames, and seconds of work

Check = Callable[[Any], bool]


def check_values(values: Mapping[str, Any], checks: Mapping[str, Check]) -> None:
    """Refuse values that are of another kind; ValueError with their name, KeyError where one is missing."""
    for name, is_right in checks.items():
        if not is_right(values[name]):
            raise ValueError(f"{name} must be as it was written, got {repr(values[name])[:60]}")


def is_text(value: object) -> bool:
    """Whether it is a string."""
    return isinstance(value, str)


def is_whole(value: object) -> bool:
    """Whether it is a whole number of at least 0, and none that is too large to count with."""
    return type(value) is int and 0 <= value < MOST


def is_number(value: object) -> bool:
    """Whether it is a finite number."""
    return type(value) in (int, float) and abs(value) < MOST and math.isfinite(value)  # type: ignore[arg-type]


def is_box(value: object) -> bool:
    """Whether it is a list of four finite numbers."""
    return isinstance(value, list) and len(value) == 4 and all(map(is_number, value))


def or_none(check: Check) -> Check:
    """Let there be nothing as well."""
    return lambda value: value is None or check(value)


def list_of(check: Check) -> Check:
    """Let there be a list of such values."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_setting(value: object) -> bool:
    return isinstance(value, (bool, str)) or is_number(value)


def _are_changes(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_setting, value.values()))


def _is_correction(value: object) -> bool:
    return isinstance(value, dict) and is_box(value.get("box")) and is_whole(value.get("frame"))


def _is_job(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    check_values(value, JOB)
    return True


JOB: dict[str, Check] = {
    "source": is_text,
    "boxes": lambda value: list_of(is_box)(value) and len(value) > 0,
    "preset": is_text,
    "changes": _are_changes,
    "seed": lambda value: type(value) is int and value >= 0,
    "start": is_whole,
    "stop": or_none(is_whole),
    "video": lambda value: isinstance(value, bool),
    "gallery": or_none(is_text),
    "formats": list_of(is_text),
}
CHECKPOINT: dict[str, Check] = {
    "job": _is_job,
    "frames": lambda value: is_whole(value) and value > 0,
    "busy": lambda value: is_number(value) and value >= 0,
    "first_frame": is_whole,
    "corrections": list_of(_is_correction),
    "ahead": list_of(list_of(is_text)),
    "trajectory": or_none(is_whole),
    "state": lambda value: is_text(value) and STATE.fullmatch(value) is not None,
    "state_check": or_none(is_text),
}
