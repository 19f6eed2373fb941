"""The command line as ``python -m metrack`` and as ``metrack``.

The commands take a moment to import. A signal that comes meanwhile ends the process at once: nothing is written yet.
"""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the command line and leave with its exit code: 2 where a signal came before it could begin."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)
    from metrack.cli import main as run

    run()


def _leave(*_: object) -> None:
    os.write(2, b"metrack: interrupted\n")
    os._exit(2)


if __name__ == "__main__":
    main()
