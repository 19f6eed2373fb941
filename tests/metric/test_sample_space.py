import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.metric.guard import Guard
from metrack.metric.proximity import draw_triplets, learn_round
from metrack.metric.sample_space import BACKGROUND, FOREGROUND, SampleSpace
from metrack.threads import one_blas_thread

# Errors of the Gram matrices relative to their largest entry.
FRESH = 5e-6  # just formed. Measured: 1.2e-6 at full size

# (frames, samples per class, dimension, longest step): to what rounding may add up without a refresh.
# Measured for the five hundred frames the tracker lets pass, at full size: 4e-6 and 1e-5, as for fifty.
DRIFT = {(50, 300, 405, 1.0): 2e-5, (50, 300, 405, 100.0): 1e-4, (500, 60, 80, 1e6): 2e-5}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


def unit_rows(rng, n, D):
    rows = rng.normal(size=(n, D))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32).reshape(n, D)


def alike(rng, n, D):
    """Unit rows that have most in common, as descriptors of neighbouring regions do."""
    rows = 1 + 0.2 * rng.normal(size=(n, D))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def errors(space):
    """Of gram and weighted, against products formed in double precision."""
    S, M = space.samples.astype(float), space.metric.astype(float)
    exact = S @ S.T, S @ (M + M.T) / 2 @ S.T
    return [
        np.abs(kept - true).max() / max(np.abs(true).max(), 1e-30)
        for kept, true in zip((space.gram, space.weighted), exact, strict=True)
    ]


def random_change(rng, space, m=10, size=0.05):
    """Differences of remembered samples, as metric learning makes them."""
    rows = np.concatenate([space.row_numbers(FOREGROUND), space.row_numbers(BACKGROUND)])
    p, near, far = rng.choice(rows, size=(3, m))
    push, pull = (
        size * (space.samples[p] - space.samples[far]),
        size * (space.samples[p] - space.samples[near]),
    )
    seen = size * (space.gram[p] - space.gram[far]), size * (space.gram[p] - space.gram[near])
    space.change_metric(push, pull, *seen)


def random_put(rng, space, k, most):
    """Up to k samples of each class into random slots, no slot twice, no gaps."""
    D, slots = space.samples.shape[1], []
    for count in space.counts:
        new = np.arange(count, min(count + int(rng.integers(0, k + 1)), most))
        old = rng.permutation(count)[: int(rng.integers(0, k + 1))]
        slots.append(rng.permutation(np.concatenate([new, old])))
    samples = tuple(unit_rows(rng, len(s), D) for s in slots)
    space.put(tuple(slots), samples)
    return slots, samples


class TestPut:
    @settings(max_examples=30)
    @given(draw=st.integers(0, 2**32), capacity=st.integers(1, 6), most=st.integers(1, 20))
    def test_gram_matrices_follow_replacing_extending_and_growing(self, draw, capacity, most):
        rng = np.random.default_rng(draw)
        space, held = SampleSpace(7, capacity), [{}, {}]
        for _ in range(6):
            slots, samples = random_put(rng, space, 3, most)
            for memory, where, what in zip(held, slots, samples, strict=True):
                memory.update(zip(where.tolist(), what, strict=True))
            if min(space.counts):
                random_change(rng, space)
        assert space.counts == [len(memory) for memory in held]
        for label, memory in enumerate(held):
            expected = np.array([memory[i] for i in range(len(memory))]).reshape(-1, 7)
            assert_array_equal(space.samples[space.block(label)], expected)
            assert_array_equal(space.row_numbers(label), np.arange(len(space.samples))[space.block(label)])
        assert_allclose(space.energies, np.diagonal(space.weighted), rtol=0, atol=1e-5)
        assert_allclose(errors(space), 0, atol=1e-5)

    def test_asked_seldom_or_often_the_products_are_the_same(self, seed):
        often, seldom = SampleSpace(9, 6), SampleSpace(9, 6)
        for space in (often, seldom):
            rng = np.random.default_rng(seed)
            for turn in range(12):
                random_put(rng, space, 3, 6)
                if space is often:
                    assert_allclose(errors(space), 0, atol=1e-5)
                if turn % 5 == 4:
                    random_change(rng, space)
        assert_allclose(seldom.weighted, often.weighted, rtol=0, atol=1e-5)
        assert_allclose(seldom.gram, often.gram, rtol=0, atol=1e-5)

    def test_rows_that_hold_nothing_are_zero(self, seed):
        rng = np.random.default_rng(seed)
        space = SampleSpace(5, 4)
        random_put(rng, space, 2, 3)
        space.put((np.array([0]), np.array([0])), (unit_rows(rng, 1, 5), unit_rows(rng, 1, 5)))
        empty = np.ones(8, bool)
        for label in (FOREGROUND, BACKGROUND):
            empty[space.block(label)] = False
        for matrix in (space.samples, space.gram, space.gram.T, space.weighted, space.weighted.T):
            assert_array_equal(matrix[empty], 0)

    def test_starts_with_the_identity_and_empty(self):
        space = SampleSpace(4, 3)
        assert_array_equal(space.metric, np.eye(4))
        assert space.counts == [0, 0]
        assert len(space.row_numbers(FOREGROUND)) == len(space.row_numbers(BACKGROUND)) == 0

    def test_growing_keeps_samples_and_metric(self, seed):
        rng = np.random.default_rng(seed)
        space = SampleSpace(6, 3)
        space.put((np.arange(3), np.arange(2)), (unit_rows(rng, 3, 6), unit_rows(rng, 2, 6)))
        random_change(rng, space)
        kept, metric = [space.samples[space.block(label)].copy() for label in (0, 1)], space.metric.copy()
        space.put((np.arange(3, 40), np.array([], int)), (unit_rows(rng, 37, 6), np.empty((0, 6), np.float32)))
        assert space.capacity >= 40
        assert space.counts == [40, 2]
        assert len(space.gram) == len(space.weighted) == len(space.samples) == 2 * space.capacity
        assert_array_equal(space.samples[space.block(FOREGROUND)][:3], kept[0])
        assert_array_equal(space.samples[space.block(BACKGROUND)], kept[1])
        assert_allclose(space.metric, metric, rtol=0, atol=1e-7)
        assert_allclose(errors(space), 0, atol=FRESH)

    def test_nothing_to_put(self, seed):
        rng = np.random.default_rng(seed)
        space = SampleSpace(6, 3)
        random_put(rng, space, 3, 3)
        before = {k: v.copy() for k, v in space.to_arrays().items()}
        nothing, no_rows = np.empty(0, np.int64), np.empty((0, 6), np.float32)
        space.put((nothing, nothing), (no_rows, no_rows))
        for name, array in space.to_arrays().items():
            assert_array_equal(array, before[name])


