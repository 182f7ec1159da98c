# SPDX-License-Identifier: Apache-2.0
"""Signals of the RTL in a tile of a program's own run, cycle by cycle."""

import os

from . import netlist as netlists


def tile(layer, coordinates):
    """The tile as --trace-tile takes it."""
    return f"{layer}:{','.join(map(str, coordinates))}"


def record(program, options, folder):
    """Path of a VCD of what options of `run` trace. The run's report goes next to it, run.json."""
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(folder, "tile")
    log = base + ".log"
    netlists.run([program, "run", *options, "--trace", base + ".fst", "--json", os.path.join(folder, "run.json")], log)
    netlists.run(["fst2vcd", base + ".fst", "-o", base + ".vcd"], base + ".vcd.log")
    os.remove(base + ".fst")
    return base + ".vcd"


def read(path, names):
    """Values of signals, a list for each, at the end of every cycle. Names are paths below the top, u_array.weight_i."""
    wanted, scope, top = {}, [], None
    values, clocks = dict.fromkeys(names, 0), {name: [] for name in names}
    with open(path, encoding="latin-1") as file:
        for line in file:
            words = line.split()
            if not words:
                continue
            if words[0] == "$scope":
                scope.append(words[2])
            elif words[0] == "$upscope":
                scope.pop()
            elif words[0] == "$var":
                name = ".".join(scope + [words[4]])
                if words[4] == "clk_i" and len(scope) <= 2:
                    top = ".".join(scope) + "."
                    wanted.setdefault(words[3], []).append("clk_i")
                if top and name.startswith(top) and name[len(top):] in values:
                    wanted.setdefault(words[3], []).append(name[len(top):])
            elif words[0] == "$enddefinitions":
                break
        found = {name for names_of_id in wanted.values() for name in names_of_id}
        missing = [name for name in names if name not in found]
        if missing:
            raise netlists.ToolFailure(f"{path}: holds no signal {missing[0]}")
        clock_id = next(key for key, found_names in wanted.items() if "clk_i" in found_names)
        values.pop("clk_i", None)
        begun = False
        for line in file:
            if line[0] in "01xz":
                key, value = line[1:].rstrip(), line[0]
                if key == clock_id and value == "1":
                    if begun:
                        for name, series in clocks.items():
                            series.append(values[name])
                    begun = True
            elif line[0] == "b":
                value, _, key = line[1:].partition(" ")
                key = key.rstrip()
            else:
                continue
            if key in wanted and key != clock_id:
                number = int(value.replace("x", "0").replace("z", "0"), 2)
                for name in wanted[key]:
                    values[name] = number
    return clocks
