"""Array types used in signatures; shapes are in the docstrings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]
Frame = NDArray[np.uint8]  # an image: (H, W) grey, or (H, W, 3) RGB
