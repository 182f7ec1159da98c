#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/wires reads are qrouter's wires."""

import importlib.machinery
import importlib.util
import os
import re
import unittest

from harness import ROOT, SmallDesigns
from synthesis import tools


def script(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(ROOT, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Gates(SmallDesigns):
    def test_have_the_wires_that_were_routed(self):
        tools.write("./one.rc", "n7 1 A_1/Y 3 ( 2.5 0.25 ( 1 0.125 B_1/A ) , ( 4 0.5 C_1/B , ( 8 1 PIN/out ) ) ) \n")
        self.assertEqual(script("wires").spef("one.rc", os.path.abspath("one.spef")), (1, 1.875))
        with open("one.spef", encoding="utf-8") as file:
            text = file.read()
        for line in ("*D_NET n7 1.87500000", "*I A_1:Y O", "*I B_1:A I", "*P out O", "1 n7:2 0.25000000", "4 n7:5 1.00000000"):
            self.assertIn(f"\n{line}\n", text)
        wires = {frozenset(pair): float(ohms) for pair, ohms in
                 (((a, b), ohms) for a, b, ohms in re.findall(r"^\d+ (\S+) (\S+) (\S+)$", text, re.M))}
        for ends, ohms in ((("n7:1", "n7:2"), 2.5), (("n7:2", "n7:3"), 1), (("n7:2", "n7:4"), 4), (("n7:4", "n7:5"), 8),
                           (("n7:1", "A_1:Y"), 0.001), (("n7:3", "B_1:A"), 0.001), (("n7:4", "C_1:B"), 0.001), (("n7:5", "out"), 0.001)):
            self.assertEqual(wires.pop(frozenset(ends)), ohms)
        self.assertFalse(wires)


if __name__ == "__main__":
    unittest.main()
