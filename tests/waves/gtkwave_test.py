# SPDX-License-Identifier: Apache-2.0
"""Opens each view in GTKWave on a virtual screen, and looks at what it shows."""

import json
import os
import subprocess
import tempfile
import unittest

import fst
import png
import save_file
from harness import TOP, VIEWS, dot, product, run

N = 64
STAGES = 16
SCREEN = "-screen 0 1600x1200x24"
HERE = os.path.dirname(os.path.abspath(__file__))


class GTKWave(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.files = {}
        for view in VIEWS:
            cls.files[view], cls.a, cls.b = product(cls.folder, view)
        trace = fst.Trace(cls.files["array"], [
            TOP + name for name in ("u_compute.start", "u_compute.command_valid_i")])
        cls.tile = trace.first(TOP + "u_compute.start")
        cls.matmul = trace.first(TOP + "u_compute.command_valid_i")

    def look(self, view, *clocks):
        """Opens the view; gives, for each cycle, what is shown by group and label."""
        report = os.path.join(self.folder, view + ".txt")
        picture = os.path.join(self.folder, view + ".png")
        waveform = self.files[view]
        saved = waveform.replace(".fst", ".gtkw")
        items = save_file.read(saved)
        environment = {**os.environ, "INSPECT_REPORT": report, "INSPECT_PICTURE": picture,
                       "INSPECT_TIMES": " ".join(str(fst.CYCLE * clock) for clock in clocks),
                       "GDK_BACKEND": "x11", "HOME": self.folder}  # not the user's .gtkwaverc
        done = subprocess.run(
            ["xvfb-run", "-a", "-s", SCREEN, "gtkwave", "-S", os.path.join(HERE, "inspect.tcl"),
             waveform, saved], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=60, check=False)
        self.assertTrue(os.path.exists(picture), done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(saved, encoding="utf-8") as file:
            self.assertIn("GTKWave Analyzer", file.read(), "GTKWave has not saved it again")
        self.assertEqual(save_file.read(saved), items, "as GTKWave saved it again")
        with open(report, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        self.assertEqual(lines[0], ["rows", str(len(items))], "rows that are shown")
        shown = [{} for _ in clocks]
        for time, row, name, value in lines[1:]:
            item = items[int(row)]
            self.assertEqual(name, item.label)
            shown[clocks.index(int(time) // fst.CYCLE)][item.group, item.label] = value
        self.check_picture(picture)
        return shown

    def check_picture(self, picture):
        """A window full of traces: large, in many colours, its upper part mostly the waves' black
        with a good share of other things on it."""
        width, height, rows = png.read(picture, 200)
        self.assertGreater(width, 1300)
        self.assertGreater(height, 700)
        pixels = [pixel[:3] for row in rows[::3] for pixel in row]
        self.assertGreater(len(set(pixels)), 100)
        black = pixels.count((0, 0, 0)) / len(pixels)
        self.assertGreater(black, 0.1)
        self.assertLess(black, 0.9)

    def test_overview(self):
        [shown] = self.look("overview", self.tile)
        self.assertEqual(shown["compute", "state"], "compute")
        self.assertEqual(shown["commands", "state"], "wait_engine")
        self.assertEqual(shown["commands", "next command"], "FINISH")
        self.assertEqual(shown["weights", "state"], "transfer")
        self.assertEqual(shown["results", "state"], "wait_compute")
        self.assertEqual(shown["compute", "its sums are"], "new")
        self.assertEqual(shown["weights", "R"], "moves")
        self.assertEqual(shown["control", "error"], "NONE")

    def test_array(self):
        read, entered, left = self.look("array", self.tile, self.tile + 2,
                                        self.tile + 2 + STAGES)
        self.assertEqual(read["compute", "state"], "compute")
        self.assertEqual(entered["activations move right", "k0 at n0"], str(self.a[0][0]))
        self.assertEqual(entered["row at the input", "k63"], str(self.a[1][63]))
        self.assertEqual(entered["weights stay", "k0 n0"], str(self.b[0][0]))
        self.assertEqual(left["sums leave the array", "n0"],
                         str(dot(self.a, self.b, 0, 0, 0, N)))
        self.assertEqual(left["sums of column 0 (n0)", "after stage 15"],
                         str(dot(self.a, self.b, 0, 0, 0, N)))
        self.assertEqual(left["weights stay", "k60 n0"], str(self.b[60][0]))

    def test_commands(self):
        [shown] = self.look("commands", self.matmul)
        self.assertEqual(shown["next command", "opcode"], "MATMUL")
        self.assertEqual(shown["next command", "flags"], "ACCUMULATE+RETAIN")
        self.assertEqual(shown["next command", "rows"], "64")
        self.assertEqual(shown["next command", "state"], "dispatch")
        self.assertEqual(shown["dispatch", "to compute"], "moves")
        self.assertEqual(shown["dispatch", "to results"], "ready")
        self.assertEqual(shown["host writes registers", "register"], "RING_TAIL")

    def test_axi(self):
        [shown] = self.look("axi", self.tile)
        self.assertEqual(shown["data: AXI4 read", "R"], "moves")
        self.assertEqual(shown["data: AXI4 read", "RID"], "activations")
        self.assertEqual(shown["data: AXI4 read", "RRESP"], "OKAY")

    def test_accumulator(self):
        # The sum of row 0 leaves column 0 a second time, with the second tile of K.
        again = self.tile + N + 2 + STAGES
        adds, added = self.look("accumulator", again, again + 1)
        self.assertEqual(adds["column 0", "old sum, bank 0"], str(dot(self.a, self.b, 0, 0, 0, N)))
        self.assertEqual(adds["column 0", "sum of the array"],
                         str(dot(self.a, self.b, 0, 0, N, 2 * N)))
        self.assertEqual(adds["column 0", "is"], "added")
        self.assertEqual(added["column 0", "bank 0, row 0"],
                         str(dot(self.a, self.b, 0, 0, 0, 2 * N)))

    def test_failure(self):
        """The wrong value of a run that failed, in words and figures that GTKWave shows."""
        outcome = run("gemm", N, N, N, "--memory-latency", 20, "--inject", "weight:3,17:7@262",
                      "--trace-mismatch", os.path.join(self.folder, "failure.fst"))
        self.assertEqual(outcome.returncode, 1, outcome.stderr)
        with open(os.path.join(self.folder, "failure.json"), encoding="utf-8") as file:
            wrong = json.load(file)["failure"]["first_wrong"]
        self.files["failure"] = os.path.join(self.folder, "failure.fst")
        before, shown = self.look("failure", 261, wrong["clock"])
        self.assertEqual(shown["the first wrong value", "weight k3 n17"], str(wrong["found"]))
        self.assertEqual(before["the first wrong value", "weight k3 n17"], str(wrong["expected"]))
        self.assertEqual(shown["compute", "state"], "drain")  # of the only tile
