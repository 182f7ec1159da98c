#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/testplan.md from tests/testplan.hjson, or checks the plan against the tests.

A testpoint names its tests by regular expressions of FOLDER/Suite.Name: the folder of tests/, and the test without its parameters.
Needs the package hjson: scripts/setup/venv.sh build/venv-verification scripts/ci/verification-requirements.txt.
Exit: 0 done, 1 a check failed, 2 bad usage or a plan that cannot be read.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PLAN, PAGE, RESULTS = "tests/testplan.hjson", "docs/reference/testplan.md", "tests/testplan_results.json"
FRESH = "tests/fresh_draw.json"  # written by scripts/ci/fresh_draw.py
STAGES = {"V1": "under test: smoke test, registers, a second simulator",
          "V2": "all features tested",
          "V2S": "countermeasures tested: here the device's checks of itself",
          "V3": "closed: full size, proofs, integration"}
STATUS = ("done", "partly", "not done", "not applicable")
# Folders of tests/ each of whose tests needs a testpoint. Tests of other folders may have one.
RTL_FOLDERS = ("rtl", "system", "icarus", "formal", "cocotb")
KINDS = ("command", "flag", "format", "error", "register", "memory", "engine", "counters", "port")


class PlanError(Exception):
    """The plan cannot be read or contradicts itself."""


def load(path):
    import hjson  # pylint: disable=import-outside-toplevel
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(json.dumps(hjson.load(file)))
    except (OSError, hjson.HjsonDecodeError) as error:
        raise PlanError(f"{path}: {error}") from error


def defects(plan):
    """Returns contradictions within the plan itself."""
    found = []
    groups = [group["name"] for group in plan["covergroups"]]
    names = [point["name"] for point in plan["testpoints"]]
    found += [f"covergroup {name}: ends in _cg and stands there once" for name in groups
              if not re.fullmatch(r"[a-z0-9_]+_cg", name) or groups.count(name) > 1]
    for point in plan["testpoints"]:
        name = point["name"]
        if not re.fullmatch(r"[a-z0-9_]+", name) or names.count(name) > 1:
            found.append(f"testpoint {name}: a name is lower_snake_case and stands there once")
        if point.get("stage") not in STAGES:
            found.append(f"testpoint {name}: a stage is one of {', '.join(STAGES)}")
        for part in ("Goal", "Stimulus", "Check"):
            if f"**{part}**:" not in point.get("desc", ""):
                found.append(f"testpoint {name}: its description lacks **{part}**:")
        if not point.get("tests"):
            found.append(f"testpoint {name}: has no test")
        found += [f"testpoint {name}: {group} is no covergroup of the plan" for group in point.get("covergroups", ()) if group not in groups]
    found += [f"covergroup {group}: no testpoint names it" for group in groups
              if not any(group in point.get("covergroups", ()) for point in plan["testpoints"])]
    for row in plan.get("checklist", ()):
        if row.get("status") not in STATUS or row.get("stage") not in STAGES or not row.get("evidence"):
            found.append(f"checklist {row.get('item')}: needs a stage, a status ({', '.join(STATUS)}) and evidence")
    return found


def facts(definition, top):
    """The features that rtl/gemm64.json and the ports of gemm64.v specify, as KIND.NAME."""
    commands = definition["commands"]
    found = {f"command.{x['name']}" for x in commands["opcodes"]} | {f"flag.{x['name']}" for x in commands["flags"]}
    found |= {f"format.{x['name']}" for x in commands["result_formats"]}
    for kind, key in (("error", "errors"), ("register", "registers"), ("memory", "memories"), ("engine", "engines")):
        found |= {f"{kind}.{x['name']}" for x in definition[key]}
    found |= {f"counters.{x['engine']}" for x in definition["counters"]}
    ports = re.findall(r"\b(?:input|output)\s+wire\s*(?:\[[^\]]*\])?\s*(\w+)", top)
    for port in ports:
        grouped = re.match(r"s_axil|m_[a-z]+", port)
        if port != "clk_i":
            found.add("port." + (grouped[0] if grouped else port))
    return found


def base(test):
    """Suite.Name of Prefix/Suite.Name/Parameter, Suite/0.Name or Suite.Name<Type>."""
    suite, dot, name = re.sub(r"<.*", "", test).partition(".")
    if not dot:
        return test
    return [part for part in suite.split("/") if not part.isdigit()][-1] + "." + name.split("/")[0]


