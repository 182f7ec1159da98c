# SPDX-License-Identifier: Apache-2.0
"""What scripts/asic/netlist.py writes is what was synthesized, but for the cell that is broken; what tests/signoff/netlist/reset.py says of it; what scripts/asic/wires.py reads
are qrouter's wires."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess

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
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(ROOT, "scripts/asic", f"{name}.py"))
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
            lines = [line.split() for line in file]
        self.assertEqual([line[0] for line in lines], ["1", "2", "3"])
        for line in lines:
            self.assertRegex(" ".join(line[3:]), r"^b_o\[[0-3]\](, b_o\[[0-3]\])*( and 1 more)?$")
        for broken in range(5):
            with self.subTest(broken=broken):
                tools.write("./around.v", AROUND.format(broken=broken))
                command = ["yosys", "-q", "-s", tools.write("./proof.ys", PROOF)]
                if broken in (0, 4):  # there is no fourth
                    tools.run(command, "proof.log")
                else:
                    with self.assertRaisesRegex(tools.ToolFailure, "proof did fail"):
                        tools.run(command, "proof.log")

    def test_are_known_after_a_reset_where_they_are_reset(self):
        for reset, wrong in (("!rst_ni", ""), ("!rst_ni && ready_i", "after the reset's first cycle valid_o is unknown")):
            with self.subTest(reset=reset):
                self.rtl("gemm64", "module gemm64(input clk_i, input rst_ni, input ready_i, input go_i, output reg valid_o, output reg data_o);\n"
                         f"always @(posedge clk_i) begin data_o <= go_i; if ({reset}) valid_o <= 1'b0; "
                         "else valid_o <= ready_i ? data_o : valid_o; end\nendmodule\n")
                script("netlist").write("gemm64", {}, 1, 1, cells.Cells(cells.OSU018), os.path.abspath("out/gemm64.v"))
                run = subprocess.run([os.path.join(ROOT, "tests/signoff/netlist/reset.py"), "out/gemm64.json"], capture_output=True, text=True, check=False)
                self.assertEqual(run.returncode, 1 if wrong else 0, run.stdout + run.stderr)
                self.assertIn(wrong, run.stderr)
                if not wrong:
                    self.assertIn("after the reset: 1 of 2 registers are known", run.stdout)

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
