# SPDX-License-Identifier: Apache-2.0
"""Bitwuzla as the process that yosys-smtbmc talks to: SMT-LIB commands in, answers out.

With PROVE_MULTIPLICATION=any each width's multiplication is a function of which nothing is known. PROVE_SECONDS names a file
for the processor seconds that the answers took.
"""

import os
import re
import sys
import time

import bitwuzla

SECONDS = os.environ.get("PROVE_SECONDS")
ANY = os.environ.get("PROVE_MULTIPLICATION") == "any"
PRODUCT = re.compile(r"\(_ BitVec (\d+)\) \(bvmul ")

parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
declared = set()


def without_multiplication(text):
    for width in set(PRODUCT.findall(text)) - declared:
        declared.add(width)
        word = f"(_ BitVec {width})"
        parser.parse(f"(declare-fun product{width} ({word} {word}) {word})", False, False)
    text = PRODUCT.sub(lambda m: f"(_ BitVec {m[1]}) (product{m[1]} ", text)
    assert "bvmul" not in text
    return re.sub(r"\(set-logic \w+\)", "(set-logic QF_AUFBV)", text)


command, depth, counted = "", 0, 0.0
for line in sys.stdin:
    command += line
    depth += line.count("(") - line.count(")")
    if depth != 0 or not command.strip():
        continue
    if command.strip() == "(exit)":
        break
    if ANY:
        command = without_multiplication(command)
    try:
        parser.parse(command, False, False)
    except Exception as problem:  # bitwuzla's own, which it does not name
        print(f'(error "{problem}")')
    sys.stdout.flush()
    if "check-sat" in command and SECONDS:
        # yosys-smtbmc does not wait for its solvers' end, and may start one for each question.
        with open(SECONDS, "a", encoding="utf-8") as out:
            out.write(f"{time.process_time() - counted:.3f}\n")
        counted = time.process_time()
    command = ""
