"""A short clip, as the command is given it."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrack.synth import Clip, builtin_clip
from support.command import write


@pytest.fixture(scope="module")
def clip() -> Clip:
    return builtin_clip(30, (160, 120), occlusion=False, departure=False)


@pytest.fixture(scope="module")
def video(clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(clip, tmp_path_factory.mktemp("clip") / "clip.mp4")


@pytest.fixture(scope="module")
def long_video(clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(clip, tmp_path_factory.mktemp("clip") / "long.mp4", times=10)


@pytest.fixture(scope="module")
def box(clip: Clip) -> str:
    return ",".join(str(side) for side in clip.first_box.to_xywh())
