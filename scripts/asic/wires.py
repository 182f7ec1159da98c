#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Places and routes a module of standard cells with open tools, and reports its longest path without wires and with them."""

import argparse
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from energy_model import outputs  # noqa: E402 (the folder is next to this file)
from synthesis import cells, mapping, timing, tools  # noqa: E402

TECHNOLOGY = "osu018"  # 180 nm, six layers of metal
# What is placed: one column of an array's stage, whose path is the chip's.
DEFAULT = ("gemm64_stage", {"N": 1, "ROWS": 4, "COLUMN_WIDTH": 1, "SUM_WIDTH": 22})
DESIGN = "placed"
# The placer takes no brackets twice in a name, and no output that is a constant.
FOR_THE_PLACER = """\
read_json {netlist}
hierarchy -top {top}
rename {top} {design}
{constants}
splitnets -ports -format __
rename -hide w:*
rename -enumerate -pattern n%
setundef -zero
opt_clean -purge
write_blif -gates {blif}
write_verilog -noattr -noexpr {verilog}
"""
STA = """\
read_liberty {liberty}
read_verilog {verilog}
link_design {design}
create_clock -name clock -period {period} [get_ports clk_i]
set_input_transition {slew} [all_inputs -no_clocks]
set_load {load} [all_outputs]
puts "CELLS"
report_checks -path_delay max {ends} -digits 3
read_spef {spef}
puts "WIRES"
report_checks -path_delay max {ends} -digits 3
puts "END"
"""
ENDS = "-from [all_registers -clock_pins] -to [all_registers -data_pins]"


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/asic/wires.py", description=__doc__ + " As make -C scripts/asic synth maps it, by qflow: graywolf places, qrouter routes; OpenSTA reads the wires' resistance "
        "and capacitance, which come from the technology's LEF file. There is no clock tree, and no gate is sized again.",
        epilog="Exit: 0 routed and timed, 1 a tool failed, or a net has no route, 2 bad usage or a missing tool, 3 a file was not written.")
    parser.add_argument("--module", help="a module of rtl/ without memories (default: a column of the array's stage)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of --module")
    parser.add_argument("--out", metavar="FOLDER", default="build/wires", help="for layouts and logs (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(argv)
    if options.set and not options.module:
        parser.error("--set goes with --module")
    if options.module and not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rtl", f"{options.module}.v")):
        parser.error(f"--module {options.module}: no such file in rtl/; a name is that of a file without its .v")
    if any(not re.fullmatch(r"\w+=\d+", word) for word in options.set):
        parser.error("--set: write NAME=VALUE, the value a number")
    return options


def constant_outputs(path, top):
    """Outputs that have constant bits only."""
    with open(path, encoding="utf-8") as file:
        ports = json.load(file)["modules"][top]["ports"]
    return [name for name, port in ports.items()
            if port["direction"] == "output" and not any(isinstance(bit, int) for bit in port["bits"])]


def tree(words, at, parent, segments, pins, fresh):
    """Reads "( R C what hangs there )" of qrouter's RC file, or a pin; where it ends."""
    if words[at] != "(":
        pins.append((words[at], parent))
        return at + 1
    node = fresh()
    segments.append((parent, node, float(words[at + 1]), float(words[at + 2])))
    at += 3
    while words[at] != ")":
        at = at + 1 if words[at] == "," else tree(words, at, node, segments, pins, fresh)
    return at + 1


def spef(rc, path):
    """Writes the wires as OpenSTA reads them; (nets, picofarads in all)."""
    lines = ['*SPEF "IEEE 1481-1998"', f'*DESIGN "{DESIGN}"', '*DATE ""', '*VENDOR ""', '*PROGRAM "qrouter"', '*VERSION ""', '*DESIGN_FLOW ""',
             "*DIVIDER /", "*DELIMITER :", "*BUS_DELIMITER []", "*T_UNIT 1 NS", "*C_UNIT 1 PF", "*R_UNIT 1 OHM", "*L_UNIT 1 HENRY"]
    nets, total = 0, 0.0
    with open(rc, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words:
                continue
            net, drivers = words[0], int(words[1])
            count = iter(range(1, 1 << 30))
            segments, pins = [], []

            def fresh(net=net, count=count):
                return f"{net}:{next(count)}"

            root = fresh()
            pins += [(pin, root) for pin in words[2:2 + drivers]]
            at = 3 + drivers  # after the number of sinks
            while at < len(words):
                at = at + 1 if words[at] == "," else tree(words, at, root, segments, pins, fresh)
            capacitance = sum(segment[3] for segment in segments)
            nets, total = nets + 1, total + capacitance
            lines.append(f"*D_NET {net} {capacitance:.8f}\n*CONN")
            names = {}
            for index, (pin, node) in enumerate(pins):
                owner, _, port = pin.rpartition("/")
                names[pin] = port if owner == "PIN" else f"{owner}:{port}"
                way = "O" if (index < drivers) != (owner == "PIN") else "I"
                lines.append(f"*{'P' if owner == 'PIN' else 'I'} {names[pin]} {way}")
            lines.append("*CAP")
            lines += [f"{index} {segment[1]} {segment[3]:.8f}" for index, segment in enumerate(segments, 1)]
            lines.append("*RES")
            wires = [segment[:3] for segment in segments] + [(node, names[pin], 0.001) for pin, node in pins]
            lines += [f"{index} {a} {b} {ohms:.5f}" for index, (a, b, ohms) in enumerate(wires, 1)]
            lines.append("*END")
    tools.write(path, "\n".join(lines) + "\n")
    return nets, total


def slacks(text):
    """The longest paths without and with wires, in ns."""
    found = {}
    for key, part in re.findall(r"^(CELLS|WIRES)$(.*?)(?=^(?:CELLS|WIRES|END)$)", text, re.M | re.S):
        slack = re.search(r"(-?[0-9.]+)\s+slack", part)
        if not slack:
            raise tools.ToolFailure("sta: there is no path from register to register")
        found[key] = round(timing.PERIOD_NS - float(slack.group(1)), 3)
    return found["CELLS"], found["WIRES"]


def place(module, parameters, library, out):
    """Figures of one module."""
    made = mapping.synthesize(module, parameters, library, os.path.join(out, "mapped"))
    folder = os.path.join(out, os.path.basename(made))
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("source", "synthesis", "layout", "log"):
        os.makedirs(os.path.join(folder, part))
    netlist = os.path.join(made, "netlist.json")
    base = os.path.join(folder, "synthesis", DESIGN)
    script = FOR_THE_PLACER.format(netlist=netlist, top=module, design=DESIGN, blif=f"{base}.blif", verilog=f"{base}.rtlnopwr.v",
                                   constants="\n".join(f"delete -output w:{name}" for name in constant_outputs(netlist, module)))
    tools.run(["yosys", "-q", "-s", tools.write(os.path.join(folder, "placer.ys"), script)], os.path.join(folder, "placer.log"))
    with open(f"{base}.blif", encoding="utf-8") as file:
        text = re.sub(r"^\.names \$(false|true|undef)\n([01]\n)?", "", file.read(), flags=re.M)
    if ".names" in text:
        raise tools.ToolFailure(f"{module}: a gate or an output is a constant, which the placer does not take")
    tools.write(f"{base}.blif", text)
    shutil.copy(f"{base}.rtlnopwr.v", f"{base}.rtl.v")
    shutil.copy(f"{base}.rtlnopwr.v", os.path.join(folder, "source", f"{DESIGN}.v"))
    tools.write(os.path.join(folder, "project_vars.sh"), "#!/usr/bin/tcsh -f\nset vddnet=vdd\nset gndnet=gnd\n")
    for step in ("place", "route"):
        tools.run(["qflow", step, "-T", TECHNOLOGY, "-p", folder, DESIGN], os.path.join(folder, f"{step}.log"))
    layout = os.path.join(folder, "layout", DESIGN)
    with open(os.path.join(folder, "route.log"), encoding="utf-8", errors="replace") as file:
        if "Final: No failed routes!" not in file.read():
            raise tools.ToolFailure(f"qrouter: {module}: not all nets have a route; see {folder}/route.log")
    nets, capacitance = spef(f"{layout}.rc", f"{layout}.spef")
    sta = STA.format(liberty=cells.OSU018, verilog=f"{base}.rtlnopwr.v", design=DESIGN, period=timing.PERIOD_NS, slew=timing.SLEW_NS,
                     load=timing.LOAD_PF, ends=ENDS, spef=f"{layout}.spef")
    log = tools.run(["sta", "-no_splash", "-exit", tools.write(os.path.join(folder, "sta.tcl"), sta)], os.path.join(folder, "sta.log"))
    problem = re.search(r"^(?:Error|Warning).*\.spef.*", log, re.M)
    if problem:
        raise tools.ToolFailure(f"sta: {problem.group(0)}")
    without, wires = slacks(log)
    with open(f"{layout}.def", encoding="utf-8") as file:
        layout_text = file.read()
    corners = [int(word) for word in re.search(r"^DIEAREA \( (\S+) (\S+) \) \( (\S+) (\S+) \)", layout_text, re.M).groups()]
    units = int(re.search(r"^UNITS DISTANCE MICRONS (\d+)", layout_text, re.M).group(1))
    return {"module": module, "parameters": parameters, "cells": text.count("\n.gate "), "nets": nets,
            "square_micrometres": round((corners[2] - corners[0]) * (corners[3] - corners[1]) / units ** 2),
            "picofarads_of_wires": round(capacitance, 3), "ns_of_cells": without, "ns_with_wires": wires}


def main(argv):
    options = arguments(argv)
    paths = {name: os.path.abspath(path) for name, path in vars(options).items() if name in ("out", "json") and path}
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    wanted = (options.module, {name: int(value) for name, value in (word.split("=") for word in options.set)}) if options.module else DEFAULT
    try:
        tools.check(cells.OSU018)
        for tool in ("qflow", "graywolf", "qrouter"):
            if not shutil.which(tool):
                raise tools.Problem(f"there is no {tool}; `scripts/setup/setup.sh wires` installs Debian's")
        library = cells.Cells(cells.OSU018)
        made = place(*wanted, library, paths["out"])
        print(outputs.table(["placed and routed", "cells", "um2", "pF of wires", "ns without wires", "with", ""], [[
            made["module"], f"{made['cells']:,}", f"{made['square_micrometres']:,}", f"{made['picofarads_of_wires']:.2f}", f"{made['ns_of_cells']:.2f}",
            f"{made['ns_with_wires']:.2f}", f"{made['ns_with_wires'] / made['ns_of_cells'] - 1:+.1%}"]]))
        if "json" in paths:
            outputs.write_json(paths["json"], {"technology": TECHNOLOGY, **made})
    except outputs.OutputLost as problem:
        print(f"wires: {problem}", file=sys.stderr)
        return 3
    except tools.Problem as problem:
        print(f"wires: {problem}", file=sys.stderr)
        return 1 if isinstance(problem, tools.ToolFailure) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
