# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own tests of single operators (onnx.backend.test) with `gemm64 run` and with ONNX Runtime's CPU provider
only, and prints a table of the outcomes: every output that ONNX Runtime has must be the same, byte for byte.

Usage: GEMM64=build/gemm64 node_table.py [--list] [--jobs N] [--least N] [--every N] [--first N]

Values of types that NumPy lacks are compared as `gemm64 run` writes them: as float32 or 8-bit integers. Outcomes: equal;
differs; refused: by `gemm64 run` only; not run by either, with ONNX Runtime's reason. Exits with 1 where one differs or is refused, or where fewer than --least are equal."""

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
import onnxruntime

from provider_node_table import RANDOM, cases
import provider

SECONDS = 60
IR_VERSION = 10  # the newest that every ONNX Runtime here reads


def wider(kind):
    """The type of an .npy file that holds all values of one that NumPy lacks; None if NumPy has it."""
    T = onnx.TensorProto
    return {T.INT4: T.INT8, T.INT2: T.INT8, T.UINT4: T.UINT8, T.UINT2: T.UINT8}.get(
        kind, T.FLOAT if kind >= T.BFLOAT16 else None)


def widened(model):
    """The model with inputs and outputs of types that NumPy has: Cast nodes to and from others."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    graph = wide.graph
    for values, is_input in ((graph.input, True), (graph.output, False)):
        for value in values:
            kind = value.type.tensor_type.elem_type
            if wider(kind) is None:
                continue
            outside = value.name + " wide"
            names, to = ([outside], [value.name]), kind
            if not is_input:
                names, to = ([value.name], [outside]), wider(kind)
            graph.node.insert(0 if is_input else len(graph.node), onnx.helper.make_node("Cast", *names, to=to))
            value.name, value.type.tensor_type.elem_type = outside, wider(kind)
    return wide


def as_npy(value):
    """An array as its .npy file has it; lists as they are."""
    if isinstance(value, list):
        return [as_npy(one) for one in value]
    if value.dtype.kind in "OUS":
        return value.astype(str)
    if value.dtype.isbuiltin != 1:
        kind = wider(onnx.helper.np_dtype_to_tensor_dtype(value.dtype))
        return value.astype(onnx.helper.tensor_dtype_to_np_dtype(kind))
    return value


def save(path, value):
    """An array as a file; a list of them as a folder. Returns its name."""
    if not isinstance(value, list):
        numpy.save(path.with_suffix(".npy"), value)
        return path.name + ".npy"
    path.mkdir()
    for i, one in enumerate(value):
        numpy.save(path / f"{i}.npy", one)
    return path.name + "/"


def load(path):
    if path.with_suffix(".npy").exists():
        return numpy.load(path.with_suffix(".npy"))
    return [numpy.load(path / f"{i}.npy") for i in range(len(list(path.iterdir())))]


def reason_of(error):
    """ONNX Runtime's reason, without what differs between tests."""
    text = re.sub(r"'[^']*'|\S+/\S+|\(.*\)", "…", str(error).strip().splitlines()[0])
    return re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", text)[:120]


def run(program, model, feeds):
    """The outputs of `gemm64 run`, or its message."""
    with tempfile.TemporaryDirectory(prefix="gemm64_") as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "model.onnx")
        command = [program, "run", "--model", "model.onnx", "--device", "reference", "--precision", "float32",
                   "--allow-host-only"]
        for i, (name, array) in enumerate(feeds.items()):
            command += ["--input", f"{name}={save(folder / f'in{i}', array)}"]
        for i, value in enumerate(model.graph.output):
            is_tensor = value.type.WhichOneof("value") == "tensor_type"
            command += ["--output", f"{value.name}=out{i}" + (".npy" if is_tensor else "/")]
        try:
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"not done after {SECONDS} s"
        if result.returncode != 0:
            return f"exit code {result.returncode}: {result.stderr.strip()[-200:]}"
        return [load(folder / f"out{i}") for i in range(len(model.graph.output))]


def flat(names, values):
    """Names and arrays of outputs, elements of sequences one by one."""
    for name, value in zip(names, values):
        if isinstance(value, list):
            yield f"{name} has", numpy.array(len(value))
            yield from flat([f"{name}[{i}]" for i in range(len(value))], value)
        else:
            yield name, value


def outcome_of(program, name, model, inputs):
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input]
    if len(inputs) != len(names):
        names = [value for value in names if value not in constants]
    single = widened(model)
    single.ir_version = min(single.ir_version, IR_VERSION)
    try:
        onnxruntime.InferenceSession(single.SerializeToString(), providers=["CPUExecutionProvider"])  # as it is
        cpu = provider.cpu_session(single.SerializeToString())
        feeds = [as_npy(value) for value in inputs]
        outer = [value.name for value in single.graph.input]
        wanted = cpu.run(None, {outer[names.index(one)]: value for one, value in zip(names, feeds)})
    except Exception as error:  # pylint: disable=broad-except
        return "not run by either", reason_of(error)
    found = run(program, model, dict(zip(names, feeds)))
    if isinstance(found, str):
        return "refused", found
    for i, value in enumerate(model.graph.output):  # of types that have one NaN, NumPy's has many bits
        if value.type.tensor_type.elem_type >= onnx.TensorProto.BFLOAT16 and wanted[i].dtype.kind == "f":
            found[i], wanted[i] = (numpy.where(numpy.isnan(one), numpy.float32("nan"), one) for one in (found[i], wanted[i]))
    outputs = [value.name for value in model.graph.output]
    wanted, found = (list(flat(outputs, values)) for values in (map(as_npy, wanted), found))
    if any(word in name for word in RANDOM):
        same = [one.shape for _, one in found] == [one.shape for _, one in wanted]
        return ("equal", "") if same else ("differs", "shape")
    if [one for one, _ in found] != [one for one, _ in wanted]:
        return "differs", "elements of a sequence"
    differences = provider.differences(*zip(*[(one, mine, its) for (one, mine), (_, its) in zip(found, wanted)]))
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
    for outcome in ("equal", "differs", "refused", "not run by either"):
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
