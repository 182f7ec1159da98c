# SPDX-License-Identifier: Apache-2.0
"""Which tests `tests/signoff/mutation/run` shows a mutant first: a module's own, whatever suites and files are called; and that a
draw writes the mutants that it tries and no others."""
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MUTATION = os.path.join(ROOT, "tests", "signoff", "mutation")
sys.path.insert(0, MUTATION)
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("mutants_run", os.path.join(MUTATION, "run"))
RUN = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants_run", LOADER))
LOADER.exec_module(RUN)
# The whole accelerator, and what has no mutants
WITHOUT = {"gemm64.v", "gemm64_config_check.v"}


class Suites(unittest.TestCase):
    def test_every_module_has_tests_of_its_own(self):
        modules = {name for name in os.listdir(os.path.join(ROOT, "rtl")) if name.endswith(".v")}
        self.assertEqual({module for module in modules if not RUN.suites(module)}, WITHOUT)

    def test_they_are_those_of_its_file_and_of_others_that_know_it(self):
        self.assertTrue(RUN.matches("Commands.AreDispatchedInOrder", RUN.suites("gemm64_command_processor.v")))
        self.assertTrue(RUN.matches("Array/3.AddsProducts", RUN.suites("gemm64_skew.v")))
        self.assertFalse(RUN.matches("Weights.AreReadOnce", RUN.suites("gemm64_skew.v")))

    def test_their_models_are_those_of_one_module(self):
        """A build of few mutants leaves out modules that its tests do not name."""
        with open(os.path.join(ROOT, "tests", "rtl", "CMakeLists.txt"), encoding="utf-8") as file:
            more = dict(re.findall(r"rtl_module\((\w+)[^()]*?MORE (\w+)_test\.cpp", file.read()))
        built_with = {test: module for module, test in more.items()}
        for file in os.listdir(os.path.join(ROOT, "rtl")):
            tests = RUN.tests_of_module(file) if file.endswith(".v") else []
            for test in tests:
                self.assertIn(built_with.get(test, test), tests, file)


class Draw(unittest.TestCase):
    def mutate(self, folder, *options):
        subprocess.run([os.path.join(MUTATION, "mutate"), folder, *options], check=True, capture_output=True)
        with open(os.path.join(folder, "mutants.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_writes_what_it_tries_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as every, tempfile.TemporaryDirectory() as few:
            known, drawn = self.mutate(every), self.mutate(few, "--draw", "12")
            self.assertEqual(drawn["mutants"], RUN.trial.drawn(known["mutants"], 12, "", ROOT))
            self.assertEqual(drawn["names"], known["names"])
            numbers = {}
            for name in sorted(os.listdir(few)):
                if name.endswith(".v"):
                    with open(os.path.join(few, name), encoding="utf-8") as file:
                        text = file.read()
                    numbers |= {int(number): name for number in re.findall(r"mutant == 16'd(\d+)", text)}
                    if name not in {mutant["file"] for mutant in drawn["mutants"]}:
                        with open(os.path.join(ROOT, "rtl", name), encoding="utf-8") as file:
                            self.assertEqual(text, file.read())
            self.assertEqual(numbers, {mutant["number"]: mutant["file"] for mutant in drawn["mutants"]})
