#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the processor time of the build and of the tests: by target, translation unit and test.

Processor time (user and system, of all descendants) is the same on a busy machine but for its caches; wall time is not.

  scripts/ci/cost.py build --build build/cost --out build.json    make sim, then make test, in an empty folder, without ccache
  scripts/ci/cost.py wheel --out wheel.json                       pip wheel .
  scripts/ci/cost.py tests --build build --out tests.json         each test of ctest; -- -L quick: those that ctest selects
  scripts/ci/cost.py table build.json                             what was measured, as a table in Markdown
  scripts/ci/cost.py table before.json after.json                 the same with an earlier measurement, with ratios
"""
import argparse
import concurrent.futures
import ctypes
import fcntl
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PR_SET_CHILD_SUBREAPER = 36


def seconds(usage):
    return usage.ru_utime + usage.ru_stime


def run(command, **more):
    """Exit code and processor time of a command and of its descendants that it has waited for."""
    process = subprocess.Popen(command, **more)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, seconds(usage)


def time_trace(path):
    """Seconds of the phases that clang's -ftime-trace has written to `path`, and the dearest headers."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    phases = {event["name"][6:]: event["dur"] / 1e6 for event in events
              if event["name"] in ("Total ExecuteCompiler", "Total Frontend", "Total Backend", "Total Source",
                                   "Total InstantiateFunction", "Total InstantiateClass")}
    headers = sorted(((event["dur"] / 1e6, event["args"]["detail"]) for event in events if event["name"] == "Source"),
                     reverse=True)
    return {"phases": phases, "headers": headers[:8]}


def launch(log, command):
    """What the build runs in place of each compiler: the same, and a line of its cost in `log`."""
    begin = time.time()
    code, cost = run(command)
    output = next((b for a, b in zip(command, command[1:]) if a == "-o"), "")
    row = {"output": output, "seconds": cost, "wall": time.time() - begin}
    trace = os.path.splitext(output)[0] + ".json"
    if "-ftime-trace" in command and os.path.exists(trace):
        row.update(time_trace(trace))
    with open(log, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(row) + "\n")
    return code


def launchers(log):
    command = ";".join([sys.executable, os.path.abspath(__file__), "launch", log])
    return {f"CMAKE_{language}_{kind}_LAUNCHER": command for language in ("C", "CXX") for kind in ("COMPILER", "LINKER")}


def read_log(log):
    with open(log, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measured(name, command, phases, **more):
    code, cost = run(command, **more)
    phases[name] = phases.get(name, 0) + cost
    if code != 0:
        sys.exit(f"cost: {' '.join(command)} ended with exit code {code}")


def build(arguments):
    folder = os.path.abspath(arguments.build)
    if os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        sys.exit(f"cost: {folder} is configured already; an empty folder is needed")
    os.makedirs(folder, exist_ok=True)
    log = os.path.join(folder, "cost.log")
    options = [f"-D{key}={value}" for key, value in launchers(log).items()]
    if arguments.trace:
        options.append("-DCMAKE_CXX_FLAGS=-ftime-trace")
    options += arguments.rest
    configure = ["cmake", "--preset", "default", "-S", ROOT, "-B", folder, "-DCMAKE_CXX_COMPILER:STRING=" + shutil.which("clang++")]
    compile_all = ["cmake", "--build", folder, "--parallel", str(arguments.jobs)]
    phases = {}
    steps = (("sim", "OFF", ["--target", "gemm64"]), ("test", "ON", []))
    for step, more, target in steps:
        measured(f"{step}: configure", configure + options + [f"-DGEMM64_ALL_MODELS:BOOL={more}", f"-DBUILD_TESTING:BOOL={more}"],
                 phases, cwd=ROOT, stdout=subprocess.DEVNULL)
        measured(f"{step}: build", compile_all + target, phases, cwd=ROOT)
    return {"phases": phases, "units": read_log(log)}


def wheel(arguments):
    phases = {}
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "cost.log")
        environment = dict(os.environ, **launchers(log))
        environment["CMAKE_BUILD_PARALLEL_LEVEL"] = str(arguments.jobs)
        measured("wheel", [arguments.python, "-m", "pip", "wheel", "--no-deps", "--config-settings=build-dir=" + os.path.join(folder, "build"),
                           "-w", folder, ROOT] + arguments.rest, phases, env=environment)
        return {"phases": phases, "units": read_log(log)}


def properties(test):
    return {one["name"]: one["value"] for one in test.get("properties", [])}


