#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures which lines, branches and toggles of the RTL the tests reach, module by module.

Builds the tests of tests/rtl, and those of tests/system that need no more than N = 2, 4 and 8, on models that count
(Verilator's --coverage-line and --coverage-toggle), runs them and merges what all models counted (verilator_coverage).
Registers start as zeros, so that the noise of other builds is no toggle. A toggle is a bit that changed at least once.
Checks (GEMM64_CHECKS) do not count, nor do functions that only constants call. Signals wider than 256 bits and memories do
not, either: Verilator 5.006 counts no toggles of theirs.
Exit: 0 all lines and branches are reached, 1 not, 2 bad usage, 3 a file could not be written.
"""

import argparse
import collections
import json
import os
import re
import resource
import subprocess
import sys
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MUTANTS = os.path.join(ROOT, "tests", "signoff", "mutation")
sys.path.insert(0, MUTANTS)

import summary  # noqa: E402
import trial  # noqa: E402

PROGRAMS = ("gemm64_rtl_test", "gemm64_mutants_test")
# Models that count are thirty times as slow. These take longest, and reach what others do, too: of what the device finds in its memories the
# five that are left are enough.
LEFT_OUT = ("*Programs.*", "MergedWindows.*", "*ProgramCycles*", "*WindowCycles*", "Hang.A*",
            "Fences.ResultsAreActivationsOfTheNextProduct", "Settings/Sharing.*", "Settings/Stalls.*",
            "Settings/Windows.Follow*", "Shapes.Edges*", "Shapes.RandomJobs*", "Shapes.Rows*", "Shapes.Blocks*",
            "SoftReset.InTheMiddle*", "BusErrors.UnderStalls*", "Wrap.*", "Ring.ProgramsAppended*",
            "N/Faults.TheWatchdogWaits*", "FoundFault.*", "*/FoundFaults.*",
            *(f"*/FoundFaultsInMemory.*{kind}" for kind in ("command", "scratchpad", "storedweight", "lanesaccumulator", "value", "sum",
                                                            "operand", "scale", "vector")))
KINDS = ("line", "branch", "toggle")
PLURAL = {"line": "lines", "branch": "branches", "toggle": "toggles"}

Point = collections.namedtuple("Point", "module kind line what")


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/ci/coverage.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "coverage"), help="folder of the build")
    parser.add_argument("--built", action="store_true", help="take the build as it is")
    parser.add_argument("--counted", action="store_true", help="take what the last run counted")
    parser.add_argument("--list", action="store_true", help="print toggles that are not reached, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE", help="write all numbers and what is not reached")
    parser.add_argument("--summary", metavar="FILE", help="write the rows of make signoff")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    return options


def quiet(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        print(f"{done.stdout}\ncoverage: this failed: {' '.join(command)}", file=sys.stderr)
        sys.exit(1)


def build(folder, jobs):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        quiet("cmake", "--preset", "default", "-B", folder, f"-DGEMM64_MUTANTS={os.path.join(ROOT, 'rtl')}",
              "-DGEMM64_COVERAGE=ON", "-DBUILD_TESTING=ON", "-DGEMM64_PLATFORM=OFF")
    quiet("cmake", "--build", folder, "--parallel", str(jobs), "--target", *PROGRAMS)


def count(folder, jobs):
    """Runs the tests of each program, parted among `jobs` processes; how many passed."""
    passed, files = 0, []
    for program in PROGRAMS:
        running = []
        for part in range(jobs):
            files.append(os.path.join(folder, f"{program}.{part}.dat"))
            if os.path.exists(files[-1]):
                os.remove(files[-1])
            with open(os.path.join(folder, f"{program}.{part}.log"), "w", encoding="utf-8") as log:
                running.append(subprocess.Popen(
                    [os.path.join(folder, program)], stdout=log, stderr=subprocess.STDOUT, cwd=folder,
                    env={**os.environ, "GEMM64_COVERAGE": files[-1], "GTEST_FILTER": "-" + ":".join(LEFT_OUT),
                         "GTEST_TOTAL_SHARDS": str(jobs), "GTEST_SHARD_INDEX": str(part)}))
        for process in running:
            process.wait()
        text = ""
        for part in range(jobs):
            with open(os.path.join(folder, f"{program}.{part}.log"), encoding="utf-8", errors="replace") as log:
                text += log.read()
        good, bad = set(re.findall(r"^\[       OK \] ([^\s,]+)", text, re.M)), sorted(trial.failed(text))
        passed += len(good)
        if bad:
            print(f"coverage: {len(bad)} tests of {program} need models that this build lacks: {trial.by_suite(bad)}")
        if not good:
            sys.exit(f"{text}\ncoverage: no test of {program} passes")
    quiet("verilator_coverage", "--write", os.path.join(folder, "merged.dat"), *files)
    return passed


def checks(path):
    """Numbers of the lines that stand between `ifdef GEMM64_CHECKS and its end."""
    found, depth, inside = set(), 0, 0
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            word = text.split()[:2]
            if word[:1] in (["`ifdef"], ["`ifndef"]):
                depth += 1
                if word == ["`ifdef", "GEMM64_CHECKS"]:
                    inside = depth
            if inside:
                found.add(number)
            if word[:1] == ["`endif"]:
                if depth == inside:
                    inside = 0
                depth -= 1
    return found


def constants(path):
    """Numbers of the lines of functions that nothing but constants call: they run before any simulation does."""
    with open(path, encoding="utf-8") as file:
        lines = [text.split("//")[0] for text in file]
    found = set()
    for begin, text in enumerate(lines):
        head = re.match(r"\s*function\b.*?(\w+)\s*;", text)
        if not head:
            continue
        end = next(i for i in range(begin, len(lines)) if "endfunction" in lines[i])
        callers = [line for line in lines if re.search(rf"\b{head[1]}\s*\(", line)]
        if callers and all(line.split()[0] == "localparam" for line in callers):
            found.update(range(begin + 1, end + 2))
    return found


def read(path):
    """Each point of the RTL, with how often all models of all sizes reached it together."""
    points, skipped = collections.Counter(), {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            match = re.match(r"C '(.*)' (\d+)$", text)
            if not match:
                continue
            keys = dict(part.split("\2", 1) for part in match[1].split("\1")[1:])
            module, line = os.path.relpath(os.path.realpath(keys["f"]), os.path.join(ROOT, "rtl")), int(keys["l"])
            if module not in skipped:
                skipped[module] = checks(keys["f"]) | constants(keys["f"])
            if line in skipped[module]:
                continue
            kind = keys["page"].split("/")[0][2:]
            what = keys["o"] if kind == "toggle" else f"{keys['o']} at {line}:{keys['n']}"
            points[Point(module, kind, line, what)] += int(match[2])
    return points


def listed(points):
    """What is not reached; bits of one signal are one."""
    found = collections.defaultdict(list)
    sources = {}
    for point in sorted(point for point, number in points.items() if number == 0):
        if point.module not in sources:
            with open(os.path.join(ROOT, "rtl", point.module), encoding="utf-8") as file:
                sources[point.module] = file.read().splitlines()
        text = " ".join(sources[point.module][point.line - 1].split())
        what = point.what.split("[")[0] if point.kind == "toggle" else f"{point.what.split(' at ')[0]} of \"{text}\""
        bits = re.findall(r"\[(\d+)\]", point.what)
        found[point.module, point.kind, what].append((point.line, ".".join(bits)))
    for (module, kind, what), where in found.items():
        yield {"module": module, "kind": kind, "line": where[0][0], "what": what, "points": len(where),
               "bits": [bits for _, bits in where if bits]}


def share(reached, of):
    """"85.6 %"; only all of them are "100 %"."""
    return "100 %" if reached == of else f"{min(1000 * reached // of, 999) / 10:.1f} %"


def main():
    options = arguments()
    began = time.monotonic()
    if not options.built and not options.counted:
        build(options.build, options.jobs)
    passed = None if options.counted else count(options.build, options.jobs)
    points = read(os.path.join(options.build, "merged.dat"))
    missing = list(listed(points))

    modules = {}
    for point, number in points.items():
        reached = modules.setdefault(point.module, {kind: [0, 0] for kind in KINDS})[point.kind]
        reached[0] += number > 0
        reached[1] += 1
    modules["all"] = {kind: [sum(m[kind][i] for m in modules.values()) for i in (0, 1)] for kind in KINDS}
    print(f"{'module':<28}" + "".join(f"{PLURAL[kind]:>22}" for kind in KINDS))
    for module in [*sorted(m for m in modules if m != "all"), "all"]:
        cells = [f"{a} of {b} {share(a, b):>8}" if b else "-" for a, b in (modules[module][kind] for kind in KINDS)]
        print(f"{module:<28}" + "".join(f"{cell:>22}" for cell in cells))
    for entry in missing:
        if options.list or entry["kind"] != "toggle":
            bits = f" (bits {', '.join(entry['bits'][:8])}{', ...' if len(entry['bits']) > 8 else ''})" if entry["bits"] else ""
            print(f"not reached: {entry['module']}:{entry['line']} {entry['kind']} {entry['what']}{bits}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.monotonic() - began
    print((f"{passed} tests, " if passed is not None else "") +
          f"{seconds:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of the processor; registers start as zeros; "
          "signals wider than 256 bits and memories have no toggles")

    rows = []
    for kind in KINDS:
        a, b = modules["all"][kind]
        rows.append({"what": f"{PLURAL[kind]} of the RTL that tests reach", "figure": share(a, b),
                     "goal": "" if kind == "toggle" else "100 %", "met": None if kind == "toggle" else a == b,
                     "cause": f"{b - a} of {b} are not reached" if kind != "toggle" and a < b else ""})
    if options.json:
        summary.write("coverage", options.json, {"modules": modules, "missing": missing})
    if options.summary:
        summary.write("coverage", options.summary, {"part": "Coverage", "command": "make -C scripts/ci coverage", "seconds": round(seconds),
                                                    "rows": rows})
    return 0 if all(row["met"] is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
