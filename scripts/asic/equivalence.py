#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the gates which `make -C scripts/asic synth` maps do what the RTL does."""

import argparse
import concurrent.futures
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from energy_model import outputs  # noqa: E402 (the folder is next to this file)
from synthesis import cells, equivalence, mapping, tools  # noqa: E402

SIZES = (2, 4, 8, 16, 32, 64)
HEADER = ["part", "registers", "left out", "constant", "alone", "functions", "proved", "broken", "noticed", "s", ""]
NAMED = 10  # functions that were not proved


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="scripts/asic/equivalence.py", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__ + """

Each block that stands many times in the accelerator is mapped by itself: the array's stage, a column of the accumulator and four columns
of the requantizer. With --whole so are the element-wise unit and all else, lanes and control, around these blocks. Of each part ABC proves that
every register, memory, block and output is given the same function of all of them as in the RTL. Registers that nothing reads are left
out of the netlist, or are only in it; some hold a constant there, which is proved to stay. Yosys reads both, and merges products and
sums on both sides (alumacc); in the RTL they become trees that add in the netlist's order. Cells do what their models in Verilog say.""",
        epilog="Exit: 0 all functions are proved and every broken cell is noticed, 1 one is not or a tool failed, 2 bad usage or a missing "
        "tool, 3 a file was not written.")
    parser.add_argument("--array", type=int, nargs="+", default=[4, 8, 64], choices=SIZES, metavar="N",
                        help="sizes of the array whose blocks are proved (default: 4 8 64)")
    parser.add_argument("--whole", type=int, nargs="*", default=[4], choices=SIZES, metavar="N",
                        help="sizes of which all else is, too (default: 4)")
    parser.add_argument("--broken", type=int, default=5, metavar="COUNT", help="in each part this number of cells is replaced, one at a time, as "
                        "a NAND a NOR; each must be noticed (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the cells that are broken (default: %(default)s)")
    parser.add_argument("--out", metavar="FOLDER", default="build/synth", help="for netlists and logs (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--summary", metavar="FILE", help="write the rows of the sign-off's table there")
    options = parser.parse_args(argv)
    if options.broken < 0:
        parser.error(f"--broken {options.broken}: must not be negative")
    return options


def parts(options):
    """(module, parameters) of all that is to be proved, each once, by their names; what takes longest comes first."""
    sizes = sorted({*options.array, *options.whole}, reverse=True)
    of = {n: equivalence.blocks(n, options.out) for n in sizes}
    found = []
    for n in sorted(set(options.whole), reverse=True):
        found += [("gemm64", {"N": n}), (equivalence.VECTOR, of[n][equivalence.VECTOR])]
    found += [(name, parameters) for n in sizes for name, parameters in of[n].items() if name != equivalence.VECTOR]
    return {mapping.name_of(*part): part for part in found}


def prove(name, module, parameters, library, options):
    """A row: what was proved of a part, and why not all was; a tool that fails costs the other parts nothing."""
    began = time.monotonic()
    row = {"part": name, "proof": None, "broken": 0, "noticed": 0, "cause": ""}
    try:
        comparison = equivalence.Comparison(module, parameters, library, options.out)
        proof = comparison.prove()
        row["proof"], causes, missed = vars(proof), [], []
        if proof.undecided:
            causes.append(f"not proved: {', '.join(proof.undecided[:NAMED])}" + ", …" * (len(proof.undecided) > NAMED))
        cells_of = comparison.breakable()
        for cell in random.Random(options.seed).sample(cells_of, min(options.broken, len(cells_of))):
            row["broken"] += 1
            try:
                comparison.prove_broken(cell)
                missed.append(cell)
            except equivalence.Different:
                row["noticed"] += 1
        if missed:
            causes.append("not noticed: " + ", ".join(missed))
        row["cause"] = "; ".join(causes)
    except (equivalence.Different, tools.ToolFailure) as problem:
        row["cause"] = str(problem)
    row["seconds"] = round(time.monotonic() - began, 1)
    return row


def proved(row):
    """Functions that were proved, and how many there are."""
    proof = row["proof"]
    return (proof["functions"] - len(proof["undecided"]), proof["functions"]) if proof else (0, 0)


def line(row):
    proof = row["proof"]
    counts = [proof[key] for key in ("registers", "left_out", "constant", "alone", "functions")] + [proved(row)[0]] if proof else []
    return [row["part"], *([f"{count:,}" for count in counts] or [""] * 6), row["broken"], row["noticed"], f"{row['seconds']:.0f}", row["cause"] or "equal"]


def summary(rows, seconds):
    equal = sum(proved(row)[0] == proved(row)[1] > 0 for row in rows)
    functions = [sum(counts) for counts in zip(*map(proved, rows))]
    broken, noticed = (sum(row[key] for row in rows) for key in ("broken", "noticed"))
    causes = "; ".join(f"{row['part']}: {row['cause']}" for row in rows if row["cause"])
    return outputs.summary("Netlist", "make -C scripts/asic equivalence", seconds, [
        ("gates equal the RTL", f"{equal} of {len(rows)} parts", "all", equal == len(rows), causes if equal < len(rows) else ""),
        ("functions proved", "{:,} of {:,}".format(*functions), "all", functions[0] == functions[1] > 0, ""),
        ("broken cells noticed", f"{noticed} of {broken}", "all", noticed == broken, causes if noticed < broken else "")])


def main(argv):
    started = time.monotonic()
    options = arguments(argv)
    for name in ("out", "json", "summary"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    def tell(text):
        print(f"equivalence: {time.monotonic() - started:4.0f} s  {text}", file=sys.stderr, flush=True)

    try:
        tools.check(cells.OSU018)
        library = cells.Cells(cells.OSU018)
        wanted = parts(options)
        rows = {}
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            running = {pool.submit(prove, name, *part, library, options): name for name, part in wanted.items()}
            for count, done in enumerate(concurrent.futures.as_completed(running), 1):
                rows[running[done]] = done.result()
                tell(f"proved {count} of {len(wanted)}: {running[done]}")
        rows = [rows[name] for name in wanted]
        seconds = time.monotonic() - started
        print(outputs.table(HEADER, [line(row) for row in rows]))
        if options.json:
            outputs.write_json(options.json, {"parts": rows})
        if options.summary:
            outputs.write_json(options.summary, summary(rows, seconds))
        return 1 if any(row["cause"] for row in rows) else 0
    except outputs.OutputLost as problem:
        print(f"equivalence: {problem}", file=sys.stderr)
        return 3
    except tools.Problem as problem:
        print(f"equivalence: {problem}", file=sys.stderr)
        return 1 if isinstance(problem, tools.ToolFailure) else 2
    except OSError as problem:
        print(f"equivalence: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
