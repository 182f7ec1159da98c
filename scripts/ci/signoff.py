#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every long check of the chip and of the C++ next to it, and prints their figures as one table.

Each check is a command of its own, that writes its rows as JSON; a goal that is missed is printed with its
cause. What a check printed stays in BUILD/signoff/NAME.log.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# name, folder and target of make, options in addition to --summary
CHECKS = [
    ("timing", "scripts/asic", "synth", ""),
    ("netlist", "scripts/asic", "equivalence", ""),
    ("energy", "scripts/asic", "energy", ""),
    ("fpga", "scripts/fpga", "fpga", ""),
    ("proofs", "tests/signoff", "formal", "--cover"),
    ("functional-coverage", "scripts/ci", "functional-coverage", ""),
    ("coverage", "scripts/ci", "coverage", ""),
    ("mutants", "tests/signoff", "mutants", ""),
    ("tidy", "scripts/ci", "tidy", ""),
    ("host-mutants", "tests/signoff", "host-mutants", ""),
]
KEYS = {"what", "figure", "goal", "met", "cause"}


def read_rows(path, begin):
    """A check's rows; raises ValueError where it wrote none, or others than a summary has."""
    if not os.path.exists(path) or os.stat(path).st_mtime < begin:
        raise ValueError("it wrote no summary")
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    if not rows:
        raise ValueError("its summary has no row")
    for row in rows:
        if set(row) != KEYS or row["met"] not in (True, False, None):
            raise ValueError(f"its summary has a row {row}; wanted: {', '.join(sorted(KEYS))}")
    return rows


def run(name, target, arguments, folder, make):
    """The rows of one check, and its seconds. One that ended in an error without a missed goal has a row that says so."""
    summary, log = (os.path.join(folder, name + end) for end in (".json", ".log"))
    begin = time.time()
    command = [make, *target, "ARGS=" + f"{arguments} --summary {summary}".strip()]
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    try:
        rows = read_rows(summary, begin)
    except (ValueError, KeyError, TypeError, json.JSONDecodeError) as error:
        return [failed(name, f"{error}; exit {code}; see {os.path.relpath(log, ROOT)}")], time.time() - begin
    if code != 0 and all(row["met"] is not False for row in rows):
        rows.append(failed(name, f"exit {code}; see {os.path.relpath(log, ROOT)}"))
    return rows, time.time() - begin


def failed(name, cause):
    return {"what": f"{name} ran to its end", "figure": "no", "goal": "yes", "met": False, "cause": cause}


def verdict(row):
    return {True: "met", False: "missed", None: ""}[row["met"]]


def table(rows):
    """Lines that align: part, what, figure, goal, verdict; a cause stands below its row."""
    lines = [("part", "what", "figure", "goal", "")]
    lines += [(part, row["what"], row["figure"], row["goal"], verdict(row)) for part, row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    def text(line):
        return "  ".join(cell.rjust(width) if i in (2, 3) else cell.ljust(width)
                         for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
    made = [text(lines[0]), "  ".join("-" * width for width in widths).rstrip()]
    before = ""
    for line, (part, row) in zip(lines[1:], rows):
        made.append(text(("" if part == before else part,) + line[1:]))
        before = part
        if row["cause"]:
            made.append(" " * (widths[0] + 4) + row["cause"])
    return "\n".join(made)


def main():
    names = [name for name, *_ in CHECKS]
    parser = argparse.ArgumentParser(prog="signoff", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit: 0 all goals met, 1 a goal missed or a check failed, 2 bad usage.")
    parser.add_argument("--only", metavar="NAME,...", help="only these checks: " + ", ".join(names))
    parser.add_argument("--build", default="build", metavar="FOLDER", help="default build")
    parser.add_argument("--make", default="make", metavar="COMMAND", help=argparse.SUPPRESS)  # tests
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else names
    for name in wanted:
        if name not in names:
            print(f"signoff: no check is called '{name}'; there are {', '.join(names)}", file=sys.stderr)
            return 2
    folder = os.path.join(ROOT, options.build, "signoff")
    os.makedirs(folder, exist_ok=True)
    rows = []
    for name, where, target, arguments in CHECKS:
        if name not in wanted:
            continue
        print(f"signoff: {name} (make -C {where} {target}) ...", end="", flush=True)
        found, seconds = run(name, ("-C", where, target), arguments, folder, options.make)
        print(f" {seconds / 60:.1f} min", flush=True)
        rows += [(name, row) for row in found]
    missed = sum(row["met"] is False for _, row in rows)
    print("\n" + table(rows))
    print(f"\nsignoff: {sum(row['met'] is True for _, row in rows)} goals met, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\nsignoff: interrupted", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
