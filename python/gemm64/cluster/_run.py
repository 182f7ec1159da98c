# SPDX-License-Identifier: Apache-2.0
"""Units on a cluster: handed out a few at a time, taken back in any order, reported in theirs."""

from __future__ import annotations

import asyncio
import queue
import sys
import time
import uuid
from collections.abc import Iterator
from typing import Any

from .. import _gemm64
from .._errors import DeviceError
from . import _dask
from ._checkpoint import Checkpoint
from ._progress import Progress
from ._stop import Stop
from ._work import Work, listed
from ._worker import Outcome, keep

_WAIT = 0.2  # seconds between looks at signals
_WITHOUT_WORKERS = 600.0  # seconds; a worker that starts again takes some

REFUSED, FAILED = 2, 1


def say(text: str) -> None:
    """A line to standard error, with what a terminal would act upon escaped."""
    _gemm64.print_error(text)


class Speed:
    """Whether the cluster is faster than one process would be, once it is in progress."""

    _ENOUGH = 50  # units from which a rate is printed

    def __init__(self) -> None:
        self._units = 0
        self._first = self._last = self._worked = 0.0  # seconds
        self._told = False

    def finished(self, now: float, seconds: float) -> None:
        """A unit that took that many seconds came back now."""
        if self._units == 0:
            self._first = now
        else:
            self._worked += seconds
        self._units += 1
        self._last = now

    def slower(self) -> bool:
        """Do units come back more slowly than one process would make them?"""
        return self._units > self._ENOUGH and self._last - self._first > self._worked

    def tells_first_time(self) -> bool:
        """Is it so, and has it not been reported?"""
        if self._told or not self.slower():
            return False
        self._told = True
        return True

    def text(self) -> str:
        """What to tell then."""
        count = self._units - 1
        return (f"the cluster is slower than one process: a unit takes {1000 * self._worked / count:.1f} "
                f"ms, but one comes back every {1000 * (self._last - self._first) / count:.1f} ms; larger "
                "units help (--batch), or gemm64 itself with --jobs")


