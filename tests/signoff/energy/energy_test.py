# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/asic/energy.py's parts: tables, gates and sums. Icarus Verilog is the reference for gates."""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import cells
from energy_model import crosscheck, electrical, liberty, measure, netlist, outputs, parts, simulate

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts", "asic", "energy.py")
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
        """A register that flips in each cycle, and an inverter after it that drives two."""
        gates = cells.Gates(self.liberty)
        out = gates.new()
        first = gates.gate("INVX1", out)
        gates.register(first, out=out)
        gates.gate("INVX1", first)
        model = electrical.Electrical(gates, self.liberty)
        cycles = 10
        counts = self.counts(gates, model, [], [[1]] * cycles)
        energy = simulate.energy(model, counts, cycles, 1)
        half = 0.5 * cells.VOLTS ** 2
        self.assertAlmostEqual(energy["cells"], cycles * 3 * cells.INSIDE_PJ)
        # The register drives one input, the inverter another one and the register's.
        self.assertAlmostEqual(energy["nets"], cycles * 3 * cells.LOAD_PF * half)
        self.assertAlmostEqual(energy["clock"], cycles * (0.05 + 0.15 + 2 * cells.LOAD_PF * half))
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
        cycles = [[random.getrandbits(1) for _ in inputs] for _ in range(60)]
        counts = self.counts(gates, model, inputs, [[1 << 77] + [value << 77 for value in clock] for clock in cycles])
        changes = icarus(self.folder, simulate.describe(model, inputs, [], []), inputs, cycles)
        self.assertEqual([counts.changes[net] for net in range(2, gates.nets)], changes[2:], f"seed {SEED}")
        self.assertGreater(sum(counts.changes), sum(counts.settled))  # there were glitches


def icarus(folder, text, inputs, cycles):
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
    steps = "".join(f"pins = {len(inputs)}'b{''.join(str(bit) for bit in reversed(clock))}; clk = 1; #5000 clk = 0; #5000;\n" for clock in cycles)
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

    def test_every_copy_counts_for_64_cycles(self):
        stages = parts.Stages.__new__(parts.Stages)
        stages.first = 64
        counted = [stages.counted(clock) for clock in range(64 + 16 + 64 + 64)]
        self.assertEqual({sum(word >> copy & 1 for word in counted) for copy in range(128)}, {64})

    def test_notices_a_wrong_sum(self):
        stages = parts.Stages.__new__(parts.Stages)
        stages.first = 1
        cycles = 200
        stages.signals = {"u_array.activation_valid_i": [1] * cycles, "u_array.sum_o": [0] * cycles}
        watched = [[0] * 8 * parts.SUM_WIDTH for _ in range(cycles)]
        stages.compare(watched)
        self.assertEqual(stages.compared, 64 * 64)
        watched[70][5] = 1 << 120
        with self.assertRaisesRegex(parts.Mismatch, "column 0, cycle 70: the gates gave 32, the RTL 0"):
            stages.compare(watched)


    def test_an_array_at_rest_counts_as_long_as_a_tile(self):
        length = 300
        signals = {**dict.fromkeys(parts.ARRAY, [0] * length), "u_array.activation_i": [1] * length, "u_array.rst_ni": [1] * length}
        stages = parts.Stages(signals)
        self.assertEqual({sum(stages.stimulus[clock][0] >> copy & 1 for clock in range(length)) for copy in range(128)}, {64})
        self.assertFalse(any(any(row[1 + 38:]) for row in stages.stimulus))  # words that pass by on their way to the lanes

    def test_parts_words_among_pieces_of_lanes(self):
        first, second = (sum((base + lane) << 8 * lane for lane in range(64)) for base in (0, 100))
        pieces = parts.Pieces.pieces(first | second << 512, words=2)
        self.assertEqual([piece.to_bytes(16, "little") for piece in (pieces[0], pieces[7])],
                         [bytes([*range(8), *range(100, 108)]), bytes([*range(56, 64), *range(156, 164)])])
        self.assertEqual(parts.Pieces.pieces(5 << 32 * 63, 32)[7], 5 << 32 * 7)

    def test_notices_a_wrong_result_of_a_lane(self):
        """Of lanes, of the requantizer and of the element-wise unit: the value that left, and whether one did."""
        for kind in (parts.Lanes, parts.Requantizer, parts.Vector):
            with self.subTest(kind.__name__):
                lanes = kind.__new__(kind)
                cycles, (name, width) = 80, kind.result
                lanes.signals = {"valid_o": [clock % 2 for clock in range(cycles)], name: [7 << width * 10] * cycles}
                watched = [[0xff * (clock % 2)] + [0] * 8 * width for clock in range(cycles)]
                for row in watched:
                    row[1 + 2 * width:4 + 2 * width] = [1 << 1] * 3  # lane 10 is the third one of piece 1
                lanes.compare(watched)
                self.assertEqual((lanes.rows(), lanes.compared), (32, 32 * 64))
                watched[79][1 + 2 * width] = 0
                with self.assertRaisesRegex(parts.Mismatch, f"{kind.path}, lane 10, cycle 79: the gates gave 6, the RTL 7"):
                    lanes.compare(watched)
                watched[78][0] = 1 << 3
                with self.assertRaisesRegex(parts.Mismatch, f"{kind.path}, cycle 78: the gates gave valid_o of pieces 0x8, the RTL 0"):
                    lanes.compare(watched)

    def test_a_result_that_waits_leaves_once(self):
        vector = parts.Vector.__new__(parts.Vector)
        vector.signals = {"valid_o": [1] * 64, "ready_i": [clock % 4 == 3 for clock in range(64)]}
        self.assertEqual(vector.rows(), 16)

    def test_the_vector_path_loads_settings_that_a_store_before_loaded(self):
        names = [f"{parts.Vector.path}.{name}" for name in parts.Vector.names()]
        self.assertLessEqual(set(names), set(parts.SIGNALS))
        vector = parts.Vector(dict.fromkeys(names, [0] * 3))
        self.assertEqual([vector.signals[name] for name in ("load_i", "add_i")], [[1, 0, 0], [0, 0, 0]])

    def test_takes_the_tile_behind_the_first_one_of_the_trace(self):
        signals = {"u_array.weight_valid_i": [0, 1, 1, 0, 1, 1], "u_array.weight_column_i": [0, 0, 1, 0, 0, 1]}
        self.assertEqual(parts.begin(signals), 4)
        with self.assertRaisesRegex(netlist.ToolFailure, "holds no tile before"):
            parts.begin({name: series[:4] for name, series in signals.items()})

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


