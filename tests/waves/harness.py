# SPDX-License-Identifier: Apache-2.0
"""What the tests of waves/ share: the program, one product of known operands, the views."""

import os
import random
import struct
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WAVES = os.path.join(ROOT, "waves")
GEMM64 = os.path.abspath(os.environ.get("GEMM64") or os.path.join(ROOT, "build", "gemm64"))
VIEWS = ["accumulator", "array", "axi", "commands", "lanes", "overview"]
TOP = "gemm64.gemm64."


def run(*arguments, **options):
    """The program's outcome; output is kept as text."""
    return subprocess.run([GEMM64, *map(str, arguments)], capture_output=True, text=True,
                          check=False, **options)


def matrix(rows, columns, seed):
    """Whole random int8, none of them zero."""
    source = random.Random(seed)
    return [[source.choice((-1, 1)) * source.randint(1, 127) for _ in range(columns)]
            for _ in range(rows)]


def save_npy(path, values):
    header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({len(values)}, {len(values[0])}), }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in values:
            file.write(struct.pack(f"{len(row)}b", *row))


def product(folder, view, n=64, rows=64):
    """Runs A[rows x 2n] B[2n x 2n] with a waveform in the folder; gives its path, A and B."""
    a, b = matrix(rows, 2 * n, 1), matrix(2 * n, 2 * n, 2)
    names = [os.path.join(folder, name) for name in ("a.npy", "b.npy", f"{view}_{n}.fst")]
    save_npy(names[0], a)
    save_npy(names[1], b)
    outcome = run("gemm", "--a", names[0], "--b", names[1], "--array", n, "--memory-latency", 20,
                  "--trace", names[2], "--view", view)
    assert outcome.returncode == 0, outcome.stderr
    return names[2], a, b


def dot(a, b, row, column, begin, end):
    """The sum of A's row times B's column over k in [begin, end)."""
    return sum(a[row][k] * b[k][column] for k in range(begin, end))
