"""The settings as a page needs them to make its form: from the configuration classes, so that they cannot differ."""

from __future__ import annotations

from typing import Any

from metrack.config import PRESETS, TrackerConfig, kind_of


def form() -> dict[str, Any]:
    """Return every setting with its help text and range, and every preset with its values."""
    return {
        "presets": {name: config.to_dict() for name, config in PRESETS.items()},
        "settings": [_setting(name, each) for name, each, _ in TrackerConfig().settings()],
    }


def _setting(name: str, each: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": kind_of(each),
        **{key: each.metadata[key] for key in ("text", "low", "high", "choices")},
    }
