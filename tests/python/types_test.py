# SPDX-License-Identifier: Apache-2.0
"""The package and its use are of the types that they say."""

import pathlib
import subprocess
import sys

import gemm64
import pytest

USE = pathlib.Path(__file__).with_name("typed_use.py")
EXAMPLES = pathlib.Path(__file__).parents[2] / "python" / "examples" / "llm"


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mypy")  # keeps what it learnt of NumPy and pandas

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}", "--config-file=",
             *map(str, arguments), str(pathlib.Path(gemm64.__file__).parent)],
            capture_output=True, text=True, check=False, cwd=folder)

    return run


def test_mypy_finds_nothing(mypy):
    result = mypy(USE, EXAMPLES)
    assert result.returncode == 0, result.stdout + result.stderr


def test_mypy_finds_a_wrong_type(mypy, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import gemm64\ncycles: str = gemm64.Device('rtl').cycles\n"
                     "gemm64.Device(64)\n"
                     "gemm64.InferenceSession('net.onnx').io_binding()\n")
    result = mypy(wrong)
    assert "Found 3 errors" in result.stdout, result.stdout


def test_everything_public_is_documented():
    for name in gemm64.__all__:
        thing = getattr(gemm64, name)
        assert getattr(thing, "__doc__", None), name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{member}"
