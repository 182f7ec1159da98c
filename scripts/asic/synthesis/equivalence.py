# SPDX-License-Identifier: Apache-2.0
"""Proves that a mapped module does what the RTL does, whatever its registers, memories, blocks and inputs hold.

Registers keep their names through mapping, so a module is compared between registers: what each register, memory, block and output is
given must be the same function of what all of them hold. ABC proves that (`&fraig`: simulation, and SAT on what may be alike, from the
inputs to the outputs). One of the RTL's registers may be a constant or another register in the netlist; it is taken to be that, and must
be given what that is given, so that it stays so. One that only one side has may hold anything."""

import json
import os
import re
from dataclasses import dataclass

from . import chip, mapping, models, tools
from .between import ALL, Patterns, Side, driven
from .models import CONSTANTS

# The RTL as Yosys reads it, in its own simplest gates and sums. No pass looks for something better but the ones that make the memories' ports.
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
techmap t:$macc %n
simplemap
dfflegalize -cell $_DFF_P_ x
opt_clean
setattr -unset src
write_json {netlist}
"""
# SAT's conflicts for one pair of nets, in one round after the other, which meets other patterns; seconds of a round, and of what is left after them.
CONFLICTS = (100, 1000, 1000, 10000)
ROUND_SECONDS, LAST_SECONDS = 300, 60
VECTOR = "gemm64_elementwise"


class Different(Exception):
    """The netlist does not do what the RTL does."""


def golden(top, parameters, folder):
    """The module as it was read, Yosys' JSON of it."""
    netlist = os.path.join(folder, "golden.json")
    text = SCRIPT.format(reads="\n".join(mapping.reads(top)), top=top, parameters=mapping.settings(parameters), netlist=netlist)
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, "golden.ys"), text)], os.path.join(folder, "golden.log"))
    return load(netlist, top)


def unmapped(top, parameters, library, folder):
    """The module as it is in the netlist's own script before gates become cells: it has a net for each of its adders."""
    netlist = os.path.join(folder, "unmapped.json")
    text = mapping.script(top, parameters, library, folder).split("dfflibmap")[0]
    text += f"flatten\nopt_clean\nsimplemap\ndfflegalize -cell $_DFF_P_ x\nopt_clean\nsetattr -unset src\nwrite_json {netlist}\n"
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, "unmapped.ys"), text)], os.path.join(folder, "unmapped.log"))
    return load(netlist, top)


