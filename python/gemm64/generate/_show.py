# SPDX-License-Identifier: Apache-2.0
"""What is told while texts are written: a line for each run, a bar on a terminal, a verdict."""

from __future__ import annotations

import sys

from ..cluster._progress import Progress
from ._network import Cost
from ._write import Text


class Show:
    """Lines on standard output; where standard error is a terminal, a bar of how far the work is.

    runs: of each prompt, at most.
    """

    def __init__(self, runs: list[int]) -> None:
        self._bar = Progress(sum(runs), what="runs") if sys.stderr.isatty() else None
        self._runs, self._finished, self._due = list(runs), 0, 0
        self._read = False

    def begin(self, prompt: str) -> None:
        """A prompt's head."""
        self._due += self._runs.pop(0)
        self._read = False
        self._line(f"prompt: {prompt}")
        self._line(f"  {'':24} {'clocks':>12} {'predicted':>12} {'on device':>10}")

    def step(self, text: Text) -> None:
        """The line of the run that was the last."""
        if text.steps:
            self._show_reading(text)
            step = text.steps[-1]
            self._run(f"{len(text.steps):3} {step.piece!r}", step.cost)
        if self._bar is not None:
            self._bar.finished(self._finished)
            self._finished += 1
            self._bar.show(self._finished)

    def end(self, text: Text) -> None:
        """What was written."""
        self._show_reading(text)
        if self._bar is not None:  # a text that ended early needs no more runs
            for unit in range(self._finished, self._due):
                self._bar.skip(unit)
            self._finished = self._due
        self._line(f"text: {text.text}\n")

    def verdict(self, texts: list[Text], total: Cost, check: str) -> None:
        """The sums, and whether all was as it must be."""
        if self._bar is not None:
            self._bar.erase()
        steps = [step.cost.cycles for text in texts for step in text.steps]
        each = f", {sum(steps) // len(steps):,} a token" if steps else ""
        print(f"{len(texts)} texts, {len(steps)} tokens: {total.cycles:,} clocks{each}; predicted "
              f"{total.predicted_cycles:,}; {100 * total.device_share:.1f} % of all MACs on the device")
        if total.values:
            print(f"ONNX Runtime: {total.values - total.differing:,} of {total.values:,} output values have the same bits")
        if total.differing:
            print(f"MISMATCH: {total.differing:,} values differ from ONNX Runtime's")
            return
        checked = {"layers": "every layer's values, clocks and bytes", "outputs": "outputs, clocks and bytes"}
        facts = [checked[check]] if check in checked else []
        facts += ["every output is ONNX Runtime's"] if total.values else []
        print("VERIFIED: " + "; ".join(facts) if facts else "NOT CHECKED (--check none)")

    def _show_reading(self, text: Text) -> None:
        """Once, when all of the prompt is read."""
        if text.reading is not None and not self._read:
            self._run(f"prompt, {text.prompt_tokens} tokens", text.reading)
        self._read = True

    def _run(self, what: str, cost: Cost) -> None:
        self._line(f"  {what:24} {cost.cycles:12,} {cost.predicted_cycles:12,} {100 * cost.device_share:8.1f} %"
                   + (f"  {cost.differing:,} VALUES DIFFER" if cost.differing else ""))

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.erase()
        print(text, flush=True)
