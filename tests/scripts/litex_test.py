#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/fpga/litex.py: which words of the firmware it takes for a verdict, when it compiles again, what it refuses. It needs no LiteX."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)

loader = importlib.machinery.SourceFileLoader("litex_script", "scripts/fpga/litex.py")
litex = importlib.util.module_from_spec(importlib.util.spec_from_loader("litex_script", loader))
loader.exec_module(litex)


def simulated(script):
    """What simulate() prints and throws where the simulator is this shell script."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/gateware/obj_dir")
        path = f"{folder}/gateware/obj_dir/Vsim"
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)
        printed, thrown = io.StringIO(), None
        try:
            with contextlib.redirect_stdout(printed):
                litex.simulate(folder, 1000)
        except litex.Failed as problem:
            thrown = str(problem)
        return printed.getvalue(), thrown


class Verdict(unittest.TestCase):
    def test_verified_is_success_and_the_firmwares_lines_are_shown(self):
        self.assertEqual(simulated("echo '[clocker] loaded'; echo 'firmware: array'; echo 'firmware: VERIFIED, 3 values'; echo finish"),
                         ("firmware: array\nfirmware: VERIFIED, 3 values\n", None))

    def test_wrong_results_fail(self):
        printed, thrown = simulated("echo 'firmware: value 0 is 1'; echo 'firmware: WRONG'")
        self.assertIn("value 0", printed)
        self.assertIn("wrong", thrown)

    def test_silence_fails_and_tells_the_cycles(self):
        self.assertIn("1,000 cycles", simulated("echo '[clocker] loaded'")[1])
        self.assertIn("firmware: array", simulated("echo 'firmware: array'")[1])

    def test_only_the_last_word_of_the_firmware_counts(self):
        self.assertIsNotNone(simulated("echo 'firmware: VERIFIED, 3 values'; echo 'firmware: WRONG'")[1])
        self.assertIsNotNone(simulated("echo 'no firmware: VERIFIED, 3 values'")[1])

    def test_a_simulator_that_fails_is_told_with_its_log(self):
        thrown = simulated("echo 'firmware: VERIFIED, 3 values'; exit 7")[1]
        self.assertIn("7", thrown)
        self.assertIn("simulation.log", thrown)


class Digest(unittest.TestCase):
    def of(self, text, recipe=""):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/sim.v", "w", encoding="utf-8") as file:
                file.write(text)
            return litex.digest([f"{folder}/sim.v"], recipe)

    def test_the_time_in_a_comment_is_no_change(self):
        self.assertEqual(self.of("// Date : 1\nmodule a;\n"), self.of("// Date : 2\nmodule a;\n"))

    def test_code_and_recipe_are(self):
        self.assertNotEqual(self.of("module a;\n"), self.of("module b;\n"))
        self.assertNotEqual(self.of("module a;\n"), self.of("module a;\n", "-O0"))


class Program(unittest.TestCase):
    def run_script(self, *words, **environment):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run(["/usr/bin/python3", "-B", "scripts/fpga/litex.py", "--build", folder, *words], capture_output=True, text=True,
                                  check=False, env={**os.environ, **environment})

    def test_names_what_is_missing(self):
        done = self.run_script(PATH="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "litex: there is no verilator; `scripts/setup/setup.sh litex` installs Debian's verilator\n")

    def test_refuses_what_cannot_be(self):
        for words, named in ((("--n", "5"), "5"), (("--bus", "pci"), "pci"), (("--cycles", "0"), "--cycles"), (("--jobs", "0"), "--jobs")):
            done = self.run_script(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(named, done.stderr)
