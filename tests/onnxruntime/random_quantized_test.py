# SPDX-License-Identifier: Apache-2.0
"""Random networks as ONNX Runtime's quantizers write them, or gemm64's, on the RTL: each gives ONNX Runtime's bytes, but
for the last bits of products of float32 that the device computes. A failure is printed with the options that repeat only it:

    GEMM64=build/gemm64 build/venv/bin/python tests/onnxruntime/random_quantized_test.py --cases 2000 --jobs 2
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
import subprocess
import sys
import tempfile

import numpy

from random_networks import Case, Unusable

DEVICES = ("--array 4", "--array 8 --memory-stalls 0.3", "--array 4 --memory shared", "--array 64",
           "--array 4 --memory-stalls 0.5", "--array 64 --memory-stalls 0.3",
           # Memories so small that maps are cut into stripes.
           "--device tlm --array 4 --design scratchpad_words=128,tensor_words=48,accumulator_rows=16 --memory exclusive "
           "--memory-bytes-per-cycle 2",
           "--device tlm --array 8 --design scratchpad_words=160,tensor_words=64,accumulator_rows=32 --memory dram:lpddr4")
BAD = {"different", "failed", "refused"}
STEP = 0.01  # of the largest: what last bits make of a value that is quantized after them


def run(folder, model, feeds, device):
    """The program's exit code and complaint, its report, and its outputs by name."""
    arguments = []
    for name, values in feeds.items():
        numpy.save(folder / f"{name}.in.npy", values)
        arguments += ["--input", f"{name}={name}.in.npy"]
    for path in (folder / "found").glob("*.npy"):
        path.unlink()
    result = subprocess.run(
        [os.environ["GEMM64"], "run", "--model", model, *arguments, *device.split(), "--allow-host-only",
         "--output", "found/", "--json", "report.json"],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 0:
        return result.returncode, (result.stderr or result.stdout).strip().splitlines()[-1:], None, {}
    found = {path.stem: numpy.load(path) for path in (folder / "found").glob("*.npy")}
    return 0, "", json.loads((folder / "report.json").read_text()), found


def differences(wanted, found):
    """What differs, in words, and how far of the largest number at most."""
    differ, far = [], 0.0
    for name, value in wanted.items():
        mine = found[name.replace("/", "_")]
        if mine.dtype == value.dtype and mine.shape == value.shape and mine.tobytes() == value.tobytes():
            continue
        most = numpy.max(numpy.abs(mine.astype(numpy.float64) - value.astype(numpy.float64)))
        of_largest = float(most / max(float(numpy.max(numpy.abs(value))), 1e-30))
        far = max(far, of_largest)
        differ.append(f"{name}: {numpy.sum(mine != value)} of {value.size}, by {of_largest:.2g} of the largest")
    return differ, far


def in_slices(report):
    """Did the device multiply float32, whose last bits are its own?"""
    return any(layer.get("arithmetic") == "float32 in slices" for layer in report["layers"])


def check(seed, number, device, keep=None):
    """What became of a case: a word, and what to say of it."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="gemm64_")))
        for attempt in range(20):
            case = Case(f"{seed} {number} {attempt}")
            feeds = {"x": case.x}
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    target = case.quantize(folder)
                wanted = case.wanted(target, feeds)
                break
            except Unusable as error:
                if case.form == "gemm64" and "session" in str(error):
                    return "failed", f"{case.how}: {error}"
        else:
            return "failed", "ONNX Runtime ran none of 20 files that its quantizers wrote"
        code, complaint, report, found = run(folder, "q.onnx", feeds, device)
        if code != 0:
            return "refused" if code == 2 else "failed", f"{case.how}: exit code {code}: {complaint}"
        if not report["verified"] and report["total"]["cycles"]:
            return "failed", f"{case.how}: not verified"
        differ, far = differences(wanted, found)
        if not differ:
            return "equal, with layers on the array" if report["layers"] else "equal, all on the host", case.how
        if in_slices(report) and far <= STEP:
            return "last bits of products of float32", case.how
        return "different", f"{case.how}: {differ}"


def work(arguments):
    logging.disable(logging.CRITICAL)
    seed, number, device = arguments
    try:
        return (number, device, *check(seed, number, device))
    except Exception as error:  # the other cases run on
        return number, device, "failed", f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="leaves the files of one case in this folder")
    options = parser.parse_args()
    counts = collections.Counter()
    cases = [(options.seed, number, DEVICES[number % len(DEVICES)])
             for number in range(options.first, options.first + options.cases)]
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        print(*check(*cases[0], options.keep))
        return 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for number, device, outcome, text in pool.map(work, cases, chunksize=4):
            counts[outcome] += 1
            if outcome in BAD:
                print(f"{outcome}: --seed {options.seed} --first {number} --cases 1 ({device}): {text}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 1 if BAD & set(counts) else 0


if __name__ == "__main__":
    sys.exit(main())
