#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divides the tests labelled regression, and what of make no test runs, into parts and prints that of the commit checked out.

Parts cost about the same (the tests' property COST, in seconds of a processor) and commits take turns: N successive
commits run everything. In a shallow clone, which has no count of commits, the commit's hash draws. The numbers of the
part's tests are written for ctest's option -I; --commands prints the arguments of make, a line for each command.

  scripts/ci/part.py --build build --parts 12 --out build/part.txt
  scripts/ci/part.py --build build --parts 12 --commands
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LABEL = "regression"
COST = 2  # of a test without the property
# Arguments of make, and their cost with all that they compile.
COMMANDS = [
    ("-C sim web-check", 300),
    ("-C tests/signoff fuzz FUZZ_SECONDS=20", 800),
    ("-C tests/signoff abuse SANITIZE=1 TRIES=200", 1200),
    ("-C scripts/asic netlist CELLS=4", 1400),
    ("-C scripts/asic wires", 110),
    ("-C tests/signoff mutants ARGS=--draw=24", 400),
    ("-C scripts/models trained", 500),
]


def divided(tests, parts):
    """Lists of tests, each (name, cost, number), of similar cost: the most expensive test goes first, to the cheapest part."""
    made = [[] for _ in range(parts)]
    sums = [0.0] * parts
    for test in sorted(tests, key=lambda test: (-test[1], test[0])):
        cheapest = sums.index(min(sums))
        made[cheapest].append(test)
        sums[cheapest] += test[1]
    return made


def git(*arguments):
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def turn():
    """The number of the commit in its history, and its name."""
    commit = git("rev-parse", "HEAD")
    if git("rev-parse", "--is-shallow-repository") == "false":
        return int(git("rev-list", "--count", "HEAD") or 0), commit
    return int(commit or "0", 16), commit


def listed(build):
    """The tests with the label in the order of ctest, fixtures left out: ctest adds those that a test needs."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], stdout=subprocess.PIPE, check=True).stdout
    tests = []
    for number, test in enumerate(json.loads(shown)["tests"], 1):
        facts = {one["name"]: one["value"] for one in test.get("properties", [])}
        if LABEL in facts.get("LABELS", []) and "FIXTURES_SETUP" not in facts and not facts.get("DISABLED"):
            tests.append((test["name"], float(facts.get("COST", COST)), number))
    return tests


def main():
    parser = argparse.ArgumentParser(prog="scripts/ci/part.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build folder (default build)")
    parser.add_argument("--parts", type=int, required=True, metavar="N", help="how many")
    parser.add_argument("--part", type=int, metavar="K", help="1 to N (default: that of the commit)")
    parser.add_argument("--out", metavar="FILE", help="file for ctest -I")
    parser.add_argument("--number", action="store_true", help="only print the number of the part")
    parser.add_argument("--commands", action="store_true", help="only print the part's commands of make")
    options = parser.parse_args()
    if options.parts < 1 or not 1 <= (options.part or 1) <= options.parts:
        parser.error("--parts is at least 1, --part from 1 to --parts")
    if not (options.out or options.number or options.commands):
        parser.error("--out, --number or --commands is needed")
    number, commit = turn()
    part = (options.part or number % options.parts + 1) - 1
    if options.number:
        print(part + 1)
        return 0
    tests = listed(options.build)
    # A command has no number, and leaves room for tests in its part.
    share = sum(cost for _, cost, _ in tests) / options.parts
    chosen = divided(tests + [(command, min(cost, share), None) for command, cost in COMMANDS], options.parts)[part]
    if options.commands:
        print("".join(f"{name}\n" for name, _, number in chosen if number is None), end="")
        return 0
    chosen = sorted((test for test in chosen if test[2] is not None), key=lambda test: test[2])
    if not chosen:
        print(f"part: {options.build} has no test labelled {LABEL}; build it first (make regression)", file=sys.stderr)
        return 1
    print(f"part: {part + 1} of {options.parts} at commit {commit[:12] or 'unknown'}: {len(chosen)} of {len(tests)} tests: "
          + ", ".join(name.split("  # ")[0] for name, _, _ in chosen), flush=True)
    with open(options.out, "w", encoding="utf-8") as file:
        file.write("0,0,0," + ",".join(str(number) for _, _, number in chosen) + "\n")  # ctest drops the last number without it
    return 0


if __name__ == "__main__":
    sys.exit(main())
