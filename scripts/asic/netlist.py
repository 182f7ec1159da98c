#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the accelerator's netlist of standard cells, as `make -C scripts/asic synth` maps it, as Verilog that a simulator runs."""

import argparse
import collections
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from synthesis import cells, mapping, models, tools  # noqa: E402 (the folder is next to this file)
from synthesis.netlist import Netlist  # noqa: E402

MEMORY = "$mem_v2"
# Puts the blocks, which were mapped separately, into the accelerator.
JOIN = """\
read_json {top_json}
delete =A:blackbox
{blocks}
hierarchy -top {top}
flatten
opt_clean -purge
write_json {whole}
"""


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/asic/netlist.py", description=__doc__ + " The cells' models are those that Debian has with the Liberty file; memories, which "
        "are no cells, are what Yosys has read of the RTL. An input, broken_i, makes one of several cells another one: number 1 to --broken; 0 is "
        "the netlist as it is. A bit of an output, told_o, says of each of them whether its inputs ever distinguished the two at a cycle's edge. "
        "The file that ends with .broken has a line for each: number, name, cell, and the registers, memories and ports that it reaches.",
        epilog="Exit: 0 written, 1 a tool failed, 2 bad usage or a missing tool, 3 a file was not written.")
    parser.add_argument("--array", type=int, default=4, choices=(2, 4, 8, 16, 32, 64), metavar="N", help="size of the array (default: %(default)s)")
    parser.add_argument("--broken", type=int, default=255, metavar="COUNT", help="cells that can be broken, drawn of all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing (default: %(default)s)")
    parser.add_argument("--out", metavar="FOLDER", default="build/netlist", help="for netlists and logs (default: %(default)s)")
    options = parser.parse_args(argv)
    if not 1 <= options.broken <= 255:
        parser.error(f"--broken {options.broken}: must be from 1 to 255")
    return options


def yosys(text, folder, name):
    script = tools.write(os.path.join(folder, f"{name}.ys"), text)
    tools.run(["yosys", "-q", "-s", script], os.path.join(folder, f"{name}.log"))


def join(top, parameters, library, whole):
    """A whole design as cells and memories only, as Yosys' JSON, which is kept in a file."""
    folder = os.path.dirname(whole)
    parts = os.path.join(folder, "parts")
    made = mapping.synthesize(top, parameters, library, parts)
    found = {cell.kind: dict(sorted(cell.block.items()))
             for cell in Netlist(os.path.join(made, "netlist.json"), top, library).cells if cell.block is not None}
    blocks = []
    for kind, own in sorted(found.items()):
        path = os.path.join(mapping.synthesize(kind, own, library, parts), "netlist.json")
        blocks += [f"setparam -unset {name} {top}/t:{kind}" for name in own] + [f"read_json {path}"]
    yosys(JOIN.format(top_json=os.path.join(made, "netlist.json"), blocks="\n".join(blocks), top=top, whole=whole), folder, "join")
    with open(whole, encoding="utf-8") as file:
        return json.load(file)


def net(bit):
    """A net's name, or a constant."""
    return f"n{bit}" if isinstance(bit, int) else "1'b1" if bit == "1" else "1'b0"


def bus(bits):
    return "{" + ", ".join(net(bit) for bit in reversed(bits)) + "}"


