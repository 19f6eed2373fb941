"""What all tests share: the slow twins on the path, one seed that CI varies, patience for slow machines."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: two threads are slower, much so on a busy machine
import sys
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "benchmarks")]  # for reference, support and development

settings.register_profile("metrack", deadline=None)
settings.load_profile("metrack")


@pytest.fixture(scope="session")
def seed() -> int:
    """Every test must pass for any of them; `METRACK_TEST_SEED=7 pytest` tries another."""
    return int(os.environ.get("METRACK_TEST_SEED", "0"))
