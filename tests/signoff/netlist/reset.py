#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Resets the netlist with every register, memory and input unknown, in three values as Verilog has them, and says what is still unknown."""

import argparse
import collections
import itertools
import json
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts", "asic"))
from synthesis import models  # noqa: E402 (the folder is there)

IDLE_CYCLES = 20
CYCLES = 8  # of the reset, as sim/models/rtl_device.hpp has it
UNKNOWN = 2
# Inputs that the outside drives from the first cycle on; all else is unknown.
IDLE = re.compile(r"\w*(valid|ready)_i")
# What must be known: handshakes and the interrupt.
HANDSHAKE = re.compile(r"\w*(valid|ready)_o|irq_o")


def table(expression, pins):
    """What a cell gives for all inputs of three values: unknown where it depends on those that are."""
    code = compile(expression.format(**{pin: f"v[{i}]" for i, pin in enumerate(pins)}), expression, "eval")
    found = {}
    for given in itertools.product((0, 1, UNKNOWN), repeat=len(pins)):
        each = {eval(code, {"v": known}) & 1 for known in itertools.product(*((0, 1) if bit == UNKNOWN else (bit,) for bit in given))}
        found[given] = each.pop() if len(each) == 1 else UNKNOWN
    return found


class Netlist:
    def __init__(self, module):
        functions = {kind: {out: (table(text, pins := sorted(set(re.findall(r"\{(\w+)\}", text)))), pins) for out, text in outs.items()}
                     for kind, outs in models.expressions().items()}
        self.ports, self.registers, gates = module["ports"], {}, {}
        self.names = {bit: name for name, net in module["netnames"].items() if not net["hide_name"] for bit in net["bits"]}
        for cell in module["cells"].values():
            kind, pins = cell["type"], cell["connections"]
            if kind == models.REGISTER:
                self.registers[pins["Q"][0]] = pins["D"][0]
            elif kind in functions:
                for out, (values, inputs) in functions[kind].items():
                    if pins.get(out):
                        gates[pins[out][0]] = (values, [pins[pin][0] for pin in inputs])
        self.order = self.sorted(gates)

    @staticmethod
    def sorted(gates):
        """Gates, each after those that it reads."""
        readers, waiting = collections.defaultdict(list), {}
        for out, (_, inputs) in gates.items():
            inner = [bit for bit in inputs if bit in gates]
            waiting[out] = len(inner)
            for bit in inner:
                readers[bit].append(out)
        ready = [out for out, count in waiting.items() if count == 0]
        for out in ready:
            for reader in readers[out]:
                waiting[reader] -= 1
                if waiting[reader] == 0:
                    ready.append(reader)
        assert len(ready) == len(gates), "a loop of gates"
        return [(out, *gates[out]) for out in ready]

    @staticmethod
    def begin():
        """All nets as they are before the first cycle."""
        return collections.defaultdict(lambda: UNKNOWN, {"0": 0, "1": 1})

    def settle(self, value):
        for out, values, inputs in self.order:
            value[out] = values[tuple([value[bit] for bit in inputs])]

    def run(self, cycles, value, reset):
        for name, port in self.ports.items():
            if port["direction"] == "input":
                for bit in port["bits"]:
                    value[bit] = int(not reset) if name == "rst_ni" else 0 if IDLE.fullmatch(name) else UNKNOWN
        for _ in range(cycles):
            self.settle(value)
            value.update({q: value[d] for q, d in self.registers.items()})
        self.settle(value)


    def known(self, value):
        """Registers that are known."""
        return {q for q in self.registers if value[q] != UNKNOWN}

    def unknown_handshakes(self, value):
        return sorted(name for name, port in self.ports.items() if HANDSHAKE.fullmatch(name) and any(value[bit] == UNKNOWN for bit in port["bits"]))


def check(netlist):
    """What is wrong, as a line each."""
    value = netlist.begin()
    netlist.run(1, value, reset=False)
    if not netlist.unknown_handshakes(value):
        yield "nothing is unknown without a reset"
    value = netlist.begin()
    before = set()
    for when, cycles, reset in (("the reset's first cycle", 1, True), ("the reset", CYCLES - 1, True), (f"{IDLE_CYCLES} idle cycles", IDLE_CYCLES, False)):
        netlist.run(cycles, value, reset)
        for name in netlist.unknown_handshakes(value):
            yield f"after {when} {name} is unknown"
        known = netlist.known(value)
        for q in before - known:
            yield f"after {when} a register is unknown that was known: {netlist.names.get(q, q)}"
        before = known
        print(f"after {when}: {len(known):,} of {len(netlist.registers):,} registers are known")


def main(argv):
    parser = argparse.ArgumentParser(
        prog="tests/signoff/netlist/reset.py", description=__doc__, epilog="Exit: 0 every handshake is known from the reset's first cycle on, and no register "
        "that is known becomes unknown; 1 something is wrong, 2 bad usage or no such file.")
    parser.add_argument("netlist", metavar="JSON", help="as scripts/asic/netlist.py keeps it with its Verilog")
    options = parser.parse_args(argv)
    try:
        with open(options.netlist, encoding="utf-8") as file:
            modules = json.load(file)["modules"]
    except (OSError, ValueError) as problem:
        parser.error(f"{options.netlist}: {problem}")
    netlist = Netlist(next(module for module in modules.values() if int(module["attributes"].get("top", "0"), 2)))
    wrong = list(check(netlist))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
