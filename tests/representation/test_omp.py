import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import OrthogonalMatchingPursuit, orthogonal_mp

from metrack.representation.omp import code, residual_energy
from metrack.threads import one_blas_thread
from reference import sparse as reference

ROUNDING = 1e-5  # of |y|^2 or, for codes, of |y| / |t|: single precision, times the coefficients of a mixture


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


class Problem:
    """Templates of very different lengths, of which `templates / lengths` are unit; candidates of length 1."""

    def __init__(self, draw, n=20, D=30, N=5, power=4):
        self.rng = rng = np.random.default_rng(draw)
        rows = rng.normal(size=(n + N, D))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        self.lengths = np.exp2(rng.integers(-power, power + 1, size=n)).astype(np.float32)
        self.templates, self.candidates = rows[:n] * self.lengths[:, None], rows[n:]

    @property
    def arrays(self):
        return self.templates, self.candidates

    @property
    def doubles(self):
        return self.templates.astype(float), self.candidates.astype(float)

    def rest(self, codes):
        T, Y = self.doubles
        return Y - codes.astype(float) @ T


@st.composite
def problems(draw):
    return Problem(draw(st.integers(0, 2**32)), n=draw(st.integers(1, 25)), D=draw(st.integers(1, 30)))


class TestDefinition:
    @given(problem=problems(), atoms=st.integers(0, 12))
    def test_no_more_templates_than_allowed(self, problem, atoms):
        used = (code(*problem.arrays, atoms) != 0).sum(axis=1)
        enough = min(atoms, *problem.templates.shape)
        assert used.max() <= enough
        if enough <= 5:
            assert used.min() == enough  # nothing stops a pursuit in random templates but an exact explanation

    @given(problem=problems(), atoms=st.integers(1, 12))
    def test_what_is_left_is_orthogonal_to_the_chosen(self, problem, atoms):
        problem.templates, problem.candidates = problem.doubles
        codes = code(*problem.arrays, atoms)
        for x, rest in zip(codes, problem.rest(codes), strict=True):
            chosen = problem.templates[x != 0]
            assert_allclose(chosen @ rest / np.linalg.norm(chosen, axis=1), 0, atol=1e-9)

    @given(problem=problems())
    def test_every_choice_is_the_template_most_in_line_with_what_is_left(self, problem):
        problem.templates, problem.candidates = problem.doubles
        directions = problem.templates / np.linalg.norm(problem.templates, axis=1, keepdims=True)
        before = code(*problem.arrays, 0)
        for atoms in range(1, min(8, *directions.shape)):
            after = code(*problem.arrays, atoms)
            added = (after != 0) & (before == 0)
            assert_array_equal(added.sum(axis=1), 1)
            assert_array_equal((after == 0) & (before != 0), False)
            seen = np.abs(problem.rest(before) @ directions.T)  # (N, n)
            assert_allclose(seen[added], seen.max(axis=1), rtol=1e-9, atol=1e-12)
            before = after

    @given(problem=problems(), atoms=st.integers(0, 12))
    def test_theta_is_the_energy_of_what_is_left(self, problem, atoms):
        left = np.square(problem.rest(code(*problem.doubles, atoms))).sum(axis=1)
        assert_allclose(residual_energy(*problem.arrays, atoms), left, rtol=0, atol=1e-7)

    def test_by_hand(self):
        # (3, 4, 1) is most in line with the second axis, then with the first; the long template is no better for it
        templates = np.array([[2, 0, 0], [0, 0.5, 0], [0, 0, 100], [1, 0, 1]], np.float32)
        candidates = np.array([[3, 4, 1]], np.float32)
        for atoms, expected, theta in ((1, [0, 8, 0, 0], 10), (2, [1.5, 8, 0, 0], 1), (3, [1.5, 8, 0.01, 0], 0)):
            assert_allclose(code(templates, candidates, atoms), [expected], rtol=1e-6)
            assert_allclose(residual_energy(templates, candidates, atoms), [theta], atol=1e-6)


