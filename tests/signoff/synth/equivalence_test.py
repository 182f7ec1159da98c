#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/asic/equivalence.py proves gates that do what the RTL does, and none that do not."""

import importlib.machinery
import importlib.util
import json
import os
import random
import subprocess
from unittest import mock

from harness import ROOT, SmallDesigns
from synthesis import between, cells, equivalence, models, tools

# A sum in two registers that hold the same, one that always becomes 5, and one that is not read.
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
# Products with a sign and without, a number, and one that is taken away.
PRODUCTS = """\
reg signed [4:0] x_q, y_q, z_q;
reg [3:0] u_q;
reg [9:0] sum_q, other_q;
always @(posedge clk_i) begin
    x_q     <= {x_q[0], a_i};
    y_q     <= {y_q[0], x_q[4:1]};
    z_q     <= {y_q[0], x_q[4:1] ^ a_i};
    u_q     <= a_i + {x_q[1], y_q[3:1]};
    sum_q   <= $signed(sum_q) + x_q * y_q + y_q * z_q - z_q;
    other_q <= other_q + u_q * x_q[3:0] + u_q;
    b_o     <= sum_q[9:6] ^ other_q[9:6];
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

    def test_is_proved_of_products(self):
        proof = self.comparison(PRODUCTS).prove()
        self.assertEqual((proof.left_out, proof.alone, proof.undecided), (0, 0, ()))

    def test_names_what_is_not_decided(self):
        comparison = self.comparison(PRODUCTS)
        with mock.patch.object(between.Patterns, "known", lambda *_: False), mock.patch.multiple(equivalence, CONFLICTS=(1,), LAST_SECONDS=1):
            undecided = comparison.prove().undecided
        self.assertTrue(undecided)
        self.assertTrue([name for name in undecided if name.startswith("next.sum_q[")])

    def test_fails_for_each_broken_cell(self):
        for body in (SUM, MEMORY):
            comparison = self.comparison(body)
            comparison.prove()
            self.assertGreater(len(comparison.breakable()), 5)
            for cell in comparison.breakable():
                with self.subTest(cell=cell), self.assertRaisesRegex(equivalence.Different, "in the RTL and . in the netlist"):
                    comparison.prove_broken(cell)
            self.assertFalse(comparison.prove().undecided)

    def test_fails_where_patterns_at_random_tell_no_difference(self):
        comparison = self.comparison(SUM)
        comparison.prove()
        with mock.patch.object(between.Patterns, "run", lambda _, wanted: dict.fromkeys(wanted, 0)):
            for cell in comparison.breakable()[:5]:
                with self.subTest(cell=cell), self.assertRaisesRegex(equivalence.Different, "NOT EQUIVALENT"):
                    comparison.prove_broken(cell)

    def test_takes_a_constant_for_one_only_where_it_stays(self):
        comparison = self.comparison(SUM)
        comparison.netlist["netnames"]["sum_q"]["bits"][1] = "0"
        with self.assertRaisesRegex(equivalence.Different, r"next\.(sum|b)_[qo]\[1\]"):
            comparison.prove()

    def test_fails_where_two_registers_are_not_the_same(self):
        comparison = self.comparison(SUM)
        names = comparison.netlist["netnames"]
        names["sum_q"]["bits"] = names["sum_q"]["bits"][::-1]
        with self.assertRaises(equivalence.Different):
            comparison.prove()

    def test_fails_where_a_register_has_lost_a_bit(self):
        comparison = self.comparison(SUM)
        comparison.netlist["netnames"]["sum_q"]["bits"].pop()
        with self.assertRaises(equivalence.Different):
            comparison.prove()

    def test_knows_a_register_whose_upper_bits_have_yosys_own_name_alone(self):
        comparison = self.comparison(SUM)
        nets = comparison.netlist["netnames"]
        nets["$own"] = {"hide_name": 1, "bits": list(nets["sum_q"]["bits"])}
        nets["sum_q"]["bits"].pop()
        proof = comparison.prove()
        self.assertEqual((proof.left_out, proof.alone), (0, 0))

    def test_fails_where_a_register_is_lost(self):
        comparison = self.comparison(SUM)
        del comparison.netlist["netnames"]["b_o"]
        with self.assertRaisesRegex(equivalence.Different, r"b_o\["):
            comparison.prove()

    def test_takes_no_failure_of_abc_for_a_difference(self):
        comparison = self.comparison(SUM)
        def other_outputs(_, path, *__):
            tools.write(path, f".model gates\n.inputs a\n.outputs {os.path.basename(path)}\n.names a {os.path.basename(path)}\n1 1\n.end\n")
        with mock.patch.object(between.Side, "blif", other_outputs), self.assertRaisesRegex(tools.ToolFailure, "ABC compared 1 outputs of 16"):
            comparison.prove()

    def test_takes_no_second_clock(self):
        with self.assertRaisesRegex(tools.ToolFailure, "its clock is not clk_i"):
            self.comparison("always @(posedge a_i[0]) b_o <= a_i;")

    def test_takes_no_loop(self):
        module = {"ports": {}, "netnames": {}, "cells": {
            str(i): {"type": "$_NOT_", "connections": {"A": [i], "Y": [3 - i]}} for i in (1, 2)}}
        side = between.Side(module, models.SIMPLE)
        with self.assertRaisesRegex(tools.ToolFailure, "a loop of gates"):
            between.Patterns(side, {}).run({"a": 1})

    def test_names_a_folder_that_cannot_be(self):
        tools.write("./file", "")
        done = subprocess.run([os.path.join(ROOT, "scripts/asic/equivalence.py"), "--array", "2", "--out", os.path.abspath("file/x")],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, "equivalence: .*file/x.*: Not a directory")

    def script(self):
        loader = importlib.machinery.SourceFileLoader("equivalence_script", os.path.join(ROOT, "scripts/asic/equivalence.py"))
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(script)
        return script

    def test_tells_of_a_tool_that_fails_in_the_row_of_its_part(self):
        script = self.script()
        options = mock.Mock(out=".", broken=1, seed=1)
        with mock.patch.object(equivalence, "Comparison", side_effect=tools.ToolFailure("yosys failed")):
            row = script.prove("gemm64_skew", "gemm64_skew", {}, None, options)
        self.assertEqual((row["part"], row["proof"], row["cause"]), ("gemm64_skew", None, "yosys failed"))
        self.assertEqual([(found["figure"], found["met"]) for found in script.summary([row], 1)["rows"]][0], ("0 of 1 parts", False))

    def test_misses_its_goal_where_something_is_not_decided(self):
        script = self.script()
        proof = {"registers": 5, "left_out": 0, "constant": 0, "alone": 0, "functions": 7, "undecided": ("next.a",)}
        row = {"part": "gemm64", "proof": proof, "broken": 2, "noticed": 2, "seconds": 1, "cause": "not proved: next.a"}
        self.assertEqual(script.line(row), ["gemm64", "5", "0", "0", "0", "7", "6", 2, 2, "1", "not proved: next.a"])
        rows = script.summary([row], 1)["rows"]
        self.assertEqual([(found["figure"], found["met"]) for found in rows], [("0 of 1 parts", False), ("6 of 7", False), ("2 of 2", True)])

    def test_builds_sums_in_any_order(self):
        seed = random.randrange(1 << 32)
        print("seed", seed)
        draw = random.Random(seed)
        for _ in range(20):
            self.build(draw)

    def build(self, draw):
        """A sum of numbers of any width and sign, and products of such, whose adders are taken as they come or as a netlist has none."""
        terms, nets = [], []
        for signed, subtracted, multiplied in (draw.choices((0, 1), k=3) for _ in range(draw.randint(1, 4))):
            widths = draw.randint(1, 6), draw.randint(1, 6) * multiplied
            terms.append((signed, subtracted, *widths))
            nets += range(2 + len(nets), 2 + len(nets) + sum(widths))
        config = [1, 1, 0, 0] + [bit for signed, subtracted, *widths in terms
                                 for bit in (signed, subtracted, *(width >> i & 1 for width in widths for i in range(3)))]
        bits = list(range(100, 100 + draw.randint(0, 2)))
        outputs = list(range(200, 200 + draw.randint(3, 14)))
        cell = {"type": "$macc", "parameters": {"CONFIG": "".join(map(str, reversed(config)))},
                "connections": {"A": nets, "B": bits, "Y": outputs}}
        side = between.Side({"ports": {}, "netnames": {}, "cells": {"sum": cell}}, models.SIMPLE)
        patterns = between.Patterns(side, {str(net): [net] for net in nets + bits})
        like = draw.choice((lambda *_: False, lambda *_: draw.random() < 0.3))
        with mock.patch.object(patterns, "known", like):
            side.build_sums(patterns, outputs)
        found = patterns.run({str(net): net for net in outputs})
        for at in range(between.PATTERNS):
            def number(nets, signed):
                value = sum((patterns.values[net] >> at & 1) << i for i, net in enumerate(nets))
                return value - (value >> len(nets) - 1 << len(nets)) * signed
            expected, rest = sum(number([bit], 0) for bit in bits), nets
            for signed, subtracted, first, second in terms:
                product = number(rest[:first], signed) * (number(rest[first:first + second], signed) if second else 1)
                expected += -product if subtracted else product
                rest = rest[first + second:]
            got = sum((found[str(net)] >> at & 1) << i for i, net in enumerate(outputs))
            self.assertEqual(got, expected % (1 << len(outputs)), json.dumps(terms))
