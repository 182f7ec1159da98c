# SPDX-License-Identifier: Apache-2.0
"""Proves that a mapped module does what the RTL does, whatever its registers, memories, blocks and inputs hold.

Registers keep their names through mapping, so a module is compared between registers: what each register, memory, block and output is
given must be the same function of what all of them hold. ABC proves that (its `cec`: simulation, and SAT on what may be alike). One of
the RTL's registers may be a constant or another register in the netlist; it is taken to be that, and must be given what that is given, so
that it stays so. One that a side has alone may hold anything."""

import json
import os
import re
from dataclasses import dataclass

from . import chip, mapping, models, tools

# The RTL as Yosys reads it, in its own simplest gates. No pass looks for something better but the ones that make the memories' ports.
SCRIPT = """\
{reads}
hierarchy -top {top} {parameters}
proc
opt_expr
opt_clean
opt_dff
opt_clean
wreduce
opt_clean
alumacc
opt_expr
opt_clean
memory -nomap
flatten
opt_clean
techmap
simplemap
dfflegalize -cell $_DFF_P_ x
opt_clean
write_json {netlist}
"""
CLOCK = "clk_i"
REGISTERS = {"$_DFF_P_": "C", models.REGISTER: "CLK"}  # and their clocks' pins
MEMORY = "$mem_v2"
MEMORY_INPUTS = ("RD_EN", "RD_ADDR", "WR_EN", "WR_ADDR", "WR_DATA")
CONSTANTS = {"0": "0", "1": "1", "x": "0"}


class Different(Exception):
    """The netlist does not do what the RTL does."""


def golden(top, parameters, folder):
    """The module as it was read, Yosys' JSON of it."""
    netlist = os.path.join(folder, "golden.json")
    text = SCRIPT.format(reads="\n".join(mapping.reads(top)), top=top, parameters=mapping.settings(parameters), netlist=netlist)
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, "golden.ys"), text)], os.path.join(folder, "golden.log"))
    return load(netlist, top)


