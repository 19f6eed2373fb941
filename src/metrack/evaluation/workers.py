"""Workers that execute the runs of an evaluation: processes of this machine, or a Dask cluster.

Workers have one verb, ``execute(runs)``, which yields ``(run, result)`` pairs as they finish, in any order. When a
worker dies, its run is given to another. A run whose worker dies three times is given up with that as its error, so
that one rival's crash does not end an evaluation.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from metrack.evaluation.execute import execute
from metrack.evaluation.plan import PlannedRun
from metrack.evaluation.result import RunResult

MOST_DEATHS = 3
CONNECT_WITHIN = 10.0  # seconds, to a scheduler
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

Finished = Iterator[tuple[PlannedRun, RunResult]]


class Workers(Protocol):
    """Anything that executes planned runs."""

    def execute(self, runs: list[PlannedRun]) -> Finished:
        """Yield every run with its result, as they finish."""


class LocalWorkers:
    """Processes of this machine, each with one BLAS thread and one run at a time."""

    def __init__(self, processes: int | None = None) -> None:
        if processes is not None and processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes}")
        self.processes = processes or os.cpu_count() or 1

    def execute(self, runs: list[PlannedRun]) -> Finished:
        """Yield every run with its result, as they finish."""
        waiting, suspects, deaths = list(reversed(runs)), list[PlannedRun](), Counter[tuple[str, str]]()
        while waiting or suspects:
            # runs that were in work when a process died go one at a time, so that the one to blame is known
            queue, count = (suspects, 1) if suspects else (waiting, min(self.processes, len(waiting)))
            for run, result in _until_one_dies(queue, count):
                if result is not None:
                    yield run, result
                    continue
                key = (run.spec.label, run.name)
                deaths[key] += 1
                if deaths[key] < MOST_DEATHS:
                    suspects.append(run)
                else:
                    yield run, RunResult.failed(f"the process died {MOST_DEATHS} times")


def _until_one_dies(queue: list[PlannedRun], count: int) -> Iterator[tuple[PlannedRun, RunResult | None]]:
    """Execute runs from the end of a queue in ``count`` processes; if one dies, the runs in work have no result."""
    pool = _start_pool(count)
    going: dict[Future[RunResult], PlannedRun] = {}
    try:
        while queue or going:
            while queue and len(going) < count:
                run = queue.pop()
                going[pool.submit(execute, run)] = run
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                result = future.result()
                yield going.pop(future), result
    except BrokenProcessPool:
        for run in going.values():
            yield run, None
    finally:
        _stop_pool(pool)


class ClusterWorkers:
    """Workers of a Dask scheduler; they need this package, and the data under the same path."""

    def __init__(self, address: str, processes: int | None = None) -> None:
        self._distributed = _import_distributed()
        self.address, self.processes = address, processes or os.cpu_count() or 1

    def execute(self, runs: list[PlannedRun]) -> Finished:
        """Yield every run with its result, as they finish."""
        with self._client() as client:
            futures = {client.submit(execute, run, pure=False): run for run in runs}
            try:
                for future in self._distributed.as_completed(futures):
                    yield futures[future], self._result(future)
            finally:
                client.cancel(list(futures))

    def _result(self, future: Any) -> RunResult:
        try:
            result: RunResult = future.result()
        except self._distributed.KilledWorker:
            return RunResult.failed("the workers that tried died")
        return result

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
            client = self._distributed.Client(self.address, timeout=CONNECT_WITHIN)
        except (OSError, ValueError) as error:
            wanted = "cluster must be local or the address of a scheduler that answers"
            reason = str(error) or type(error).__name__
            raise ValueError(f"{wanted}, got {self.address!r} ({reason})") from None
        with client:
            yield client


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ValueError("cluster needs dask, which is not here: pip install 'metrack[cluster]'") from None
    return distributed


def _start_pool(processes: int) -> ProcessPoolExecutor:
    with _one_thread_each():
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_follow_the_parent)
        for ready in [pool.submit(os.getpid) for _ in range(processes)]:
            ready.result()  # they start now, while the environment says one thread
    return pool


def _follow_the_parent() -> None:
    """Ignore Ctrl-C in a worker: the parent keeps what is finished and then ends its workers. Die with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    """Wait for the end of the parent, also by ``kill -9``: a pipe of which nobody else has an end is closed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _stop_pool(pool: ProcessPoolExecutor) -> None:
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
