# SPDX-License-Identifier: Apache-2.0
"""The treemap, the goal, and the command's exit codes and files."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import tempfile
import unittest
from unittest import mock

from harness import ROOT
from synthesis import chip, netlist, report, run, timing, tools, treemap

loader = importlib.machinery.SourceFileLoader("synth", os.path.join(ROOT, "scripts", "asic", "synth.py"))
synth = importlib.util.module_from_spec(importlib.util.spec_from_loader("synth", loader))
loader.exec_module(synth)


def a_chip(n, mac, other):
    memory = netlist.Memory("u_buffer.memory_q", 1024, 8 * n, {"data_o": 8 * n, "read_i": 1}, 8 * n)
    return chip.Chip("gemm64", {"N": n}, {"gemm64_stage": (30, 900.0), "gemm64_reader": (10, 100.0)}, [(1, memory)],
                     {"gemm64_stage": 2}, {"gemm64_stage": [timing.Path(mac, "activation_q", "sum_o")],
                                           "gemm64_reader": [timing.Path(other, "room_q", "level_q")]})


class Treemap(unittest.TestCase):
    def test_rectangles_have_the_shares_of_their_values_and_fill_the_whole(self):
        values = [50, 20, 10, 10, 6, 3, 1]
        boxes = treemap.squarify(values, 0, 0, 960, 600)
        for value, (_, _, width, height) in zip(values, boxes):
            self.assertAlmostEqual(width * height / (960 * 600), value / 100)
        for x, y, width, height in boxes:
            self.assertTrue(x > -1e-6 and y > -1e-6 and x + width < 960 + 1e-6 and y + height < 600 + 1e-6)

    def test_the_picture_names_each_module_with_its_share(self):
        titles = re.findall(r"<title>(.*?)</title>", report.picture(a_chip(8, 5, 4)))
        self.assertEqual([title.split(",")[-1].strip() for title in titles], ["90.0 %", "10.0 %"])


class Goal(unittest.TestCase):
    def judged(self, *chips):
        return [row["met"] for row in report.summary(chips)]

    def test_is_met_by_a_mac_that_is_the_longest_and_short_enough(self):
        self.assertEqual(self.judged(a_chip(64, 5.8, 5.7)), [True, True])

    def test_is_missed_by_another_path_or_a_long_one(self):
        self.assertEqual(self.judged(a_chip(64, 5.0, 5.7)), [True, False])
        self.assertEqual(self.judged(a_chip(64, 5.81, 5.0)), [False, True])
        self.assertIn("room_q -> level_q", report.summary([a_chip(64, 5.0, 6.0)])[0]["cause"])

    def test_is_of_64_alone(self):
        self.assertEqual(self.judged(a_chip(8, 5, 9)), [None])


class Command(unittest.TestCase):
    def exit_code(self, *argv, chips=None):
        made = mock.Mock(side_effect=tools.ToolFailure("sta: gemm64: deep_q cannot be timed")) if chips is None else \
            mock.Mock(return_value=chips)
        self.output, self.error = io.StringIO(), io.StringIO()
        here = os.getcwd()
        try:
            with mock.patch.object(run, "all_of", made), contextlib.redirect_stdout(self.output), \
                    contextlib.redirect_stderr(self.error):
                return synth.main(list(argv))
        except SystemExit as end:
            return end.code
        finally:
            os.chdir(here)

    def test_fails_where_a_path_cannot_be_timed(self):
        self.assertEqual(self.exit_code("--array", "4"), 1)
        self.assertIn("deep_q cannot be timed", self.error.getvalue())

    def test_refuses_what_it_does_not_know(self):
        for argv in (["--array", "5"], ["--array", ""], ["--set", "N=4"], ["--module", "gemm64_no"],
                     ["--module", "gemm64_fifo", "--set", "WIDTH"]):
            self.assertEqual(self.exit_code(*argv), 2, argv)

    def test_writes_figures_and_summary_and_tells_a_missed_goal(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, name) for name in ("a.json", "b.json")]
            argv = ["--array", "8,64", "--out", folder, "--json", files[0], "--summary", files[1]]
            self.assertEqual(self.exit_code(*argv, chips=[a_chip(8, 4, 5), a_chip(64, 5, 6)]), 1)
            with open(files[0], encoding="utf-8") as figures, open(files[1], encoding="utf-8") as summary:
                figures, summary = json.load(figures), json.load(summary)
            self.assertEqual(figures["designs"][1]["memories"][0]["bits"], 1024 * 512)
            self.assertEqual(figures["designs"][1]["critical_module"], "gemm64_reader")
            self.assertEqual((summary["part"], summary["command"], [row["met"] for row in summary["rows"]]),
                             ("Timing", 'make -C scripts/asic synth ARGS="--array 8,64"', [None, False, False]))
            self.assertTrue(os.path.exists(os.path.join(folder, "gemm64_N64.svg")))
            self.assertEqual(self.exit_code(*argv, chips=[a_chip(8, 4, 5), a_chip(64, 5.5, 5)]), 0)
            self.assertRegex(self.output.getvalue(), r"N=64 +40 .* 5\.50 +5\.50 +gemm64_stage")

    def test_tells_of_a_file_that_it_cannot_write(self):
        with tempfile.TemporaryDirectory() as folder:
            code = self.exit_code("--array", "8", "--out", folder, "--json", "/no/such/folder/a.json", chips=[a_chip(8, 4, 5)])
        self.assertEqual(code, 3)
