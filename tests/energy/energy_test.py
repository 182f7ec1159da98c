# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/energy's parts: tables, gates and sums. Icarus Verilog is the reference for gates."""

import json
import os
import random
import subprocess
import tempfile
import unittest

import cells
from energy_model import crosscheck, electrical, liberty, measure, netlist, outputs, parts, simulate

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "energy")
BUILD = tempfile.TemporaryDirectory()  # holds the simulator, compiled once
SEED = int(os.environ.get("GEMM64_SEED", "1"))


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)
        path = os.path.join(self.folder, "cells.lib")
        with open(path, "w", encoding="utf-8") as file:
            file.write(cells.liberty())
        self.liberty = liberty.Library(path)

    def counts(self, gates, model, inputs, stimulus, **options):
        program = simulate.simulator(BUILD.name)
        return simulate.simulate(program, model, os.path.join(self.folder, "run"), inputs, stimulus, **options)


class Liberty(Case):
    def test_interpolates_between_loads_and_beyond_them(self):
        table = self.liberty.cells["NAND2X1"].delays["Y", "A"][0][0]
        for load, delay in ((0.01, 0.05), (0.02, 0.06), (0.05, 0.09)):
            self.assertAlmostEqual(table.at(load, 0.2), delay)

    def test_reads_functions(self):
        for text, steps in (("!((A B)+C)", ["A", "B", "&", "C", "|", "!"]), ("A^B", ["A", "B", "^"]),
                            ("A' B+C", ["A", "!", "B", "&", "C", "|"]), ("A*(B+C)", ["A", "B", "C", "|", "&"])):
            self.assertEqual(liberty.postfix(text, "ABC"), steps, text)

    def test_refuses_other_units(self):
        path = os.path.join(self.folder, "other.lib")
        with open(path, "w", encoding="utf-8") as file:
            file.write(cells.liberty().replace('"1ns"', '"1ps"'))
        with self.assertRaisesRegex(liberty.LibertyError, "1 pF and 1 ns"):
            liberty.Library(path)


class Energy(Case):
    def test_adds_what_is_known_by_hand(self):
        """A register that flips in each clock, and an inverter behind it that drives two."""
        gates = cells.Gates(self.liberty)
        out = gates.new()
        first = gates.gate("INVX1", out)
        gates.register(first, out=out)
        gates.gate("INVX1", first)
        model = electrical.Electrical(gates, self.liberty)
        clocks = 10
        counts = self.counts(gates, model, [], [[1]] * clocks)
        energy = simulate.energy(model, counts, clocks, 1)
        half = 0.5 * cells.VOLTS ** 2
        self.assertAlmostEqual(energy["cells"], clocks * 3 * cells.INSIDE_PJ)
        # The register drives one input, the inverter another one and the register's.
        self.assertAlmostEqual(energy["nets"], clocks * 3 * cells.LOAD_PF * half)
        self.assertAlmostEqual(energy["clock"], clocks * (0.05 + 0.15 + 2 * cells.LOAD_PF * half))
        self.assertAlmostEqual(energy["glitches"], 0)

    def test_counts_only_the_copies_named(self):
        gates = cells.Gates(self.liberty)
        pin = gates.new()
        out = gates.gate("INVX1", pin)
        model = electrical.Electrical(gates, self.liberty)
        every = (1 << 128) - 1
        counts = self.counts(gates, model, [pin], [[7, every if clock % 2 else 0] for clock in range(9)])
        self.assertEqual(counts.changes[out], 3 * 8)

    def test_a_gated_clock_costs_where_it_passes(self):
        gates = cells.Gates(self.liberty)
        enable, data = gates.new(), gates.new()
        for _ in range(5):
            gates.register(data, enable)
        model = electrical.Electrical(gates, self.liberty)
        rest, through = model.gate_energy(5)
        for on in (0, 3, 8):
            counts = self.counts(gates, model, [enable, data], [[1, clock < on, 0] for clock in range(8)])
            self.assertAlmostEqual(simulate.energy(model, counts, 8, 1)["clock"], 8 * rest + on * through)
        self.assertGreater(through, 5 * (0.2 + 2 * cells.LOAD_PF * 2.0))

    def test_feeds_a_copy_from_the_one_before(self):
        gates = cells.Gates(self.liberty)
        first, again = gates.new(), gates.new()
        out = gates.register(gates.gate("XOR2X1", first, again))
        model = electrical.Electrical(gates, self.liberty)
        counts = self.counts(gates, model, [first], [[1, clock == 0] for clock in range(4)], backs=[(again, out, 3)], watched=[out])
        self.assertEqual(counts.watched, [[0], [1], [8], [64]])


