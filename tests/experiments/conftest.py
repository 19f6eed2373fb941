import pytest

from metrack.evaluation.sequences import builtin_sequences


@pytest.fixture(scope="session")
def clips():
    return {clip.name: clip for clip in builtin_sequences(frames=60, size=(160, 120))}