def event(cat, name, ts, dur, tid=6, **args):
    return {"cat": cat, "name": name, "ts": ts, "dur": dur, "tid": tid, "args": args}


def layer(name="layer", **run):
    return measure.Layer({"name": name, "tiles": 4, "k": 144, "n": 80, "padded": [256, 192, 128], **run}, 0.5)


class Measure(unittest.TestCase):
    def test_finds_the_cycles_of_a_layer_on_the_lanes(self):
        events = [event("layer", "first", 20, 80), event("command", "DEPTHWISE", 10, 70), event("layer", "second", 100, 5000),
                  event("dispatch", "DEPTHWISE", 119, 1), event("command", "DEPTHWISE", 120, 4000), event("layer", "third", 5100, 9)]
        for name, window in (("first", "8:45"), ("second", f"118:{120 + measure.TRACED}")):
            self.assertEqual(layer(name, tiles=0).lanes_window(events), window)
        for name in ("third", "fourth"):
            with self.assertRaisesRegex(netlist.ToolFailure, f"no DEPTHWISE of the layer {name}"):
                layer(name, tiles=0).lanes_window(events)

    def test_finds_the_cycles_of_an_addition(self):
        """Its STORE is not the end of one before, of the same width, nor one that adds nothing; 16 columns of 80 are in the second tile."""
        events = [event("layer", "layer", 100, 900), event("command", "STORE 128x80", 20, 90, add=1),
                  event("command", "MATMUL 128x144x80", 110, 800), event("command", "STORE 128x80", 111, 700, add=1),
                  event("tile", "m0 n0", 300, 128, N=0), event("tile", "m0 n0", 350, 64, tid=3, N=0), event("tile", "m0 n1", 600, 128, N=1),
                  event("command", "STORE 128x80", 811, 400), event("layer", "next", 1000, 900)]
        self.assertEqual(layer().addition(events), ("536:730", 16))
        self.assertEqual(layer().places(events), ("array", "results"))
        self.assertEqual(layer().places(events[:1] + events[-2:]), ("array",))
        self.assertEqual(layer(tiles=0).places(events), ("array", "lanes"))

    def test_takes_a_tile_in_the_middle(self):
        self.assertEqual(measure.middle_tile(0.5, 1, 144, 64), (0, 72, 32))
        self.assertEqual(measure.middle_tile(0, 3, 2, 1), (1, 1, 0))
        self.assertEqual(measure.middle_tile(1, 3, 1, 4), (1, 0, 3))
        # A depthwise layer has a tile for each tap, and zero points of computed weights one that counts for nothing.
        self.assertEqual(layer(tiles=0, k=25, n=144, padded=[784, 25, 192]).tile, (1, 12, 1))
        self.assertEqual(layer(k=128, n=32, padded=[128, 192, 64]).tile, (0, 1, 0))

    def test_counts_macs_that_count(self):
        """64 columns of 80 or 16 of them, by rows of the second tile; a tap of a depthwise layer; two strips of a map."""
        self.assertEqual(layer(n=64).macs_of_a_row("array"), 64 * 64)
        self.assertEqual(layer(k=80).macs_of_a_row("array"), 16 * 16)
        depthwise = layer(tiles=0, k=25, n=64, padded=[784, 25, 64])
        self.assertEqual([depthwise.macs_of_a_row(place) for place in ("array", "lanes")], [64, 25 * 64])
        self.assertEqual(layer(k=16, n=32, strips=2, padded=[128, 64, 64]).macs_of_a_row("array"), 2 * 16 * 32)

    def test_weighs_macs_and_results(self):
        measured = measure.Measurement.__new__(measure.Measurement)
        measured.logic = lambda *_: 64.0
        measured.macs = {("array", "a"): 2048}
        self.assertEqual(measured.pj_per_mac("gates", "array", "a"), 64000 * 64 / 2048)
        measured.layers = {"a": layer()}
        self.assertEqual(measured.pj_of_products("a"), 144 * 2000)
        measured.nj = {("gates", "results", "a", "vector"): {"cells": 1.0, "nets": 2.0, "clock": 0.5, "glitches": 1.0}}
        measured.results = {("a", "vector"): 64 * 16}
        self.assertEqual(measured.pj_per_result("vector", "a"), 3500 * 64 / 1024)

    def test_names_the_layers_of_a_network(self):
        """A run of the whole network reports them, and when each ran."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "gemm64")
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\n" + """import json, sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
row = {"on": "device", "tiles": 2, "k": 64, "n": 64, "padded": [64, 64, 64], "macs": 9}
with open(options["--json"], "w") as file:
    json.dump({"layers": [{**row, "name": options["--model"]}, {**row, "name": "pool", "macs": 0}, {**row, "name": "far", "on": "host"}]}, file)
with open(options["--timeline"], "w") as file:
    file.write('{"traceEvents":[\\n{"ph":"M","pid":1},\\n{"ph":"X","cat":"layer"} ,\\n{"ph":"X","cat":"command"}\\n]}')
""")
            os.chmod(program, 0o755)
            options = argparse.Namespace(program=program, build=folder, run=["--batch", "2"], position=0.5)
            measured = measure.Measurement(None, options, None)
            measured.look_at("net.onnx", ["net.onnx"])
            self.assertEqual([found["cat"] for found in measured.events], ["layer", "command"])
            for name in ("pool", "far", "none"):
                with self.assertRaisesRegex(measure.NoSuchLayer, f"net.onnx: no layer .* is called {name}; there are: net.onnx$"):
                    measured.look_at("net.onnx", [name])


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
        self.assertRegex(done.stderr, r"there is no yosys; `scripts/setup/setup.sh energy` installs Debian's yosys")

    def test_refuses_what_no_tile_holds(self):
        for option in (["--batch", "65"], ["--layers", "features.0"], ["--position", "2"], ["--layer", __file__],
                       ["--layer", "nowhere.onnx", "layer"]):
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
