# SPDX-License-Identifier: Apache-2.0
"""A module between its registers, memories and blocks: gates, in their order, under patterns at random, and as a file for ABC."""

import random

from . import models, tools
from .models import CONSTANTS, SIMPLE
from .sums import AND, Sum

CLOCK = "clk_i"
REGISTERS = {"$_DFF_P_": "C", models.REGISTER: "CLK"}  # and their cycles' pins
MEMORY, SUM = "$mem_v2", "$macc"
MEMORY_INPUTS = ("RD_EN", "RD_ADDR", "WR_EN", "WR_ADDR", "WR_DATA")
PATTERNS = 256
ALL = (1 << PATTERNS) - 1


class Side:
    """A module's gates, and what stands at their ends."""

    def __init__(self, module, functions):
        self.ports = {name: (port["direction"], port["bits"]) for name, port in module["ports"].items()}
        self.names = {name: net["bits"] for name, net in module["netnames"].items() if not net["hide_name"]}
        self.unnamed = [net["bits"] for net in module["netnames"].values() if net["hide_name"] and len(net["bits"]) > 1]  # Yosys' own buses
        self.driver = {}     # net: (function, {pin: net}) or a Sum
        self.sums = []
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
            elif kind == SUM:
                self.sums.append(Sum(cell))
                self.driver.update(dict.fromkeys(pins["Y"], self.sums[-1]))
            elif kind in functions:
                self.driver.update(driven(cell, functions[kind]))
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

    def places(self):
        """{name: net} of all that has a name."""
        return {**{f"{name}[{i}]": bit for name, bits in self.names.items() for i, bit in enumerate(bits) if bit not in CONSTANTS}, **self.ends(1)}

    def order(self, wanted):
        """Nets that gates drive and those wanted depend on, each after what it depends on."""
        found, done, stack = [], set(), [(net, False) for net in reversed(list(wanted))]
        while stack:
            net, ready = stack.pop()
            if ready:
                found.append(net)
            elif net in self.driver and net not in done:
                done.add(net)
                stack.append((net, True))
                stack += [(inner, False) for inner in inputs(self.driver[net]) if inner not in done]
        return found

    def build_sums(self, builder, wanted):
        """Makes gates of all sums that those wanted depend on."""
        for net in self.order(wanted):
            made = self.driver[net]
            if isinstance(made, Sum):
                for output, of in zip(made.outputs, made.build(builder)):
                    self.driver[output] = ("{A}", {"A": of})
            if net not in builder.values:
                builder.look(net)

    def reached(self, nets):
        """Nets that depend on one of these, through gates."""
        readers = {}
        for net, made in self.driver.items():
            for inner in inputs(made):
                readers.setdefault(inner, []).append(net)
        found, left = set(nets), list(nets)
        while left:
            new = [net for net in readers.get(left.pop(), ()) if net not in found]
            found.update(new)
            left += new
        return found

    def blif(self, path, into, out):
        """Writes the gates from what comes in, {name: nets}, to what goes out, {name: net}."""
        tables, lines = {}, [".model gates", ".inputs " + " ".join(into), ".outputs " + " ".join(out), ".names zero", ".names one", "1"]
        of = {net: name for name, nets in into.items() for net in nets}

        def name(net):
            return of.get(net) or (f"n{net}" if isinstance(net, int) else ("zero", "one")[int(CONSTANTS[net])])
        for net in self.order(out.values()):
            if net not in of:
                function, pins = self.driver[net]
                key = (function, *pins)
                if key not in tables:
                    tables[key] = table(function, list(pins))
                lines += [".names " + " ".join(map(name, (*pins.values(), net))), *tables[key]]
        for end, net in out.items():
            lines += [f".names {name(net)} {end}", "1 1"]
        tools.write(path, "\n".join(lines + [".end", ""]))


def driven(cell, functions):
    """{net: (function, {pin: net})} of a cell's outputs."""
    pins = {pin: bits[0] for pin, bits in cell["connections"].items() if bits}
    inner = {pin: net for pin, net in pins.items() if pin not in functions}
    return {pins[pin]: (function, inner) for pin, function in functions.items() if pin in pins}


def inputs(made):
    return made.inputs() if isinstance(made, Sum) else made[1].values()


def table(function, pins):
    """A function's rows of ones, of its pins in their order."""
    rows = []
    for value in range(1 << len(pins)):
        at = {pin: value >> i & 1 for i, pin in enumerate(pins)}
        if eval(function.format(**at)) & 1:  # an expression of a model
            rows.append(" ".join(["".join(str(at[pin]) for pin in pins)] * bool(pins) + ["1"]))
    return rows


class Patterns:
    """What the nets of a Side are under patterns at random, the same for each place in `into`, {name: nets}. Builds gates of its
    own."""

    def __init__(self, side, into):
        draw = random.Random(1)
        self.side, self.like, self.functions = side, {kind: set() for kind in SIMPLE}, {}
        self.values = {net: ALL * int(value) for net, value in CONSTANTS.items()}
        for nets in into.values():
            self.values.update(dict.fromkeys(nets, draw.getrandbits(PATTERNS)))
        self.next = max(net for net in (*side.driver, *self.values, 0) if isinstance(net, int)) + 1

    def look(self, net):
        """Finds a net's value; all that it depends on has one."""
        function, pins = self.side.driver[net]
        key = (function, *pins)
        if key not in self.functions:
            self.functions[key] = eval(f"lambda {', '.join(pins)}: " + function.format(**{pin: pin for pin in pins}))  # as in `table`
        try:
            self.values[net] = self.functions[key](*(self.values[inner] for inner in pins.values())) & ALL
        except KeyError as missing:
            raise tools.ToolFailure(f"nothing drives net {missing}, or a loop of gates does") from None
        return self.values[net]

    def value(self, net):
        return self.values[net]

    def run(self, wanted):
        """{name: value} of {name: net}."""
        for net in self.side.order(wanted.values()):
            if net not in self.values:
                self.look(net)
        return {name: self.values[net] for name, net in wanted.items()}

    def known(self, value, kind):
        """Does a gate of that kind have this value in the netlist that these are likened to?"""
        return value & ALL in self.like[kind]

    def liken(self, other):
        """To these Patterns, of Yosys' gates."""
        kinds = {function["Y"]: kind for kind, function in SIMPLE.items()}
        for net, (function, _) in other.side.driver.items():
            self.like[kinds[function]].add(other.values[net])

    def gate(self, function, **pins):
        """A new net, or a constant."""
        if all(net in CONSTANTS for net in pins.values()) or function == AND and "0" in map(CONSTANTS.get, pins.values()):
            return str(eval(function.format(**{pin: CONSTANTS.get(net, "0") for pin, net in pins.items()})) & 1)  # as in `table`
        net, self.next = self.next, self.next + 1
        self.side.driver[net] = (function, pins)
        self.look(net)
        return net
