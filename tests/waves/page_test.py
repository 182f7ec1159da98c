# SPDX-License-Identifier: Apache-2.0
"""The page "Follow one activation through the array" tells what the waveform of make wave holds.

With --renumber it first moves the page's clocks to where the first tile starts now: what the host
does before the work begins may take more or fewer clocks one day."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import fst
from harness import GEMM64, ROOT, TOP, VIEWS, WAVES

STAGES = 16


PAGE = os.path.join(WAVES, "README.md")


def make_waveform(folder):
    """What make wave writes."""
    os.symlink(GEMM64, os.path.join(folder, "gemm64"))
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    subprocess.run([os.path.join(ROOT, "scripts", "wave"), "--build", folder, "array"],
                   check=True, stdout=subprocess.DEVNULL, env=environment)
    return os.path.join(folder, "wave", "wave.fst")


def renumber():
    with tempfile.TemporaryDirectory() as folder:
        trace = fst.Trace(make_waveform(folder), [TOP + "u_compute.start"])
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    row = re.compile(r"^\| (\d+) \| \d+ \| `", re.M)
    shift = trace.first(TOP + "u_compute.start") - int(row.search(text)[1])
    text = row.sub(lambda match: f"| {int(match[1]) + shift} | {2 * (int(match[1]) + shift)} | `",
                   text)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PAGE, encoding="utf-8") as file:
            cls.text = file.read()
        cls.rows = [(int(clock), int(time), signal, int(value)) for clock, time, signal, value in
                    re.findall(r"^\| (\d+) \| (\d+) \| `(.*?)` \| (-?\d+) \|", cls.text, re.M)]
        with tempfile.TemporaryDirectory() as folder:
            waveform = make_waveform(folder)
            whole = {re.sub(r"\[\d+:\d+\]$", "", name): name for name in fst.names(waveform)}
            cls.parts = {}
            for row in cls.rows:
                name, _, left, right = re.fullmatch(r"(.*?)(\[(\d+):(\d+)\])?", row[2]).groups()
                cls.parts[row[2]] = whole[TOP + name], left and int(left), right and int(right)
            cls.trace = fst.Trace(waveform, {part[0] for part in cls.parts.values()})

    def value(self, signal, clock):
        name, left, right = self.parts[signal]
        value = self.trace.at(name, clock)
        return value if left is None else fst.signed(value >> right, left - right + 1)

    def test_figures_are_those_of_the_waveform(self):
        self.assertGreater(len(self.rows), 20)
        start = self.trace.first(TOP + "u_compute.start")
        self.assertEqual(self.rows[0][0], start,
                         "the work begins at another clock: run this test with --renumber")
        for clock, time, signal, value in self.rows:
            self.assertEqual(time, 2 * clock, signal)
            self.assertEqual(self.value(signal, clock), value, f"{signal} in clock {clock}")

    def test_events_have_their_clock_and_no_other(self):
        """What the page shows for the first time, the waveform does too: not a clock before."""
        for clock, _, signal, value in self.rows:
            if signal != "u_accumulator.column[0].u_column.sums_0_q[0][31:0]":
                self.assertNotEqual(self.value(signal, clock - 1), value, f"{signal}, {clock - 1}")

    def test_the_formulas(self):
        start = self.trace.first(TOP + "u_compute.activation_read_o")
        told = {signal: clock for clock, _, signal, _ in reversed(self.rows)}
        for stage, column in ((0, 0), (0, 1), (0, 63), (1, 0), (15, 0)):
            signal = f"u_array.stage[{stage}].u_stage.activation_q[{column}][7:0]"
            self.assertEqual(told[signal], start + 2 + stage + column)
        for column in (0, 63):
            signal = f"u_accumulator.column[{column}].u_column.sum_i[31:0]"
            self.assertEqual(told[signal], start + 2 + STAGES + column)

    def test_shows_every_view(self):
        for view in VIEWS:
            self.assertIn(f"![{view}](pictures/{view}.png)", self.text)
            self.assertTrue(os.path.isfile(os.path.join(WAVES, "pictures", view + ".png")))


if __name__ == "__main__":
    if "--renumber" in sys.argv:
        sys.argv.remove("--renumber")
        renumber()
    unittest.main()
