#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sim/models/verilate.py: what it leaves for Verilator's CMake package, and what it prints of a failure."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "sim" / "models" / "verilate.py"
STAND_IN = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in --Mdir) folder=$2 ;; --prefix) prefix=$2 ;; bad.v) echo "%Error: bad.v:3: no such module"; exit 1 ;; esac
  shift
done
echo "set(${prefix}_DEPS)" >"$folder/$prefix.cmake"
"""


class Verilate(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.verilator = self.folder / "verilator"
        self.verilator.write_text(STAND_IN, encoding="utf-8")
        self.verilator.chmod(0o755)

    def line(self, prefix, source):
        return f"{self.verilator};--prefix;{prefix};--Mdir;{self.folder / 'models' / prefix};-GN=16'h2;{source}"

    def run_lines(self, *lines):
        commands = self.folder / "commands.txt"
        commands.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return subprocess.run([sys.executable, "-B", SCRIPT, commands], capture_output=True, text=True, check=False)

    def test_leaves_lists_of_sources_and_commands(self):
        lines = {f"V{i}": self.line(f"V{i}", "good.v") for i in range(3 * (os.cpu_count() or 1))}
        result = self.run_lines(*lines.values())
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        for prefix, line in lines.items():
            folder = self.folder / "models" / prefix
            self.assertEqual((folder / f"{prefix}_copy.cmake").read_text(encoding="utf-8"), f"set({prefix}_DEPS)\n")
            # CMake compares it with its own list, which has no newline.
            self.assertEqual((folder / "verilator_args.txt").read_text(encoding="utf-8"), line)

    def test_a_failure_names_the_model_and_is_tried_again(self):
        result = self.run_lines(self.line("Vgood", "good.v"), self.line("Vbad", "bad.v"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("Vbad: exit code 1\n%Error: bad.v:3: no such module\n", result.stderr)
        self.assertNotIn("Vgood", result.stderr)
        self.assertFalse((self.folder / "models" / "Vbad" / "verilator_args.txt").exists())
        self.assertTrue((self.folder / "models" / "Vgood" / "verilator_args.txt").exists())
