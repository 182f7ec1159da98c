# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM, kept until the work can end in order."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker
from types import FrameType


class Stopped(Exception):
    """A signal asks for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


class Stop:
    """Within it the first signal is noted, for check(); the second ends the process at once."""

    def __init__(self) -> None:
        self._number = 0

    def _note(self, number: int, _: FrameType | None) -> None:
        self._number = number
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    def __enter__(self) -> Stop:
        self._before = {
            each: signal.signal(each, self._note) for each in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raises Stopped where a signal has come."""
        if self._number:
            raise Stopped(self._number)


@contextlib.contextmanager
def no_interrupts() -> Iterator[None]:
    """Threads that begin within never see Ctrl-C, nor do their child processes: a terminal sends it
    to all of them, and only the first process ends the others.
    """
    resource_tracker.ensure_running()  # when multiprocessing starts it, it lets SIGINT through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