class Gates(Case):
    def test_as_icarus_does_glitches_too(self):
        """Random gates with the delays of their tables, copy 77: every change of every net, and what it settles at."""
        random.seed(SEED)
        gates = cells.Gates(self.liberty)
        inputs = [gates.new() for _ in range(4)]
        registers = [gates.new() for _ in range(12)]
        pool = inputs + registers
        for _ in range(150):
            cell = random.choice([name for name in cells.FUNCTIONS if name != "AND2X2"])
            pool.append(gates.gate(cell, *random.choices(pool[-40:], k=len(cells.FUNCTIONS[cell][1]))))
        for net in registers:
            gates.register(random.choice(pool[-60:]), random.choice([None, random.choice(pool)]), net)
        model = electrical.Electrical(gates, self.liberty)
        # No two paths of equal length, or it is for each simulator to say which pulse passes.
        model.delay = [simulate.STEP_NS * random.randint(1, 9) for _ in model.delay]
        clocks = [[random.getrandbits(1) for _ in inputs] for _ in range(60)]
        counts = self.counts(gates, model, inputs, [[1 << 77] + [value << 77 for value in clock] for clock in clocks])
        changes = icarus(self.folder, simulate.describe(model, inputs, [], []), inputs, clocks)
        self.assertEqual([counts.changes[net] for net in range(2, gates.nets)], changes[2:], f"seed {SEED}")
        self.assertGreater(sum(counts.changes), sum(counts.settled))  # there were glitches


def icarus(folder, text, inputs, clocks):
    """Changes of each net, as Icarus Verilog counts them in the same description."""
    body, count = [], 0
    for line in text.splitlines():
        kind, *words = line.split()
        words = list(map(int, words))
        if kind == "nets":
            count = words[0]
        elif kind == "input":
            body.append(f"assign #{words[1]} w[{words[0]}] = pins[{inputs.index(words[0])}];")
        elif kind == "register":
            enable = "" if words[2] < 0 else f"if (w[{words[2]}]) "
            body.append(f"reg q{words[0]} = 0; assign #{words[3]} w[{words[0]}] = q{words[0]}; "
                        f"always @(posedge clk) {enable}q{words[0]} <= w[{words[1]}];")
        elif kind == "gate":
            stack = []
            for step in words[2:]:
                if step >= 0:
                    stack.append(f"w[{step}]")
                elif step == -1:
                    stack.append(f"(~{stack.pop()})")
                else:
                    right = stack.pop()
                    stack.append(f"({stack.pop()} {' &|^'[-step - 1]} {right})")
            body.append(f"assign #{words[1]} w[{words[0]}] = {stack[0]};")
    steps = "".join(f"pins = {len(inputs)}'b{''.join(str(bit) for bit in reversed(clock))}; clk = 1; #5000 clk = 0; #5000;\n" for clock in clocks)
    path = os.path.join(folder, "gates.v")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""module gates; wire [{count - 1}:0] w; reg [{len(inputs) - 1}:0] pins = 0; reg clk = 0, on = 0;
