#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/netlist writes is what was synthesized, but for the cell that is broken; what scripts/wires reads are qrouter's wires."""

import importlib.machinery
import importlib.util
import os
import re
import unittest

from harness import ROOT, SmallDesigns
from synthesis import cells, tools

PROOF = """\
read_verilog rtl/gemm64.v
rename gemm64 gold
read_verilog out/gemm64.v
rename gemm64 netlist
read_verilog around.v
hierarchy
proc
memory
flatten gold gate
miter -equiv -flatten gold gate both
sat -verify -tempinduct -prove trigger 0 -set-init-zero both
"""
AROUND = """\
module gate(input clk_i, input [3:0] a_i, output [3:0] b_o);
    netlist all (.clk_i(clk_i), .a_i(a_i), .b_o(b_o), .broken_i(8'd{broken}));
endmodule
"""


def script(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(ROOT, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Gates(SmallDesigns):
    def test_of_the_netlist_do_what_the_rtl_does_but_for_the_broken_one(self):
        self.rtl("gemm64", "module gemm64(input clk_i, input [3:0] a_i, output reg [3:0] b_o);\n"
                 "always @(posedge clk_i) b_o <= (b_o ^ a_i) + {2{a_i[1:0]}};\nendmodule\n")
        library = cells.Cells(cells.OSU018)
        kinds = script("netlist").write("gemm64", {}, 3, 1, library, os.path.abspath("out/gemm64.v"))
        self.assertEqual(kinds["DFFPOSX1"], 4)
        with open("out/gemm64.broken", encoding="utf-8") as file:
            self.assertEqual([line.split()[0] for line in file], ["1", "2", "3"])
        for broken in range(5):
            with self.subTest(broken=broken):
                tools.write("./around.v", AROUND.format(broken=broken))
                command = ["yosys", "-q", "-s", tools.write("./proof.ys", PROOF)]
                if broken in (0, 4):  # there is no fourth
                    tools.run(command, "proof.log")
                else:
                    with self.assertRaisesRegex(tools.ToolFailure, "proof did fail"):
                        tools.run(command, "proof.log")

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
