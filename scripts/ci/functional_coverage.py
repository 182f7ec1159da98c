#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures functional coverage: which bins (tests/rtl/functional/bins.py) the tests of tests/system reach, and lists those that they do not.

Builds models of N = 2, 4 and 8 that count bins (Verilator's --coverage-user), runs a selection of the tests on them, and adds up
what all of them counted. A waived bin has its reason in bins.py.
Exit: 0 enough bins are reached, 1 too few, or a waived one is, 2 bad usage, 3 a file could not be written.
"""

import argparse
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "rtl", "functional"))
sys.path.insert(0, os.path.join(ROOT, "tests", "signoff", "mutation"))

import bins  # noqa: E402
import summary  # noqa: E402
import trial  # noqa: E402

PROGRAM = "gemm64_functional_test"
# Tests that need N = 2, 4 and 8 only; of those that try each cycle or each bit, few.
TESTS = ("Programs.*", "VectorPrograms.*", "*/Windows.*", "Depthwise*.*", "*/Depthwise*.*",
         "Fences.*", "TensorMemory*", "Ring.*", "Limits.*", "Jobs.*", "Stalls.*", "*/Stalls.*", "Throttle.*", "*/Sharing.*", "TightBuffers.*",
         "BusErrors.*", "*/Faults.*", "Hang.*", "*/WindowErrors.*", "*/WindowOrderErrors.*", "SoftReset.*", "HardReset.*",
         "*/Registers.*", "*/SelfCheck.*", "*/FoundFaultsInMemory.*", "FoundFault.*", "SelfCheckPrograms.*", "ShuffledPrograms.*",
         "Shapes.AllUpTo7*", "Shapes.EdgesAreExactAtN?", "Shapes.RandomJobs*", "RegisterPort.*", "VectorJobs.Give*", "JobLists.*")
LEFT_OUT = ("*N16*", "*N32*", "*/SelfCheck.*/N8", "FoundFault.OfSome*")


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/ci/functional_coverage.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of the build")
    parser.add_argument("--counted", action="store_true", help="take what the last run counted")
    parser.add_argument("--tests", metavar="FILTER", help="other tests, as --gtest_filter has them")
    parser.add_argument("--least", type=float, default=98, metavar="PERCENT", help="of bins that are not waived (default 98)")
    parser.add_argument("--list", action="store_true", help="print all bins with their counts")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE", help="write all counts")
    parser.add_argument("--summary", metavar="FILE", help="write the rows of make signoff")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    return options


def quiet(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\nfunctional_coverage: this failed: {' '.join(command)}")


def unknown(folder):
    """The patterns of TESTS and LEFT_OUT that no test's name matches, since tests are renamed."""
    names = trial.listed(os.path.join(folder, PROGRAM))
    return [pattern for pattern in TESTS + LEFT_OUT if not fnmatch.filter(names, pattern)]


def count(folder, jobs, tests):
    """Runs the tests in `jobs` processes; returns how many passed, those that lack a model, and those that failed."""
    data = os.path.join(folder, "functional")
    os.makedirs(data, exist_ok=True)
    for name in os.listdir(data):
        os.remove(os.path.join(data, name))
    running = []
    for part in range(jobs):
        with open(os.path.join(data, f"{part}.log"), "w", encoding="utf-8") as log:
            running.append(subprocess.Popen(
                [os.path.join(folder, PROGRAM)], stdout=log, stderr=subprocess.STDOUT, cwd=data,
                env={**os.environ, "GEMM64_COVERAGE": os.path.join(data, f"{part}.dat"), "GTEST_TOTAL_SHARDS": str(jobs),
                     "GTEST_SHARD_INDEX": str(part), "GTEST_FILTER": tests or ":".join(TESTS) + "-" + ":".join(LEFT_OUT)}))
    for process in running:
        process.wait()
    text = ""
    for part in range(jobs):
        with open(os.path.join(data, f"{part}.log"), encoding="utf-8", errors="replace") as log:
            text += log.read()
    passed, lacking, failed = 0, [], []
    for name, said in re.findall(r"^\[ RUN      \] (\S+)\n(.*?)(?=^\[ RUN      \] |\Z)", text, re.M | re.S):
        if "[       OK ]" in said:
            passed += 1
        elif "no model of the accelerator" in said:
            lacking.append(name)  # what it reached before counts
        else:
            failed.append(name)
    return passed, lacking, failed


def read(folder):
    """{(group, name): how often}."""
    found = collections.Counter()
    data = os.path.join(folder, "functional")
    files = [name for name in os.listdir(data) if name.endswith(".dat")] if os.path.isdir(data) else []
    if not files:
        sys.exit("functional_coverage: no run has counted")
    for name in files:
        with open(os.path.join(data, name), encoding="utf-8") as file:
            # Verilator writes __ as ___05F.
            for group, bin_name, number in re.findall(r"\001o\002(\w+?_cg)__(\w+)\001.*' (\d+)$", file.read().replace("___05F", "__"), re.M):
                found[group, bin_name] += int(number)
    return found


def main():
    options = arguments()
    began = time.monotonic()
    if not options.counted:
        quiet("cmake", "-S", ROOT, "-B", options.build, "-DGEMM64_FUNCTIONAL=ON")
        quiet("cmake", "--build", options.build, "--parallel", str(options.jobs), "--target", PROGRAM)
    if not options.counted and (lost := unknown(options.build)):
        sys.exit(f"functional_coverage: no test of {PROGRAM} is called {', '.join(lost)}")
    passed, lacking, failed = (None, [], []) if options.counted else count(options.build, options.jobs, options.tests)
    reached = read(options.build)
    planned = bins.bins(bins.definition())

    holes, wrongly, groups = [], [], {}
    for entry in planned:
        name = f"{entry.group}.{entry.name}"
        number = reached[entry.group, entry.name]
        good, waived, of = groups.get(entry.group, (0, 0, 0))
        groups[entry.group] = (good + (number > 0), waived + (name in bins.WAIVED), of + 1)
        if number and name in bins.WAIVED:
            wrongly.append(name)
        if not number and name not in bins.WAIVED:
            holes.append(name)
        if options.list:
            print(f"{number:>12} {name}{' (waived: ' + bins.WAIVED[name] + ')' if name in bins.WAIVED else ''}")
    groups["all"] = tuple(sum(values[i] for values in groups.values()) for i in range(3))
    print(f"{'covergroup':<20}{'bins':>8}{'waived':>8}{'reached':>8}{'share':>9}")
    shares = {}
    for group, (good, waived, of) in groups.items():
        shares[group] = 100 * good / (of - waived)
        print(f"{group:<20}{of:>8}{waived:>8}{good:>8}{shares[group]:>7.1f} %")
    for name in holes:
        print(f"not reached: {name}")
    for name in wrongly:
        print(f"reached although waived: {name}")
    for name in failed:
        print(f"functional_coverage: {name} FAILED")
    seconds = time.monotonic() - began
    if passed is not None:
        print(f"{passed} tests, {seconds:.0f} s" + (f"; {len(lacking)} ended early for lack of a model: {', '.join(lacking)}" if lacking else ""))
    if options.json:
        summary.write("functional_coverage", options.json, {"groups": groups, "bins": {f"{e.group}.{e.name}": reached[e.group, e.name] for e in planned},
                                                            "waived": bins.WAIVED})
    met = shares["all"] >= options.least and not wrongly and not failed
    if options.summary:
        summary.write("functional_coverage", options.summary, {
            "part": "Functional coverage", "command": "make -C scripts/ci coverage", "seconds": round(seconds),
            "rows": [{"what": "bins of functional coverage that tests reach, without those waived", "figure": f"{shares['all']:.1f} %",
                      "goal": f"{options.least:g} %", "met": met, "cause": "" if met else f"{len(holes)} are not reached"}]})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
