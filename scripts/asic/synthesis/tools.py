# SPDX-License-Identifier: Apache-2.0
"""Yosys and OpenSTA: whether they are there, and running them."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from problem import Problem  # noqa: E402  pylint: disable=wrong-import-position


class ToolFailure(Problem):
    """A tool that ended with an error, or found a path that it cannot time."""


def check(liberty):
    """Raises Problem where a tool or the cells are missing."""
    for tool, package in (("yosys", "yosys"), ("sta", "opensta")):
        if not shutil.which(tool):
            raise Problem(f"there is no {tool}; `scripts/setup/setup.sh synth` installs Debian's {package}")
    if not os.path.exists(liberty):
        raise Problem(f"{liberty}: no such file; `scripts/setup/setup.sh synth` installs the default cells")


def write(path, text):
    """Writes a file, with the folder that it is in; returns its path."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def run(command, log, seconds=None):
    """Runs a tool with its output in a log file, which is returned as text, or None where it is not done after that many seconds; raises
    ToolFailure where the tool fails."""
    with open(log, "w", encoding="utf-8") as out:
        try:
            code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=seconds, check=False).returncode
        except subprocess.TimeoutExpired:
            return None
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if code:
        raise ToolFailure(f"{command[0]} failed; the end of {log}:\n" + "\n".join(text.splitlines()[-8:]))
    return text
