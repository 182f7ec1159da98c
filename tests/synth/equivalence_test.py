#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/equivalence proves gates that do what the RTL does, and none that do not."""

import os
import subprocess
import unittest
from unittest import mock

from harness import ROOT, SmallDesigns
from synthesis import cells, equivalence, tools

# A sum in two registers that hold the same, one that always becomes 5, and one that nobody reads.
SUM = """\
reg [3:0] sum_q, same_q, five_q, unread_q;
always @(posedge clk_i) begin
    sum_q    <= sum_q + a_i;
    same_q   <= sum_q + a_i;
    five_q   <= 4'd5;
    unread_q <= a_i ^ b_o;
    b_o      <= a_i[0] ? sum_q : same_q & five_q;
end
"""
MEMORY = """\
reg [3:0] memory [0:15];
reg [3:0] at_q, data_q;
always @(posedge clk_i) begin
    at_q <= at_q + 4'd1;
    if (a_i[3]) memory[at_q] <= ~a_i;
    data_q <= memory[a_i];
    b_o <= data_q ^ at_q;
end
"""


class Equivalence(SmallDesigns):
    def comparison(self, body, top="gemm64"):
        self.rtl(top, f"module {top}(input clk_i, input [3:0] a_i, output reg [3:0] b_o);\n{body}\nendmodule\n")
        return equivalence.Comparison(top, {}, cells.Cells(cells.OSU018), os.path.abspath("out"))

    def test_is_proved_of_what_was_mapped(self):
        proof = self.comparison(SUM).prove()
        self.assertEqual((proof.left_out, proof.alone), (0, 0))
        self.assertEqual((proof.registers, proof.functions), (12, 12 + 4))  # and the output's bits

    def test_is_proved_around_a_memory(self):
        self.assertEqual(self.comparison(MEMORY, "gemm64_ram").prove().left_out, 0)

    def test_fails_for_each_broken_cell(self):
        for body in (SUM, MEMORY):
            comparison = self.comparison(body)
            self.assertGreater(len(comparison.breakable()), 5)
            for cell in comparison.breakable():
                with self.subTest(cell=cell), self.assertRaisesRegex(equivalence.Different, "NOT EQUIVALENT"):
                    comparison.prove(cell)

    def test_takes_a_constant_for_one_only_where_it_stays(self):
        comparison = self.comparison(SUM)
        comparison.netlist["netnames"]["sum_q"]["bits"][1] = "0"
        with self.assertRaisesRegex(equivalence.Different, r"next\.sum_q\[1\]"):
            comparison.prove()

    def test_fails_where_two_registers_are_not_the_same(self):
        comparison = self.comparison(SUM)
        names = comparison.netlist["netnames"]
        names["sum_q"]["bits"] = names["sum_q"]["bits"][::-1]
        with self.assertRaises(equivalence.Different):
            comparison.prove()

    def test_fails_where_a_register_is_lost(self):
        comparison = self.comparison(SUM)
        del comparison.netlist["netnames"]["b_o"]
        with self.assertRaisesRegex(equivalence.Different, r"b_o\["):
            comparison.prove()

    def test_takes_no_failure_of_abc_for_a_difference(self):
        comparison = self.comparison(SUM)
        def other_outputs(path, *_):
            tools.write(path, f".model gates\n.inputs a\n.outputs {os.path.basename(path)}\n.names a {os.path.basename(path)}\n1 1\n.end\n")
        with mock.patch.object(equivalence, "blif", other_outputs), self.assertRaisesRegex(tools.ToolFailure, "did not decide"):
            comparison.prove()

    def test_takes_no_second_clock(self):
        with self.assertRaisesRegex(tools.ToolFailure, "its clock is not clk_i"):
            self.comparison("always @(posedge a_i[0]) b_o <= a_i;")

    def test_names_a_folder_that_cannot_be(self):
        tools.write("./file", "")
        done = subprocess.run([os.path.join(ROOT, "scripts/equivalence"), "--array", "2", "--out", os.path.abspath("file/x")],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, "equivalence: .*file/x.*: Not a directory")


if __name__ == "__main__":
    unittest.main()
