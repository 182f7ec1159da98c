# SPDX-License-Identifier: Apache-2.0
"""What commands on text tell while they run: lines, a bar on a terminal, a verdict."""

from __future__ import annotations

import sys

from gemm64.cluster._progress import Progress
from ._network import Cost


class Screen:
    """Lines on standard output; where standard error is a terminal, a bar of how far the work is.

    runs: how many there are, at most.
    """

    def __init__(self, runs: int) -> None:
        self._bar = Progress(runs, what="runs") if sys.stderr.isatty() else None
        self._finished = 0

    def line(self, text: str = "") -> None:
        """Above the bar."""
        if self._bar is not None:
            self._bar.erase()
        print(text, flush=True)

    def head(self, width: int, more: str = "") -> None:
        """Of the rows that `row` prints."""
        self.line(f"  {'':{width}} {'cycles':>12} {'predicted':>12} {'on device':>10}{more}")

    def row(self, what: str, width: int, cost: Cost, more: str = "") -> None:
        """What runs took."""
        self.line(f"  {what:{width}} {cost.cycles:12,} {cost.predicted_cycles:12,} {100 * cost.device_share:8.1f} %"
                  + more + (f"  {cost.differing:,} VALUES DIFFER" if cost.differing else ""))

    def finished(self) -> None:
        """One more run."""
        if self._bar is not None:
            self._bar.finished(self._finished)
            self._finished += 1
            self._bar.show(self._finished)

    def skip_to(self, run: int) -> None:
        """The runs before this one are not needed."""
        if self._bar is not None:
            for unit in range(self._finished, run):
                self._bar.skip(unit)
            self._finished = run

    def verdict(self, what: str, total: Cost, check: str) -> None:
        """The sums, and whether all was as it must be; `what`: of how much."""
        if self._bar is not None:
            self._bar.erase()
        print(f"{what}; predicted {total.predicted_cycles:,}; {100 * total.device_share:.1f} % of all MACs on the device")
        if total.values:
            print(f"ONNX Runtime: {total.values - total.differing:,} of {total.values:,} output values have the same bits")
        if total.differing:
            print(f"MISMATCH: {total.differing:,} values differ from ONNX Runtime's")
            return
        checked = {"layers": "every layer's values, cycles and bytes", "outputs": "outputs, cycles and bytes"}
        facts = [checked[check]] if check in checked else []
        facts += ["every output is ONNX Runtime's"] if total.values else []
        print("VERIFIED: " + "; ".join(facts) if facts else "NOT CHECKED (--check none)")
