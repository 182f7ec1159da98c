# SPDX-License-Identifier: Apache-2.0
"""Runs tests of GoogleTest on a mutant, the shortest first, until one notices it.

A test is (program, name, seconds). What a process may use is bounded by the processor's time, so that a busy machine
kills no mutant.
"""

import collections
import concurrent.futures
import hashlib
import os
import re
import resource
import subprocess

MEMORY = 8 << 30  # bytes of address space: what wants more has gone wrong


def limits(seconds):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_limits


def execute(program, names, environment, seconds, *options):
    """Output and exit code; None where `seconds` of the processor, or far more of the clock, were not enough."""
    try:
        done = subprocess.run([program, *options], timeout=120 + 20 * seconds, stdout=subprocess.PIPE,
                              env={**os.environ, "GTEST_FILTER": ":".join(names), "OMP_NUM_THREADS": "1", **environment},
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                              preexec_fn=limits(seconds), cwd=os.path.dirname(program))
    except subprocess.TimeoutExpired:
        return "", None
    return done.stdout, (None if done.returncode in (-24, -9) else done.returncode)


def batches(tests):
    """The shortest first, in runs that take ever longer."""
    group, seconds, least = [], 0.0, 0.3
    for test in sorted(tests, key=lambda t: t[2]):
        group.append(test)
        seconds += test[2]
        if seconds > least:
            yield group, seconds
            group, seconds, least = [], 0.0, least * 4
    if group:
        yield group, seconds


def killer(tests, environment):
    """Who notices the mutant that `environment` selects, "" where nobody does."""
    for group, seconds in batches(tests):
        for program in dict.fromkeys(test[0] for test in group):
            names = [name for where, name, _ in group if where == program]
            output, code = execute(program, names, environment, 5 + 5 * seconds, "--gtest_fail_fast", "--gtest_brief=1")
            if code is None:
                return f"no end within {5 + 5 * seconds:.0f} s of the processor"
            if code:
                failed = re.search(r"\[  FAILED  \] ([^\s,]+)", output)
                return failed[1] if failed else f"{os.path.basename(program)} ends with {code}"
    return ""


def listed(program):
    """The names of all tests of a program."""
    names, suite = [], ""
    for line in subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        line = line.partition("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + line.strip())
        elif line.endswith("."):
            suite = line
    return names


def passing(program, filters, environment, jobs):
    """The tests of `filters` that pass, each with its seconds, and the names of those that do not; in `jobs` processes."""
    def part(number):
        return execute(program, [filters], {**environment, "GTEST_TOTAL_SHARDS": str(jobs), "GTEST_SHARD_INDEX": str(number)}, 3600)[0]

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        output = "\n".join(pool.map(part, range(jobs)))
    good = {name: int(milli) / 1000 for name, milli in re.findall(r"^\[       OK \] (\S+?)(?:, where .*)? \((\d+) ms\)", output, re.M)}
    return [(program, name, seconds) for name, seconds in good.items()], sorted(failed(output) - set(good))


def failed(output):
    """Names of the tests that a program says have failed."""
    return set(re.findall(r"^\[  FAILED  \] (\S+\.[^\s,]+)", output, re.M))


def by_suite(names):
    """"Registers (28), Shapes (1)"."""
    return ", ".join(f"{suite} ({count})" for suite, count in collections.Counter(name.split(".")[0] for name in names).items())


def drawn(mutants, count, seed, root):
    """So many of the mutants, in their order, drawn by the seed or else by the commit."""
    seed = seed or commit(root)
    order = sorted(mutants, key=lambda m: hashlib.sha256(f"{seed} {m['mutant']}".encode()).digest())
    return sorted(order[:count], key=lambda m: m["number"])


def commit(root):
    """What seeds a draw: the commit that is checked out. "" where git or a repository is missing, which is said."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("mutants: no commit is known here, so the draw is the same as ever", flush=True)
        return ""
    return done.stdout.strip()