def memory(name, cell):
    """Lines of a memory, read and written as Yosys has read it of the RTL."""
    parameters = {key: int(value, 2) for key, value in cell["parameters"].items() if re.fullmatch("[01]+", value)}
    pins, bits, width = cell["connections"], parameters["ABITS"], parameters["WIDTH"]
    reads, writes = parameters["RD_PORTS"], parameters["WR_PORTS"]
    if parameters["RD_TRANSPARENCY_MASK"] or parameters["RD_CLK_ENABLE"] != (1 << reads) - 1 or parameters["OFFSET"] or \
       any(bit != "0" for bit in pins["RD_SRST"] + pins["RD_ARST"]):
        raise tools.ToolFailure(f"a memory, {name}, is read in a way that is not known")
    lines = [f"  reg [{width - 1}:0] {name} [0:{parameters['SIZE'] - 1}];"]
    for port in range(reads):
        address, data = (bus(pins[pin][size * port:size * (port + 1)]) for pin, size in (("RD_ADDR", bits), ("RD_DATA", width)))
        lines += [f"  reg [{width - 1}:0] {name}_read_{port};", f"  assign {data} = {name}_read_{port};",
                  f"  always @(posedge {net(pins['RD_CLK'][port])}) if ({net(pins['RD_EN'][port])}) {name}_read_{port} <= {name}[{address}];"]
    for port in range(writes):
        address = bus(pins["WR_ADDR"][bits * port:bits * (port + 1)])
        enables, data = (pins[pin][width * port:width * (port + 1)] for pin in ("WR_EN", "WR_DATA"))
        first = 0
        for last in range(width):
            if last + 1 == width or enables[last + 1] != enables[first]:
                lines.append(f"  always @(posedge {net(pins['WR_CLK'][port])}) if ({net(enables[first])}) "
                             f"{name}[{address}][{last}:{first}] <= {bus(data[first:last + 1])};")
                first = last + 1
    return lines


class Gates:
    """Cells without a state, by the nets that they drive, and what is said of them in Verilog: one that drives a single pin stands where that is."""

    LONGEST = 400  # of an expression that stands inside of another one

    def __init__(self):
        self.driver = {}  # net: (expression, its nets by pin)
        self.uses = collections.Counter()
        self.assigned = []

    def add(self, out, expression, pins):
        self.driver[out] = (expression, pins)
        self.uses.update(pins.values())

    def take(self, bits):
        """These nets are used by their names."""
        self.uses.update(list(bits) * 2)

    def text(self, bit):
        if bit not in self.driver or self.uses[bit] > 1:
            return net(bit)
        text = f"({self.expression(bit)})"
        if len(text) <= self.LONGEST:
            return text
        self.assigned.append(f"  assign {net(bit)} = {text};")
        return net(bit)

    def expression(self, bit):
        expression, pins = self.driver[bit]
        return expression.format(**{pin: self.text(inner) for pin, inner in pins.items()})

    def lines(self):
        """Assignments of all nets that are used by their names, when all others have been asked for."""
        return [f"  assign {net(bit)} = {self.expression(bit)};" for bit in self.driver if self.uses[bit] > 1] + self.assigned


class Reach:
    """Where what a cell gives ends: in registers, memories and ports, by name."""

    def __init__(self, module, known):
        self.readers, self.ends = collections.defaultdict(set), collections.defaultdict(set)
        names = {bit: name if len(net_of["bits"]) == 1 else f"{name}[{index}]" for name, net_of in module["netnames"].items()
                 if not net_of["hide_name"] for index, bit in enumerate(net_of["bits"])}
        for name, cell in module["cells"].items():
            kind, pins = cell["type"], cell["connections"]
            for pin, bits in pins.items():
                if kind == models.REGISTER and pin == "D":
                    self.ends[bits[0]].add(names.get(pins["Q"][0], name))
                elif kind == MEMORY and pin != "RD_DATA":
                    for bit in bits:
                        self.ends[bit].add(name)
                elif kind in known and pin not in known[kind]:
                    self.readers[bits[0]].update(out for driven in known[kind] for out in pins.get(driven, ()))
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                for bit in port["bits"]:
                    self.ends[bit].add(names.get(bit, name))

    def of(self, bit):
        found, seen, next_ones = set(), {bit}, [bit]
        while next_ones:
            bit = next_ones.pop()
            found |= self.ends[bit]
            next_ones += self.readers[bit] - seen
            seen |= self.readers[bit]
        return sorted(found)


def broken_lines(module, known, drawn):
    """A line for each cell that can be broken."""
    reach = Reach(module, known)
    for number, name in enumerate(drawn, 1):
        cell = module["cells"][name]
        ends = reach.of(next(cell["connections"][pin][0] for pin in known[cell["type"]]))
        more = f" and {len(ends) - 3} more" if len(ends) > 3 else ""
        yield f"{number} {name} {cell['type']} {', '.join(ends[:3])}{more}\n"