def built_tests(build):
    """{ctest's name: FOLDER/Suite.Name}."""
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=False)
    if listed.returncode:
        raise PlanError(f"{build}: ctest lists no tests: {listed.stderr.strip()}")
    found = {}
    for test in json.loads(listed.stdout)["tests"]:
        if ".all_seeds_" in test["name"]:  # tests that are listed, with all their seeds
            continue
        folder = next((x["value"] for x in test.get("properties", ()) if x["name"] == "WORKING_DIRECTORY"), "")
        found[test["name"]] = os.path.basename(folder) + "/" + base(test["name"])
    return found


def source_tests(build):
    """FOLDER/Suite.Name of programs that only `make regression` builds; CMake lists their sources."""
    try:
        with open(os.path.join(build, "generated", "regression_sources.txt"), encoding="utf-8") as file:
            sources = file.read().split()
    except OSError as error:
        raise PlanError(f"{error}; configure the build with its tests") from error
    found = set()
    for source in sources:
        with open(source, encoding="utf-8") as file:
            for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", file.read(), re.M):
                found.add(f"{os.path.basename(os.path.dirname(source))}/{suite}.{name}")
    return found


def matches(point, test):
    return any(re.fullmatch(pattern, test) for pattern in point["tests"])


def gaps(plan, tests, specified):
    """Returns testpoints without a test, tests without a testpoint, features without either."""
    found = []
    for point in plan["testpoints"]:
        found += [f"testpoint {point['name']}: no test is called {pattern}" for pattern in point["tests"]
                  if not any(re.fullmatch(pattern, test) for test in tests)]
    found += [f"test {test}: no testpoint names it" for test in sorted(tests)
              if test.split("/")[0] in RTL_FOLDERS and not any(matches(point, test) for point in plan["testpoints"])]
    named = {feature for point in plan["testpoints"] for feature in point.get("features", ())}
    found += [f"feature {feature}: no testpoint names it" for feature in sorted(specified - named)]
    found += [f"feature {feature}: the specification has none of this name" for feature in sorted(named - specified)]
    return found


def read_results(files, built):
    """{FOLDER/Suite.Name: [passed, failed]} of ctest's JUnit files; tests that did not run count as neither."""
    found = collections.defaultdict(lambda: [0, 0])
    for path in files:
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            if case.get("status") in ("run", "fail") and case.get("name") in built:
                found[built[case.get("name")]][case.get("status") == "fail"] += 1
    return found


