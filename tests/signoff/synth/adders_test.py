#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The carries of the control logic's adders give Yosys' own sums, sooner."""

from unittest import mock

from harness import SmallDesigns
from synthesis import mapping, tools

PROOF = """\
read_verilog sums.v
hierarchy -top sums
proc
alumacc
design -save words
{gates}
flatten
rename sums gate
design -stash gates
design -load words
techmap
rename sums gold
design -copy-from gates gate
miter -equiv -flatten gold gate both
sat -verify -prove trigger 0 both
"""


class Adders(SmallDesigns):
    def test_give_the_same_sums_at_each_width(self):
        for width in (1, 2, 3, 5, 8, 13):
            with self.subTest(width=width), open("sums.v", "w", encoding="utf-8") as out:
                out.write(f"module sums(input [{width - 1}:0] a, b, input c, output [{2 * width + 1}:0] y);\n"
                          f"assign y = {{{{1'b0, a}} + b + c, a - b, a < b}};\nendmodule\n")
                out.flush()
                script = PROOF.format(gates=mapping.REST.gates.format(carries=mapping.CARRIES))
                tools.run(["yosys", "-q", "-s", tools.write("./proof.ys", script)], "proof.log")

    def test_are_sooner_than_a_block_s(self):
        text = "reg [47:0] s_q; always @(posedge clk_i) begin s_q <= s_q + {12{a_i}}; b_o <= s_q[47:44]; end"
        shortest = self.made(text).paths["gemm64"][0].ns
        with mock.patch.object(mapping, "REST", mapping.BLOCK):
            self.assertLess(shortest, 0.9 * self.made(text).paths["gemm64"][0].ns)
