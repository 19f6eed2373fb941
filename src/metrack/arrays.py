"""Array types used in signatures, shapes being in the docstrings; and values of users, read as numbers and shown."""

from __future__ import annotations

import re
import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Frame = NDArray[np.uint8]  # an image: (H, W) grey, or (H, W, 3) RGB

FEW = 8  # numbers of an array that are shown
LONGEST = 100  # characters of a value in a sentence

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = LONGEST
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = _short.maxarray = 6


def shown(value: object) -> str:
    """Return a value as a sentence shows it: on one line and cut to :data:`LONGEST` characters, whatever it is.

    >>> shown("box"), shown([0] * 9)
    ("'box'", '[0, 0, 0, 0, 0, 0, ...]')
    """
    try:
        if isinstance(value, np.ndarray) and value.size > FEW:
            return f"an array of {str(value.dtype)[:LONGEST]} with shape {value.shape}"
        text = _short.repr(value)
    except Exception:  # a repr that fails, or a number too long to be written
        text = f"<{type(value).__name__}>"
    text = re.sub(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text[: 4 * LONGEST])
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def as_number(value: object) -> float:
    """Return one real number as a float, and raise TypeError, ValueError or OverflowError for anything else."""
    masked_or_complex = isinstance(value, (np.ma.MaskedArray, np.complexfloating))
    if masked_or_complex or (isinstance(value, np.ndarray) and value.ndim):  # numpy would only warn
        raise TypeError
    return float(value)  # type: ignore[arg-type]


def as_floats(name: str, values: object, columns: int | None = None) -> NDArray[np.float64]:
    """Return numbers as an array ``(N,)`` or, with ``columns``, ``(N, columns)``; ``name`` is the argument's."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        array: Any = np.asarray(values)
    else:
        try:
            array = np.asarray(values)
            if array.dtype.kind not in "biufO":
                raise TypeError
            with np.errstate(over="ignore"):
                array = array.astype(np.float64)
        except Exception:  # a value's own conversion may raise anything
            raise ValueError(f"{name} must be numbers, got {shown(values)}") from None
    wanted = array.ndim == 1 if columns is None else array.ndim == 2 and array.shape[1] == columns
    if not wanted:
        shape = "(N,)" if columns is None else f"(N, {columns})"
        raise ValueError(f"{name} must be numbers of shape {shape}, got shape {shown(array.shape)}")
    return np.asarray(array, np.float64)