def read_json(path):
    """None where there is no such file."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def by_testpoint(plan, results):
    return {point["name"]: [sum(counts[i] for test, counts in results.items() if matches(point, test)) for i in (0, 1)]
            for point in plan["testpoints"]}


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def result(counts):
    if not counts or not sum(counts):
        return "not run"
    return f"{counts[0]} passed" if not counts[1] else f"{counts[1]} of {sum(counts)} FAILED"


def fresh_lines(fresh):
    """The section on the last draw of a seed that nothing was tuned to."""
    lines = ["## Last fresh draw", "",
             "`make regression SEED=new` draws a seed and runs random tests, fault campaigns and mutants with",
             "it.", ""]
    if fresh is None:
        return lines + ["None is recorded.", ""]
    lines += ["| what | result | goal | met | seed | commit |", "|---|---|---|---|---|---|"]
    lines += [f"| {cell(row['what'])} | {cell(row['result'])} | {cell(row['goal'])} | {'yes' if row['met'] else '**no**'} | {row['seed']} | `{row['commit']}` |"
              for row in fresh["rows"]]
    return lines + [""]


def page(plan, record, fresh=None):
    """The page; `record`: {"commit", "testpoints": {name: [passed, failed]}}, or None; `fresh`: of FRESH, or None."""
    counted = record["testpoints"] if record else {}
    lines = [
        "# Testplan", "",
        "<!-- generated by scripts/ci/testplan.py from tests/testplan.hjson -->", "",
        "Each feature of the [specification](../../rtl/README.md) and its tests, in the form of OpenTitan's",
        "testplanner. [tests/testplan.hjson](../../tests/testplan.hjson) also has the stimulus and the",
        "checks of each testpoint, what a covergroup covers, and the evidence of each item. The test",
        "`testplan.map` fails for a testpoint without a test, a test of the RTL without a testpoint, and a",
        "command, flag, format, error, register, memory, engine, counter or port that no testpoint names.", "",
        "`make -C scripts/ci testplan` prints the results of the last `make test` and `make regression`.", "",
        "## Stages", "",
        "The stages are OpenTitan's. A testpoint has the stage by which it has to pass.", "",
        "| stage | means | testpoints | passed | failed |", "|---|---|---|---|---|"]
    for stage, means in STAGES.items():
        points = [point["name"] for point in plan["testpoints"] if point["stage"] == stage]
        passed, failed = (sum(counted.get(name, [0, 0])[i] for name in points) for i in (0, 1))
        lines.append(f"| {stage} | {means} | {len(points)} | {passed if record else '–'} | {failed if record else '–'} |")
    lines += ["", f"Results: {'tests run at commit `' + record['commit'] + '`; a test counts for each testpoint that names it.' if record else 'none recorded.'}", ""]
    lines += fresh_lines(fresh)
    if plan.get("checklist"):
        done = collections.Counter(row["stage"] for row in plan["checklist"] if row["status"] == "done")
        others = [row for row in plan["checklist"] if row["status"] != "done"]
        lines += ["## Checklist", "", "Of OpenTitan's sign-off checklist are done: "
                  + ", ".join(f"{count} of {stage}" for stage, count in done.items()) + ". The others:", "",
                  "| stage | item | status | evidence |", "|---|---|---|---|"]
        lines += [f"| {row['stage']} | {row['item']} | {row['status']} | {cell(row['evidence'])} |" for row in others]
        lines.append("")
    for stage in STAGES:
        lines += [f"## Testpoints of {stage}", "", "| testpoint | goal | covergroups | tests |" + (" result |" if record else ""),
                  "|---|---|---|---|" + ("---|" if record else "")]
        for point in plan["testpoints"]:
            if point["stage"] == stage:
                goal = cell(point["desc"]).removeprefix("**Goal**: ").split(" **Stimulus**")[0]
                tests = "<br>".join(f"`{cell(pattern)}`" for pattern in point["tests"])
                groups = "<br>".join(f"`{group}`" for group in point.get("covergroups", ()))
                lines.append(f"| `{point['name']}` | {goal} | {groups} | {tests} |"
                             + (f" {result(counted.get(point['name']))} |" if record else ""))
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def print_results(plan, counts):
    for point in plan["testpoints"]:
        print(f"{point['stage']:<4} {point['name']:<28} {result(counts[point['name']])}")
    for stage in STAGES:
        points = [counts[point["name"]] for point in plan["testpoints"] if point["stage"] == stage]
        good = sum(1 for passed, failed in points if passed and not failed)
        print(f"{stage}: {good} of {len(points)} testpoints pass, {sum(1 for c in points if c[1])} fail, {sum(1 for c in points if not sum(c))} did not run")
    return 1 if any(failed for _, failed in counts.values()) else 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/ci/testplan.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help=f"fail if {PAGE} is stale")
    parser.add_argument("--map", action="store_true", help="check the plan against the tests of the build")
    parser.add_argument("--results", nargs="+", metavar="FILE", help="print results by testpoint, from ctest's JUnit files")
    parser.add_argument("--record", action="store_true", help=f"keep these results in {RESULTS} and the page")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of the build")
    options = parser.parse_args()
    if options.record and not options.results:
        parser.error("--record needs --results")
    plan = load(os.path.join(ROOT, PLAN))
    failed = defects(plan)
    if not failed and options.map:
        with open(os.path.join(ROOT, "rtl", "gemm64.json"), encoding="utf-8") as file, \
                open(os.path.join(ROOT, "rtl", "gemm64.v"), encoding="utf-8") as top:
            specified = facts(json.load(file), top.read())
        failed = gaps(plan, set(built_tests(options.build).values()) | source_tests(options.build), specified)
    for text in failed:
        print(f"testplan: {text}", file=sys.stderr)
    if failed or options.map:
        return 1 if failed else 0

    path = os.path.join(ROOT, RESULTS)
    record, fresh = read_json(path), read_json(os.path.join(ROOT, FRESH))
    status = 0
    if options.results:
        counts = by_testpoint(plan, read_results(options.results, built_tests(options.build)))
        status = print_results(plan, counts)
        if not options.record:
            return status
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
        record = {"commit": commit, "testpoints": counts}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
    text = page(plan, record, fresh)
    path = os.path.join(ROOT, PAGE)
    if options.check:
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                print(f"testplan: {PAGE} is stale; run scripts/ci/testplan.py", file=sys.stderr)
                return 1
        return 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PlanError as error:
        print(f"testplan: {error}", file=sys.stderr)
        sys.exit(2)
