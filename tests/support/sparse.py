"""Problems of sparse coding."""

import numpy as np
from hypothesis import strategies as st

from reference import sparse as reference

PROMISED = 1e-4


SINGLE = float(np.finfo(np.float32).eps)


class Problem:
    """Templates more or less alike, as samples of one target are, and candidates that resemble them or not."""

    def __init__(self, draw, n=8, D=12, N=5, spread=1.0, size=1.0):
        rng = np.random.default_rng(draw)
        common = rng.normal(size=D)
        templates = common + spread * rng.normal(size=(n, D))
        candidates = rng.uniform(0, 1, size=(N, 1)) * common + rng.normal(size=(N, D))
        self.templates = (templates / np.linalg.norm(templates, axis=1, keepdims=True)).astype(np.float32)
        self.candidates = (size * candidates / np.linalg.norm(candidates, axis=1, keepdims=True)).astype(np.float32)
        self.size = size
        self.rng = rng

    @property
    def arrays(self):
        return self.templates, self.candidates

    @property
    def doubles(self):
        return self.templates.astype(float), self.candidates.astype(float)

    @property
    def whole(self):
        return np.square(self.candidates.astype(float)).sum(axis=1)

    def missed(self, codes, sparsity, trivial):
        return max(self.missed_by_each(codes, sparsity, trivial))

    def missed_by_each(self, codes, sparsity, trivial):
        rows = zip(self.candidates, codes, strict=True)
        return [reference.l1_missed(self.templates, y, x, sparsity, trivial) for y, x in rows]

    def assert_best(self, codes, sparsity, trivial):
        """As good as promised, but for what the rounding of a large mixture hides from single precision."""
        T, Y, X = (np.asarray(a, float) for a in (self.templates, self.candidates, codes))
        clipped = np.clip(Y, -sparsity, sparsity) if trivial else Y
        mixed = np.abs(Y).max(axis=1) + np.abs(X).sum(axis=1) * np.linalg.norm(T, axis=1).max()
        hidden = 2 * SINGLE * mixed / np.maximum(np.linalg.norm(clipped, axis=1), 1e-30)
        missed = np.array(self.missed_by_each(codes, sparsity, trivial))
        assert (missed <= PROMISED + hidden).all()


@st.composite
def problems(draw, most=40):
    return Problem(
        draw(st.integers(0, 2**32)),
        n=draw(st.integers(1, most)),
        D=draw(st.integers(1, 30)),
        spread=draw(st.sampled_from([0.2, 1.0, 10.0])),
        size=2.0 ** draw(st.integers(-10, 10)),
    )
