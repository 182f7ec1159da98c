# SPDX-License-Identifier: Apache-2.0
"""The package and its use are of the types that they say."""

import pathlib
import subprocess
import sys

import gemm64

USE = pathlib.Path(__file__).with_name("typed_use.py")


def mypy(tmp_path, *arguments):
    package = pathlib.Path(gemm64.__file__).parent
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "--config-file=",
         *map(str, arguments), str(package)],
        capture_output=True, text=True, check=False, cwd=tmp_path)


def test_mypy_finds_nothing(tmp_path):
    result = mypy(tmp_path, USE)
    assert result.returncode == 0, result.stdout + result.stderr


def test_mypy_finds_a_wrong_type(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import gemm64\nclocks: str = gemm64.Device('rtl').clocks\n"
                     "gemm64.Device('fpga')\n")
    result = mypy(tmp_path, wrong)
    assert "Found 2 errors" in result.stdout, result.stdout


def test_everything_public_is_documented():
    for name in gemm64.__all__:
        thing = getattr(gemm64, name)
        assert getattr(thing, "__doc__", None), name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"