def write(top, parameters, broken, seed, library, verilog):
    """Writes a design's netlist, and next to it the cells that can be broken; how many cells of each kind it has.

    Each cell is what its model says, and each bit a net of its own, so that a simulator sees no loop where there is none."""
    module = join(top, parameters, library, os.path.splitext(verilog)[0] + ".json")["modules"][top]
    known, cell_of = models.expressions(), module["cells"]
    drawn = random.Random(seed).sample(sorted(name for name, cell in cell_of.items() if cell["type"] in models.MISTAKES), broken)
    number = {name: index for index, name in enumerate(drawn, 1)}
    gates, registers, memories, told = Gates(), {}, [], []
    for name, cell in cell_of.items():
        kind, pins = cell["type"], {pin: bits for pin, bits in cell["connections"].items() if bits}
        if kind == MEMORY:
            memories += memory(f"memory_{len(memories)}", cell)
            gates.take(bit for bits in pins.values() for bit in bits)
        elif kind == models.REGISTER:
            registers[pins["Q"][0]] = (pins["CLK"][0], pins["D"][0])
            gates.uses[pins["D"][0]] += 1
            gates.take(pins["CLK"])
        elif kind in known:
            for pin, expression in known[kind].items():
                inputs = {inner: bits[0] for inner, bits in pins.items() if inner not in known[kind]}
                if name in number:
                    wrong = known[models.MISTAKES[kind]][pin]
                    gates.take(inputs.values())
                    told.append(f"    if (({expression}) != ({wrong})) told_o[{number[name]}] <= 1'b1;".format(
                        **{inner: net(bit) for inner, bit in inputs.items()}))
                    expression = f"broken_i == 8'd{number[name]} ? {wrong} : {expression}"
                if pin in pins:
                    gates.add(pins[pin][0], expression, inputs)
        else:
            raise tools.ToolFailure(f"{top}: there is no model of {kind}")
    body, ports = [f"  initial told_o = {broken}'d0;"], ["  input [7:0] broken_i", f"  output reg [{broken}:1] told_o"]
    for name, port in module["ports"].items():
        ends = (bus(port["bits"]), name) if port["direction"] == "input" else (name, bus(port["bits"]))
        ports.append(f"  {port['direction']} [{len(port['bits']) - 1}:0] {name}")
        body.append("  assign {} = {};".format(*ends))
        gates.take(port["bits"])
    clocks = {clock for clock, _ in registers.values()}
    if len(clocks) != 1:
        raise tools.ToolFailure(f"{top}: {len(clocks)} clocks, where one is known")
    body.append(f"  always @(posedge {net(*clocks)}) begin")
    body += [f"    n{q} <= {gates.text(d)};" for q, (_, d) in registers.items()] + told + ["  end"]
    body += memories + gates.lines()
    named = set(re.findall(r"\bn\d+\b", "\n".join(body)))
    kinds = [f"  {'reg' if int(name[1:]) in registers else 'wire'} {name};" for name in sorted(named)]
    tools.write(os.path.splitext(verilog)[0] + ".broken", "".join(broken_lines(module, known, drawn)))
    tools.write(verilog + ".part", "\n".join([f"module {top} (", ",\n".join(ports), ");"] + kinds + body + ["endmodule", ""]))
    os.replace(verilog + ".part", verilog)
    return collections.Counter(cell["type"] for cell in cell_of.values())


def main(argv):
    options = arguments(argv)
    out = os.path.abspath(options.out)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    verilog = os.path.join(out, f"gemm64_n{options.array}.v")
    try:
        tools.check(cells.OSU018)
        kinds = write("gemm64", {"N": options.array}, options.broken, options.seed, cells.Cells(cells.OSU018), verilog)
    except tools.Problem as problem:
        print(f"netlist: {problem}", file=sys.stderr)
        return 1 if isinstance(problem, tools.ToolFailure) else 2
    except OSError as problem:
        print(f"netlist: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 3
    memories = kinds.pop(MEMORY, 0)
    print(f"{os.path.relpath(verilog)}: {sum(kinds.values()):,} cells, {kinds[models.REGISTER]:,} of them registers, and {memories} memories; "
          f"{options.broken} cells can be broken")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
