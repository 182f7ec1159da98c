# SPDX-License-Identifier: Apache-2.0
"""Random networks as ONNX Runtime's quantizers write them, on the RTL: each gives ONNX Runtime's bytes, or
differs by a cause that host/execute/README.md lists. What fails is told with the options that repeat it alone:

    GEMM64=build/gemm64 build/venv/bin/python tests/onnxruntime/quantized_campaign.py --cases 2000 --jobs 2
"""

import argparse
import collections
import concurrent.futures
import contextlib
import io
import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx

from random_networks import Case, Unusable


# Operators left in float whose last bits are not ONNX Runtime's: it has polynomials, and sums in another order.
INEXACT = {"AveragePool", "Conv", "Elu", "Gemm", "GlobalAveragePool", "HardSigmoid", "MatMul", "Sigmoid", "Softmax",
           "Tanh"}
LAST_BITS = 2e-6    # of the largest
STEPS = 0.05        # the same where values are quantized behind them


def cause(report, far):
    """Why outputs may be as far from ONNX Runtime's as that; nothing where they may not."""
    host = set(report["host"]["operators"])
    if "quality" in report:
        return "linear layers left in float"
    quantizes = any(re.match("DynamicQuantize|QuantizeLinear", name) for name in host)
    if host & INEXACT and far <= (STEPS if quantizes else LAST_BITS):
        return "last bits of floats"
    return None


def run(folder, case, array):
    """The program's exit code and complaint, its report, and its outputs by name."""
    numpy.save(folder / "x.npy", case.x)
    result = subprocess.run(
        [os.environ["GEMM64"], "run", "--model", "q.onnx", "--input", "x.npy", "--array", str(array),
         "--allow-host-only", "--output", "found/", "--json", "report.json"],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 0:
        return result.returncode, (result.stderr or result.stdout).strip().splitlines()[-1:], None, {}
    found = {path.stem: numpy.load(path) for path in (folder / "found").glob("*.npy")}
    return 0, [], json.loads((folder / "report.json").read_text()), found


def check(seed, number, array, keep=None):
    """What became of a case: a word, and what to say of it."""
    case = Case(f"{seed} {number}")
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="gemm64_")))
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                target = case.quantize(folder)
            wanted = case.wanted(target)
        except Unusable as error:
            return "unusable", f"{case.how}: {error}"
        code, complaint, report, found = run(folder, case, array)
        if code != 0:
            return "refused" if code == 2 else "failed", f"{case.how}: exit code {code}: {complaint}"
        if not report["verified"] and report["total"]["cycles"]:
            return "failed", f"{case.how}: not verified"
        differ, far = [], 0.0
        for name, value in wanted.items():
            mine = found[name.replace("/", "_")]
            if mine.dtype == value.dtype and mine.shape == value.shape and mine.tobytes() == value.tobytes():
                continue
            most = numpy.max(numpy.abs(mine.astype(numpy.float64) - value.astype(numpy.float64))) if value.size else 0
            span = max(float(numpy.max(numpy.abs(value))), 1e-30)
            far = max(far, most / span)
            differ.append(f"{name}: {numpy.sum(mine != value)} of {value.size}, by {most / span:.3g} of the largest")
        if differ:
            why = cause(report, far)
            return why or "different", f"{case.how}: {differ}"
        return "equal", case.how


def work(arguments):
    logging.disable(logging.CRITICAL)
    seed, number, array = arguments
    return (number, array, *check(seed, number, array))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="leaves the files of one case in this folder")
    options = parser.parse_args()
    counts = collections.Counter()
    cases = [(options.seed, number, 4 if number % 4 else 8)
             for number in range(options.first, options.first + options.cases)]
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        print(*check(*cases[0], options.keep))
        return 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for number, array, outcome, text in pool.map(work, cases, chunksize=4):
            counts[outcome] += 1
            if outcome in ("different", "failed", "refused"):
                print(f"{outcome}: --seed {options.seed} --first {number} --cases 1 (array {array}): {text}", flush=True)
            if outcome == "unusable" and os.environ.get("SHOW"):
                print(text[:300])
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 1 if counts["different"] or counts["failed"] or counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
