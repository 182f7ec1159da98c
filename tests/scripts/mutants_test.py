# SPDX-License-Identifier: Apache-2.0
"""Which tests `tests/signoff/mutation/run` shows a mutant first: a module's own, whatever suites and files are called."""
import importlib.machinery
import importlib.util
import os
import sys
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


if __name__ == "__main__":
    unittest.main()
