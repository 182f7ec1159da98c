#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Synthesizes the accelerator to standard cells: area by module, memories as macros, longest paths, for several sizes."""

import argparse
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from synthesis import cells, chip, report, run, tools  # noqa: E402 (the folder is next to this file)

SIZES = "4,8,16,32,64"
BUILD = "build/synth"


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/asic/synth.py",
        description=__doc__ + " The array's stages, the requantizer and the accumulator's columns are mapped and timed once and "
        "stand in the whole as models made of OpenSTA's figures; all else is one flat netlist.",
        epilog="Areas are of cells only: no wires, no clock tree, no memories. Paths are without the load of wires. Exit: 0 all "
        "paths are timed and N=64 reaches the goal where it was asked for, 1 a path cannot be timed, the goal is missed or a tool "
        "failed, 2 bad usage or a missing tool, 3 a file could not be written.")
    parser.add_argument("--array", metavar="N[,N...]", default=SIZES, help="sizes of the array (default: %(default)s)")
    parser.add_argument("--module", help="one module of rtl/ instead of the whole")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of --module")
    parser.add_argument("--liberty", default=cells.OSU018, help="cells (default: %(default)s)")
    parser.add_argument("--out", metavar="FOLDER", default=BUILD, help="for netlists, logs and pictures (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--summary", metavar="FILE", help="write the rows of the sign-off's table there")
    options = parser.parse_args(argv)
    if options.set and not options.module:
        parser.error("--set goes with --module")
    if options.module:
        if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rtl", f"{options.module}.v")):
            parser.error(f"--module {options.module}: no such file in rtl/; a name is that of a file without its .v")
        if options.summary:
            parser.error("--summary is of the whole, not of --module")
    return options, parser


def sizes(text, parser):
    try:
        found = sorted({int(word) for word in text.split(",")})
    except ValueError:
        found = []
    if not found or any(n not in (2, 4, 8, 16, 32, 64) for n in found):
        parser.error(f"--array {text}: must be powers of two from 2 to 64 with commas between them")
    return found


def settings(words, parser):
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        if not name.isidentifier() or not value.isdigit():
            parser.error(f"--set {word}: must be NAME=VALUE, where the value is a number")
        found[name] = int(value)
    return found


def write(path, text):
    """Writes a file whole or not at all."""
    with open(path + ".part", "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(path + ".part", path)


def main(argv):
    started = time.monotonic()
    options, parser = arguments(argv)
    wanted = [(options.module, settings(options.set, parser))] if options.module else \
        [("gemm64", {"N": n}) for n in sizes(options.array, parser)]
    outputs = {name: os.path.abspath(path) for name, path in vars(options).items()
               if name in ("json", "summary", "liberty") and path}
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    try:
        tools.check(outputs["liberty"])
        chips = run.all_of(wanted, cells.Cells(outputs["liberty"]), options.out)
    except tools.Problem as problem:
        print(f"synth: {problem}", file=sys.stderr)
        return 1 if isinstance(problem, tools.ToolFailure) else 2

    for made in chips:
        report.one(made)
    if not options.module:
        report.together(chips)
    rows = [] if options.module else report.summary(chips)
    try:
        for made in chips:
            picture = os.path.join(options.out, "_".join([made.top] + [f"{key}{made.parameters[key]}" for key in made.parameters]))
            write(picture + ".svg", report.picture(made))
            print(f"\narea: {picture}.svg")
        if "json" in outputs:
            write(outputs["json"], json.dumps({"liberty": os.path.basename(outputs["liberty"]),
                                               "designs": [report.facts(made) for made in chips]}, indent=1) + "\n")
        if "summary" in outputs:
            write(outputs["summary"], json.dumps({
                "part": "Timing", "command": "make -C scripts/asic synth" + (f' ARGS="--array {options.array}"' if options.array != SIZES else ""),
                "seconds": round(time.monotonic() - started), "rows": rows}, indent=1) + "\n")
    except OSError as problem:
        print(f"synth: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 3
    missed = [row for row in rows if row["met"] is False]
    for row in missed:
        print(f"synth: {row['what']}: {row['figure']}, and should be {row['goal']}; {row['cause']}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
