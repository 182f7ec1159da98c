#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the C++ of host/, sim/ and python/src/ with clang-tidy (`.clang-tidy` has the checks).

Needs a build of the tests, whose compile commands and generated headers it takes. clang-tidy itself
comes from PyPI (tidy-requirements.txt), four times as fast as Debian's. A file that was clean is checked again only
when it, something that it includes, or the checks have changed.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("host", "sim", "python/src")
# Precompiled headers are those of another clang.
PRECOMPILED = re.compile(r"-Winvalid-pch|-Xclang -include(-pch)? -Xclang \S+")
INCLUDE = re.compile(rb'^\s*#\s*include\s+"((?:host|sim|python)/[^"]+)"', re.MULTILINE)
FINDING = re.compile(r"^(.*?):(\d+):(\d+): (?:warning|error): (.*)$")


def compile_commands(build):
    """One command for each source file, without ccache in front."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "compdb"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        sys.exit(f"tidy: {build} is not configured; run make test, or make, first")
    commands = {}
    for entry in json.loads(listed.stdout):
        unit = entry["file"]
        for path in joined_sources(unit) or [unit]:
            name = os.path.relpath(path, ROOT)
            if name.endswith((".c", ".cpp")) and name.startswith(tuple(folder + "/" for folder in FOLDERS)):
                command = PRECOMPILED.sub("", re.sub(r"^\S*ccache ", "", entry["command"])).replace(unit, path)
                commands.setdefault(name, {"directory": entry["directory"], "file": path, "command": command})
    return commands


def joined_sources(unit):
    """The files that CMake joins in one, to be compiled faster; none where it is a file itself."""
    if "/Unity/" not in unit or not os.path.exists(unit):
        return []
    return re.findall(r'^#include "(.*)"$', open(unit, encoding="utf-8").read(), re.MULTILINE)


class Contents:
    """What a file is made of: its own bytes and those of all project headers that it reaches."""

    def __init__(self):
        self._bytes = {}

    def _read(self, name):
        if name not in self._bytes:
            path = os.path.join(ROOT, name)
            self._bytes[name] = open(path, "rb").read() if os.path.exists(path) else b""
        return self._bytes[name]

    def digest(self, name, seed):
        reached, todo = set(), [name]
        while todo:
            current = todo.pop()
            if current not in reached:
                reached.add(current)
                todo += [found.decode() for found in INCLUDE.findall(self._read(current))]
        digest = hashlib.sha256(seed)
        for each in sorted(reached):
            digest.update(each.encode() + b"\0" + self._read(each))
        return digest.hexdigest()


def find_tool(build):
    """clang-tidy in the virtual environment that is its own."""
    folder = os.path.join(build, "tidy-venv")
    done = subprocess.run([os.path.join(ROOT, "scripts", "setup", "venv.sh"), folder, os.path.join(ROOT, "scripts", "ci", "tidy-requirements.txt")],
                          check=False)
    if done.returncode != 0:
        sys.exit(2)
    return os.path.join(folder, "bin", "clang-tidy")


def check(tool, name, folder):
    """clang-tidy's findings in a file and its headers, [(file, line, text)]; and what it said where it failed."""
    done = subprocess.run([tool, "--quiet", "-p", folder, os.path.join(ROOT, name)], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    found = [FINDING.match(line) for line in done.stdout.splitlines()]
    findings = {(os.path.relpath(m[1], ROOT), int(m[2]), m[4]) for m in found if m}
    failed = done.stderr if done.returncode != 0 and not findings else ""
    return findings, failed


def write_whole(path, text):
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(prog="tidy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit: 0 clean, 1 findings, 2 it could not be checked.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="check only these, as host/tiling/plan.cpp")
    parser.add_argument("--build", default="build", metavar="FOLDER", help="the build (default build)")
    parser.add_argument("--clang-tidy", metavar="PROGRAM", help="another clang-tidy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="files at a time (default all cores)")
    parser.add_argument("--summary", metavar="FILE", help="writes a row for make signoff as JSON")
    options = parser.parse_args()
    begin = time.monotonic()
    build = os.path.join(ROOT, options.build)
    commands = compile_commands(build)
    for name in options.files:
        if name not in commands:
            print(f"tidy: {name} is no source file that {options.build} compiles", file=sys.stderr)
            return 2
    names = options.files or sorted(commands)
    cache = os.path.join(build, "tidy")
    os.makedirs(cache, exist_ok=True)
    tool = options.clang_tidy or find_tool(build)
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    seed = (version + open(os.path.join(ROOT, ".clang-tidy"), encoding="utf-8").read()).encode()
    contents = Contents()
    digests = {name: contents.digest(name, seed) for name in names}
    new = [name for name in names if not os.path.exists(os.path.join(cache, digests[name]))]

    findings, failures = set(), []
    with tempfile.TemporaryDirectory(dir=cache) as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        write_whole(os.path.join(folder, "compile_commands.json"), json.dumps(list(commands.values())))
        waiting = {pool.submit(check, tool, name, folder): name for name in new}
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            name = waiting[future]
            found, failed = future.result()
            findings |= found
            if failed:
                failures.append(f"{name}: clang-tidy failed: {failed.strip()}")
            elif not found:
                write_whole(os.path.join(cache, digests[name]), "")
            if sys.stderr.isatty():
                print(f"\rtidy: {done} of {len(new)} files", end="", file=sys.stderr)
    if sys.stderr.isatty() and new:
        print(file=sys.stderr)
    for path, line, text in sorted(findings):
        print(f"{path}:{line}: {text}")
    for failure in failures:
        print(failure, file=sys.stderr)
    seconds = time.monotonic() - begin
    print(f"tidy: {len(names)} files, {len(findings)} findings, {len(new)} checked now, {seconds:.0f} s")
    if options.summary:
        rows = [{"what": f"clang-tidy: findings in {len(names)} files", "figure": str(len(findings) + len(failures)),
                 "goal": "0", "met": not findings and not failures, "cause": ""}]
        write_whole(options.summary, json.dumps({"part": "C++", "command": "make -C scripts/ci tidy", "seconds": round(seconds), "rows": rows}))
    return 2 if failures else 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