class TestAgainstOthers:
    @given(problem=problems(), atoms=st.integers(0, 10))
    def test_agrees_with_the_twin(self, problem, atoms):
        expected = np.array([reference.omp_code(problem.templates, y, atoms)[0] for y in problem.candidates])
        left = np.square(problem.rest(expected)).sum(axis=1)
        assert_allclose(residual_energy(*problem.arrays, atoms), left, rtol=0, atol=ROUNDING)
        actual = code(*problem.doubles, atoms)
        assert_array_equal(actual != 0, expected != 0)
        assert_allclose(actual * problem.lengths, expected * problem.lengths, rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("atoms", [1, 3, 10])
    def test_agrees_with_scikit_learn(self, seed, atoms):
        problem = Problem(seed, n=40, D=50, power=0)
        T, Y = problem.doubles
        expected = orthogonal_mp(T.T, Y.T, n_nonzero_coefs=atoms).T
        assert_allclose(code(*problem.arrays, atoms), expected, rtol=0, atol=ROUNDING)
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=atoms, fit_intercept=False).fit(T.T, Y.T)
        left = np.square(Y - model.coef_ @ T).sum(axis=1)
        assert_allclose(residual_energy(*problem.arrays, atoms), left, rtol=0, atol=ROUNDING)

    @pytest.mark.parametrize("atoms", [1, 3, 10])
    def test_agrees_with_scikit_learn_on_templates_brought_to_unit_length(self, seed, atoms):
        problem = Problem(seed, n=40, D=50)
        T, Y = problem.doubles
        expected = orthogonal_mp((T / problem.lengths[:, None]).T, Y.T, n_nonzero_coefs=atoms).T / problem.lengths
        actual = code(*problem.arrays, atoms)
        assert_allclose(actual * problem.lengths, expected * problem.lengths, rtol=0, atol=ROUNDING)

    def test_at_full_size(self, seed):
        problem = Problem(seed, n=300, D=400, N=6)
        codes = np.array([reference.omp_code(problem.templates, y, 4)[0] for y in problem.candidates])
        left = np.square(problem.rest(codes)).sum(axis=1)
        assert_allclose(residual_energy(*problem.arrays, 4), left, rtol=0, atol=ROUNDING)


class TestProperties:
    @given(problem=problems(), atoms=st.integers(0, 8))
    def test_more_templates_never_explain_less(self, problem, atoms):
        fewer, more = (residual_energy(*problem.arrays, count) for count in (atoms, atoms + 1))
        assert (more <= fewer + 1e-7).all()

    @given(problem=problems(), power=st.integers(-20, 20))
    def test_the_scale_of_a_candidate_is_the_scale_of_its_code(self, problem, power):
        T, Y = problem.arrays
        scaled = code(T, Y * np.float32(2.0**power), 5)
        assert_allclose(scaled, code(T, Y, 5) * np.float32(2.0**power), rtol=1e-6)

    @given(draw=st.integers(0, 2**32), count=st.integers(1, 6))
    def test_a_mixture_of_few_templates_is_recovered(self, draw, count):
        problem = Problem(draw, n=20, D=400, N=1)
        which = problem.rng.permutation(20)[:count]
        weights = np.zeros((1, 20), np.float32)
        weights[0, which] = problem.rng.uniform(1, 2, size=count) / problem.lengths[which]
        mixture = weights @ problem.templates
        codes = code(problem.templates, mixture, 10)
        assert_allclose(codes * problem.lengths, weights * problem.lengths, rtol=0, atol=ROUNDING)
        assert (codes != 0).sum() == count  # nothing is left to explain: it stops early
        assert_allclose(residual_energy(problem.templates, mixture, 10), 0, atol=1e-10)

    def test_candidates_do_not_influence_each_other(self, seed):
        problem = Problem(seed, N=12)
        together = code(*problem.arrays, 5)
        alone = np.concatenate([code(problem.templates, y[None], 5) for y in problem.candidates])
        assert_allclose(together, alone, rtol=1e-5, atol=1e-7)
        assert np.ptp(together, axis=0).max() > 0.01

    def test_inputs_are_untouched_and_single_precision_stays_single(self, seed):
        problem = Problem(seed)
        before = [a.copy() for a in problem.arrays]
        assert code(*problem.arrays, 5).dtype == np.float32
        assert residual_energy(*problem.arrays, 5).dtype == np.float32
        for array, copy in zip(problem.arrays, before, strict=True):
            assert_array_equal(array, copy)

    def test_order_of_templates_does_not_matter(self, seed):
        problem = Problem(seed)
        theta = residual_energy(*problem.arrays, 5)
        turned = residual_energy(problem.templates[::-1], problem.candidates[::-1], 5)
        assert_allclose(turned[::-1], theta, rtol=1e-5)