def blocks(n, folder):
    """Parameters of the blocks of the accelerator of an array, by their names."""
    netlist = os.path.join(folder, f"hierarchy_{n}.json")
    text = "\n".join([*mapping.reads("gemm64"), "hierarchy -top gemm64 " + mapping.settings({"N": n}), "proc", f"write_json {netlist}", ""])
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, f"hierarchy_{n}.ys"), text)], os.path.join(folder, f"hierarchy_{n}.log"))
    with open(netlist, encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    cells = [cell for module in modules.values() for cell in module["cells"].values()]
    found = {cell["type"]: {name: int(value, 2) for name, value in sorted(cell["parameters"].items())}
             for cell in cells if cell["type"] in mapping.BLOCKS}
    found[chip.SPLIT] = {"N": chip.PART_COLUMNS}
    return found


def load(path, top):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["modules"][top]


def counterparts(rtl, gates):
    """What each of the RTL's registers is in the netlist, {output: (name, net or constant)}, of those that are there."""
    found = {}
    for name, bits in rtl.names.items():
        kept = gates.names.get(name, [])
        if kept and len(kept) < len(bits):  # Yosys may leave the name to the lower bits of a bus
            kept = next((bus for bus in gates.unnamed if len(bus) == len(bits) and bus[:len(kept)] == kept), kept)
        for i, (bit, of) in enumerate(zip(bits, kept)):
            if bit in rtl.registers and bit not in found and (of in gates.registers or of in CONSTANTS):
                found[bit] = (f"{name}[{i}]", of)
    return found


@dataclass(frozen=True)
class Proof:
    """What was compared: registers of the RTL, those that the netlist does without, those that are constant in it, registers of the netlist
    alone, functions, and the names of those that ABC did not decide on."""
    registers: int
    left_out: int
    constant: int
    alone: int
    functions: int
    undecided: tuple


class Comparison:
    """A module, mapped and as it was read."""

    def __init__(self, top, parameters, library, build):
        self.top, self.folder = top, mapping.synthesize(top, parameters, library, build)
        self.netlist = load(os.path.join(self.folder, "netlist.json"), top)
        self.rtl = Side(golden(top, parameters, self.folder), models.SIMPLE)
        self.guide = Side(unmapped(top, parameters, library, self.folder), models.SIMPLE) if self.rtl.sums else None
        self.expressions = models.expressions()

    def breakable(self):
        """Cells that can be broken, of those that lead to something compared."""
        used = set(self.gates.order(net for _, net in self.outputs.values()))
        cells = ((name, cell) for name, cell in self.netlist["cells"].items() if cell["type"] in models.MISTAKES)
        return sorted(name for name, cell in cells if used & set(driven(cell, self.expressions[cell["type"]])))

    def prove(self):
        """The Proof; raises Different."""
        rtl, gates = self.rtl, Side(self.netlist, self.expressions)
        self.gates = gates
        same = counterparts(rtl, gates)
        sources, sinks = gates.ends(1), gates.ends(0)
        lost = [name for name in rtl.ends(0) if name not in sinks]
        if lost:
            raise Different(f"{self.top}: the netlist has no {lost[0]}")
        # Nets of both by their names
        inputs = {name: ([net], [sources[name]] if name in sources else []) for name, net in rtl.ends(1).items()}
        outputs = {name: (net, sinks[name]) for name, net in rtl.ends(0).items()}
        inputs.update((f"register.{net}", ([], [net])) for net in gates.registers)
        constant = 0
        for net, (name, of) in same.items():
            if of in gates.registers:
                inputs[f"register.{of}"][0].append(net)
            else:
                constant += 1
                rtl.driver[net] = (("0", "~0")[int(CONSTANTS[of])], {})
            outputs[f"next.{name}"] = (rtl.registers[net], gates.registers.get(of, of))
        inputs.update((f"free.{net}", ([net], [])) for net in rtl.registers if net not in same)
        self.inputs, self.outputs = inputs, outputs

        self.patterns = [Patterns(side, {name: nets[which] for name, nets in inputs.items()}) for which, side in enumerate((rtl, gates))]
        if rtl.sums:
            self._build_sums()
        undecided = self._undecided(outputs)
        alone = sum(not of for name, (of, _) in inputs.items() if name.startswith("register."))
        return Proof(len(rtl.registers), len(rtl.registers) - len(same), constant, alone, len(outputs), tuple(undecided))

    def _build_sums(self):
        """Makes gates of the RTL's sums, which are trees of the same order as the netlist's if all goes well."""
        values, guide, of = self.patterns[0].values, self.guide, self.rtl.places()
        like = Patterns(guide, {})
        like.values.update(dict.fromkeys(guide.registers, 0))  # some have no name
        for name, net in guide.places().items():
            if net not in guide.driver and not like.values.get(net):
                like.values[net] = values.get(of.get(name), 0)
        like.run(dict(enumerate(guide.driver)))
        self.patterns[0].liken(like)
        self.rtl.build_sums(self.patterns[0], [net for net, _ in self.outputs.values()])

    def prove_broken(self, name):
        """Raises Different where a cell is another one, which it is no longer after that; `prove` comes before."""
        cell = self.netlist["cells"][name]
        broken = driven(cell, self.expressions[models.MISTAKES[cell["type"]]])
        kept = {net: self.gates.driver[net] for net in broken}
        values = self.patterns[1].values
        reached = self.gates.reached(broken)
        try:
            self.gates.driver.update(broken)
            self.patterns[1].values = {net: value for net, value in values.items() if net not in reached}
            self._undecided({end: nets for end, nets in self.outputs.items() if nets[1] in reached})
        finally:
            self.gates.driver.update(kept)
            self.patterns[1].values = values

    def _undecided(self, outputs):
        """Names of those outputs, {name: nets}, on which ABC does not decide; raises Different."""
        found = [patterns.run({name: nets[which] for name, nets in outputs.items()}) for which, patterns in enumerate(self.patterns)]
        for name, value in found[0].items():
            if value != found[1][name]:
                at = (value ^ found[1][name]) & -(value ^ found[1][name])
                raise Different(f"{self.top}: {name} is {int(bool(value & at))} in the RTL and {int(not value & at)} in the netlist")
        paths = self._blif(outputs)
        left = os.path.join(self.folder, "left.aig")
        begin = "; ".join(f"read_blif {path}; strash; write_aiger {path}.aig" for path in paths) + f"; &read {paths[0]}.aig; &miter {paths[1]}.aig"
        names = list(outputs)
        if os.path.exists(f"{left}.next"):  # of a run that was stopped
            os.remove(f"{left}.next")
        for conflicts in CONFLICTS:
            if names and self._abc(f"{begin}; &fraig -x -C {conflicts}; &write {left}.next", "fraig", ROUND_SECONDS) is not None:
                found = literals(f"{left}.next")
                if len(found) != len(outputs):
                    raise tools.ToolFailure(f"{self.top}: ABC compared {len(found)} outputs of {len(outputs)}; see {self.folder}/fraig.log")
                os.replace(f"{left}.next", left)
                begin = f"&read {left}"
                names = [name for name, literal in zip(outputs, found) if literal]
        if not names:
            return []
        # It reports which output differs, and for what.
        left = " ".join(self._blif({name: outputs[name] for name in names}))
        said = self._abc(f"cec -C {CONFLICTS[-1]} -T {LAST_SECONDS} {left}", "cec", 2 * LAST_SECONDS) or ""
        if "NOT EQUIVALENT" in said:
            raise Different(f"{self.top}: " + " ".join(said.split("\n")[2:4]))
        return [] if "Networks are equivalent" in said else names

    def _abc(self, commands, name, seconds=None):
        return tools.run(["yosys-abc", "-c", commands], os.path.join(self.folder, f"{name}.log"), seconds)

    def _blif(self, outputs):
        clean = {name: re.sub(r"[^\w.\[\]]", "_", name) for name in [*self.inputs, *outputs]}
        paths = [os.path.join(self.folder, f"{which}.blif") for which in ("golden", "gates")]
        for which, (path, side) in enumerate(zip(paths, (self.rtl, self.gates))):
            side.blif(path, {clean[name]: nets[which] for name, nets in self.inputs.items()},
                      {clean[name]: nets[which] for name, nets in outputs.items()})
        return paths


def literals(path):
    """What the outputs of an AIGER file are: 0 is never, 1 always; none where there is no file."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        count = int(file.readline().split()[4])
        return [int(file.readline()) for _ in range(count)]