def blocks(n, folder):
    """Parameters of the blocks that stand many times in the accelerator of an array, by their names."""
    netlist = os.path.join(folder, f"hierarchy_{n}.json")
    text = "\n".join([*mapping.reads("gemm64"), "hierarchy -top gemm64 " + mapping.settings({"N": n}), "proc", f"write_json {netlist}", ""])
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, f"hierarchy_{n}.ys"), text)], os.path.join(folder, f"hierarchy_{n}.log"))
    with open(netlist, encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    cells = [cell for module in modules.values() for cell in module["cells"].values()]
    found = {cell["type"]: {name: int(value, 2) for name, value in sorted(cell["parameters"].items())}
             for cell in cells if cell["type"] in mapping.MANY}
    found[chip.SPLIT] = {"N": chip.PART_COLUMNS}
    return found


def load(path, top):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["modules"][top]


class Side:
    """A module between its registers: gates, and what stands at their ends. The cell `broken` is another one."""

    def __init__(self, module, functions, broken=None):
        self.ports = {name: (port["direction"], port["bits"]) for name, port in module["ports"].items()}
        self.names = {name: net["bits"] for name, net in module["netnames"].items() if not net["hide_name"]}
        self.gates = []      # (function, pins, output)
        self.registers = {}  # output: input
        self.boxes = {}      # memory or block: {input: bits}, {output: bits}
        for name, cell in module["cells"].items():
            kind, pins = cell["type"], {pin: bits for pin, bits in cell["connections"].items() if bits}
            if kind in REGISTERS:
                self._has_the_clock(name, pins[REGISTERS[kind]])
                self.registers[pins["Q"][0]] = pins["D"][0]
            elif kind == MEMORY:
                self._has_the_clock(name, pins["RD_CLK"] + pins["WR_CLK"])
                self.boxes[name] = ({pin: pins[pin] for pin in MEMORY_INPUTS if pin in pins}, {"RD_DATA": pins["RD_DATA"]})
            elif kind in functions:
                inner = {pin: bits[0] for pin, bits in pins.items() if pin not in functions[kind]}
                made = functions[models.MISTAKES[kind] if name == broken else kind]
                self.gates += [(function, inner, pins[pin][0]) for pin, function in made.items() if pin in pins]
            elif kind.startswith("$"):
                raise tools.ToolFailure(f"{name}: there is no model of {kind}")
            else:
                of = cell["port_directions"]
                self.boxes[name] = tuple({pin: bits for pin, bits in pins.items() if of[pin] == way} for way in ("input", "output"))

    def _has_the_clock(self, name, nets):
        if set(nets) - set(self.ports[CLOCK][1]):
            raise tools.ToolFailure(f"{name}: its clock is not {CLOCK}")

    def ends(self, way):
        """{name: net} of ports and boxes, those that come into the gates (way 1) or go out of them (0)."""
        found = {}
        for name, (direction, bits) in self.ports.items():
            if direction == ("output", "input")[way]:
                found.update((f"{name}[{i}]", bit) for i, bit in enumerate(bits))
        for box, pins in self.boxes.items():
            found.update((f"{box}.{pin}[{i}]", bit) for pin, bits in pins[way].items() for i, bit in enumerate(bits))
        return found


def counterparts(rtl, gates):
    """What each of the RTL's registers is in the netlist, {output: (name, net or constant)}, of those that are there."""
    found = {}
    for name, bits in rtl.names.items():
        of = gates.names.get(name)
        for i, bit in enumerate(bits):
            if of and bit in rtl.registers and bit not in found and (of[i] in gates.registers or of[i] in CONSTANTS):
                found[bit] = (f"{name}[{i}]", of[i])
    return found


def table(function, pins):
    """A function's rows of ones, of its pins in their order."""
    rows = []
    for value in range(1 << len(pins)):
        at = {pin: value >> i & 1 for i, pin in enumerate(pins)}
        if eval(function.format(**at)) & 1:  # an expression of a model
            rows.append(" ".join(["".join(str(at[pin]) for pin in pins)] * bool(pins) + ["1"]))
    return rows


def blif(path, gates, inputs, outputs):
    """Writes the gates between `inputs`, {name: nets}, and `outputs`, {name: net}."""
    tables, lines = {}, [".model gates", ".inputs " + " ".join(inputs), ".outputs " + " ".join(outputs)]
    lines += [".names zero", ".names one", "1"]
    of = {net: name for name, nets in inputs.items() for net in nets}
    def name(net):
        return of.get(net) or (f"n{net}" if isinstance(net, int) else ("zero", "one")[int(CONSTANTS[net])])
    for function, pins, output in gates:
        key = (function, *pins)
        if key not in tables:
            tables[key] = table(function, list(pins))
        lines += [".names " + " ".join(name(net) for net in (*pins.values(), output)), *tables[key]]
    for out, net in outputs.items():
        lines += [f".names {name(net)} {out}", "1 1"]
    tools.write(path, "\n".join(lines + [".end", ""]))


@dataclass(frozen=True)
class Proof:
    """What was compared: registers of the RTL, those that the netlist does without, those that are constant in it, registers of the netlist
    alone, and functions."""
    registers: int
    left_out: int
    constant: int
    alone: int
    functions: int


class Comparison:
    """A module, mapped and as it was read."""

    def __init__(self, top, parameters, library, build):
        self.top, self.folder = top, mapping.synthesize(top, parameters, library, build)
        self.netlist = load(os.path.join(self.folder, "netlist.json"), top)
        self.rtl = Side(golden(top, parameters, self.folder), {kind: {"Y": function} for kind, function in models.SIMPLE.items()})

    def breakable(self):
        """Cells that can be broken."""
        return sorted(name for name, cell in self.netlist["cells"].items() if cell["type"] in models.MISTAKES)

    def prove(self, broken=None):
        """The Proof, with a cell broken or none; raises Different."""
        rtl, gates = self.rtl, Side(self.netlist, models.expressions(), broken)
        same = counterparts(rtl, gates)
        sources, sinks = gates.ends(1), gates.ends(0)
        lost = [name for name in rtl.ends(0) if name not in sinks]
        if lost:
            raise Different(f"{self.top}: the netlist has no {lost[0]}")
        inputs = {name: ([net], [sources[name]] if name in sources else []) for name, net in rtl.ends(1).items()}
        outputs = {name: (net, sinks[name]) for name, net in rtl.ends(0).items()}
        inputs.update((f"register.{net}", ([], [net])) for net in gates.registers)
        constant = []
        for net, (name, of) in same.items():
            if of in gates.registers:
                inputs[f"register.{of}"][0].append(net)
            else:
                constant.append((CONSTANTS[of], {}, net))
            outputs[f"next.{name}"] = (rtl.registers[net], gates.registers.get(of, of))
        inputs.update((f"free.{net}", ([net], [])) for net in rtl.registers if net not in same)

        clean = {name: re.sub(r"[^\w.\[\]]", "_", name) for name in [*inputs, *outputs]}
        paths = [os.path.join(self.folder, f"{which}.blif") for which in ("golden", "gates")]
        for which, (path, side, more) in enumerate(zip(paths, (rtl, gates), (constant, []))):
            blif(path, side.gates + more, {clean[name]: nets[which] for name, nets in inputs.items()},
                 {clean[name]: nets[which] for name, nets in outputs.items()})
        said = tools.run(["yosys-abc", "-c", "cec " + " ".join(paths)], os.path.join(self.folder, "cec.log"))
        if "Networks are equivalent" not in said:
            if "NOT EQUIVALENT" not in said:  # no reason to think that the two differ
                raise tools.ToolFailure(f"{self.top}: ABC did not decide; see {self.folder}/cec.log")
            raise Different(f"{self.top}: " + " ".join(said.split("\n")[2:4]))
        alone = sum(not of for name, (of, _) in inputs.items() if name.startswith("register."))
        return Proof(len(rtl.registers), len(rtl.registers) - len(same), len(constant), alone, len(outputs))
