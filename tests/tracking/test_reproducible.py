"""The same boxes again: for any number of threads, cold or warm cache, and what other processors may change."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from arithmetic import PINNED
from metrack.config import PRESETS

SCRIPT = """
import json, sys
from metrack import Tracker
from metrack.synth import builtin_clip
clip = builtin_clip(60, (320, 240))
frames = [clip[index] for index in range(40)]
for preset in json.loads(sys.argv[1]):
    tracker = Tracker(preset)
    tracker.init(frames[0], clip.first_box)
    for frame in frames[1:]:
        estimate = tracker.update(frame)
        print(json.dumps([preset, estimate.box.to_xywh(), estimate.score, estimate.info.theta_f.tolist()]))
"""
OTHERS = {name: {name: PINNED[name]} for name in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")}
FOLLOWING_A_FILTER = ("default", "fast")  # the others choose among random particles


def told(environment=None, presets=tuple(PRESETS)):
    """Return what every preset tells of every frame in a process of its own, as bytes."""
    plain = {name: value for name, value in os.environ.items() if name not in PINNED}
    command = [sys.executable, "-c", SCRIPT, json.dumps(presets)]
    return subprocess.run(command, env=plain | (environment or {}), check=True, capture_output=True).stdout


def boxes(lines):
    return np.array([json.loads(line)[1] for line in lines.splitlines()])


@pytest.fixture(scope="module")
def usual():
    return told()


def test_any_number_of_threads(usual):
    assert len(usual.splitlines()) == 39 * len(PRESETS)
    for count in ("1", "8"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        assert told(dict.fromkeys(names, count)) == usual


def test_cold_or_warm_cache(usual, tmp_path):
    """To the last bit: what is built into its caller may be rounded otherwise, as grey values and peaks once were."""
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert told(place) == usual  # compiles
    assert any(tmp_path.rglob("*.nbc"))
    assert told(place) == usual  # finds it compiled


@pytest.mark.parametrize("other", OTHERS)  # not NUMBA_CPU_NAME, for which all would be compiled once more: make golden
def test_other_processors_give_the_boxes_of_the_filter_to_the_last_bit(usual, other):
    mine, others = usual.splitlines(), told(OTHERS[other], FOLLOWING_A_FILTER).splitlines()
    np.testing.assert_array_equal(boxes(b"\n".join(mine[: len(others)])), boxes(b"\n".join(others)))


def test_pinned_arithmetic_takes_hold():
    script = (
        "import metrack, numba, numpy as np, threadpoolctl, scipy.linalg\n"
        "from numpy._core._multiarray_umath import __cpu_features__ as can\n"
        "print({each['architecture'] for each in threadpoolctl.threadpool_info()}, numba.config.CPU_NAME, "
        "can['AVX512_SKX'], can['AVX2'])\n"
    )
    found = subprocess.run([sys.executable, "-c", script], env=os.environ | PINNED, check=True, capture_output=True)
    assert found.stdout.decode().split() == ["{'Haswell'}", "haswell", "False", "True"]
