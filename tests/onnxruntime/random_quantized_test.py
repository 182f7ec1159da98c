# SPDX-License-Identifier: Apache-2.0
"""Random networks as ONNX Runtime's quantizers write them, or gemm64's, on the RTL: each gives ONNX Runtime's bytes, or
differs by a cause that host/kernels/README.md lists. A failure is printed with the options that repeat only it:

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
import onnx
from onnx import TensorProto, helper

from harness import saturates
from random_networks import Case, Unusable


# Operators left in float whose last bits are not ONNX Runtime's: it has polynomials, and sums in another order.
INEXACT = {"AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "Elu", "Gemm", "GlobalAveragePool",
           "HardSigmoid", "InstanceNormalization", "LayerNormalization", "LeakyRelu", "MatMul", "Sigmoid", "Softmax",
           "Tanh"}
# Those of them that become one operator on bytes with what is around them, and how many bytes they read.
FUSED = {"AveragePool": 1, "Conv": 2, "Gemm": 2, "GlobalAveragePool": 1, "LeakyRelu": 1, "MatMul": 2, "Sigmoid": 1,
         "Softmax": 1}
DEVICES = ("--array 4", "--array 8 --memory-stalls 0.3", "--array 4 --memory shared", "--array 64",
           "--array 4 --memory-stalls 0.5", "--array 64 --memory-stalls 0.3")
BAD = {"different", "failed", "refused"}
LAST_BITS = 2e-6  # of the largest
BYTES = (TensorProto.INT8, TensorProto.UINT8)


def shape_of(case, value):
    """Of a value of the network, to whose name the quantizer may have added something."""
    return case.network.shapes[max((name for name in case.network.shapes if value.startswith(name)), key=len)]


def without_floats(case, model):
    """The model without operators that stay in float: what they read are outputs, what they make inputs; the
    names of these inputs."""
    makers = {name: node for node in model.graph.node for name in node.output}
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}

    def in_bytes(name):
        maker = makers.get(name)
        return maker is not None and maker.op_type == "DequantizeLinear" and types.get(maker.input[2], 0) in BYTES

    def fused(node):
        readers = {other.op_type for other in model.graph.node for name in other.input if name == node.output[0]}
        if node.op_type not in FUSED or not all(map(in_bytes, node.input[:FUSED[node.op_type]])):
            return False
        if readers == {"QuantizeLinear"}:
            return node.output[0] not in {value.name for value in model.graph.output}
        return node.op_type in ("Gemm", "MatMul") and "QuantizeLinear" not in readers

    cut = [node for node in model.graph.node if node.op_type in INEXACT and not fused(node)]
    given = [node.output[0] for node in cut]
    outputs = [value.name for value in model.graph.output if value.name not in given]
    read = [name for node in cut for name in node.input[:2 if node.op_type == "MatMul" else 1]
            if name in makers and name not in given + outputs]
    for node in cut:
        model.graph.node.remove(node)
    model.graph.input.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape_of(case, name)) for name in given)
    kept = [value for value in model.graph.output if value.name in outputs]
    del model.graph.output[:]
    model.graph.output.extend(kept)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(read))
    return given


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


def same_without_joined_pads(case, target, feeds, found):
    """Are the outputs those of ONNX Runtime where it does not make a Pad's zeros the padding of a MaxPool?"""
    kinds = {node.op_type for node in case.network.nodes}
    return {"Pad", "MaxPool"} <= kinds and not differences(case.wanted(target, feeds, ["Pad_Fusion"]), found)[0]


def cause(folder, case, far, device):
    """Why outputs may be as far from ONNX Runtime's as that, or nothing and what differs all the same."""
    model = onnx.load(folder / "q.onnx")
    given = without_floats(case, model)
    if not given:
        return None, []
    onnx.save(model, folder / "cut.onnx")
    random = numpy.random.default_rng(5)
    feeds = {"x": case.x}
    feeds.update((name, random.standard_normal(shape_of(case, name)).astype(numpy.float32)) for name in given)
    why = "last bits of floats"
    if not model.graph.output:
        return (why, []) if far <= LAST_BITS else (None, ["only floats"])
    if "x" not in {name for node in model.graph.node for name in node.input}:
        del feeds["x"]
        model.graph.input.remove(model.graph.input[0])
        onnx.save(model, folder / "cut.onnx")
    wanted = case.wanted(folder / "cut.onnx", feeds)
    code, complaint, _, found = run(folder, "cut.onnx", feeds, device)
    if code != 0:
        return None, [f"without floats: exit code {code}: {complaint}"]
    differ, _ = differences(wanted, found)
    if differ and not same_without_joined_pads(case, folder / "cut.onnx", feeds, found):
        return None, [f"without floats: {differ}"]
    return why, []


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
        if same_without_joined_pads(case, target, feeds, found):
            return "Pad joined with MaxPool", case.how
        try:
            why, more = cause(folder, case, far, device)
        except Unusable as error:
            why, more = None, [str(error)]
        return why or "different", f"{case.how}: {differ} {more}"


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
    if saturates():
        print("this processor has no VNNI: bytes of uint8 x int8 are NOT COMPARED")
        return 0
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