def tests(arguments):
    # Orphans of a test become this process's children, so that the sum has them.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    listed = json.loads(subprocess.run(["ctest", "--test-dir", arguments.build, "--show-only=json-v1"] + arguments.rest,
                                       stdout=subprocess.PIPE, check=True).stdout)["tests"]
    listed = [test for test in listed if not properties(test).get("DISABLED")]

    def one(test):
        facts = properties(test)
        environment = dict(os.environ, **dict(pair.split("=", 1) for pair in facts.get("ENVIRONMENT", [])))
        begin = time.time()
        if "command" not in test:  # its program is not built
            return {"name": test["name"], "labels": facts.get("LABELS", []), "seconds": 0, "wall": 0, "code": None}
        code, cost = run(test["command"], cwd=facts.get("WORKING_DIRECTORY"), env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"{cost:8.2f} s {test['name']}", flush=True)
        return {"name": test["name"], "labels": facts.get("LABELS", []), "seconds": cost, "wall": time.time() - begin, "code": code}

    before = seconds(resource.getrusage(resource.RUSAGE_CHILDREN))
    setups = [test for test in listed if "FIXTURES_SETUP" in properties(test)]
    rows = [one(test) for test in setups]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows += pool.map(one, [test for test in listed if test not in setups])
    try:
        while True:
            os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    return {"phases": {"tests": seconds(resource.getrusage(resource.RUSAGE_CHILDREN)) - before}, "tests": rows}


def target_of(output):
    """The target that an object belongs to; a linked file is its own."""
    found = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
    return found.group(1) if found else "linking"


def sums(rows, key):
    result = {}
    for row in rows:
        for name in key(row):
            result[name] = result.get(name, 0) + row["seconds"]
    return result


def groups(measurement):
    """Heading -> {row: seconds}."""
    result = {"phase": measurement["phases"]}
    units = measurement.get("units")
    if units:
        result["target"] = sums(units, lambda row: [target_of(row["output"])])
        models = {name: cost for name, cost in result["target"].items() if name.startswith("gemm64_model_")}
        rtl = sum(cost for name, cost in result["target"].items() if name.startswith("gemm64_rtl_") and name not in ("gemm64_rtl_test", "gemm64_rtl_device"))
        result["Verilated variant"] = dict(models, **{"single modules (tests/rtl)": rtl})
        result["translation unit"] = {re.sub(r"^.*CMakeFiles/", "", row["output"]): row["seconds"] for row in units}
        phases = [row["phases"] for row in units if "phases" in row]
        if phases:
            result["part of compiling (-ftime-trace, wall time)"] = {
                name: sum(row.get(name, 0) for row in phases) for name in sorted({name for row in phases for name in row})}
            headers = {}
            for row in units:
                for cost, name in row.get("headers", []):
                    headers[name] = headers.get(name, 0) + cost
            result["header (-ftime-trace, wall time)"] = headers
    if "tests" in measurement:
        result["label"] = sums(measurement["tests"], lambda row: row["labels"])
        result["test"] = sums(measurement["tests"], lambda row: [row["name"]])
    return result


def table(arguments):
    measurements = []
    for path in arguments.files:
        with open(path, encoding="utf-8") as file:
            measurements.append(groups(json.load(file)))
    after = measurements[-1]
    before = measurements[0] if len(measurements) > 1 else None
    for heading, rows in after.items():
        names = set(rows) | set(before.get(heading, {}) if before else ())
        largest = sorted(names, key=lambda name: -max(rows.get(name, 0), before.get(heading, {}).get(name, 0) if before else 0))
        print(f"\n| {heading} | " + ("before s | after s | ratio |" if before else "s |"))
        print("|---|" + ("--:|--:|--:|" if before else "--:|"))
        for name in largest[:arguments.rows]:
            new = rows.get(name, 0)
            if before:
                old = before.get(heading, {}).get(name, 0)
                ratio = f"{new / old:.2f}" if old > 0 else ""
                print(f"| {name} | {old:.1f} | {new:.1f} | {ratio} |")
            else:
                print(f"| {name} | {new:.1f} |")


def main():
    if sys.argv[1:2] == ["launch"]:
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, what in (("build", "make sim, then make test, in an empty folder"), ("wheel", "pip wheel ."),
                       ("tests", "the tests of a build")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--out", required=True, help="file to write, JSON")
        command.add_argument("--jobs", type=int, default=2, help="how many at a time (default 2)")
        command.add_argument("rest", nargs="*", help="after --: options for cmake, pip or ctest")
        if name != "wheel":
            command.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder")
        else:
            command.add_argument("--python", default=sys.executable, help="interpreter whose pip is measured")
        if name == "build":
            command.add_argument("--trace", action="store_true", help="with -ftime-trace, for headers and templates")
    command = commands.add_parser("table", help="prints measurements")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.add_argument("--rows", type=int, default=30, help="of each table (default 30)")
    arguments = parser.parse_args()
    if arguments.command == "table":
        return table(arguments)
    result = {"build": build, "wheel": wheel, "tests": tests}[arguments.command](arguments)
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    for name, cost in result["phases"].items():
        print(f"{name}: {cost:.0f} s of processor time")


if __name__ == "__main__":
    main()
