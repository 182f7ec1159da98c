#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaces the 64 sums of gemm64_stage's columns, in the C++ that Verilator generates, by one call.

Usage: fuse_products.py GENERATED.cpp OUTPUT.cpp

Verilator unrolls the loop `add` of gemm64_stage.v into 64 statements. Each of them must be exactly
  sum_o[c] = sum_i[c] + sum over r of sign-extended activation_q[65 * r + c] * byte r of weight_q[c]
and they must follow each other in order; then they are what column_products.hpp computes. If one differs, as with
another version of Verilator, the file is copied unchanged: results are the same, and the simulation is slower.
Exit: 0 written (the last line of output says how many functions changed), 2 usage or input.
"""
import re
import sys
from pathlib import Path

COLUMNS = 64
ROWS = 4
STATEMENT = re.compile(r"^[ \t]*vlSelf->sum_o\[[^;]*;\n", re.MULTILINE)
CALL = ("    gemm64::column_products::add(&vlSelf->sum_o[0U], &vlSelf->sum_i[0U], "
        "&vlSelf->__PVT__activation_q[0U], &vlSelf->__PVT__weight_q[0U]);\n")


def index(value):
    """A constant as Verilator 5.006 writes it: 9U, 0x1fU."""
    return f"{value}U" if value < 10 else f"0x{value:x}U"


def expected(column):
    """The statement of a column, without white space."""
    text = f"vlSelf->sum_i[{index(column)}]"
    for row in range(ROWS):
        weight = f"vlSelf->__PVT__weight_q[{index(column)}]"
        if row < ROWS - 1:
            weight = f"(0xffU&{weight})" if row == 0 else f"(0xffU&({weight}>>{index(8 * row)}))"
        else:
            weight = f"({weight}>>{index(8 * row)})"
        activation = f"vlSelf->__PVT__activation_q[{index(row * (COLUMNS + 1) + column)}]"
        text = f"({text}+VL_MULS_III(32,VL_EXTENDS_II(32,8,{activation}),VL_EXTENDS_II(32,8,{weight})))"
    return f"vlSelf->sum_o[{index(column)}]={text};"


def fuse(source):
    """Returns the source with the call in place of each complete run of statements, and their number."""
    pieces, begin, run, count = [], 0, [], 0
    for match in STATEMENT.finditer(source):
        if run and match.start() != run[-1].end():
            run = []
        if re.sub(r"\s+", "", match.group()) != expected(len(run)):
            run = []
            continue
        run.append(match)
        if len(run) == COLUMNS:
            pieces += [source[begin:run[0].start()], CALL]
            begin, run, count = match.end(), [], count + 1
    pieces.append(source[begin:])
    return "".join(pieces), count


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        fused, count = fuse(Path(arguments[0]).read_text())
        if count:
            fused = '#include "sim/column_products.hpp"\n' + fused
        Path(arguments[1]).write_text(fused)
    except OSError as error:
        print(f"fuse_products.py: {error}", file=sys.stderr)
        return 2
    print(f"fuse_products.py: {count} functions use column_products.hpp")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
