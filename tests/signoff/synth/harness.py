# SPDX-License-Identifier: Apache-2.0
"""Small designs for the tests of synthesis, in a folder of their own."""

import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts", "asic"))
from synthesis import cells, run, tools  # noqa: E402


class SmallDesigns(unittest.TestCase):
    """Each test works in a new folder; tools that are missing fail it."""

    def setUp(self):
        tools.check(cells.OSU018)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        os.mkdir("rtl")
        self.rtl("gemm64_defs", "", "vh")

    def rtl(self, module, text, ending="v"):
        with open(f"rtl/{module}.{ending}", "w", encoding="utf-8") as out:
            out.write(text)

    def made(self, text="", top="gemm64", **parameters):
        """What synthesis finds of a top, whose body is given."""
        if text:
            self.rtl(top, f"module {top}(input clk_i, input [3:0] a_i, output reg [3:0] b_o);\n{text}\nendmodule\n")
        return run.all_of([(top, parameters)], cells.Cells(cells.OSU018), "out")[0]
