import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrack.motion.cloud import Cloud


def cloud(scores):
    scores = np.asarray(scores, float)
    n = len(scores)
    return Cloud(np.zeros((n, 3)), np.zeros((n, 4)), np.zeros(n, "f4"), np.zeros(n, "f4"), np.zeros(n), scores)


def test_weights_are_powers_of_the_score():
    np.testing.assert_allclose(cloud([0.5, 0.25]).weights(2), [0.8, 0.2])
    np.testing.assert_allclose(cloud([0.5, 0.25]).weights(0), [0.5, 0.5])


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=30), st.sampled_from([0.0, 1.0, 1e3, 1e6]))
def test_weights_are_finite_sum_to_one_and_keep_the_order(scores, sharpness):
    weights = cloud(scores).weights(sharpness)
    np.testing.assert_allclose(weights.sum(), 1)
    assert np.isfinite(weights).all()
    order = np.argsort(scores)
    assert (np.diff(weights[order]) >= 0).all()


@pytest.mark.parametrize("scores", [[0.2, 0.7, 0.3], [0.9, 0.1], [0.5]])
def test_the_best_has_the_highest_score(scores):
    assert scores[cloud(scores).best] == max(scores)


def test_together_they_are_one_after_the_other():
    both = cloud([0.1, 0.2]) + cloud([0.3])
    np.testing.assert_array_equal(both.scores, [0.1, 0.2, 0.3])
    assert both.states.shape == (3, 3)
    assert both.boxes.shape == (3, 4)
