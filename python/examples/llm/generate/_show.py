# SPDX-License-Identifier: Apache-2.0
"""What is printed while texts are written: a line for each run, and the text."""

from __future__ import annotations

from ..text._network import Cost
from ..text._screen import Screen
from ._write import Text

_WIDTH = 24


class Show:
    """runs: of each prompt, at most."""

    def __init__(self, runs: list[int]) -> None:
        self._screen = Screen(sum(runs))
        self._runs, self._due = list(runs), 0
        self._read = False

    def begin(self, prompt: str) -> None:
        """A prompt's head."""
        self._due += self._runs.pop(0)
        self._read = False
        self._screen.line(f"prompt: {prompt}")
        self._screen.head(_WIDTH)

    def step(self, text: Text) -> None:
        """The line of the run that was the last."""
        if text.steps:
            self._show_reading(text)
            step = text.steps[-1]
            self._screen.row(f"{len(text.steps):3} {step.piece!r}", _WIDTH, step.cost)
        self._screen.finished()

    def end(self, text: Text) -> None:
        """What was written."""
        self._show_reading(text)
        self._screen.skip_to(self._due)  # a text that ended early needs no more runs
        self._screen.line(f"text: {text.text}\n")

    def verdict(self, texts: list[Text], total: Cost, check: str) -> None:
        """The sums, and whether all was as it must be."""
        steps = [step.cost.cycles for text in texts for step in text.steps]
        each = f", {sum(steps) // len(steps):,} a token" if steps else ""
        self._screen.verdict(f"{len(texts)} texts, {len(steps)} tokens: {total.cycles:,} cycles{each}", total, check)

    def _show_reading(self, text: Text) -> None:
        """Once, when all of the prompt is read."""
        if text.reading is not None and not self._read:
            self._screen.row(f"prompt, {text.prompt_tokens} tokens", _WIDTH, text.reading)
        self._read = True
