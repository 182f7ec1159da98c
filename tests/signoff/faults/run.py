#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Flips every bit of every register of the accelerator in every cycle of a product of one tile, and reports by module what came of it."""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "scripts", "asic"))
from energy_model import outputs  # noqa: E402
from synthesis.tools import Problem  # noqa: E402

# Words that are read by an address. `gemm64 faults` flips bits of these.
MEMORIES = {("gemm64_ram", "memory_q"), ("gemm64_set_ram", "memory_q"), ("gemm64_accumulator_column", "sums_0_q"),
            ("gemm64_accumulator_column", "sums_1_q"), ("gemm64_elementwise", "table_q"), ("gemm64_written", "bits_q")}
FORMATS = {"int32": 0, "int8": 1}
# The smallest buffers that work: fewer bytes to compare
PARAMETERS = {"LOG_WEIGHT_WORDS": 3, "SCRATCHPAD_WORDS": 79, "ACCUMULATOR_ROWS": 16}
ENDS = ("masked", "found", "driver", "error", "watchdog", "silent", "counts", "wrong")
WORDS = {"masked": "masked", "found": "device finds", "driver": "driver finds", "error": "other error", "watchdog": "watchdog",
         "silent": "no interrupt", "counts": "miscounted", "wrong": "unnoticed"}


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="tests/signoff/faults/run.py", description=__doc__ + " A run begins with the reset and ends 20 cycles after the interrupt; each flip has a run "
        "of its own from its clock on.", epilog="Exit: 0 every flip was tried, whatever came of it; 1 a tool failed; 2 bad usage or a missing tool; 3 a file was not written.")
    parser.add_argument("--array", type=int, default=4, choices=(2, 4, 8), help="N (default: %(default)s)")
    parser.add_argument("--self-check", type=int, default=2, choices=(0, 1, 2), help="parameter SELF_CHECK (default: %(default)s)")
    parser.add_argument("--results", default="int32", choices=FORMATS, help="of the product (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1, metavar="CYCLES",
                        help="flips a bit only in each K-th cycle, its neighbour a cycle later (default: %(default)s, all)")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="registers whose path holds one of these, as u_lanes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time (default: as many as there are CPUs)")
    parser.add_argument("--build", default="build/flips", help="where the model goes (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="writes what came of each register there")
    parser.add_argument("--registers", action="store_true", help="also lists the registers of which a flip is not found, with one of them")
    options = parser.parse_args(argv)
    if options.jobs < 1 or options.every < 1:
        parser.error("--jobs and --every must be positive")
    return options


def tool(command, log):
    with open(log, "w", encoding="utf-8") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if code:
        with open(log, encoding="utf-8", errors="replace") as again:
            raise RuntimeError(f"{command[0]} failed; the end of {log}:\n" + "".join(again.readlines()[-8:]))


def targets(node):
    """Names of what an assignment assigns to."""
    if node.tag == "varref":
        return {node.get("name")}
    if node.tag in ("sel", "arraysel"):  # the others are indices
        return targets(node[0])
    return set().union(*map(targets, node)) if len(node) else set()


def structure(path):
    """Registers, as (module, name), and the module of each instance, of Verilator's XML."""
    root = xml.etree.ElementTree.parse(path).getroot()
    registers, origin = set(), {}
    for module in root.iter("module"):
        origin[module.get("name")] = module.get("origName")
        for always in module.iter("always"):
            clocked = any(item.get("edgeType") == "POS" for item in always.iter("senitem"))
            for assignment in (node for node in always.iter() if node.tag == "assigndly" or (clocked and node.tag == "assign")):
                # In a clocked block the RTL assigns with = where that is faster to simulate; what it keeps is named by its stage.
                registers |= {(module.get("origName"), name) for name in targets(assignment[-1])
                              if assignment.tag == "assigndly" or re.search(r"_(q|\d+)$", name)}
    return registers - MEMORIES, {cell.get("hier"): origin[cell.get("submodname")] for cell in root.iter("cell")}


def build(options):
    folder = os.path.join(options.build, f"n{options.array}_{options.self_check}")
    os.makedirs(folder, exist_ok=True)
    rtl = os.path.join(ROOT, "rtl")
    sources = sorted(os.path.join(rtl, name) for name in os.listdir(rtl) if name.endswith(".v"))
    parameters = {"N": options.array, "SELF_CHECK": options.self_check, **PARAMETERS}
    common = [f"-G{name}={value}" for name, value in parameters.items()] + ["-I" + rtl, "--top-module", "gemm64"]
    flags = ["-O3", "-fno-const-bit-op-tree", "--unroll-count", "256", "--unroll-stmts", "100000", "-Wno-fatal", "-Wno-lint", "-Wno-style"]
    tree = os.path.join(folder, "gemm64.xml")
    tool(["verilator", "--xml-only", "--xml-output", tree, *flags, *common, *sources], tree + ".log")
    registers, modules = structure(tree)
    shown = os.path.join(folder, "registers.vlt")
    with open(shown, "w", encoding="utf-8") as out:
        out.write("`verilator_config\n")
        out.writelines(f'public_flat_rw -module "{module}" -var "{name}"\n' for module, name in sorted(registers))
    program = os.path.join(folder, "flips")
    driver = [os.path.join(ROOT, "host/driver", name) for name in ("gemm64_driver.c", "gemm64_matmul.c")]
    objects = []
    for source in driver:
        objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
        tool(["clang", "-std=c99", "-O2", "-c", source, "-o", objects[-1]], objects[-1] + ".log")
    tool(["verilator", "--cc", "--exe", "--build", "-j", str(options.jobs), *flags, *common, "--prefix", "Vflips", "--Mdir", folder, "--noassert",
          "--x-assign", "0", "--x-initial", "0", "-CFLAGS", f"-std=c++17 -w -DN={options.array} -I{ROOT}", "-MAKEFLAGS",
          "CXX=clang++ OPT_FAST=-O2 OPT_GLOBAL=-O2", "-o", "flips", shown, *sources, os.path.join(ROOT, "tests/signoff/faults/flips.cpp"),
          *objects], program + ".log")
    return program, modules


def flip(options, program):
    """The program's result for each word of each register."""
    running = [subprocess.Popen([program, str(FORMATS[options.results]), str(options.every), str(job), str(options.jobs), *options.only],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for job in range(options.jobs)]
    flipped = []
    for process in running:
        out, error = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{program}: {error.strip()}")
        flipped.append(json.loads(out))
    return {**flipped[0], "registers": [word for part in flipped for word in part["registers"]]}


def module_of(scope, modules):
    """The module of a scope, whose path names generate blocks as well."""
    instance, *parts = scope.split(".")
    for part in parts:
        if f"{instance}.{part}" in modules:
            instance += "." + part
    return modules[instance]


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(widths[0]) if i == 0 else text.rjust(widths[i]) for i, text in enumerate(row)).rstrip() for row in rows]
    rule = "-" * max(map(len, lines))
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1]])


