"""What a call may come to: a sentence, or finite numbers."""

from __future__ import annotations

import dataclasses
import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from metrack import Box, Estimate
from metrack.arrays import shown
from metrack.estimate import STATES
from torture.campaign import MissError

SECONDS = 2.0  # of processor time that a call may take; it is given up after LATEST on the clock
LONGEST = 400  # characters of a sentence
WANTED = re.compile(r"\b(must|needs|there is no)\b")


@dataclasses.dataclass(frozen=True)
class Call:
    """One call: how it is written, and what it does.

    ``loose`` says that its arguments may be infinite or NaN, and so may be its answer; ``allowed`` are exceptions that
    are the answer by an interface of Python.
    """

    text: str
    act: Callable[[], Any]
    loose: bool = False
    allowed: tuple[type[Exception], ...] = ()


def call(function: Callable[..., Any], *values: Any, loose: bool = False, allowed: Any = (), **named: Any) -> Call:
    """Describe the call of a function."""
    words = [shown(value) for value in values] + [f"{name}={shown(value)}" for name, value in named.items()]
    name = getattr(function, "__qualname__", str(function))
    return Call(f"{name}({', '.join(words)})", lambda: function(*values, **named), loose, allowed)


def judge(one: Call) -> tuple[Any, bool]:
    """Make a call and judge it; return its answer, and whether it was refused."""
    began = time.process_time()
    try:
        answer, refused = one.act(), False
    except (ValueError, TypeError) as error:
        _judge_sentence(one, error)
        answer, refused = None, True
    except one.allowed:
        answer, refused = None, True
    except Exception as error:
        raise MissError(f"{one.text} raised {type(error).__name__}: {str(error)[:300]!r}") from error
    took = time.process_time() - began
    if took > SECONDS:
        raise MissError(f"{one.text} took {took:.1f} s")
    if not refused and not one.loose and not is_finite(answer):
        raise MissError(f"{one.text} gave {shown(answer)}, which is not finite")
    return answer, refused


def _judge_sentence(one: Call, error: Exception) -> None:
    text = str(error)
    own = WANTED.search(text) or isinstance(error, TypeError)  # Python's own sentences about types and signatures
    short = 10 <= len(text) <= LONGEST and len(text.splitlines()) == 1
    if not own or not short or (type(error) not in (ValueError, TypeError) and not isinstance(error, ValueError)):
        raise MissError(f"{one.text} was refused by {type(error).__name__} {text[:500]!r}") from error


def is_finite(answer: Any) -> bool:
    """Whether all numbers in an answer are finite, scores are probabilities and states are known."""
    if isinstance(answer, Estimate):
        state, score = answer.state in STATES, 0 <= answer.score <= 1
        return state and score and all(map(is_finite, (answer.box, answer.info, answer.verdict, answer.identity)))
    if isinstance(answer, np.ndarray):
        return answer.dtype.kind not in "fc" or bool(np.isfinite(answer).all())
    if isinstance(answer, (float, np.floating)):
        return math.isfinite(answer)
    if isinstance(answer, Box):
        return all(map(math.isfinite, answer.to_xywh()))
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return all(is_finite(getattr(answer, each.name)) for each in dataclasses.fields(answer) if each.init)
    if isinstance(answer, Mapping):
        return all(map(is_finite, answer.values()))
    if isinstance(answer, (list, tuple)):
        return all(map(is_finite, answer))
    return True
