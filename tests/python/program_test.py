# SPDX-License-Identifier: Apache-2.0
"""The program from Python: `python -m gemm64`, and the `gemm64` command of the package."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import gemm64

PROJECT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text())


def program(*arguments: str | bytes) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gemm64", *arguments], capture_output=True, text=True)


def test_it_is_the_program():
    version = program("--version")
    assert (version.returncode, version.stdout.strip()) == (0, gemm64.__version__)
    run = program("gemm", "4", "8", "4", "--array", "4")
    assert run.returncode == 0, run.stderr
    assert "VERIFIED" in run.stdout


def test_it_exits_as_the_program_does():
    nothing = program()
    assert nothing.returncode == 2
    assert "a command is required" in nothing.stderr
    missing = program("analyze", b"no-\xff-such.onnx")  # a name that is no UTF-8
    assert missing.returncode == 2
    assert "no such file" in missing.stderr


def test_the_command_of_the_package_is_the_program():
    module, name = PYPROJECT["project"]["scripts"]["gemm64"].split(":")
    main = getattr(importlib.import_module(module), name)
    script = f"import sys, {module} as m; sys.argv = ['gemm64', '--version']; sys.exit(m.{name}())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert callable(main)
    assert (found.returncode, found.stdout.strip()) == (0, gemm64.__version__)


def test_a_wheel_is_for_other_machines_too():
    """No CMake file asks for this machine's processor by itself: GEMM64_ARCH does, which wheels set."""
    lists = [*PROJECT.glob("CMakeLists.txt"), *PROJECT.glob("*/**/CMakeLists.txt")]
    for file in lists:
        if "build" not in file.relative_to(PROJECT).parts:
            assert "-march=native" not in file.read_text(), file
    overrides = PYPROJECT["tool"]["scikit-build"]["overrides"]
    assert overrides[0]["cmake"]["define"]["GEMM64_ARCH"] == "x86-64-v3"
    assert overrides[0]["inherit"]["cmake"]["define"] == "append"  # not in place of the others