assign w[0] = 1'b0; assign w[1] = 1'b1;
{chr(10).join(body)}
genvar g; generate for (g = 0; g < {count}; g = g + 1) begin : net
integer changes = 0; always @(w[g]) if (on) changes = changes + 1; initial #9000000 $display("%0d", changes); end endgenerate
initial begin #10000 on = 1;
{steps} #10000000 $finish; end endmodule
""")
    subprocess.run(["iverilog", "-g2001", "-o", path + "vp", path], check=True)
    return [int(line) for line in subprocess.run(["vvp", path + "vp"], check=True, capture_output=True, text=True).stdout.split()]


class Netlist(Case):
    def test_registers_share_a_clock_gate_behind_buffers(self):
        cell = lambda kind, **pins: {"type": kind, "connections": {pin: [net] for pin, net in pins.items()}}  # noqa: E731
        body = {"ports": {"e": {"direction": "input", "bits": [2]}, "q": {"direction": "output", "bits": [5, 6]}},
                "cells": {"b0": cell("BUFX2", A=2, Y=3), "b1": cell("BUFX2", A=3, Y=4),
                          "r0": cell(netlist.GATED, D="0", E=4, Q=5), "r1": cell(netlist.GATED, D=3, E=2, Q=6)}}
        path = os.path.join(self.folder, "netlist.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"modules": {"top": body}}, file)
        gates = netlist.Netlist(path, "top", self.liberty)
        self.assertEqual([len(group) for group in electrical.Electrical(gates, self.liberty).groups.values()], [2])
        self.assertEqual(len(gates.instances), 3)  # the buffer that still drives data stays, the other one goes


    def test_memories_of_their_own_stand_beside_the_gates(self):
        """What a memory reads is there, and what it gives comes from outside."""
        body = {"ports": {"a": {"direction": "input", "bits": [2]}, "q": {"direction": "output", "bits": [5]}},
                "cells": {"inverter": {"type": "INVX1", "connections": {"A": [2], "Y": [3]}},
                          "m": {"type": "gemm64_ram", "connections": {"write_data_i": [3], "read_i": [2], "data_o": [4]}},
                          "out": {"type": "INVX1", "connections": {"A": [4], "Y": [5]}}}}
        path = os.path.join(self.folder, "netlist.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"modules": {"top": body}}, file)
        gates = netlist.Netlist(path, "top", self.liberty)
        into, out = gates.memories["m"]
        drivers = {net: instance for instance in gates.instances for net in instance.outputs.values()}
        self.assertEqual([net in drivers for net in into], [True, False])
        self.assertEqual(drivers[gates.ports["q"][1][0]].inputs["A"], out[0])


class Parts(unittest.TestCase):
    def test_turns_words_of_copies_into_bits(self):
        self.assertEqual(parts.bits([0b01, 0b11, 0b10], 2), [0b011, 0b110])

    def test_every_copy_counts_for_64_clocks(self):
        stages = parts.Stages.__new__(parts.Stages)
        stages.first = 64
        counted = [stages.counted(clock) for clock in range(64 + 16 + 64 + 64)]
        self.assertEqual({sum(word >> copy & 1 for word in counted) for copy in range(128)}, {64})

    def test_notices_a_wrong_sum(self):
        stages = parts.Stages.__new__(parts.Stages)
        stages.first = 1
        clocks = 200
        stages.signals = {"u_array.activation_valid_i": [1] * clocks, "u_array.sum_o": [0] * clocks}
        watched = [[0] * 8 * parts.SUM_WIDTH for _ in range(clocks)]
        stages.compare(watched)
        self.assertEqual(stages.compared, 64 * 64)
        watched[70][5] = 1 << 120
        with self.assertRaisesRegex(parts.Mismatch, "column 0, clock 70: the gates gave 32, the RTL 0"):
            stages.compare(watched)


    def test_an_array_at_rest_counts_as_long_as_a_tile(self):
        length = 300
        signals = {**dict.fromkeys(parts.ARRAY, [0] * length), "u_array.activation_i": [1] * length, "u_array.rst_ni": [1] * length}
        stages = parts.Stages(signals)
        self.assertEqual({sum(stages.stimulus[clock][0] >> copy & 1 for clock in range(length)) for copy in range(128)}, {64})
        self.assertFalse(any(any(row[1 + 38:]) for row in stages.stimulus))  # words that pass by on their way to the lanes

    def test_parts_words_among_pieces_of_lanes(self):
        first, second = (sum((base + lane) << 8 * lane for lane in range(64)) for base in (0, 100))
        pieces = parts.Lanes.pieces(first | second << 512, 2)
        self.assertEqual([piece.to_bytes(16, "little") for piece in (pieces[0], pieces[7])],
                         [bytes([*range(8), *range(100, 108)]), bytes([*range(56, 64), *range(156, 164)])])

    def test_notices_a_wrong_sum_of_a_lane(self):
        lanes = parts.Lanes.__new__(parts.Lanes)
        clocks = 80
        lanes.signals = {"valid_o": [clock % 2 for clock in range(clocks)], "sum_o": [7 << 32 * 10] * clocks}
        watched = [[0] * 256 for _ in range(clocks)]
        for clock in range(clocks):
            for bit in range(3):
                watched[clock][32 * 2 + bit] = 1 << 1  # lane 10 is the third one of piece 1
        lanes.compare(watched)
        self.assertEqual(lanes.compared, 32 * 64)
        watched[79][32 * 2] = 0
        with self.assertRaisesRegex(parts.Mismatch, "lane 10, clock 79: the gates gave 6, the RTL 7"):
            lanes.compare(watched)

    def test_the_accumulator_keeps_sums_of_the_lanes_as_they_are(self):
        signals = {**dict.fromkeys(parts.Accumulator.names + parts.Accumulator.reads + parts.Accumulator.adds, [5] * 64),
                   "u_accumulator.lanes_valid_i": [1] * 64, "u_accumulator.lanes_sum_i": [9] * 64}
        accumulator = parts.Accumulator(signals)
        writes = [[0] * 33 * 128 for _ in range(64)]
        writes[3][0] = writes[3][3] = writes[3][32] = 1  # 9 in bank 0 of column 0
        accumulator.compare(writes)
        self.assertEqual(accumulator.compared, 1)
        signals["u_accumulator.lanes_valid_i"][3] = 0
        with self.assertRaisesRegex(parts.Mismatch, "the gates gave 9, the RTL 5"):
            accumulator.compare(writes)


class Measure(unittest.TestCase):
    def test_finds_the_clocks_of_a_layer_on_the_lanes(self):
        events = [{"cat": "layer", "name": "first", "ts": 20, "dur": 80}, {"cat": "command", "name": "DEPTHWISE", "ts": 10, "dur": 70},
                  {"cat": "layer", "name": "second", "ts": 100, "dur": 5000}, {"cat": "dispatch", "name": "DEPTHWISE", "ts": 119, "dur": 1},
                  {"cat": "command", "name": "DEPTHWISE", "ts": 120, "dur": 4000}, {"cat": "layer", "name": "third", "ts": 5100, "dur": 9}]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "timeline.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write("[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n")
            self.assertEqual(measure.lanes_window(path, "first"), "8:45")
            self.assertEqual(measure.lanes_window(path, "second"), f"118:{120 + measure.TRACED}")
            for layer in ("third", "fourth"):
                with self.assertRaisesRegex(netlist.ToolFailure, f"{layer} has no DEPTHWISE"):
                    measure.lanes_window(path, layer)

    def test_counts_macs_that_count(self):
        """64 nJ a clock, and 32 rows in 64 clocks: of a product, of a depthwise layer on the array, and of a 5x5 one on the lanes."""
        measured = measure.Measurement.__new__(measure.Measurement)
        measured.logic = lambda *_: 64.0
        measured.rows = dict.fromkeys(((1, "a"), ("array", "d"), ("window", "d")), 32)
        measured.runs = dict.fromkeys(measured.rows, {"k": 25})
        self.assertEqual([measured.pj_per_mac("gates", *case) for case in measured.rows], [64000 / 32 / 64, 64000 / 32, 64000 / 32 / 25])


class Crosscheck(unittest.TestCase):
    def test_weighs_tables_as_opensta_does(self):
        for text, pin, weight in (("!A", "A", 1), ("!(A B)", "A", 0.5), ("!((A B)+C)", "C", 0.75), ("!((A B)+C)", "A", None), ("A^B", "B", 0.5)):
            self.assertEqual(crosscheck.passes(crosscheck.tree(liberty.postfix(text, "ABC")), pin), weight, text)


class Program(unittest.TestCase):
    def run_it(self, *options, **environment):
        return subprocess.run(["/usr/bin/python3", "-B", SCRIPT, *options], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})

    def test_names_what_is_missing(self):
        done = self.run_it(PATH="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"there is no yosys; `scripts/setup energy` installs Debian's yosys")

    def test_refuses_what_no_tile_holds(self):
        for option in (["--batch", "65"], ["--layers", "features.0"], ["--position", "2"], ["--depthwise", __file__],
                       ["--depthwise", "nowhere.onnx", "layer"]):
            done = self.run_it(*option)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(option[0], done.stderr)

    def test_writes_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(outputs.OutputLost):
                outputs.write_json(f"{folder}/none/file.json", {})
            with self.assertRaises(TypeError):
                outputs.write_json(f"{folder}/file.json", {"a": object()})
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
