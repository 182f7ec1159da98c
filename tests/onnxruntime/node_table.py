# SPDX-License-Identifier: Apache-2.0
"""Runs the onnx package's tests of single operators through the command line, and prints a table of what came of them.

Usage: GEMM64=build/gemm64 node_table.py FOLDER [--list] [--jobs N] [--least N] [--every N] [--host NAME]

FOLDER is what export_node_tests.py wrote. Outcomes: equal; differs; refused, with the reason; not testable: an input
that no .npy file holds; crashed. Exits with 1 where one differs or crashed, or where fewer than --least are equal."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.numpy_helper

# What other orders of sums change; of 16-bit floats a few last bits.
RELATIVE = {"float64": 1e-9, "float32": 1e-5, "float16": 4 * 2.0**-10, "bfloat16": 4 * 2.0**-7}
# Expected values that are rounded to four digits.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-3, "test_gridsample_bicubic": 1e-3,
           "test_roialign_aligned_false": 1e-3, "test_roialign_aligned_true": 1e-3}
SECONDS = 60


class NotTestable(Exception):
    """No .npy file can hold this."""


def array_of(path, declared):
    """A tensor of a data set. Bits of bfloat16 may stand there as uint16."""
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    if declared == onnx.TensorProto.BFLOAT16:
        tensor.data_type = declared
    return onnx.numpy_helper.to_array(tensor)


def save(path, array):
    if array.dtype.kind not in "biufc" or array.dtype.isbuiltin != 1:
        raise NotTestable(f"values of type {array.dtype} in a .npy file")
    numpy.save(path, array)


def near(name, found, expected):
    if found.shape != expected.shape:
        return f"{found.shape}, expected {expected.shape}"
    if expected.dtype.name not in RELATIVE:
        if expected.dtype.isbuiltin == 1 and found.dtype != expected.dtype:
            return f"{found.dtype}, expected {expected.dtype}"
        # Types that .npy lacks are written in a wider one.
        same = numpy.array_equal(found.astype(numpy.float64), expected.astype(numpy.float64), equal_nan=True) if \
            expected.dtype.isbuiltin != 1 else numpy.array_equal(found, expected)
        return "" if same else "integers differ"
    relative = ROUNDED.get(name, RELATIVE[expected.dtype.name])
    close = numpy.allclose(found.astype(numpy.float64), expected.astype(numpy.float64), rtol=relative, atol=1e-6,
                           equal_nan=True)
    return "" if close else "values differ"


def reason_of(complaint):
    """Why it was refused, without what differs between tests."""
    last = complaint.strip().splitlines()[-1] if complaint.strip() else "without a word"
    text = re.sub(r"^gemm64: (error: )?", "", last)
    text = re.sub(r"^\S*\.onnx: ", "", text)
    text = re.sub(r"; gemm64 run --help lists.*", "", text)
    if text.startswith("not supported: "):
        kinds = re.sub(r" \([^)]*\)", "", text[len("not supported: "):])
        return f"not supported: {kinds}"
    text = re.sub(r"'[^']*'", "'…'", text)
    return re.sub(r"^node \S+ |^\S+ \((\w+)\): ", r"\1: ", text)


def run_set(program, host, name, model, data, folder):
    """Outcome and reason of one data set."""
    graph = model.graph
    constants = {tensor.name for tensor in graph.initializer}
    command = [program, "run", "--model", "model.onnx", "--device", "reference", "--precision", "float32",
               "--allow-host-only", "--host", host]
    unheld = None
    inputs = [value for value in graph.input if value.name not in constants]
    for index, value in enumerate(inputs):
        path = data / f"input_{index}.pb"
        if not path.exists() or not value.type.HasField("tensor_type"):
            continue  # a sequence, or an optional value: the network is refused
        try:
            save(folder / f"in{index}.npy", array_of(path, value.type.tensor_type.elem_type))
            command += ["--input", f"{value.name}=in{index}.npy"]
        except NotTestable as error:
            unheld = str(error)
    for index, value in enumerate(graph.output):
        command += ["--output", f"{value.name}=out{index}.npy"]
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "crashed", f"not done after {SECONDS} s"
    if result.returncode == 2 and result.stderr.strip():
        reason = reason_of(result.stderr)
        return ("refused", reason) if not unheld or reason.startswith("not supported") else ("not testable", unheld)
    if result.returncode not in (0, 3):
        return "crashed", f"exit code {result.returncode}: {result.stderr.strip()[-200:]}"
    if unheld:
        return "not testable", unheld
    if result.returncode == 3:
        return "refused", reason_of(result.stderr)
    for index, value in enumerate(graph.output):
        found = numpy.load(folder / f"out{index}.npy")
        expected = array_of(data / f"output_{index}.pb", value.type.tensor_type.elem_type)
        what = near(name, found, expected)
        if what:
            return "differs", f"output {index}: {what}"
    return "equal", ""


def run_test(program, host, path):
    model_bytes = (path / "model.onnx").read_bytes()
    model = onnx.ModelProto.FromString(model_bytes)
    outcome = ("not testable", "a test without data")
    for data in sorted(path.glob("test_data_set_*")):
        with tempfile.TemporaryDirectory(prefix="gemm64_") as folder:
            folder = pathlib.Path(folder)
            (folder / "model.onnx").write_bytes(model_bytes)
            outcome = run_set(program, host, path.name, model, data, folder)
        if outcome[0] != "equal":
            break
    return path.name, *outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="name every test that is not equal")
    parser.add_argument("--least", type=int, default=0, help="fails where fewer are equal")
    parser.add_argument("--every", type=int, default=1, help="each Nth test alone")
    parser.add_argument("--host", default="own", help="as gemm64 run has it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    program = str(pathlib.Path(os.environ["GEMM64"]).resolve())
    tests = sorted((arguments.folder / "node").iterdir())[:: arguments.every]
    if not tests:
        sys.exit(f"node_table: no tests in {arguments.folder}; export_node_tests.py writes them")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda path: run_test(program, arguments.host, path), tests))
    counts = collections.Counter(outcome for _, outcome, _ in results)
    reasons = collections.Counter((outcome, reason) for _, outcome, reason in results if outcome != "equal")
    version = (arguments.folder / "version").read_text()
    print(f"{len(results)} node tests of onnx {version}\n\n| outcome | tests |\n|---|---:|")
    for outcome in ("equal", "differs", "refused", "not testable", "crashed"):
        print(f"| {outcome} | {counts[outcome]:,} |")
    print()
    for (outcome, reason), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        print(f"{count:4} {outcome}: {reason}")
    if arguments.list:
        print()
        for name, outcome, reason in results:
            if outcome != "equal":
                print(f"{name}: {outcome}: {reason}")
    sys.exit(1 if counts["differs"] or counts["crashed"] or counts["equal"] < arguments.least else 0)


if __name__ == "__main__":
    main()
