# SPDX-License-Identifier: Apache-2.0
"""The save file of a failure: its signals exist, show the wrong value in the reported cycle, and
its markers stand there."""

import json
import os
import re
import tempfile
import unittest

import fst
import save_file
from harness import TOP, run

GROUP = "the first wrong value"

# By array: faults that reach the results of a product with a latency of 20 cycles.
FAULTS = {
    64: ["partial-sum:7,30:20@284"],  # a waveform of this size takes Python seconds to read
    8: ["weight:3,5:7@162", "activation:6,1:2@164", "partial-sum:1,7:20@164",
        "accumulator:0,2,4:5@176"],
}


class Failure(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def fail_with(self, fault, n):
        """Runs a product with the fault; gives the failure, and the paths of its files."""
        outcome = run("gemm", n, 4 * n, 2 * n, "--array", n, "--memory-latency", 20, "--inject", fault,
                      cwd=self.folder)
        self.assertEqual(outcome.returncode, 1, f"{fault} at N = {n}: {outcome.stdout}{outcome.stderr}")
        paths = [os.path.join(self.folder, "failure." + end) for end in ("json", "fst", "gtkw")]
        with open(paths[0], encoding="utf-8") as file:
            return json.load(file)["failure"], paths[1], paths[2]

    def test_every_signal_exists_and_the_wrong_value_is_shown_on_top(self):
        for n, fault in ((n, fault) for n, faults in FAULTS.items() for fault in faults):
            with self.subTest(fault=fault, n=n):
                failure, waveform, saved = self.fail_with(fault, n)
                items = save_file.read(saved)
                self.assertEqual(save_file.missing(items, fst.names(waveform)), [])
                wrong = failure["first_wrong"]
                self.assertEqual(wrong["place"], fault.split(":")[0].replace("-", "_"))
                label = {"weight": f"weight k{wrong['row']} n{wrong['column']}",
                         "activation": f"activation k{wrong['row']} at n{wrong['column']}",
                         "partial_sum": f"n{wrong['column']} after stage {wrong['row']}",
                         "accumulator": f"bank {wrong['bank']} row {wrong['row']} n{wrong['column']}",
                         }[wrong["place"]]
                self.assertEqual(items[0].label, GROUP)
                item = next(item for item in items if (item.group, item.label) == (GROUP, label))
                self.assertEqual(self.value(waveform, item, wrong["clock"]), wrong["found"])
                if wrong["place"] == "partial_sum":  # the wires that the view `array` shows
                    wires = f"{TOP}u_array.sum[{wrong['row'] + 1}][{32 * n - 1}:0]"
                    trace = fst.Trace(waveform, [wires])
                    self.assertEqual(trace.lane(wires, wrong["clock"], wrong["column"], 32),
                                     wrong["found"])

    def value(self, waveform, item, clock):
        """What a trace shows in a cycle, as a signed decimal."""
        name = re.sub(r"^\(\d+\)", "", item.signals[0])
        whole = fst.Trace(waveform, [name]).at(name, clock)
        if item.made:
            lowest = int(re.match(r"\((\d+)\)", item.signals[-1])[1])
            whole >>= save_file.range_of(name) - lowest
        return fst.signed(whole, save_file.width(item))

    def test_markers_stand_at_the_moments_that_are_told(self):
        failure, _, saved = self.fail_with("weight:3,17:7@254", 64)
        with open(saved, encoding="utf-8") as file:
            lines = file.read().splitlines()
        times = [int(time) for time in next(line for line in lines if line[0] == "*").split()[1:]]
        left, wrong = failure["clock"], failure["first_wrong"]["clock"]
        self.assertEqual(times[:4], [fst.CYCLE * clock for clock in (left, left, wrong, failure["tile"]["begin"])])
        start = int(next(line for line in lines if line.startswith("[timestart]")).split()[1])
        self.assertLess(fst.CYCLE * (wrong - 20), start)
        self.assertLess(start, fst.CYCLE * wrong)

    def test_a_time_out_is_marked_where_something_moved_last(self):
        outcome = run("gemm", 8, 24, 8, "--array", 8, "--inject", "hang:results@100", cwd=self.folder)
        self.assertEqual(outcome.returncode, 1)
        with open(os.path.join(self.folder, "failure.json"), encoding="utf-8") as file:
            clock = json.load(file)["failure"]["clock"]
        saved = os.path.join(self.folder, "failure.gtkw")
        with open(saved, encoding="utf-8") as file:
            position = next(line for line in file if line[0] == "*").split()
        self.assertEqual(int(position[1]), fst.CYCLE * clock)
        self.assertEqual(save_file.missing(save_file.read(saved), fst.names(saved[:-4] + "fst")), [])
