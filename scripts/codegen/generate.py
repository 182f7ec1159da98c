#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes everything that is made from rtl/gemm64.json: the Verilog header, the headers for C++ and C,
the reference in docs/ and GTKWave's words for values, so that hardware, software and documentation
cannot disagree."""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from problem import Problem  # noqa: E402
from backends.c import c_header  # noqa: E402
from backends.cpp import cpp, cpp_bridge, cpp_energy, cpp_facts, cpp_rules, cpp_types  # noqa: E402
from backends.gtkwave import filters  # noqa: E402
from backends.pages import reference  # noqa: E402
from backends.spec import BOUNDS, BRIDGE_CPP, BRIDGE_VERILOG, C, CPP, ENERGY, FACTS, FILTERS, JSON, REFERENCE, RULES, TYPES, VERILOG, load  # noqa: E402
from backends.verilog import verilog, verilog_bounds, verilog_bridge  # noqa: E402


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/codegen/generate.py", description=f"Makes {VERILOG}, {CPP}, {FACTS}, {RULES}, {TYPES}, {C}, {BOUNDS}, {BRIDGE_VERILOG}, {BRIDGE_CPP}, {ENERGY}, the pages in {REFERENCE} and most of "
        f"{FILTERS} from {JSON}, the one place where registers, commands, errors and counters are written.")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 where a file is not what the JSON gives")
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", ".."),
                        help="the project's folder (default: the one of this script)")
    options = parser.parse_args()
    try:
        spec = load(options.root)
        made = {VERILOG: verilog(spec), CPP: cpp(spec), FACTS: cpp_facts(spec), RULES: cpp_rules(spec), TYPES: cpp_types(spec),
                C: c_header(spec), BOUNDS: verilog_bounds(spec), BRIDGE_VERILOG: verilog_bridge(spec["bridge"]), BRIDGE_CPP: cpp_bridge(spec["bridge"]),
                ENERGY: cpp_energy(spec["energy"]),
                **reference(spec), **filters(spec)}
    except Problem as problem:
        print(f"generate: {JSON}: {problem}", file=sys.stderr)
        return 1
    failed = False
    for path, content in made.items():
        full = os.path.join(options.root, path)
        try:
            with open(full, encoding="utf-8") as file:
                same = file.read() == content
        except FileNotFoundError:
            same = False
        if same:
            continue  # its date stays too, so that nothing is built again for no reason
        if options.check:
            print(f"generate: {path} is not what {JSON} gives; run scripts/codegen/generate.py and commit "
                  "the result", file=sys.stderr)
            failed = True
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full + ".new", "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(full + ".new", full)
        print(f"generate: wrote {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
