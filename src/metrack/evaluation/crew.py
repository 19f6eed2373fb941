"""Who performs the runs of an evaluation: processes of this machine, or a Dask cluster.

A crew has one verb, ``perform(runs)``, which gives ``(run, outcome)`` pairs as they are finished, in any order. A
worker that dies loses nothing: what it was at is given to another. A run whose worker dies again and again is given up
with that as its error, so that one rival's crash does not end an evaluation.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from metrack.evaluation.outcome import Outcome
from metrack.evaluation.perform import perform
from metrack.evaluation.plan import Run

MOST_DEATHS = 3
ANSWER_WITHIN = 10.0  # seconds, of a scheduler
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

Finished = Iterator[tuple[Run, Outcome]]


class Crew(Protocol):
    """Anything that performs runs."""

    def perform(self, runs: list[Run]) -> Finished:
        """Give every run with its outcome, as they are finished."""


class LocalCrew:
    """Processes of this machine, each with one BLAS thread and one run at a time."""

    def __init__(self, processes: int | None = None) -> None:
        if processes is not None and processes < 1:
            raise ValueError(f"--processes must be at least 1, got {processes}")
        self.processes = processes or os.cpu_count() or 1

    def perform(self, runs: list[Run]) -> Finished:
        """Give every run with its outcome, as they are finished."""
        waiting, suspects, deaths = list(reversed(runs)), list[Run](), Counter[tuple[str, str]]()
        while waiting or suspects:
            # what a dead process was at is made alone, so that the guilty run is known
            queue, hands = (suspects, 1) if suspects else (waiting, min(self.processes, len(waiting)))
            for run, outcome in _until_one_dies(queue, hands):
                if outcome is not None:
                    yield run, outcome
                    continue
                who = (run.entrant.label, run.name)
                deaths[who] += 1
                if deaths[who] < MOST_DEATHS:
                    suspects.append(run)
                else:
                    yield run, Outcome.failed(f"the process died {MOST_DEATHS} times")


def _until_one_dies(queue: list[Run], hands: int) -> Iterator[tuple[Run, Outcome | None]]:
    """Take runs from the end of a queue; where a process dies, what was in hand comes without an outcome."""
    pool = _pool(hands)
    going: dict[Future[Outcome], Run] = {}
    try:
        while queue or going:
            while queue and len(going) < hands:
                run = queue.pop()
                going[pool.submit(perform, run)] = run
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                outcome = future.result()
                yield going.pop(future), outcome
    except BrokenProcessPool:
        for run in going.values():
            yield run, None
    finally:
        _end(pool)


class ClusterCrew:
    """Workers of a Dask scheduler; they need this package, and the data under the same path."""

    def __init__(self, address: str, processes: int | None = None) -> None:
        self._distributed = _import_distributed()
        self.address, self.processes = address, processes or os.cpu_count() or 1

    def perform(self, runs: list[Run]) -> Finished:
        """Give every run with its outcome, as they are finished."""
        with self._client() as client:
            futures = {client.submit(perform, run, pure=False): run for run in runs}
            try:
                for future in self._distributed.as_completed(futures):
                    yield futures[future], self._result(future)
            finally:
                client.cancel(list(futures))

    def _result(self, future: Any) -> Outcome:
        try:
            outcome: Outcome = future.result()
        except self._distributed.KilledWorker:
            return Outcome.failed("the workers that tried died")
        return outcome

    @contextmanager
    def _client(self) -> Iterator[Any]:
        if self.address == "local":
            options: dict[str, Any] = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
            with (
                _one_thread_each(),
                self._distributed.LocalCluster(n_workers=self.processes, processes=True, **options) as cluster,
                self._distributed.Client(cluster) as client,
            ):
                yield client
            return
        try:
            client = self._distributed.Client(self.address, timeout=ANSWER_WITHIN)
        except (OSError, ValueError) as error:
            wanted = "--cluster must be local or the address of a scheduler that answers"
            reason = str(error) or type(error).__name__
            raise ValueError(f"{wanted}, got {self.address!r} ({reason})") from None
        with client:
            yield client


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ValueError("--cluster needs dask, which is not here: pip install 'metrack[cluster]'") from None
    return distributed


def _pool(processes: int) -> ProcessPoolExecutor:
    with _one_thread_each():
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin)
        for ready in [pool.submit(os.getpid) for _ in range(processes)]:
            ready.result()  # started here, while the environment holds
    return pool


def _begin() -> None:
    """Let the parent decide about Ctrl-C: it ends its children when it has kept what is finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(pool: ProcessPoolExecutor) -> None:
    for process in list(getattr(pool, "_processes", None) or {}):
        try:
            os.kill(process, signal.SIGTERM)
        except ProcessLookupError:
            pass
    pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
