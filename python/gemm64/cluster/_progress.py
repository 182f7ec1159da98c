# SPDX-License-Identifier: Apache-2.0
"""How far the work is, on standard error: a bar on a terminal, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import TextIO

_BETWEEN_DRAWINGS = 0.1
_BETWEEN_LINES = 10.0


class Progress:
    """Units of a whole, some of which may have been there before.

    weights: what each unit takes, in any unit of its own; by default all take the same.
    """

    def __init__(self, whole: int, before: Iterable[int] = (), what: str = "units",
                 stream: TextIO | None = None, weights: Sequence[float] | None = None) -> None:
        self._weights = list(weights) if weights is not None else [1.0] * whole
        self._weight = 0.0  # of units that are finished here
        self._left = sum(self._weights)
        self._prepared = 0.0  # seconds of workers' preparations, concurrent
        there = list(before)
        for unit in there:
            self._left -= self._weights[unit]
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._whole, self._before, self._what = whole, len(there), what
        self._begin = self._last = time.monotonic()
        self._drawn = False

    def text(self, done: int, seconds: float) -> str:
        """ "12 of 200 units, 6 %, 30 s, 470 s left"."""
        text = f"{done} of {self._whole} {self._what}, {100 * done // max(self._whole, 1)} %"
        if self._before:
            text += f" ({self._before} from the checkpoint)"
        text += f", {seconds:.0f} s"
        left = self.left(seconds)
        if left is not None and done < self._whole:
            text += f", {left:.0f} s left"
        return text

    def begin(self) -> None:
        """The first unit is handed out now: what came before is no unit's time."""
        self._begin = self._last = time.monotonic()

    def finished(self, unit: int, prepared: float = 0.0) -> None:
        """A unit is finished here, before which its worker spent that many seconds to prepare."""
        self._weight += self._weights[unit]
        self._left -= self._weights[unit]
        self._prepared = max(self._prepared, prepared)

    def skip(self, unit: int) -> None:
        """A unit turned out to be needless."""
        self._left -= self._weights[unit]

    def left(self, seconds: float) -> float | None:
        """Seconds that the rest takes, that many after the first unit was handed out."""
        if self._weight <= 0:
            return None
        return max(0.0, self._left) * max(0.0, seconds - self._prepared) / self._weight

    def show(self, done: int) -> None:
        """Cheap enough for inner loops."""
        now = time.monotonic()
        if now - self._last < (_BETWEEN_DRAWINGS if self._terminal else _BETWEEN_LINES):
            return
        self._last = now
        text = self.text(done, now - self._begin)
        if not self._terminal:
            print(text, file=self._stream, flush=True)
            return
        filled = 30 * done // max(self._whole, 1)
        print(f"\r\x1b[K[{'#' * filled}{'.' * (30 - filled)}] {text}", end="", file=self._stream,
              flush=True)
        self._drawn = True

    def erase(self) -> None:
        """Ends the bar."""
        if self._drawn:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
            self._drawn = False
