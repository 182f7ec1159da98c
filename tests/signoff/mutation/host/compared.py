# SPDX-License-Identifier: Apache-2.0
"""Tests in Python that run `gemm64` and compare it with ONNX Runtime, on a mutant of it: the random networks and their kind.

Each takes seconds, and which places it comes by is not noted, so that only what all others let live meets them.
"""

import json
import os
import subprocess
import time

import trial

SECONDS = 600  # of the clock, at most; ctest's own limits are shorter


def tests_of(build):
    """Those of ctest that need no other program: (name, command, folder, environment). Of a test and its form with all cases the latter."""
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    found = {}
    for test in json.loads(done.stdout or "{}").get("tests", []):
        facts = {one["name"]: one["value"] for one in test.get("properties", [])}
        environment = dict(one.split("=", 1) for one in facts.get("ENVIRONMENT", []))
        if test["name"].startswith("onnxruntime.") and "GEMM64" in environment and "GEMM64_EP" not in environment:
            found[test["name"]] = (test["name"], test["command"], facts["WORKING_DIRECTORY"], environment)
    return [test for name, test in found.items() if f"{name}_all" not in found]


def passes(test, program, environment, seconds):
    """Whether a test passes with this gemm64, and what it printed."""
    _, command, folder, own = test
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, **own, "GEMM64": program, **environment}, timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                              preexec_fn=trial.limits(seconds))
    except subprocess.TimeoutExpired:
        return False, f"no end within {seconds:.0f} s"
    return done.returncode == 0, done.stdout


def timed(tests, program):
    """Seconds that each takes of the sources as they are; ends the program where one fails."""
    seconds = {}
    for test in tests:
        began = time.monotonic()
        passed, output = passes(test, program, {}, SECONDS)
        if not passed:
            raise SystemExit(f"{output}\nhost-mutants: {test[0]} fails on the sources as they are")
        seconds[test[0]] = time.monotonic() - began
    return seconds


def killer(tests, seconds, program, environment):
    """The test that notices the mutant that `environment` selects, the shortest first, "" where none does."""
    for test in sorted(tests, key=lambda test: seconds[test[0]]):
        if not passes(test, program, environment, 60 + 5 * seconds[test[0]])[0]:
            return test[0]
    return ""
