# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/fpga/fpga.py: what it counts, and what it says where it cannot."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts", "fpga"))
os.chdir(ROOT)

from fpga_model import devices, synthesis  # noqa: E402


class Devices(unittest.TestCase):
    def test_adds_up_what_cells_take(self):
        used = devices.cost({"LUT6": 5, "LUT2": 2, "INV": 1, "SRL16E": 3, "RAM32M16": 2, "FDRE": 7, "FDSE": 1, "DSP48E2": 4,
                             "RAMB36E2": 2, "RAMB18E2": 3, "CARRY4": 9, "MUXF7": 1})
        self.assertEqual(used, {"LUTs": 27, "LUTs as memory": 19, "flip-flops": 8, "DSPs": 4, "block RAMs": 3.5})

    def test_refuses_a_cell_that_it_cannot_price(self):
        with self.assertRaisesRegex(devices.UnknownCell, "URAM288"):
            devices.cost({"URAM288": 1})

    def test_names_the_smallest_device_that_holds_all(self):
        need = {"LUTs": 1, "flip-flops": 1, "DSPs": 1_201, "block RAMs": 1}
        self.assertEqual(devices.smallest(need), "XCKU5P")
        self.assertEqual(devices.smallest({**need, "block RAMs": 481}), "XCKU15P")
        self.assertIsNone(devices.smallest({**need, "DSPs": 100_000}))


class Synthesis(unittest.TestCase):
    def test_the_array_takes_a_dsp_a_mac(self):
        with tempfile.TemporaryDirectory() as folder:
            design = synthesis.Design(8, folder, "gemm64_array")
            stages = [name for name in design.texts if synthesis.kind(name) == "gemm64_stage"]
            self.assertEqual([design.counts()[name] for name in stages], [2])
            rest = synthesis.cells(design, design.top, stages)
            self.assertNotIn(stages[0], rest)
            stage = synthesis.cells(design, stages[0], [name for name in design.texts if name != stages[0]])
            self.assertEqual(2 * devices.cost(stage[stages[0]])["DSPs"], 64)
            self.assertGreater(sum(devices.cost(cells)["LUTs as memory"] + devices.cost(cells)["flip-flops"] for cells in rest.values()), 0)

    def test_a_module_that_yosys_refuses_is_told_with_its_log(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(synthesis.ToolFailure, "gemm64_nothing"):
                synthesis.Design(8, folder, "gemm64_nothing")


class Program(unittest.TestCase):
    def test_names_what_is_missing(self):
        done = subprocess.run(["/usr/bin/python3", "-B", "scripts/fpga/fpga.py"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "fpga: there is no yosys; `scripts/setup/setup.sh fpga` installs Debian's yosys\n")

    def test_refuses_another_n(self):
        done = subprocess.run(["/usr/bin/python3", "-B", "scripts/fpga/fpga.py", "--n", "12"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--n: invalid choice: 12", done.stderr)
