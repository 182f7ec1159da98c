# SPDX-License-Identifier: Apache-2.0
"""Bitwuzla as the process that yosys-smtbmc talks to: SMT-LIB commands in, answers out."""

import sys

import bitwuzla

parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
command, depth = "", 0
for line in sys.stdin:
    command += line
    depth += line.count("(") - line.count(")")
    if depth != 0 or not command.strip():
        continue
    if command.strip() == "(exit)":
        break
    try:
        parser.parse(command, False, False)
        if "(set-logic" in command:
            parser.parse("(push 1)", False, False)  # version 0.9.1 does not pop its outermost level
    except Exception as problem:  # bitwuzla's own, which it does not name
        print(f'(error "{problem}")')
    sys.stdout.flush()
    command = ""
