# SPDX-License-Identifier: Apache-2.0
"""The program, as `make` builds it: `gemm64 run --help`, or `python -m gemm64 run --help`."""

import os
import sys
from pathlib import Path

from gemm64._gemm64 import run_program


def main() -> int:
    waves = Path(__file__).with_name("waves")
    arguments = [b"gemm64", *map(os.fsencode, sys.argv[1:])]
    return run_program(arguments, str(waves) if waves.is_dir() else "")


if __name__ == "__main__":
    sys.exit(main())
