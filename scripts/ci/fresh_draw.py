#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random tests, campaigns of faults and mutants with a seed that nothing was tuned to.

Tests that are written for the survivors of one draw say little about the next one. So each draw has a new seed, unless --seed repeats
one; it is printed first, so that a failure can be repeated, and kept with the results in BUILD/fresh_draw.json.
--record keeps them in tests/fresh_draw.json, too, which scripts/ci/testplan.py shows in docs/reference/testplan.md; parts that
were not run keep their rows, each of which has its seed and commit.
Exit: 0 all goals met, 1 one was not, 2 bad usage.
"""

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
KEPT, RECORD = "fresh_draw.json", "tests/fresh_draw.json"
LARGEST = 0xffffffff
GOALS = {"mutants": 0.98, "host-mutants": 0.95}  # of those that are not equivalent
TESTED = "^(host|rtl|sim|system)$"  # labels of ctest


def run(command, options, environment=None):
    """Returns the exit code and the output, which also goes to BUILD/fresh_draw.log."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    with open(os.path.join(options.build, "fresh_draw.log"), "a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)}\n{done.stdout}\n")
    return done.returncode, done.stdout


def report_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, json.JSONDecodeError):
        return None


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rows": rows}, file, indent=1)
        file.write("\n")


def merged(old, new):
    """The rows of all parts in their order, the new ones where there are two."""
    by_part = {each["part"]: each for each in [*old, *new]}
    return [by_part[part] for part in PARTS if part in by_part]


def row(what, result, goal, met):
    return {"what": what, "result": result, "goal": goal, "met": met}


def random_tests(options):
    code, output = run(["ctest", "--test-dir", options.build, "-L", TESTED, "-LE", "regression", "--parallel", str(options.jobs),
                        "--output-on-failure"], options, {"GEMM64_TEST_SEED": str(options.seed)})
    found = re.search(r"(\d+) tests failed out of (\d+)", output)
    result = f"{int(found[2]) - int(found[1])} of {found[2]} pass" if found else "none ran"
    return row("tests, random ones with this seed", result, "all pass", code == 0 and bool(found) and found[2] != "0")


def networks(options):
    """Quantized networks against ONNX Runtime, whole programs of each kind of device."""
    tests = os.path.join(ROOT, "tests", "onnxruntime")
    code, output = run([os.path.join(options.build, "venv", "bin", "python"), os.path.join(tests, "random_quantized_test.py"), "--cases", "500",
                        "--seed", str(options.seed), "--jobs", str(options.jobs)], options,
                       {"GEMM64": os.path.join(options.build, "gemm64"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"})
    lines = output.strip().splitlines()
    return row("random quantized networks against ONNX Runtime", lines[-1] if lines else "none ran", "none differs or fails", code == 0)


def faults(what, arguments, goal):
    def part(options):
        path = os.path.join(options.build, "fresh_faults.json")
        if os.path.exists(path):
            os.remove(path)
        code, _ = run([os.path.join(options.build, "gemm64"), "faults", *arguments, "--seed", str(options.seed), "--jobs",
                       str(options.jobs), "--json", path], options)
        report = report_of(path)
        result = "ended without a report" if report is None else f"{report['count']:,} tries, " + ("held" if report["held"] else "FAILED")
        return row(what, result, goal, code == 0 and bool(report) and report["held"])
    return part


def mutants(what, program, name, flag):
    def part(options):
        path = os.path.join(options.build, f"fresh_{name}.json")
        if os.path.exists(path):
            os.remove(path)
        run([os.path.join(ROOT, program), "--seed", str(options.seed), "--draw", str(options.mutants), "--jobs", str(options.jobs), flag, path], options)
        report = report_of(path)
        if report is None:
            return row(what, "ended without a report", f"{GOALS[name]:.0%}", False)
        tried = report["mutants"]
        tried = tried if isinstance(tried, int) else len(tried)
        return row(what, f"{100 * report['share']:.1f} % of {tried:,} mutants", f"{GOALS[name]:.0%}", report["share"] >= GOALS[name])
    return part


PARTS = {
    "tests": random_tests,
    "networks": networks,
    "faults": faults("faults in small programs", ("--array", "8", "--count", "1460"), "none unnoticed, hung or misdiagnosed"),
    "broken": faults("broken programs on the RTL and the reference device",
                     ("--kind", "broken-programs", "--array", "4", "--count", "2000"), "none differs"),
    "network": faults("faults in LeNet, 42 repeated wholly on the RTL", ("--model", "lenet", "--array", "8", "--count", "1050", "--repeat", "42"),
                      "the same outcomes and bytes"),
    "mutants": mutants("mutants of the RTL killed", "tests/signoff/mutation/run", "mutants", "--report"),
    "host-mutants": mutants("mutants of the host killed", "tests/signoff/mutation/host/run", "host-mutants", "--json"),
}


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/ci/fresh_draw.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of the build")
    parser.add_argument("--seed", type=int, help=f"0 to {LARGEST} (default: drawn)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to run (default: all)")
    parser.add_argument("--mutants", type=int, default=60, metavar="N", help="how many of the RTL and of the host (default 60; 0: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--record", action="store_true", help=f"keep the results in {RECORD}")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(LARGEST + 1)
    if not 0 <= options.seed <= LARGEST:
        parser.error(f"--seed is from 0 to {LARGEST}")
    options.build = os.path.abspath(options.build)
    return options


def main():
    options = arguments()
    print(f"fresh draw: seed {options.seed}; make regression SEED={options.seed} repeats it", flush=True)
    rows = []
    for name in options.parts:
        begin = time.monotonic()
        rows.append({"part": name, **PARTS[name](options), "seconds": round(time.monotonic() - begin)})
        print(f"{rows[-1]['what']}: {rows[-1]['result']} (goal: {rows[-1]['goal']}){'' if rows[-1]['met'] else ': NOT MET'}", flush=True)
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    rows = [{**each, "seed": options.seed, "commit": commit} for each in rows]
    write(os.path.join(options.build, KEPT), rows)
    if options.record:
        path = os.path.join(ROOT, RECORD)
        write(path, merged((report_of(path) or {"rows": []})["rows"], rows))
    if all(each["met"] for each in rows):
        return 0
    print(f"fresh draw: the output of all parts is in {os.path.join(options.build, 'fresh_draw.log')}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
