# SPDX-License-Identifier: Apache-2.0
"""Runs netlists through the gate simulator, and weighs what changes in them."""

import os
import shutil
import struct
import subprocess

from . import netlist as netlists

LANES = 128
STEP_NS = 0.025  # of simulated time
OPERATORS = {"!": -1, "&": -2, "|": -3, "^": -4}


def simulator(folder):
    """Path of the gate simulator, compiled where it is older than its source."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gates.cpp")
    program = os.path.join(folder, "gates")
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(source):
        return program
    compiler = next((name for name in (os.environ.get("CXX"), "clang++", "g++", "c++") if name and shutil.which(name)), None)
    if not compiler:
        raise netlists.ToolFailure("there is no C++ compiler; `scripts/setup/setup.sh build` installs Debian's clang")
    os.makedirs(folder, exist_ok=True)
    netlists.run([compiler, "-std=c++17", "-O2", "-march=native", "-o", program, source], program + ".log")
    return program


class Counts:
    """How often each net changed, changed from settled to settled value, and was 1."""

    def __init__(self, data, nets, watched):
        flat = struct.unpack_from(f"<{3 * nets}Q", data)
        self.changes, self.settled, self.ones = flat[0::3], flat[1::3], flat[2::3]
        rest = data[24 * nets:]
        words = [int.from_bytes(rest[i:i + 16], "little") for i in range(0, len(rest), 16)]
        self.watched = [words[i:i + len(watched)] for i in range(0, len(words), len(watched))] if watched else []


def steps(delay_ns):
    return max(1, round(delay_ns / STEP_NS))


def describe(electrical, inputs, backs, watched):
    """The netlist as the simulator reads it."""
    netlist, delay = electrical.netlist, electrical.delay
    outside = steps(electrical.register_delay)
    lines = [f"nets {netlist.nets}"]
    lines += [f"input {net} {outside}" for net in inputs]
    lines += [f"back {net} {source} {shift} {outside}" for net, source, shift in backs]
    for instance in netlist.registers():
        net = instance.outputs["Q"]
        lines.append(f"register {net} {instance.inputs['D']} {instance.inputs.get('E', -1)} {steps(delay[net])}")
    for instance in electrical.gates:
        for pin, net in instance.outputs.items():
            function = [OPERATORS.get(step, instance.inputs.get(step)) for step in instance.cell.functions[pin]]
            lines.append(f"gate {net} {steps(delay[net])} " + " ".join(map(str, function)))
    lines += [f"watch {net}" for net in watched]
    return "\n".join(lines) + "\n"


def simulate(program, electrical, folder, inputs, stimulus, backs=(), watched=()):
    """Counts of a run. inputs: nets; stimulus, a cycle: copies that count, then a word of all copies for each input."""
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, name) for name in ("gates.txt", "stimulus.bin", "counts.bin")]
    with open(paths[0], "w", encoding="utf-8") as file:
        file.write(describe(electrical, inputs, backs, watched))
    with open(paths[1], "wb") as file:
        for clock in stimulus:
            file.write(b"".join(word.to_bytes(16, "little") for word in clock))
    done = subprocess.run([program, *paths], capture_output=True, text=True, check=False)
    if done.returncode:
        raise netlists.ToolFailure(f"the gate simulator failed: {done.stderr.strip()}")
    with open(paths[2], "rb") as file:
        data = file.read()
    os.remove(paths[1])
    os.remove(paths[2])
    return Counts(data, electrical.netlist.nets, watched)


def energy(electrical, counts, cycles, copies):
    """pJ of all copies in `cycles` cycles: what their gates, nets and clock pins took."""
    clocked = cycles * copies
    parts = {
        "cells": sum(count * (inside + passive) for count, inside, passive in
                     zip(counts.changes, electrical.internal, electrical.passive)),
        "nets": sum(count * cost for count, cost in zip(counts.changes, electrical.switching)),
    }
    settled = sum(count * (inside + passive + cost) for count, inside, passive, cost in
                  zip(counts.settled, electrical.internal, electrical.passive, electrical.switching))
    free = sum(1 for instance in electrical.netlist.registers() if instance.cell is not None)
    pin = electrical.clock_pin + electrical.clock_internal
    parts["clock"] = free * pin * clocked
    for enable, registers in electrical.groups.items():
        rest, through = electrical.gate_energy(len(registers))
        parts["clock"] += rest * clocked + through * counts.ones[enable]
    parts["glitches"] = parts["cells"] + parts["nets"] - settled  # of cells and nets
    return parts
