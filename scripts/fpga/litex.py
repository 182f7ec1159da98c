#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs pieces of AlexNet on the accelerator of a LiteX SoC, by firmware on its VexRiscv, in LiteX's simulator."""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from problem import Problem  # noqa: E402

SIZES = (4, 8, 16)
BUSES = ("wishbone", "axi-lite", "axi")
TOOLS = {"verilator": "verilator", "make": "make", "g++": "g++", "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf"}
CORE = "litex/build/sim/core"
# Verilator before 5.010 compiles some trees of bit operations wrongly.
VERILATOR_OPTIONS = "-fno-const-bit-op-tree"


class Failed(Exception):
    """A tool that ended with an error, or a run without the verdict that is hoped for."""


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/fpga/litex.py", description=__doc__ + " LiteX comes from PyPI into a virtual environment. The firmware uses the driver in C, compares "
        "each value with a plain computation, and the bytes over the accelerator's ports with its plan.",
        epilog="Exit: 0 the firmware says VERIFIED; 1 it does not, or a tool failed; 2 bad usage or a missing tool.")
    parser.add_argument("--n", type=int, default=8, choices=SIZES, metavar="N", help="rows and columns of the array: 4, 8 or 16 (default: %(default)s)")
    parser.add_argument("--bus", default="wishbone", choices=BUSES, help="the SoC's bus: " + ", ".join(BUSES) + " (default: %(default)s)")
    parser.add_argument("--cycles", type=int, default=50_000_000, metavar="COUNT", help="give up after this number (default: %(default)s)")
    parser.add_argument("--build", default="build/litex", help="where all that is made goes (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time (default: the processor's cores)")
    options = parser.parse_args(argv)
    for name in ("cycles", "jobs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: at least 1")
    return options


def run(command, log, folder=None):
    """Runs a tool; what it says is in log."""
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, cwd=folder, check=False).returncode
    if code:
        with open(log, encoding="utf-8", errors="replace") as file:
            raise Failed(f"{os.path.basename(command[0])} failed; the end of {log}:\n" + "".join(file.readlines()[-8:]))


def digest(paths, recipe):
    """What the simulator is made of. LiteX writes the time into a comment."""
    found = hashlib.sha256(recipe.encode())
    for path in paths:
        with open(path, "rb") as file:
            found.update(re.sub(rb"(?m)^//.*$", b"", file.read()))
    return found.hexdigest()


def compile_simulator(core, folder, jobs):
    """Compiles what LiteX wrote; made again only where that has changed. Memories' contents are read when it starts."""
    with open(f"{folder}/sources.json", encoding="utf-8") as file:
        sources = json.load(file)
    sources = [os.path.join(folder, "gateware", source) for source in sources]
    include = os.path.dirname(next(source for source in sources if source.endswith("/gemm64.v")))
    headers = [os.path.join(include, name) for name in sorted(os.listdir(include)) if name.endswith(".vh")]
    recipe = f"{VERILATOR_OPTIONS} {' '.join(sources)}"
    stamp, wanted = f"{folder}/simulator.sha256", digest([*sources, *headers, f"{folder}/gateware/sim_init.cpp"], recipe)
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return
        os.remove(stamp)
    run(["make", "-f", f"{core}/Makefile", "CC_SRCS=" + " ".join(f"--cc {source}" for source in sources) + " " + VERILATOR_OPTIONS, f"JOBS={jobs}", "OPT_LEVEL=O3"],
        f"{folder}/make.log", f"{folder}/gateware")
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)


def simulate(folder, cycles):
    """Runs the simulation and shows what the firmware prints, line by line."""
    said = []
    with open(f"{folder}/simulation.log", "w", encoding="utf-8") as log, subprocess.Popen(
            ["obj_dir/Vsim"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=f"{folder}/gateware", text=True, errors="replace") as simulation:
        for line in simulation.stdout:
            log.write(line)
            if line.startswith("firmware: "):
                said.append(line.strip())
                print(said[-1], flush=True)
    if simulation.returncode:
        raise Failed(f"the simulation ended with {simulation.returncode}; see {folder}/simulation.log")
    verdict(said, cycles)


def verdict(said, cycles):
    """Raises Failed unless the last thing that the firmware said is that all is right."""
    if said and said[-1].startswith("firmware: VERIFIED, "):
        return
    if said and said[-1] == "firmware: WRONG":
        raise Failed("the accelerator's results are wrong (see above)")
    raise Failed(f"no verdict of the firmware after {cycles:,} cycles; " + (f"its last words: {said[-1]}" if said else "it said nothing"))


def main():
    started = time.monotonic()
    options = arguments(sys.argv[1:])
    build = os.path.abspath(options.build)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    def progress(text):
        print(f"litex: {text}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    try:
        for tool, package in TOOLS.items():
            if not shutil.which(tool):
                raise Problem(f"there is no {tool}; `scripts/setup/setup.sh litex` installs Debian's {package}")
        venv, folder = f"{build}/venv", f"{build}/n{options.n}-{options.bus}"
        if subprocess.run(["scripts/setup/venv.sh", venv, "scripts/fpga/litex-requirements.txt"], check=False).returncode:
            raise Problem("LiteX could not be installed (see above)")
        os.makedirs(folder, exist_ok=True)
        python = f"{venv}/bin/python"
        run([python, "-B", "sim/integrations/litex/soc.py", "--n", str(options.n), "--cycles", str(options.cycles), "--bus", options.bus, "--out", folder], f"{folder}/soc.log")
        progress("SoC and firmware written")
        core = subprocess.run([python, "-c", "import litex; print(litex.__path__[0])"], capture_output=True, text=True, check=True).stdout.strip()
        compile_simulator(os.path.join(os.path.dirname(core), CORE), folder, options.jobs)
        progress("simulator compiled")
        simulate(folder, options.cycles)
        progress("simulated")
        return 0
    except Problem as problem:
        print(f"litex: {problem}", file=sys.stderr)
        return 2
    except Failed as problem:
        print(f"litex: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
