"""Work that steps back for the tracker when there are fewer processors than threads."""

from __future__ import annotations

import os
import sys
import threading

NICER = 5  # as of the command nice


def step_back() -> None:
    """Let other threads go before the one that calls this; only Linux knows priorities of single threads."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICER)