class TestMetric:
    @given(draw=st.integers(0, 2**32), m=st.integers(0, 12), k=st.integers(0, 12))
    def test_change_adds_one_set_of_outer_products_and_subtracts_the_other(self, draw, m, k):
        rng = np.random.default_rng(draw)
        space = SampleSpace(6, 4)
        space.put((np.arange(4), np.arange(4)), (unit_rows(rng, 4, 6), unit_rows(rng, 4, 6)))
        push, pull = unit_rows(rng, m, 6), unit_rows(rng, k, 6)
        expected = np.eye(6) + push.T.astype(float) @ push - pull.T.astype(float) @ pull
        space.change_metric(push, pull, push @ space.samples.T, pull @ space.samples.T)
        assert_allclose(space.metric, expected, rtol=0, atol=1e-5)
        assert_allclose(errors(space), 0, atol=2e-5)
        assert_allclose(space.metric, space.metric.T, rtol=0, atol=1e-6)

    def test_setting_it_forms_the_weighted_matrix_anew(self, seed):
        rng = np.random.default_rng(seed)
        space = SampleSpace(6, 4)
        space.put((np.arange(4), np.arange(3)), (unit_rows(rng, 4, 6), unit_rows(rng, 3, 6)))
        rows = rng.normal(size=(6, 6)).astype(np.float32)
        space.set_metric(rows @ rows.T)
        assert_allclose(space.metric, rows @ rows.T, rtol=0, atol=1e-6)
        assert_allclose(errors(space), 0, atol=FRESH)


class TestDrift:
    """Rounding adds up between refreshes, slowly; a refresh drops what has added up."""

    @staticmethod
    def run(rng, frames, n, D, step_limit):
        """Frames as the tracker has them: some samples change hands, then a guarded round of learning."""
        space = SampleSpace(D, n)
        space.put((np.arange(n), np.arange(n)), (alike(rng, n, D), alike(rng, n, D)))
        for _ in range(frames):
            slots = tuple(rng.permutation(n)[:4] for _ in range(2))
            space.put(slots, (alike(rng, 4, D), alike(rng, 4, D)))
            triplets = draw_triplets(rng, space.row_numbers(FOREGROUND), space.row_numbers(BACKGROUND), 100)
            steps = learn_round(space.gram, space.weighted, triplets, 1.0, step_limit)
            assert len(steps) > 10  # or there is nothing to drift
            push, pull = steps.push(space.samples), steps.pull(space.samples)
            mix = Guard(0.02).limit(space.metric, push, pull)
            space.change_metric(push, mix @ pull, steps.push(space.gram), mix @ steps.pull(space.gram))
        return space

    @pytest.mark.parametrize(("size", "bound"), DRIFT.items())
    def test_drift_stays_below_the_stated_bound_and_a_refresh_drops_it(self, size, bound, seed):
        space = self.run(np.random.default_rng(seed), *size)
        assert_allclose(errors(space), 0, atol=bound)
        space.refresh()
        assert_allclose(errors(space), 0, atol=FRESH)

    def test_a_refresh_makes_the_metric_exactly_symmetric(self, seed):
        space = self.run(np.random.default_rng(seed), 20, 30, 40, 1.0)
        before = space.metric.copy()
        space.refresh()
        assert_array_equal(space.metric, space.metric.T)
        assert_allclose(space.metric, before, rtol=0, atol=1e-5 * np.abs(before).max())

    def test_a_refresh_heals_any_damage(self, seed):
        space = self.run(np.random.default_rng(seed), 3, 30, 40, 1.0)
        space.gram[:] += 1
        space.weighted[:] *= 2
        space.energies[:] = 0
        space.refresh()
        assert_allclose(errors(space), 0, atol=FRESH)


def test_saved_and_restored_it_goes_on_bit_for_bit(seed):
    rng = np.random.default_rng(seed)
    space = SampleSpace(6, 5)
    random_put(rng, space, 4, 5)
    space.put((np.array([0]), np.array([0])), (unit_rows(rng, 1, 6), unit_rows(rng, 1, 6)))
    random_change(rng, space)
    other = SampleSpace(6, 2)
    other.restore({k: np.array(v) for k, v in space.to_arrays().items()})
    for each in (space, other):
        again = np.random.default_rng(seed)
        random_put(again, each, 4, 9)
        random_change(again, each)
    assert other.counts == space.counts
    assert other.capacity == space.capacity
    for name, array in space.to_arrays().items():
        assert_array_equal(other.to_arrays()[name], array)
