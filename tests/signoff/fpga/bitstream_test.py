#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/fpga/bitstream.py: what it reads from nextpnr's report, and what it says where it cannot. It places nothing."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts", "fpga"))
os.chdir(ROOT)

loader = importlib.machinery.SourceFileLoader("bitstream", "scripts/fpga/bitstream.py")
bitstream = importlib.util.module_from_spec(importlib.util.spec_from_loader("bitstream", loader))
loader.exec_module(bitstream)


def step(kind, delay, source, target, net=""):
    return {"type": kind, "delay": delay, "net": net, "from": {"cell": source}, "to": {"cell": target}}


CORE = "$glbnet$clk"
REPORT = {
    "utilization": {"TRELLIS_COMB": {"used": 100, "available": 1000}, "TRELLIS_FF": {"used": 50, "available": 1000},
                    "MULT18X18D": {"used": 3, "available": 156}, "DP16KD": {"used": 104, "available": 208}},
    "fmax": {CORE: {"achieved": 41.5, "constraint": 50.0}, "clk_25mhz": {"achieved": 300.0, "constraint": 25.0}},
    "critical_paths": [
        {"from": "posedge clk_25mhz", "to": "posedge clk_25mhz", "path": [step("setup", 99.0, "x", "x")]},
        {"from": f"posedge {CORE}", "to": f"posedge {CORE}", "path": [
            step("clk-to-q", 0.5, "u_board.u_gemm64.u_weights.u_bursts.left_q_FF", "u_board.u_gemm64.u_weights.u_bursts.left_q_FF"),
            step("routing", 2.0, "u_board.u_gemm64.u_weights.u_bursts.left_q_FF", "$abc$1", "u_board.u_gemm64.u_weights.u_bursts.left_q[3]"),
            step("logic", 0.25, "$abc$1", "$abc$1"),
            step("routing", 1.0, "$abc$1", "u_board.u_memory.lane[0].u_ram.memory_q.0"),
            step("setup", 0.125, "u_board.u_memory.lane[0].u_ram.memory_q.0", "u_board.u_memory.lane[0].u_ram.memory_q.0")]}],
}


class Report(unittest.TestCase):
    def test_tells_what_is_used_of_what_there_is(self):
        found = bitstream.figures(REPORT)
        self.assertEqual(found["resources"], {"LUTs": (100, 1000), "flip-flops": (50, 1000), "MULT18X18D": (3, 156), "block RAMs": (104, 208)})

    def test_takes_the_fastest_clock_and_its_longest_path(self):
        found = bitstream.figures(REPORT)
        self.assertEqual((found["mhz"], found["wanted_mhz"]), (41.5, 50.0))
        self.assertEqual(sum(a + b for _, a, b in found["path"]), 3.875)

    def test_a_path_is_told_by_modules(self):
        self.assertEqual(bitstream.figures(REPORT)["path"],
                         [["gemm64.weights.bursts", 0.75, 2.0], ["memory.ram", 0.125, 1.0]])

    def test_prints_shares_and_both_kinds_of_delay(self):
        text = bitstream.report_text({"N=4": bitstream.figures(REPORT)})
        for words in ("104 (50%)", "41.5", "3.9 ns, 0.9 of logic, 3.0 of wires", "gemm64.weights.bursts"):
            self.assertIn(words, text)


class Program(unittest.TestCase):
    def run_script(self, *words, **environment):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run(["/usr/bin/python3", "-B", "scripts/fpga/bitstream.py", "--build", folder, *words], capture_output=True, text=True,
                                  check=False, env={**os.environ, **environment})

    def test_names_what_is_missing(self):
        done = self.run_script(PATH="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "bitstream: there is no yosys; `scripts/setup/setup.sh bitstream` installs Debian's yosys\n")

    def test_refuses_another_n(self):
        done = self.run_script("--n", "64")
        self.assertEqual(done.returncode, 2)
        self.assertIn("64", done.stderr)

    def test_refuses_parameters_of_nothing_and_words(self):
        self.assertIn("--module", self.run_script("--set", "N=4").stderr)
        self.assertIn("NAME=VALUE", self.run_script("--module", "gemm64_stage", "--set", "N=four").stderr)


class Board(unittest.TestCase):
    def test_clocks_are_those_of_the_oscillator_and_the_pll(self):
        for n, board in bitstream.BOARDS.items():
            self.assertEqual(25 * board["MULTIPLIER"], board["MHZ"] * board["DIVIDER"], f"N={n}")
            self.assertTrue(400 <= board["MHZ"] * board["VCO_DIVIDER"] <= 800, f"N={n}")

    def test_each_pin_of_the_board_has_a_place(self):
        with open(bitstream.PINS, encoding="utf-8") as file:
            pins = file.read()
        for name in ("clk_25mhz", "button", "ftdi_txd", "ftdi_rxd", "wifi_gpio0", *(f"led[{i}]" for i in range(8))):
            self.assertIn(f'LOCATE COMP "{name}" SITE', pins)

    def test_yosys_elaborates_the_board(self):
        inside = " ".join(source for source in bitstream.sources() if source != "rtl/gemm64.v")
        script = (f"read_verilog -defer -Irtl -Irtl/board {inside}; read_verilog -lib -Irtl rtl/gemm64.v +/ecp5/cells_bb.v; "
                  f"hierarchy -check -top {bitstream.TOP}; proc; check -assert")
        done = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
