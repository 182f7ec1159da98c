# SPDX-License-Identifier: Apache-2.0
"""How far the work is, on standard error: a bar on a terminal, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_BETWEEN_DRAWINGS = 0.1
_BETWEEN_LINES = 10.0


class Progress:
    """Units of a whole, some of which may have been there before."""

    def __init__(self, whole: int, before: int, what: str = "units",
                 stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._whole, self._before, self._what = whole, before, what
        self._begin = self._last = time.monotonic()
        self._drawn = False

    def text(self, done: int, seconds: float) -> str:
        """ "12 of 200 units, 6 %, 30 s, 470 s left"."""
        text = f"{done} of {self._whole} {self._what}, {100 * done // max(self._whole, 1)} %"
        if self._before:
            text += f" ({self._before} from the checkpoint)"
        text += f", {seconds:.0f} s"
        here = done - self._before
        if here > 0 and done < self._whole:
            text += f", {(self._whole - done) * seconds / here:.0f} s left"
        return text

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
