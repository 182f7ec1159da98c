#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divides the tests labelled regression into parts and prints that of the commit which is checked out.

Parts cost about the same (the tests' property COST, in seconds of a processor; the first also makes and tests the page for browsers,
.ci/run) and commits take turns: N successive commits run all tests. In a shallow
clone, which has no count of commits, the commit's hash draws. The numbers of the part's tests are written for ctest's option -I.

  scripts/ci/part.py --build build --parts 4 --out build/part.txt
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LABEL = "regression"
COST = 2  # of a test without the property
PAGE = 300  # of make -C sim web-check


def divided(tests, parts, page=PAGE):
    """Lists of tests, each (name, cost, number), of similar cost: the most expensive test goes first, to the cheapest part."""
    made = [[] for _ in range(parts)]
    sums = [min(page, sum(cost for _, cost, _ in tests) / parts)] + [0.0] * (parts - 1)
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
    options = parser.parse_args()
    if options.parts < 1 or not 1 <= (options.part or 1) <= options.parts:
        parser.error("--parts is at least 1, --part from 1 to --parts")
    if not options.out and not options.number:
        parser.error("--out or --number is needed")
    number, commit = turn()
    part = (options.part or number % options.parts + 1) - 1
    if options.number:
        print(part + 1)
        return 0
    tests = listed(options.build)
    chosen = sorted(divided(tests, options.parts)[part], key=lambda test: test[2])
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
