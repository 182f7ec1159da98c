#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates every stuck pin of the array's gates in the self-test, and counts those that make a sum wrong."""

import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys

from energy_model import electrical, liberty, netlist, outputs, trace
from synthesis import cells
from synthesis.tools import Problem

# A larger array has stages that read each other's sums.
COLUMN_WIDTH = {2: 1, 4: 2}
SUM_BITS = 16  # of a partial sum, and one for each bit of a column's number
PORTS = ("rst_ni", "weight_valid_i", "weight_column_i", "weight_i", "activation_valid_i", "activation_i")
TILES = 20_000   # cycles of random tiles
MODULE = "gemm64_stage"
# Nothing comes in from a stage above. Mapped for no cycle: which gates do the work is no matter here.
SCRIPT = """\
read_verilog -mem2reg -Irtl rtl/{module}.v
hierarchy -top {module} {parameters}
proc
flatten
delete -port {module}/sum_i
cd {module}
connect -nounset -set sum_i 0
cd ..
opt
synth -noabc -flatten -top {module}
rename -top {module}
dfflibmap -liberty {liberty}
abc -fast -liberty {liberty}
opt_clean -purge
write_json {folder}/netlist.json
"""
OPERATORS = {"!": -1, "&": -2, "|": -3, "^": -4}
RANDOM = 2_000  # cycles with random registers, in which a fault that can be seen at all is seen


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/asic/stuck.py", description=__doc__ + " The array is mapped to gates (at these N it is one stage), `gemm64 info --self-test` gives the operands of each cycle, "
        "and each pin of each gate is stuck at 0 and at 1 in a copy of its own. A fault is found where a sum that the accumulator takes is wrong.",
        epilog="Exit: 0 the gates without a fault gave the RTL's sums, 1 not so, or a tool failed, 2 bad usage or a missing tool, 3 a file was not written.")
    parser.add_argument("--array", type=int, default=4, choices=sorted(COLUMN_WIDTH), help="N (default: %(default)s)")
    parser.add_argument("--program", default="build/gemm64", help="what runs the self-test (default: %(default)s)")
    parser.add_argument("--liberty", default=cells.OSU018, help="cells (default: %(default)s)")
    parser.add_argument("--build", default="build/stuck", help="where netlist and waveform go (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="also lists the faults that are not found")
    parser.add_argument("--json", metavar="FILE", help="writes the figures there, too")
    return parser.parse_args(argv)


def record(options, folder):
    """Signals of the array in each cycle of the self-test."""
    base = os.path.join(folder, "self-test")
    netlist.run([options.program, "info", "--array", str(options.array), "--self-test", "--trace", base + ".fst"], base + ".log")
    netlist.run(["fst2vcd", base + ".fst", "-o", base + ".vcd"], base + ".vcd.log")
    os.remove(base + ".fst")
    signals = trace.read(base + ".vcd", ["u_array." + name for name in (*PORTS, "sum_o")])
    os.remove(base + ".vcd")
    begin = max(signals["u_array.weight_valid_i"].index(1) - 2, 0)  # nothing has come before
    return {name.partition(".")[2]: series[begin:] for name, series in signals.items()}


class Gates:
    """The array's gates as the simulator reads them, and all faults of their pins."""

    def __init__(self, body):
        self.body = body
        self.registers = [instance for instance in body.instances if instance.cell.register]
        self.gates = electrical.order(body)
        self.lines = [f"nets {body.nets}"]
        self.faults = []  # (the simulator's description, cell, pin, net, value); of equal ones the first is simulated
        self.same = []    # index of that one

    def describe(self, watched):
        body = self.body
        readers = collections.Counter(net for instance in body.instances for pin, net in instance.inputs.items() if pin != instance.cell.clock)
        readers.update(set(watched))
        stems = {}

        def stem(cell, pin, net):
            for value in (0, 1):
                stems[net, value] = len(self.faults)
                self.add(f"stem {net} {value}", cell, pin, net, value)

        def reader(what, cell, pin, net):
            for value in (0, 1):
                # A net with one reader has one fault, whichever end is stuck.
                same = stems.get((net, value)) if readers[net] == 1 else None
                self.add(f"{what} {value}", cell, pin, net, value, same)

        inputs = [net for name in PORTS for net in body.ports[name][1]]
        self.lines += [f"input {net}" for net in inputs]
        for name in PORTS:
            for i, net in enumerate(body.ports[name][1]):
                stem("port", f"{name}[{i}]", net)
        for instance in self.registers:
            stem(instance.cell.name, "Q", instance.outputs["Q"])
        for instance in self.gates:
            for pin, net in instance.outputs.items():
                stem(instance.cell.name, pin, net)
        for index, instance in enumerate(self.registers):
            self.lines.append(f"register {instance.outputs['Q']} {instance.inputs['D']}")
            reader(f"load {index}", instance.cell.name, "D", instance.inputs["D"])
        index = 0
        for instance in self.gates:
            pins = list(instance.inputs)
            for pin, net in instance.outputs.items():
                steps = [OPERATORS[step] if step in OPERATORS else pins.index(step) for step in instance.cell.functions[pin]]
                self.lines.append(f"gate {net} {len(pins)} " + " ".join(str(instance.inputs[name]) for name in pins) + " " +
                                  " ".join(map(str, steps)))
                for number, name in enumerate(pins):
                    reader(f"pin {index} {number}", instance.cell.name, name, instance.inputs[name])
                index += 1
        self.lines += [f"watch {net}" for net in watched]
        self.lines += [fault[0] for i, fault in enumerate(self.faults) if self.same[i] == i]
        return "\n".join(self.lines) + "\n"

    def add(self, what, cell, pin, net, value, same=None):
        self.same.append(len(self.faults) if same is None else same)
        self.faults.append((what, cell, pin, net, value))


def stimulus(n, signals, body):
    """What the simulator reads: inputs, and which sums the accumulator takes. Also how many sums these are."""
    widths = [len(body.ports[name][1]) for name in PORTS]
    out, taken = bytearray(), 0
    valid = signals["activation_valid_i"]
    for clock in range(len(valid)):
        for name, width in zip(PORTS, widths):
            out += bytes(signals[name][clock] >> i & 1 for i in range(width))
        for column in range(n):
            then = clock - column - 2
            looked = then >= 0 and valid[then] == 1
            taken += looked
            out += bytes([looked]) * (SUM_BITS + COLUMN_WIDTH[n])
    return bytes(out), taken


def tiles(n):
    """Signals of random tiles: of 1 to 12 rows, with gaps or without, of all bytes or of few."""
    draw = random.Random(1)
    signals = {name: [] for name in PORTS}
    few = (0, 1, 0x7f, 0x80, 0xff, 0x55, 0xaa)

    def word(kind):
        return sum((draw.randrange(256) if kind else draw.choice(few)) << 8 * row for row in range(n))

    while len(signals["rst_ni"]) < TILES:
        rows, gap, kinds = draw.randrange(1, 13), draw.choice((0, 0, 0, 1, 2, 5)), (draw.randrange(2), draw.randrange(2))
        for clock in range(max(rows, n) + gap):
            row = clock < rows
            for name, value in zip(PORTS, (1, int(clock < n), clock % n, word(kinds[0]), int(row), word(kinds[1]))):
                signals[name].append(value)
    return signals


def simulate(program, path, how, *values):
    done = subprocess.run([program, path, how, *values], capture_output=True, text=True, check=False)
    if done.returncode:
        raise netlist.ToolFailure(f"the simulator of faults failed: {done.stderr.strip()}")
    return list(map(int, done.stdout.split()))


def compare(signals, stimulus_bytes, values, watched, n):
    """The gates without a fault must give the RTL's sums."""
    row = len(stimulus_bytes) // len(signals["sum_o"])
    bits = watched // n
    for clock, word in enumerate(signals["sum_o"]):
        looked = stimulus_bytes[(clock + 1) * row - watched:(clock + 1) * row]
        for bit in range(watched):
            if looked[bit] and values[clock * watched + bit] != word >> (32 * (bit // bits) + bit % bits) & 1:
                raise netlist.ToolFailure(f"bit {bit} of the sums in cycle {clock}: the gates gave {values[clock * watched + bit]}, the RTL did not")


def names_of(path):
    """RTL's names of nets, by Yosys' number."""
    with open(path, encoding="utf-8") as file:
        body = json.load(file)["modules"][MODULE]
    names = {}
    for name, net in sorted(body["netnames"].items(), key=lambda item: (item[1].get("hide_name", 0), len(item[0]))):
        for i, bit in enumerate(net["bits"]):
            names.setdefault(str(bit), f"{name}[{i}]" if len(net["bits"]) > 1 else name)
    return names


def main():
    options = arguments(sys.argv[1:])
    for name in ("liberty", "program", "json", "build"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    n = options.array
    folder = os.path.join(options.build, f"n{n}")
    try:
        for tool, package in (("yosys", "yosys"), ("fst2vcd", "gtkwave"), ("clang++", "clang")):
            if not shutil.which(tool):
                raise Problem(f"there is no {tool}; `scripts/setup/setup.sh energy` installs Debian's {package}")
        for path, how in ((options.liberty, "`scripts/setup/setup.sh energy` installs the default cells"), (options.program, "`make` builds it")):
            if not os.path.exists(path):
                raise Problem(f"{path}: no such file; {how}")
        os.makedirs(folder, exist_ok=True)
        program = os.path.join(folder, "stuck")
        netlist.run(["clang++", "-std=c++17", "-O2", "-march=native", "-o", program, "scripts/asic/stuck.cpp"], program + ".log")
        library = liberty.Library(options.liberty)
        parameters = {"N": n, "ROWS": n, "COLUMN_WIDTH": COLUMN_WIDTH[n], "SUM_WIDTH": SUM_BITS + COLUMN_WIDTH[n]}
        script = SCRIPT.format(module=MODULE, liberty=options.liberty, folder=folder,
                               parameters=" ".join(f"-chparam {name} {value}" for name, value in parameters.items()))
        netlist.write(f"{folder}/synth.ys", script)
        netlist.run(["yosys", "-q", "-s", f"{folder}/synth.ys"], f"{folder}/synth.log")
        body = netlist.Netlist(f"{folder}/netlist.json", MODULE, library)
        signals = record(options, folder)
        figures = cover(options, body, signals, program, folder)
        if options.json:
            outputs.write_json(options.json, figures)
    except outputs.OutputLost as problem:
        print(f"stuck: {problem}", file=sys.stderr)
        return 3
    except Problem as problem:
        print(f"stuck: {problem}", file=sys.stderr)
        return 2
    except (netlist.ToolFailure, liberty.LibertyError, OSError) as problem:
        print(f"stuck: {problem}", file=sys.stderr)
        return 1
    return 0


def cover(options, body, signals, program, folder):
    gates = Gates(body)
    watched = body.ports["sum_o"][1]
    netlist.write(f"{folder}/faults.txt", gates.describe(watched))
    data, taken = stimulus(options.array, signals, body)
    with open(f"{folder}/stimulus.bin", "wb") as out:
        out.write(data)
    first = simulate(program, f"{folder}/faults.txt", f"{folder}/stimulus.bin", f"{folder}/values.bin")
    with open(f"{folder}/values.bin", "rb") as file:
        compare(signals, data, file.read(), len(watched), options.array)
    place = {}
    for index in range(len(gates.faults)):
        if gates.same[index] == index:
            place[index] = len(place)
    seen = [first[place[gates.same[i]]] for i in range(len(gates.faults))]
    missed = [i for i, clock in enumerate(seen) if clock < 0]
    # Those only, with registers that hold anything
    left = sorted({gates.same[i] for i in missed})
    lines = [line for line in gates.lines if line.split()[0] not in ("stem", "pin", "load")] + [gates.faults[i][0] for i in left]
    netlist.write(f"{folder}/left.txt", "\n".join(lines) + "\n")
    free = dict(zip(left, simulate(program, f"{folder}/left.txt", f"random {RANDOM}"))) if left else {}
    # Of those that can be seen: with whatever tiles?
    other = [i for i in left if free[i] >= 0]
    netlist.write(f"{folder}/other.txt", "\n".join(lines[:len(lines) - len(left)] + [gates.faults[i][0] for i in other]) + "\n")
    with open(f"{folder}/tiles.bin", "wb") as out:
        out.write(stimulus(options.array, tiles(options.array), body)[0])
    met = dict(zip(other, simulate(program, f"{folder}/other.txt", f"{folder}/tiles.bin"))) if other else {}
    numbers = {number: text for text, number in body.numbers.items()}
    names = names_of(f"{folder}/netlist.json")
    classes = collections.Counter()
    listed = []
    for i in missed:
        _, cell, pin, net, value = gates.faults[i]
        name = re.sub(r"\$\S*", "a gate", names.get(numbers.get(net, ""), "a constant" if net < 2 else "a gate"))
        redundant = free[gates.same[i]] < 0
        kind = "constant" if net == value else "redundant" if redundant else "missed" if met[gates.same[i]] >= 0 else "unused"
        classes[kind] += 1
        listed.append((kind, name, cell, pin, value))
    found, total = len(seen) - len(missed), len(seen)
    can_be = found + classes["missed"]
    print(f"{options.array}x{options.array} array: {len(gates.gates):,} gates, {len(gates.registers):,} registers, {total:,} stuck pins; "
          f"{len(signals['sum_o']):,} cycles, {taken:,} sums.")
    print(f"Found: {found:,}, {found / total:.2%} of all, {found / can_be:.2%} of those that make a sum wrong in the self-test or in {TILES:,} cycles "
          "of random tiles.")
    print(f"Not found: {classes['missed']:,} that random tiles find; {classes['unused']:,} that change registers, but no sum that is taken; "
          f"{classes['constant'] + classes['redundant']:,} that change nothing in {RANDOM:,} random states.")
    if options.list:
        print()
        for kind, name, cell, pin, value in sorted(listed):
            print(f"{kind}: {cell} {pin} on {name}, stuck at {value}")
    return {"array": options.array, "gates": len(gates.gates), "registers": len(gates.registers), "faults": total, "found": found,
            "constant": classes["constant"], "redundant": classes["redundant"], "unused": classes["unused"],
            "missed": classes["missed"],
            "clocks": len(signals["sum_o"]), "last_found": max(seen, default=-1)}


if __name__ == "__main__":
    sys.exit(main())
