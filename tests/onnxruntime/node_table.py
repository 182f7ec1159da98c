# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own tests of single operators (onnx.backend.test) with `gemm64 run` and with ONNX Runtime's CPU provider
only, and prints a table of the outcomes: every output that ONNX Runtime has must be the same, byte for byte.

Usage: GEMM64=build/gemm64 node_table.py [--list] [--jobs N] [--least N] [--every N] [--first N]

Outcomes: equal; differs; refused: by `gemm64 run` only; not run by either, with ONNX Runtime's reason; not testable: a
value that no .npy file holds. Exits with 1 where one differs or is refused, or where fewer than --least are equal."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import onnx

import provider
from provider_node_table import RANDOM, cases

SECONDS = 60
IR_VERSION = 10  # the newest that every ONNX Runtime here reads


def is_array(value):
    return isinstance(value, numpy.ndarray) and value.dtype.kind in "biuf" and value.dtype.isbuiltin == 1


def reason_of(error):
    """ONNX Runtime's reason, without what differs between tests."""
    text = re.sub(r"'[^']*'|\S+/\S+|\(.*\)", "…", str(error).strip().splitlines()[0])
    return re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", text)[:120]


def run(program, model, feeds, names):
    """The outputs of `gemm64 run`, or its message."""
    with tempfile.TemporaryDirectory(prefix="gemm64_") as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "model.onnx")
        command = [program, "run", "--model", "model.onnx", "--device", "reference", "--precision", "float32",
                   "--allow-host-only"]
        for i, (name, array) in enumerate(feeds.items()):
            numpy.save(folder / f"in{i}.npy", array)
            command += ["--input", f"{name}=in{i}.npy"]
        for i, name in enumerate(names):
            command += ["--output", f"{name}=out{i}.npy"]
        try:
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"not done after {SECONDS} s"
        if result.returncode != 0:
            return f"exit code {result.returncode}: {result.stderr.strip()[-200:]}"
        return [numpy.load(folder / f"out{i}.npy") for i in range(len(names))]


def outcome_of(program, name, model, inputs):
    model.ir_version = min(model.ir_version, IR_VERSION)
    constants = {tensor.name for tensor in model.graph.initializer}
    feeds = dict(zip([value.name for value in model.graph.input if value.name not in constants], inputs))
    try:
        cpu = provider.cpu_session(model.SerializeToString())
        wanted = cpu.run(None, feeds)
    except Exception as error:  # pylint: disable=broad-except
        return "not run by either", reason_of(error)
    names = [value.name for value in cpu.get_outputs()]
    if not all(map(is_array, [*feeds.values(), *wanted])):
        return "not testable", "a value that no .npy file holds"
    found = run(program, model, feeds, names)
    if isinstance(found, str):
        return "refused", found
    if any(word in name for word in RANDOM):
        return ("equal", "") if [one.shape for one in found] == [one.shape for one in wanted] else ("differs", "shape")
    differences = provider.differences(names, found, wanted)
    return ("differs", "; ".join(differences)) if differences else ("equal", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name every test that is not equal")
    parser.add_argument("--least", type=int, default=0, help="fails where fewer are equal")
    parser.add_argument("--every", type=int, default=1, help="each Nth test only")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    program = str(pathlib.Path(os.environ["GEMM64"]).resolve())
    tests = list(cases())[options.first % options.every:: options.every]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda test: (test[0], *outcome_of(program, *test)), tests))
    counts = collections.Counter(outcome for _, outcome, _ in results)
    print(f"{len(results)} node tests of onnx {onnx.__version__}\n\n| outcome | tests |\n|---|---:|")
    for outcome in ("equal", "differs", "refused", "not run by either", "not testable"):
        print(f"| {outcome} | {counts[outcome]:,} |")
    print()
    reasons = collections.Counter(reason for _, outcome, reason in results if outcome == "not run by either")
    for reason, count in reasons.most_common():
        print(f"{count:4} not run by either: {reason}")
    for name, outcome, reason in results:
        if outcome in ("differs", "refused") or options.list and outcome != "equal":
            print(f"{name}: {outcome}: {reason}")
    sys.exit(1 if counts["differs"] or counts["refused"] or counts["equal"] < options.least else 0)


if __name__ == "__main__":
    main()
