"""Keeping the inverse of a Gram matrix up to date while samples and metric change (sections 3.3 and 3.4).

With the samples of a buffer as columns of P and the metric M, the representation needs H, the inverse of
J = P'MP. A fresh inverse costs O(n^3); here every change costs O(n^2): a column of P joins, leaves or is
replaced, or M changes by rank one. M may be indefinite, J must be symmetric and invertible before and after.
A pseudo-inverse of a singular J is not a valid input.

No function changes its arguments, and a symmetric ``inverse`` gives an exactly symmetric result (but for
:func:`rank_one`, whose change need not be symmetric). Each update divides by a pivot that is zero exactly
when the new J is singular. A pivot left with less than half of its digits after cancellation is refused with
:class:`SingularUpdate`; the caller then falls back to a fresh (pseudo-)inverse.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats


class SingularUpdate(ArithmeticError):  # noqa: N818  the name says what happened
    """The updated matrix is singular, or too close to it for an update: compute a fresh pseudo-inverse."""


def append(inverse: Floats, cross: Floats, corner: float) -> Floats:
    """Inverse after a sample p joined as the last column.

    Parameters
    ----------
    inverse : (n, n)   of P'MP; n may be 0
    cross : (n,)       P'Mp
    corner : p'Mp

    Returns
    -------
    inverse : (n + 1, n + 1)
    """
    H, c, r, n = inverse, cross, float(corner), cross.size
    Hc = H @ c  # (n,)
    explained = float(c @ Hc)
    pivot = _safe(r - explained, abs(r) + abs(explained), H.dtype, "appending this sample")
    result = np.empty((n + 1, n + 1), H.dtype)
    result[:n, :n] = _plus_square(H, Hc, 1 / pivot)
    result[:n, n] = result[n, :n] = -Hc / pivot
    result[n, n] = 1 / pivot
    return result


def remove(inverse: Floats, index: int) -> Floats:
    """Inverse after the sample in column ``index`` left.

    Parameters
    ----------
    inverse : (n, n)   of P'MP

    Returns
    -------
    inverse : (n - 1, n - 1)
    """
    h, pivot = _column_and_pivot(inverse, index)
    rest = np.delete(np.delete(inverse, index, axis=0), index, axis=1)
    return _plus_square(rest, np.delete(h, index), -1 / pivot)


def replace(inverse: Floats, index: int, cross: Floats, corner: float) -> Floats:
    """Inverse after a sample p took the place of the one in column ``index``.

    The old sample leaves and the new one joins, as in :func:`remove` and :func:`append`, without moving the
    other columns: a column that left is a row and column of zeros until the new one fills it.

    Parameters
    ----------
    inverse : (n, n)   of P'MP
    cross : (n,)       P'Mp; the entry at ``index`` is not read, as that column leaves
    corner : p'Mp

    Returns
    -------
    inverse : (n, n)
    """
    H, r = inverse, float(corner)
    h, leaving = _column_and_pivot(H, index)
    c = cross.copy()  # (n,)
    c[index] = 0
    v = H @ c - h * (float(h @ c) / leaving)  # (n,)  the reduced inverse times c
    explained = float(c @ v)
    joining = _safe(r - explained, abs(r) + abs(explained), H.dtype, "replacing this sample")
    result = _plus_square(_plus_square(H, h, -1 / leaving), v, 1 / joining)
    result[index, :] = result[:, index] = -v / joining  # instead of the zeros, or what rounding made of them
    result[index, index] = 1 / joining
    return result


def rank_one(inverse: Floats, left: Floats, right: Floats) -> Floats:
    """Inverse of J + left right' (Sherman and Morrison).

    Parameters
    ----------
    inverse : (n, n)      of J, symmetric or not
    left, right : (n,)

    Returns
    -------
    inverse : (n, n)
    """
    H, u, v = inverse, left, right
    Hu, vH = H @ u, v @ H  # (n,), (n,)
    change = float(v @ Hu)
    pivot = _safe(1 + change, 1 + abs(change), H.dtype, "this rank-one change")
    result: Floats = H - np.outer(Hu, vH / pivot)
    return result


def metric_step(inverse: Floats, toward: Floats, away: Floats, step: float) -> Floats:
    """Inverse after one step of metric learning, which draws one pair of samples together and parts another.

    M becomes M + step (b b' - a a'), where a is the difference of the pair to draw together and b that of
    the pair to part; the samples of the buffer see a and b only through P.

    Parameters
    ----------
    inverse : (n, n)   of P'MP
    toward : (n,)      P'a
    away : (n,)        P'b
    step : length of the step, at least 0

    Returns
    -------
    inverse : (n, n)   of P'MP + step (away away' - toward toward')
    """
    parted = _symmetric_rank_one(inverse, away, step)  # first: it keeps a definite matrix definite
    return _symmetric_rank_one(parted, toward, -step)


def _symmetric_rank_one(inverse: Floats, vector: Floats, scale: float) -> Floats:
    """Inverse of J + scale vector vector'."""
    H, v = inverse, vector
    Hv = H @ v  # (n,)
    change = scale * float(v @ Hv)
    pivot = _safe(1 + change, 1 + abs(change), H.dtype, "this step of the metric")
    return _plus_square(H, Hv, -scale / pivot)


def _column_and_pivot(inverse: Floats, index: int) -> tuple[Floats, float]:
    column = inverse[:, index]
    pivot = _safe(float(column[index]), float(np.abs(column).max()), column.dtype, "removing this sample")
    return column, pivot


def _plus_square(matrix: Floats, vector: Floats, scale: float) -> Floats:
    """Return matrix + scale vector vector', rounded alike on both sides of the diagonal."""
    result: Floats = np.outer(vector, vector)
    result *= scale
    result += matrix
    return result


def _safe(pivot: float, terms: float, dtype: np.dtype[np.floating], what: str) -> float:
    """Return ``pivot`` if enough of it is left compared with the terms whose difference it is."""
    half_the_digits = float(np.sqrt(np.finfo(dtype).eps))
    if not abs(pivot) > half_the_digits * terms:  # "not >" also refuses NaN
        raise SingularUpdate(
            f"{what} leaves the Gram matrix singular: pivot {pivot:.2g} out of terms of size {terms:.2g}"
        )
    return pivot
