# SPDX-License-Identifier: Apache-2.0
"""What is printed of sentences: a line for each, and how near they are to each other."""

from __future__ import annotations

from ..text._network import Cost
from ..text._screen import Screen
from ._sentence import Sentence, cosines

_WIDTH = 52


class Show:
    """Of that many sentences."""

    def __init__(self, count: int, has_float: bool) -> None:
        self._screen = Screen(count)
        self._count = 0
        self._screen.head(_WIDTH, "  of float" if has_float else "")

    def sentence(self, sentence: Sentence) -> None:
        """The line of one."""
        self._count += 1
        text_row = f"{self._count:2} {sentence.text}"
        of_float = "" if sentence.of_float is None else f"{sentence.of_float:10.3f}"
        cut = _WIDTH - 12
        self._screen.row(f"{text_row if len(text_row) <= cut else text_row[:cut - 3] + '...':{cut}} {sentence.tokens:4} tokens",
                         _WIDTH, sentence.cost, of_float)
        self._screen.finished()

    def verdict(self, sentences: list[Sentence], total: Cost, check: str) -> None:
        """Cosines, the sums, and whether all was as it must be."""
        table = cosines(sentences)
        self._screen.line("\ncosine similarities")
        self._screen.line("   " + "".join(f"{column + 1:6}" for column in range(len(sentences))))
        for row in range(len(sentences)):
            self._screen.line(f"{row + 1:3}" + "".join(f"{table[row][column]:6.2f}" for column in range(row + 1)))
        self._screen.line()
        self._screen.verdict(f"{len(sentences)} sentences: {total.cycles:,} cycles, "
                             f"{total.cycles // len(sentences):,} each", total, check)