class TestNothingNew:
    """Templates that add nothing to the chosen ones are left alone."""

    def test_of_copies_one_is_used(self, seed):
        problem = Problem(seed, n=6)
        which = np.repeat(np.arange(6), 5)
        lengths = problem.rng.uniform(0.5, 2, size=(30, 1)).astype(np.float32)
        codes = code(problem.templates[which] * lengths, problem.candidates, 20)
        used = np.add.reduceat(codes != 0, np.arange(0, 30, 5), axis=1, dtype=int)
        assert_array_equal(used, 1)
        left = residual_energy(*problem.arrays, 6)
        assert_allclose(residual_energy(problem.templates[which] * lengths, problem.candidates, 20), left, rtol=1e-4)

    def test_nor_mixtures_of_the_chosen(self, seed):
        problem = Problem(seed, n=5)
        mixtures = (problem.rng.normal(size=(20, 5)) @ problem.templates).astype(np.float32)
        codes = code(np.vstack([problem.templates, mixtures]), problem.candidates, 20)
        assert_array_equal((codes != 0).sum(axis=1), 5)
        assert np.abs(codes * np.linalg.norm(np.vstack([problem.templates, mixtures]), axis=1)).max() < 1e4

    @pytest.mark.parametrize(("new", "used"), [(3e-4, 1), (3e-3, 2)])
    def test_what_counts_as_new(self, new, used):
        templates = np.array([[1, 0, 0], [1, new, 0]], np.float32)
        candidates = np.array([[1, 0.1, 1]], np.float32)
        assert (code(templates, candidates, 2) != 0).sum() == used

    def test_templates_that_are_zero_are_never_chosen(self, seed):
        problem = Problem(seed, n=6)
        with_zeros = np.insert(problem.templates, [0, 3, 6], 0, axis=0)
        codes = code(with_zeros, problem.candidates, 9)
        assert_array_equal((codes != 0).sum(axis=0), [0, 5, 5, 5, 0, 5, 5, 5, 0])
        theta = residual_energy(0 * problem.templates, problem.candidates, 3)
        assert_allclose(theta, np.square(problem.candidates).sum(axis=1), rtol=1e-6)

    def test_nor_templates_that_a_candidate_has_nothing_to_do_with(self):
        axes = np.eye(6, dtype=np.float32)
        codes = code(axes[:3], axes[2:] + axes[2], 3)
        assert_allclose(codes, [[0, 0, 2], [0, 0, 1], [0, 0, 1], [0, 0, 1]], rtol=1e-6)


class TestDegenerate:
    def test_no_templates(self, seed):
        Y = Problem(seed).candidates
        none = np.empty((0, 30), np.float32)
        assert code(none, Y, 5).shape == (5, 0)
        assert_allclose(residual_energy(none, Y, 5), np.square(Y).sum(axis=1), rtol=1e-6)

    def test_no_candidates(self, seed):
        T = Problem(seed).templates
        none = np.empty((0, 30), np.float32)
        assert code(T, none, 5).shape == (0, 20)
        assert residual_energy(T, none, 5).shape == (0,)

    def test_one_template(self, seed):
        problem = Problem(seed, n=1)
        T, Y = problem.doubles
        assert_allclose(code(*problem.arrays, 5), Y @ T.T / (T @ T.T), rtol=1e-5)

    def test_a_candidate_that_is_zero(self, seed):
        problem = Problem(seed)
        problem.candidates[2] = 0
        assert_array_equal((code(*problem.arrays, 5) != 0).sum(axis=1), [5, 5, 0, 5, 5])
        assert residual_energy(*problem.arrays, 5)[2] == 0

    def test_flat_candidates_and_templates(self):
        flat = np.ones((3, 12), np.float32) * np.array([[1], [2], [3]], np.float32)
        assert_allclose(residual_energy(flat, flat, 3), 0, atol=1e-6)
        assert_array_equal((code(flat, flat, 3) != 0).sum(axis=1), 1)

    def test_more_templates_than_dimensions_explain_everything(self, seed):
        problem = Problem(seed, n=25, D=10)
        codes, theta = (f(*problem.arrays, 10**15) for f in (code, residual_energy))
        assert_array_equal((codes != 0).sum(axis=1), 10)
        assert_allclose(theta, 0, atol=1e-10)

    def test_theta_is_never_negative(self, seed):
        problem = Problem(seed, n=6, D=3, N=200)
        assert (residual_energy(*problem.arrays, 6) >= 0).all()  # without care, rounding takes half of them below

    @pytest.mark.parametrize("scale", [1e-30, 1e-15, 1e15, 1e30])
    def test_finite_at_any_scale_of_the_templates(self, seed, scale):
        problem = Problem(seed)
        codes = code(problem.templates * np.float32(scale), problem.candidates, 5)
        assert_allclose(codes * np.float32(scale), code(*problem.arrays, 5), rtol=1e-4)