class Runner:
    """Runs the units of one piece of work."""

    def __init__(self, client: Any, work: Work, checkpoint: Checkpoint | None, stop: Stop) -> None:
        self._client, self._work, self._checkpoint, self._stop = client, work, checkpoint, stop
        self._run = uuid.uuid4().hex[:12]  # others may use the scheduler too
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._given: dict[int, bytes] = {}  # of units in progress
        self._results: dict[int, bytes] = {}  # of units whose turn has not come, without checkpoint
        self._finished: set[int] = set(checkpoint.finished) if checkpoint else set()
        self._next = 0  # whose result is taken next
        self._model: Any = None
        self._look_again = 0.0
        self._had_workers = time.monotonic()
        self.complaints: list[tuple[int, str]] = []  # with exit codes
        self.progress = Progress(work.count(), self._finished, weights=work.weights())
        self._workers: set[str] = set()
        self._handed_out = False
        self._speed = Speed()

    def run(self) -> None:
        """Runs all units that are not finished, and takes all results.

        After the first complaint it hands out no more and ends when those in progress have. Raises
        Stopped where a signal comes; what is finished by then is in the checkpoint.
        """
        waiting = iter([i for i in range(self._work.count()) if i not in self._finished])
        try:
            self._loop(waiting)
        except BaseException:
            self._save_finished()
            raise
        finally:
            self.progress.erase()
            for future in self._futures.values():
                future.cancel()

    def _loop(self, waiting: Iterator[int]) -> None:
        self._take_results()
        if len(self._finished) == self._work.count():
            return
        self._fill(waiting)
        while self._futures:
            self._stop.check()
            self.progress.show(len(self._finished))
            try:
                unit = self._done.get(timeout=_WAIT)
            except queue.Empty:
                self._need_workers()
                continue
            self._collect(unit)
            self._take_results()
            self._fill(waiting)

    def _need_workers(self) -> None:
        """Raises DeviceError where the workers of this machine are gone for good."""
        now = time.monotonic()
        if now < self._look_again:
            return
        self._look_again = now + 2
        self._watch(set(self._client.nthreads()))
        if not _dask.has_no_worker_left(self._client):
            self._had_workers = now
        elif now - self._had_workers > _WITHOUT_WORKERS:
            raise DeviceError("all workers were lost, and none starts again")

    def _fill(self, waiting: Iterator[int]) -> None:
        """Hands out twice as many units as can run, so that no worker waits for the client."""
        threads = self._client.nthreads()
        self._watch(set(threads))
        most = 2 * max(1, int(sum(threads.values())))  # workers may come later
        while len(self._futures) < most and not self.complaints:
            self._stop.check()
            unit = next(waiting, None)
            if unit is None:
                return
            self._hand_out(unit)

    def _watch(self, workers: set[str]) -> None:
        """Reports workers that are lost; Dask runs their units again."""
        for lost in sorted(self._workers - workers):
            self.progress.erase()
            say(f"worker {lost} was lost; what it had runs again on another")
        self._workers = workers

    def _hand_out(self, unit: int) -> None:
        if self._model is None and self._work.model is not None:
            model = self._work.model
            key = f"gemm64-model-{model.sha256}"
            self._model = _dask.put(self._client, keep, model, key, self._stop)
        if not self._handed_out:
            self._handed_out = True
            self.progress.begin()
        given = self._work.input(unit)
        function, arguments = self._work.call(given)
        model_first = () if self._model is None else (self._model,)
        future = self._client.submit(
            function, *model_first, *arguments, key=f"gemm64-unit-{self._run}-{unit}", pure=False
        )
        self._futures[unit], self._given[unit] = future, given
        self._await(unit)

    def _await(self, unit: int) -> None:
        """Has _collect() called once the unit has ended."""
        self._futures[unit].add_done_callback(lambda _: self._done.put(unit))

    def _collect(self, unit: int) -> None:
        """Takes back a unit that has ended."""
        future = self._futures[unit]
        names = listed(self._work.named(unit))
        if future.status == "error":
            error = future.exception()
            if _dask.is_lost(error):
                what = f"its worker was lost {_dask.LOSSES} times, or as often as the scheduler allows"
            else:
                what = f"{type(error).__name__}: {error}"
            self._complain(FAILED, f"unit {unit} ({names}): {what}")
        elif future.status == "finished":
            try:
                outcome: Outcome = future.result(timeout=60)
            except (TimeoutError, asyncio.TimeoutError):  # the worker was lost with it: it runs again
                self._await(unit)
                return
            if outcome.refused:
                self._complain(REFUSED, f"unit {unit} ({names}): {outcome.refused}")
            else:
                self._keep(unit, outcome.result)
                self.progress.finished(unit, outcome.prepared)
                self._speed.finished(time.monotonic(), outcome.seconds)
                if self._speed.tells_first_time():
                    self.progress.erase()
                    say(self._speed.text())
        elif future.status in ("lost", "pending"):  # its worker was, with the result: it runs again
            self._await(unit)
            return
        else:
            self._complain(FAILED, f"unit {unit} ({names}): {future.status} by the scheduler")
        del self._futures[unit], self._given[unit]

    def _complain(self, code: int, text: str) -> None:
        self.complaints.append((code, text))

    def _keep(self, unit: int, result: bytes) -> None:
        if self._checkpoint is not None:
            self._checkpoint.write(unit, self._given[unit], result)
        else:
            self._results[unit] = result
        self._finished.add(unit)

    def _take_results(self) -> None:
        """Hands results on, in the order of the units."""
        while self._next in self._finished:
            unit = self._next
            kept = self._results.pop(unit, None)
            if kept is None:
                assert self._checkpoint is not None
                kept = self._checkpoint.read(unit)
            wrong = self._work.add(unit, kept)
            if wrong:
                self.progress.erase()
                say(f"unit {unit} ({listed(self._work.named(unit))}): {wrong}")
            self._next += 1

    def _save_finished(self) -> None:
        """What has ended, and was not requested."""
        if self._checkpoint is None:
            return
        for unit, future in self._futures.items():
            if future.status != "finished":
                continue
            try:
                outcome: Outcome = future.result(timeout=2)
            except Exception:  # the end goes before
                continue
            if not outcome.refused:
                self._keep(unit, outcome.result)

    @property
    def finished(self) -> int:
        """How many units have a result."""
        return len(self._finished)


def run(work: Work, *, scheduler: str | None, workers: int, checkpoint: str | None,
        dashboard: str | None, stop: Stop) -> int:
    """Runs all units of the work and reports; returns the exit code."""
    kept = Checkpoint(checkpoint, work) if checkpoint is not None else None
    stop.check()
    finished = len(kept.finished) if kept else 0
    whole = work.count()
    if finished:
        say(f"{finished} of {whole} units are in {checkpoint}")
    if finished == whole:
        runner = Runner(None, work, kept, stop)
        runner.run()
        return work.finish()
    with _dask.connect(scheduler, workers, dashboard) as client:
        stop.check()
        if dashboard is not None or scheduler is not None:
            say(f"dashboard: {client.dashboard_link}")
        runner = Runner(client, work, kept, stop)
        try:
            runner.run()
        finally:
            if runner.finished < whole and not runner.complaints:
                say(_so_far(runner.finished, whole, checkpoint))
    if runner.complaints:
        for _, text in runner.complaints:
            say(text)
        say(_so_far(runner.finished, whole, checkpoint))
        return max(code for code, _ in runner.complaints)
    sys.stdout.flush()
    return work.finish()


def _so_far(finished: int, whole: int, checkpoint: str | None) -> str:
    if checkpoint is None:
        return (f"{finished} of {whole} units were finished; with --checkpoint FOLDER they would be "
                "kept")
    return f"{finished} of {whole} units are finished and kept in {checkpoint}; run again to go on"
