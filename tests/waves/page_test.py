# SPDX-License-Identifier: Apache-2.0
"""The page "Follow one activation through the array" tells what the waveform of make wave holds."""

import os
import re
import subprocess
import tempfile
import unittest

import fst
from harness import GEMM64, ROOT, TOP, VIEWS, WAVES

STAGES = 16


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(WAVES, "README.md"), encoding="utf-8") as file:
            cls.text = file.read()
        cls.rows = [(int(clock), int(time), signal, int(value)) for clock, time, signal, value in
                    re.findall(r"^\| (\d+) \| (\d+) \| `(.*?)` \| (-?\d+) \|", cls.text, re.M)]
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(GEMM64, os.path.join(folder, "gemm64"))
            subprocess.run([os.path.join(ROOT, "scripts", "wave"), "--build", folder, "array"],
                           check=True, stdout=subprocess.DEVNULL,
                           env={key: value for key, value in os.environ.items()
                                if key not in ("DISPLAY", "WAYLAND_DISPLAY")})
            waveform = os.path.join(folder, "wave", "wave.fst")
            whole = {re.sub(r"\[\d+:\d+\]$", "", name): name for name in fst.names(waveform)}
            cls.parts = {}
            for row in cls.rows:
                name, _, left, right = re.fullmatch(r"(.*?)(\[(\d+):(\d+)\])?", row[2]).groups()
                cls.parts[row[2]] = whole[TOP + name], left and int(left), right and int(right)
            others = [TOP + name for name in ("row[6:0]", "u_compute.activation_read_o")]
            cls.trace = fst.Trace(waveform, {part[0] for part in cls.parts.values()} | set(others))

    def value(self, signal, clock):
        name, left, right = self.parts[signal]
        value = self.trace.at(name, clock)
        return value if left is None else fst.signed(value >> right, left - right + 1)

    def test_figures_are_those_of_the_waveform(self):
        self.assertGreater(len(self.rows), 20)
        for clock, time, signal, value in self.rows:
            self.assertEqual(time, 2 * clock, signal)
            self.assertEqual(self.value(signal, clock), value, f"{signal} in clock {clock}")

    def test_events_have_their_clock_and_no_other(self):
        """What the page shows for the first time, the waveform does too: not a clock before."""
        for clock, _, signal, value in self.rows:
            if signal != "u_accumulator.column[0].u_column.sums_q[0][31:0]":
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
    unittest.main()
