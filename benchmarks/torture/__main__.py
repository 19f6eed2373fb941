"""``python -m torture``: all campaigns, two at a time, and a table of what came of them.

Stopped by Ctrl-C, the same command goes on where it was; ``--fresh`` begins anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from marked import around_the_table, replace_table
from torture.campaign import Tally, generator, run
from torture.register import CAMPAIGNS, find
from torture.table import COMMAND, markdown, rows, show

LANES = 2  # campaigns at one time
HALF_HOUR = 30.0
MISSED = 3  # the exit code of a campaign with misses
SEED = "seed.json"  # of the run to go on with


def main() -> int:
    """Read the options, and do what they say."""
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.case is not None:
        if len(options.campaigns) != 1 or options.seed is None:
            raise SystemExit("torture: --case needs the NAME of one campaign and the --seed of its run")
        return _repeat(options.campaigns[0], options.out, options.seed, options.case)
    if options.seconds is not None:
        return _one(options.campaigns[0], options.out, options.seed, options.seconds)
    if options.fresh and (options.out / SEED).is_file():
        shutil.rmtree(options.out, ignore_errors=True)
    if options.document is not None:
        around_the_table(options.document, COMMAND)  # before any work
    options.out.mkdir(parents=True, exist_ok=True)
    seed = _seed(options.out, options.seed)
    print(f"torture: seed {seed}, {options.minutes:g} minutes, {len(options.campaigns)} campaigns", flush=True)
    _all(options.campaigns, options.out, seed, options.minutes)
    lines = rows(options.campaigns, options.out, seed, options.minutes / HALF_HOUR)
    show(lines)
    if options.document is not None:
        replace_table(options.document, COMMAND, markdown(lines, seed, options.minutes))
    for done in options.out.glob("*.json"):  # the next run is another one
        done.unlink()
    return 0 if all(line.passed for line in lines) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("campaigns", nargs="*", metavar="NAME", help=f"of {', '.join(CAMPAIGNS)}; all by default")
    parser.add_argument("--minutes", type=float, default=HALF_HOUR, help="for all campaigns together")
    parser.add_argument("--seed", type=int, help="of all random numbers; by default that of the run to go on with")
    parser.add_argument("--out", type=Path, default=Path("torture-out"), help="scratch, and what was done so far")
    parser.add_argument("--fresh", action="store_true", help="begin anew")
    parser.add_argument("--document", type=Path, help="write the table into this file too, between its marks")
    parser.add_argument("--case", type=int, help="repeat one case of one campaign")
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)  # one campaign, in this process
    options = parser.parse_args()
    for name in options.campaigns:
        if name not in CAMPAIGNS:
            parser.error(f"NAME must be one of {', '.join(CAMPAIGNS)}, got {name!r}")
    options.campaigns = options.campaigns or list(CAMPAIGNS)
    return options


def _seed(out: Path, given: int | None) -> int:
    """Return the seed: the given one, that of the run to go on with, or a new one."""
    file = out / SEED
    if given is None and file.is_file():
        return int(json.loads(file.read_text()))
    seed = int(time.time()) % 1_000_000 if given is None else given
    file.write_text(json.dumps(seed))
    return seed


def _all(names: list[str], out: Path, seed: int, minutes: float) -> None:
    """Give every campaign its share of the time, the longest first, so that the lanes end together."""
    total = sum(find(name).share for name in names)
    lanes = min(LANES, len(names))
    budget = {name: minutes * 60 * lanes * find(name).share / total for name in names}
    waiting = sorted(names, key=lambda name: -budget[name])
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < lanes:
                name = waiting.pop(0)
                print(f"  {name}: {budget[name] / 60:.1f} minutes", flush=True)
                words = [name, "--out", str(out), "--seed", str(seed), "--seconds", str(budget[name])]
                running[name] = subprocess.Popen([sys.executable, "-m", "torture", *words])
            time.sleep(0.2)
            for name in [name for name, process in running.items() if process.poll() is not None]:
                _note_crash(out / f"{name}.json", seed, running.pop(name).returncode)
                show(rows([name], out, seed, minutes / HALF_HOUR), head=False)
    except KeyboardInterrupt:
        for process in running.values():
            process.send_signal(signal.SIGINT)
            process.wait()
        raise SystemExit("torture: interrupted; the same command goes on from here") from None


def _note_crash(file: Path, seed: int, code: int) -> None:
    """Count it as a miss where the process of a campaign itself did not come to its end."""
    if code not in (0, MISSED):  # 1 is that of a traceback
        tally = Tally.load(file, seed)
        tally.misses.append(f"case {tally.cases}: the process of the campaign ended with code {code}")
        tally.save(file)


def _one(name: str, out: Path, seed: int, seconds: float) -> int:
    """Do one campaign in this process."""
    scratch, file = out / name, out / f"{name}.json"
    scratch.mkdir(parents=True, exist_ok=True)
    tally = Tally.load(file, seed)
    campaign = find(name)(scratch, seed)
    campaign.figures = dict(tally.figures)
    try:
        run(campaign, tally, seconds, lambda now: now.save(file))
    except KeyboardInterrupt:
        return 2
    finally:
        tally.save(file)
    return MISSED if tally.misses else 0


def _repeat(name: str, out: Path, seed: int, number: int) -> int:
    """Do one case again, and let what it raises be seen."""
    scratch = out / f"{name}-again"
    scratch.mkdir(parents=True, exist_ok=True)
    campaign = find(name)(scratch, seed)
    try:
        campaign.prepare()
        print(f"{name}, case {number}: {campaign.case(generator(campaign, number))} {campaign.unit}, passed")
    finally:
        campaign.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
