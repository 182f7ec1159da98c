# SPDX-License-Identifier: Apache-2.0
"""The page's two walks, through the array and through the lanes, tell what the waveforms of make
wave hold.

With --renumber it first moves the page's cycles to where the work begins now: what the host does
before that may take more or fewer cycles one day."""

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
# A walk's view, how its part of the page begins, and the signal of its first row.
WALKS = {"array": ("## Follow one activation through the array", TOP + "u_compute.start"),
         "lanes": ("## Follow one pixel through the lanes", TOP + "u_lanes.take_o")}
ROW = re.compile(r"^\| (\d+) \| `(.*?)` \| (-?\d+) \|", re.M)


def part_of(text, view):
    """Where a walk's part of the page begins and ends."""
    begin = text.index(WALKS[view][0])
    end = text.find("\n## ", begin + 1)
    return begin, end if end != -1 else len(text)


def make_waveform(folder, view):
    """What make wave writes."""
    if not os.path.exists(os.path.join(folder, "gemm64")):
        os.symlink(GEMM64, os.path.join(folder, "gemm64"))
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    subprocess.run([os.path.join(ROOT, "scripts", "waves", "wave.sh"), "--build", folder, view],
                   check=True, stdout=subprocess.DEVNULL, env=environment)
    return os.path.join(folder, "wave", "wave.fst")


def renumber():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for view, (_, first) in WALKS.items():
        with tempfile.TemporaryDirectory() as folder:
            trace = fst.Trace(make_waveform(folder, view), [first])
        begin, end = part_of(text, view)
        part = text[begin:end]
        shift = trace.first(first) - int(ROW.search(part)[1])
        part = re.sub(r"^\| (\d+) \| `", lambda match: f"| {int(match[1]) + shift} | `", part, flags=re.M)
        text = text[:begin] + part + text[end:]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


class Walk:
    """The rows of a walk, and the values of their signals in its waveform."""

    def __init__(self, text, view):
        begin, end = part_of(text, view)
        self.rows = [(int(clock), signal, int(value)) for clock, signal, value in ROW.findall(text[begin:end])]
        with tempfile.TemporaryDirectory() as folder:
            waveform = make_waveform(folder, view)
            whole = {re.sub(r"\[\d+:\d+\]$", "", name): name for name in fst.names(waveform)}
            self.parts = {}
            for row in self.rows:
                name, _, left, right = re.fullmatch(r"(.*?)(\[(\d+):(\d+)\])?", row[1]).groups()
                self.parts[row[1]] = whole[TOP + name], left and int(left), right and int(right)
            self.trace = fst.Trace(waveform, {part[0] for part in self.parts.values()})

    def value(self, signal, clock):
        name, left, right = self.parts[signal]
        value = self.trace.at(name, clock)
        return value if left is None else fst.signed(value >> right, left - right + 1)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PAGE, encoding="utf-8") as file:
            cls.text = file.read()
        cls.walks = {view: Walk(cls.text, view) for view in WALKS}

    def test_figures_are_those_of_the_waveform(self):
        for view, walk in self.walks.items():
            self.assertGreater(len(walk.rows), 20)
            self.assertEqual(walk.rows[0][0], walk.trace.first(WALKS[view][1]),
                             "the work begins at another cycle: run this test with --renumber")
            for clock, signal, value in walk.rows:
                self.assertEqual(walk.value(signal, clock), value, f"{signal} in cycle {clock}")

    def test_events_have_their_clock_and_no_other(self):
        """What the page shows for the first time, the waveform does too: not a cycle before."""
        for walk in self.walks.values():
            for clock, signal, value in walk.rows:
                if signal != "u_accumulator.column[0].u_column.sums_0_q[0][31:0]":
                    self.assertNotEqual(walk.value(signal, clock - 1), value,
                                        f"{signal}, {clock - 1}")

    def test_the_formulas(self):
        walk = self.walks["array"]
        start = walk.trace.first(TOP + "u_compute.activation_read_o")
        shown = {signal: clock for clock, signal, _ in reversed(walk.rows)}
        for stage, column in ((0, 0), (0, 1), (0, 63), (1, 0), (15, 0)):
            signal = f"u_array.stage[{stage}].u_stage.activation_q[{column}][7:0]"
            self.assertEqual(shown[signal], start + 2 + stage + column)
        for column in (0, 63):
            signal = f"u_accumulator.column[{column}].u_column.sum_i[31:0]"
            self.assertEqual(shown[signal], start + 2 + STAGES + column)

    def test_the_formulas_of_the_lanes(self):
        walk = self.walks["lanes"]
        taken = walk.trace.first(TOP + "u_lanes.take_o") + 1  # our pixel's word
        shown = {signal: clock for clock, signal, _ in reversed(walk.rows)}
        for signal, rows in (("word_i", 0), ("above[1].word", 1), ("above[2].word", 2)):
            self.assertEqual(shown[f"u_lanes.{signal}[7:0]"], taken + 1 + 8 * rows)
        self.assertEqual(shown["u_lanes.valid_o"], shown["u_lanes.sum"] + 4)

    def test_shows_every_view(self):
        for view in VIEWS:
            self.assertIn(f"![{view}](pictures/{view}.png)", self.text)
            self.assertTrue(os.path.isfile(os.path.join(WAVES, "pictures", view + ".png")))


if __name__ == "__main__":
    if "--renumber" in sys.argv:
        sys.argv.remove("--renumber")
        renumber()
    unittest.main()
