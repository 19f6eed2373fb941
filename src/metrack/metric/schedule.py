"""When to learn: every n-th frame.

Triplets of remembered samples teach the metric to tell target from background, boxes around the estimate teach it
to grow with lost overlap. Each has a period of its own: every frame for one and never for the other gives the
paper's two methods, both together the mixture its conclusion proposes.
"""

from __future__ import annotations


def due(frame: int, every: int) -> bool:
    """Whether a frame is one of every n-th (0: never).

    >>> [due(frame, 2) for frame in range(4)], due(0, 0)
    ([True, False, True, False], False)
    """
    return every > 0 and frame % every == 0
