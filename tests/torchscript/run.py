#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the plug-in for TorchScript files: `make -C scripts/models torchscript` builds it and calls this.

Runs with Debian's python3, which has torch and torchvision. Exit: 0 all tests pass, 1 one does not,
2 something is not built or installed.
"""
import argparse
import os
import pathlib
import sys
import unittest


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(prog="tests/torchscript/run.py",
                                     description=__doc__.partition("\n")[0])
    parser.add_argument("--build", default=root / "build", type=pathlib.Path,
                        help="where the program is (default: build)")
    parser.add_argument("-k", action="append", metavar="PATTERN",
                        help="only tests whose names hold this; repeat for more")
    options = parser.parse_args()
    for name in ("gemm64", "gemm64_torchscript.so"):
        if not (options.build / name).exists():
            print(f"torchscript: {options.build / name} is not built; run make -C scripts/models torchscript",
                  file=sys.stderr)
            return 2
    try:
        import torch, torchvision  # noqa: F401
    except ImportError as error:
        print(f"torchscript: {error}; run scripts/setup/setup.sh torchscript models", file=sys.stderr)
        return 2
    os.environ["GEMM64_BUILD"] = str(options.build.resolve())
    loader = unittest.TestLoader()
    if options.k:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in options.k]
    sys.dont_write_bytecode = True
    here = pathlib.Path(__file__).resolve().parent
    tests = loader.discover(here, pattern="*_test.py", top_level_dir=here)
    if tests.countTestCases() == 0:
        print("torchscript: no test has such a name", file=sys.stderr)
        return 2
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