def report(options, flipped, modules):
    counts, bits = collections.defaultdict(collections.Counter), collections.Counter()
    unnoticed = collections.defaultdict(list)
    for word in flipped["registers"]:
        module = module_of(word["scope"], modules)
        bits[module] += word["bits"]
        for end in ENDS:
            if end not in word:
                continue
            count, bit, clock = word[end]
            counts[module][end] += count
            if end in ("wrong", "counts", "silent", "watchdog", "error"):
                unnoticed[module, word["name"], end].append((count, word["scope"], word["word"], bit, clock))
    total = sum(counts.values(), collections.Counter())
    line = lambda name, size, some: [name, f"{size:,}", *(f"{some[end]:,}" if some[end] else "–" for end in ENDS)]
    rows = [["module", "bits", *(WORDS[end] for end in ENDS)]]
    rows += [line(module, bits[module], counts[module]) for module in sorted(counts)]
    rows.append(line("all", sum(bits.values()), total))
    print(table(rows))
    found = sum(word["after"] for word in flipped["registers"])
    print(f"\n{sum(total.values()):,} flips in {flipped['told']:,} cycles of a {options.array}x{options.array}x{options.array} product with {options.results} "
          f"results, SELF_CHECK = {options.self_check}" + (f", each bit in each {options.every}th clock" if options.every > 1 else "") +
          (f"; found {found / total['found']:.0f} cycles later in the mean." if total["found"] else "."))
    if options.registers:
        print()
        for (module, name, end), words in sorted(unnoticed.items(), key=lambda item: (ENDS.index(item[0][2]), item[0]), reverse=True):
            count = sum(word[0] for word in words)
            _, scope, word, bit, clock = words[0]
            print(f"{WORDS[end]}: {module}.{name}: {count:,}, one of them {scope}, word {word}, bit {bit}, cycle {clock}")


def main():
    options = arguments(sys.argv[1:])
    try:
        for name, package in (("verilator", "verilator"), ("clang++", "clang")):
            if not shutil.which(name):
                raise Problem(f"there is no {name}; `scripts/setup/setup.sh build` installs Debian's {package}")
        options.build = os.path.abspath(options.build)
        program, modules = build(options)
        flipped = flip(options, program)
        report(options, flipped, modules)
        if options.json:
            outputs.write_json(options.json, {**flipped, "modules": modules})
    except Problem as problem:
        print(f"flips: {problem}", file=sys.stderr)
        return 2
    except outputs.OutputLost as problem:
        print(f"flips: {problem}", file=sys.stderr)
        return 3
    except (RuntimeError, OSError) as problem:
        print(f"flips: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
