# SPDX-License-Identifier: Apache-2.0
"""Every signal and filter that a view names exists: in the waveform of the 64x64 array, and, in the
save files that the program writes, in that of a smaller one."""

import itertools
import json
import os
import re
import tempfile
import unittest

import fst
import save_file
from harness import ROOT, TOP, VIEWS, WAVES, product, run


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.views = {view: save_file.read(os.path.join(WAVES, view + ".gtkw")) for view in VIEWS}
        cls.written = {}
        for n in (2, 4, 8, 64):
            for view in VIEWS if n < 64 else VIEWS[:1]:
                cls.written[view, n], _, _ = product(cls.folder, view, n)
        cls.names = {n: fst.names(cls.written[VIEWS[0], n]) for n in (2, 4, 8, 64)}

    def test_there_are_these_views(self):
        self.assertEqual(sorted(name[:-5] for name in os.listdir(WAVES) if name.endswith(".gtkw")),
                         VIEWS)

    def test_every_signal_is_in_the_waveform(self):
        for view, items in self.views.items():
            self.assertEqual(save_file.missing(items, self.names[64]), [], view)
            self.assertGreater(sum(bool(item.signals) for item in items), 20, view)

    def test_every_signal_is_in_the_waveforms_of_smaller_arrays(self):
        for n, view in ((n, view) for n in (2, 4, 8) for view in VIEWS):
            items = save_file.read(self.written[view, n].replace(".fst", ".gtkw"))
            self.assertEqual(save_file.missing(items, self.names[n]), [], (view, n))
            self.assertGreater(sum(bool(item.signals) for item in items), 14, (view, n))
            for item, after in zip(items, items[1:]):
                self.assertFalse(item.flags & save_file.GROUP_BEGIN
                                 and after.flags & save_file.GROUP_END, f"{item.label} is empty")

    def test_a_smaller_array_keeps_the_lanes_that_it_has(self):
        shown = {(item.group, item.label): item.signals for item in save_file.read(
            self.written["array", 8].replace(".fst", ".gtkw"))}
        lane = [f"({bit}){TOP}activation[63:0]" for bit in range(24, 32)]
        self.assertEqual(shown["row at the input", "k4"], lane)  # bits 39 down to 32 of 63 to 0
        self.assertNotIn(("row at the input", "k63"), shown)
        stage = TOP + "u_array.stage[{}].u_stage.activation_q[{}][7:0]"
        self.assertEqual(shown["activations move right", "k0 at n3"], [stage.format(0, 3)])
        self.assertNotIn(("activations move right", "k0 at n63"), shown)
        self.assertIn(("sums of column 0 (n0)", "after stage 1"), shown)
        self.assertNotIn(("sums of column 0 (n0)", "after stage 2"), shown)

    def test_every_group_of_the_accumulator_that_is_left_has_traces(self):
        items = save_file.read(self.written["accumulator", 8].replace(".fst", ".gtkw"))
        self.assertIn("column 1", [item.label for item in items])
        self.assertNotIn("column 63", [item.label for item in items])

    def test_filters_exist_and_fit_their_signals(self):
        used = set()
        for view, items in self.views.items():
            for item in filter(lambda item: item.filter, items):
                path = os.path.join(ROOT, item.filter)
                self.assertTrue(os.path.isfile(path), f"{view}: {item.label}: {item.filter}")
                self.assertRegex(item.filter, r"^waves/filters/", "paths begin at the root")
                used.add(os.path.basename(path))
                digits = {len(value) for value in save_file.words(path)}
                self.assertEqual(digits, {(save_file.width(item) + 3) // 4},
                                 f"{view}: {item.label}: {item.filter}")
        self.assertEqual(used, set(os.listdir(os.path.join(WAVES, "filters"))), "unused filters")

    def test_written_save_files_name_filters_that_exist(self):
        for view in VIEWS:
            items = save_file.read(self.written[view, 8].replace(".fst", ".gtkw"))
            for item in filter(lambda item: item.filter, items):
                self.assertTrue(os.path.isabs(item.filter) and os.path.isfile(item.filter),
                                f"{view}: {item.label}: {item.filter}")

    def test_views_belong_to_no_machine(self):
        for view in VIEWS:
            with open(os.path.join(WAVES, view + ".gtkw"), encoding="utf-8") as file:
                text = file.read()
            self.assertNotRegex(text, r'[ "]/|\[dumpfile|\[savefile\]', view)
            start = re.search(r"^\[\*\] start: (.*)$", text, re.M)[1]
            self.assertIn(start, self.names[64], view)

    def test_states_are_put_together_in_the_order_of_their_filters(self):
        with open(os.path.join(ROOT, "rtl", "gemm64.json"), encoding="utf-8") as file:
            counters = json.load(file)["counters"]
        causes = {}
        for counter in counters:
            causes.setdefault(counter["engine"], []).append(counter["cause"])
        ports = {"activation_read_o": "compute", "idle_clock": "idle", "idle_o": "idle"}
        seen = 0
        for items in self.views.values():
            for item in items:
                engine = re.search(r"state_(\w+)\.txt", item.filter)
                if not engine:
                    continue
                seen += 1
                module = {"parameters": "parameter_sets"}.get(engine[1], engine[1])
                bits = [re.sub(rf"^{re.escape(TOP)}(u_output\.)?u_{module}\.", "", signal)
                        for signal in item.signals]
                self.assertEqual([ports.get(bit, bit.removesuffix("_o")) for bit in bits],
                                 causes[engine[1]])
        self.assertGreaterEqual(seen, 5)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.fst = os.path.join(self.folder, "t.fst")

    def refused(self, *arguments):
        outcome = run("gemm", 4, 8, 8, "--array", 8, *arguments)
        self.assertEqual(outcome.returncode, 2)
        self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
        return outcome.stderr

    def test_an_unknown_view_is_refused_before_the_run(self):
        message = self.refused("--trace", self.fst, "--view", "nothing")
        self.assertIn("'nothing'", message)
        self.assertIn(", ".join(VIEWS), message)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_save_file_that_cannot_be_written_leaves_nothing_half_written(self):
        os.mkdir(os.path.join(self.folder, "t.gtkw"))  # a folder stands in its place
        outcome = run("gemm", 4, 8, 8, "--array", 8, "--trace", self.fst)
        self.assertEqual(outcome.returncode, 3)
        self.assertIn("t.gtkw", outcome.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["t.fst", "t.gtkw"])

    def test_a_window_that_is_never_reached_leaves_no_save_file(self):
        self.assertIn("--trace-window", self.refused("--trace", self.fst, "--trace-window",
                                                     "9000000:9000001"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_time_is_counted_in_cycles(self):
        """A cycle is a second, the largest unit of viewers; the first signal counts the same."""
        self.assertEqual(run("gemm", 4, 8, 8, "--array", 8, "--trace", self.fst, "--trace-window", "100:160").returncode, 0)
        head = " ".join(itertools.takewhile(lambda line: "$enddefinitions" not in line, fst.lines(self.fst))).split()
        self.assertEqual(head[head.index("$timescale") + 1], "1ms")
        self.assertEqual(fst.CYCLE, 1000)
        self.assertEqual(next(iter(fst.names(self.fst))), "cycle[63:0]")
        trace = fst.Trace(self.fst, ["cycle[63:0]", TOP + "clk_i"])
        self.assertEqual(trace.end, 160)
        for cycle in range(100, 160):
            self.assertEqual((trace.at("cycle[63:0]", cycle), trace.at(TOP + "clk_i", cycle)), (cycle, 0))

    def test_no_name_is_cut(self):
        """GTKWave has 9 pixels a letter; names end where their values at the marker begin."""
        for view in VIEWS:
            saved = product(self.folder, view, 8)[0].replace(".fst", ".gtkw")
            with open(saved, encoding="utf-8") as file:
                width = int(re.search(r"^\[signals_width\] (\d+)$", file.read(), re.M)[1])
            items = save_file.read(saved)
            value = max([len("-2147483648")] + [min(16, len(word)) for item in items if item.filter for word in save_file.words(item.filter).values()])
            self.assertLessEqual(9 * (max(len(item.label) for item in items) + 1 + value), width, view)

    def test_surfer_gets_the_same_signals(self):
        """Names as its reader of FST has them: an array is a scope, a range no part of the name."""
        for view in VIEWS:
            waveform, _, _ = product(self.folder, view, 8)
            names = {re.sub(r"(?<=[^.])((\[\d+\])+)$", r".\1", re.sub(r"\[\d+:\d+\]$", "", name)) for name in fst.names(waveform)}
            with open(waveform.replace(".fst", ".sucl"), encoding="utf-8") as file:
                lines = file.read().splitlines()
            self.assertEqual(lines[1:3], [f"load_file {waveform}", "variable_add cycle"])
            shown = [line.split(" ", 1)[1] for line in lines if line.startswith("variable_add ")]
            self.assertEqual([name for name in shown if name not in names], [], view)
            items = [item for item in save_file.read(waveform.replace(".fst", ".gtkw")) if item.signals]
            self.assertGreaterEqual(len(shown), len({item.signals[0].split(")")[-1] for item in items}), view)
            with open(waveform.replace(".fst", ".surf.ron"), encoding="utf-8") as file:
                state = file.read()
            self.assertEqual([state.count(one) for one in "()[]{}"][::2], [state.count(one) for one in "()[]{}"][1::2])
            self.assertEqual([".".join([*re.findall(r'"(.*?)"', path), name]) for path, name in re.findall(
                r"path: \(strs: \[(.*?)\], id: None\), name: \"(.*?)\"", state)], shown)
            self.assertIn(f'source: File("{waveform}")', state)

    def test_the_first_tile_is_marked(self):
        """From the read of its first row until its last sum is in the accumulator."""
        self.assertEqual(run("gemm", 4, 8, 8, "--array", 8, "--trace", self.fst).returncode, 0)
        last_column = TOP + "u_accumulator.column[7].u_column.add_0_i"
        trace = fst.Trace(self.fst, [TOP + "u_compute.start", last_column])
        begin, end = trace.first(TOP + "u_compute.start"), trace.first(last_column, trace.first(TOP + "u_compute.start")) + 4
        self.assertEqual(trace.at(last_column, end), 0)
        with open(os.path.join(self.folder, "t.gtkw"), encoding="utf-8") as file:
            position = next(line for line in file if line[0] == "*").split()
        self.assertEqual([int(time) for time in position[1:5]], [fst.CYCLE * begin, fst.CYCLE * begin, fst.CYCLE * end, -1])
