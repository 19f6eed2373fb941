"""What the tests of tracking share."""

import pytest

from metrack.synth import builtin_clip
from metrack.threads import one_blas_thread


@pytest.fixture(scope="module")
def clip():
    return builtin_clip(frames=60, occlusion=False, departure=False)


@pytest.fixture(scope="module")
def one_thread():
    with one_blas_thread():
        yield
