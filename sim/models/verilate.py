#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Verilator for several models, as many at once as there are processors.

Usage: verilate.py COMMANDS

COMMANDS is a file with a command per line, its words separated by semicolons. Each leaves in its folder what verilate() of
Verilator's CMake package finds of an earlier run: the list of sources, and the command. Verilator's messages are shown
only if it fails. Exit: 0 all ran, 1 one failed.
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path


def run(line):
    """Returns an error message, or nothing."""
    command = line.split(";")
    folder, prefix = (command[command.index(option) + 1] for option in ("--Mdir", "--prefix"))
    os.makedirs(folder, exist_ok=True)
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        return f"verilate.py: {prefix}: exit code {result.returncode}\n{result.stdout}"
    shutil.copyfile(f"{folder}/{prefix}.cmake", f"{folder}/{prefix}_copy.cmake")
    Path(folder, "verilator_args.txt").write_text(line, encoding="utf-8")
    return None


def main():
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        errors = [error for error in pool.map(run, lines) if error]
    print("\n".join(errors), file=sys.stderr, end="")
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main())
