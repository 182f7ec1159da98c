# SPDX-License-Identifier: Apache-2.0
"""Mutated models in ONNX Runtime with the execution provider: no crash, no endless run, and where ONNX Runtime runs the
model by itself, it runs with the provider or says why not.

    GEMM64_EP=build/libgemm64_ep.so build/venv/bin/python tests/onnxruntime/provider_mutants_test.py --cases 2000 --jobs 2
"""

import argparse
import collections
import concurrent.futures
import random
import resource
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SECONDS = 60
GIB = 1 << 30


def base_models():
    import provider_test as networks
    three = networks.three_layers()
    yield three, {"x": networks.values(4, 20)}
    yield networks.three_layers("batch"), {"x": networks.values(3, 20)}
    # A convolution in each form.
    g = networks.Graph()
    scales = g.quantization(0.05, 3, numpy.int8)
    x = g.node("DequantizeLinear", g.node("QuantizeLinear", "x", *scales), *scales)
    y = g.node("Conv", x, g.weights(12, 4, 3, 3), group=2, pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3])
    y = g.node("QuantizeLinear", y, *scales)
    y = g.node("MaxPool", g.node("DequantizeLinear", y, *scales), kernel_shape=[2, 2])
    y = g.node("QuantizeLinear", y, *scales)
    shape = [1, 8, 9, 9]
    yield networks.model_of(g.graph("conv", [("x", TensorProto.FLOAT, shape)], [(y, TensorProto.INT8, None)])), {
        "x": networks.values(*shape)}
    g = networks.Graph()
    scale, zero = g.quantization(0.05, 128)
    w_scale, w_zero = g.quantization(0.01, 0, numpy.int8)
    w = g.constant(g.random.integers(-9, 9, (8, 4, 3, 3)).astype(numpy.int8))
    q = g.node("QuantizeLinear", "x", scale, zero)
    y = g.node("QLinearConv", q, scale, zero, w, w_scale, w_zero, scale, zero, kernel_shape=[3, 3], dilations=[1, 1])
    y = g.node("QLinearAdd", y, scale, zero, y, scale, zero, scale, zero)
    shape = [2, 4, 7, 7]
    yield networks.model_of(g.graph("qconv", [("x", TensorProto.FLOAT, shape)], [(y, TensorProto.UINT8, None)])), {
        "x": networks.values(*shape)}
    g = networks.Graph()
    y = g.node("MatMulInteger", "a", g.constant(g.random.integers(0, 255, (9, 5)).astype(numpy.uint8)),
               g.constant(numpy.uint8(7)), g.constant(numpy.uint8(9)))
    yield networks.model_of(g.graph("integer", [("a", TensorProto.UINT8, [3, 9])], [(y, TensorProto.INT32, None)])), {
        "a": numpy.arange(27, dtype=numpy.uint8).reshape(3, 9)}


NUMBERS = (0, -1, 1, 2, 3, 7, 255, -128, 2**31 - 1, 2**31, -2**31, 2**40, 2**62, -2**63, 2**63 - 1)
REALS = (0.0, -0.0, -0.05, 1e-45, 1e38, float("inf"), float("-inf"), float("nan"), 3.0)


def mutate(model, draw):
    """Changes one thing, or two."""
    graph = model.graph
    for _ in range(draw.choice((1, 1, 2))):
        kind = draw.randrange(11)
        node = draw.choice(graph.node)
        tensor = draw.choice(graph.initializer)
        if kind == 0 and node.attribute:
            attribute = draw.choice(node.attribute)
            if attribute.ints:
                attribute.ints[draw.randrange(len(attribute.ints))] = draw.choice(NUMBERS)
            else:
                attribute.i = draw.choice(NUMBERS)
        elif kind == 1:
            node.attribute.append(helper.make_attribute(
                draw.choice(("group", "axis", "block_size", "kernel_shape", "pads", "dilations", "strides", "auto_pad")),
                draw.choice((draw.choice(NUMBERS), [draw.choice(NUMBERS)] * draw.randrange(1, 5), "SAME_UPPER"))))
        elif kind == 2 and node.input:
            node.input[draw.randrange(len(node.input))] = draw.choice(
                [value.name for value in graph.initializer] + [name for n in graph.node for name in n.output] + [""])
        elif kind == 3:
            array = numpy_helper.to_array(tensor)
            if array.dtype == numpy.float32:
                changed = numpy.array(array)
                changed[...] = draw.choice(REALS)
                tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))
            else:
                tensor.CopyFrom(numpy_helper.from_array(
                    array.astype(draw.choice((numpy.int8, numpy.uint8, numpy.int32, numpy.int16))), tensor.name))
        elif kind == 4 and tensor.dims:
            array = numpy_helper.to_array(tensor)
            axis = draw.randrange(array.ndim)
            changed = numpy.delete(array, 0, axis) if draw.random() < 0.5 else numpy.swapaxes(array, 0, -1)
            tensor.CopyFrom(numpy_helper.from_array(numpy.ascontiguousarray(changed), tensor.name))
        elif kind == 5:
            node.op_type = draw.choice(("MatMul", "Conv", "Gemm", "QuantizeLinear", "DequantizeLinear", "Relu", "Add",
                                        "QLinearConv", "QLinearMatMul", "MaxPool", "Flatten", "Identity"))
        elif kind == 6:
            del node.input[draw.randrange(len(node.input)):]
        elif kind == 7:
            graph.output.append(onnx.ValueInfoProto(name=draw.choice(draw.choice(graph.node).output)))
        elif kind == 8:
            dims = graph.input[0].type.tensor_type.shape.dim
            dim = draw.choice(dims)
            if draw.random() < 0.5:
                dim.dim_param = "open"
            else:
                dim.dim_value = draw.choice((0, 1, 2, 5, 33))
        elif kind == 9:
            array = numpy_helper.to_array(tensor)
            tensor.CopyFrom(numpy_helper.from_array(
                numpy.stack([array] * draw.choice((1, 2, 12))) if array.ndim < 2 else array.reshape(-1), tensor.name))
        else:
            model.opset_import[0].version = draw.choice((1, 9, 10, 12, 13, 19, 21))
    return model


def mutant(case):
    draw = random.Random(case)
    model, feeds = list(base_models())[case % 5]
    model = onnx.ModelProto.FromString(model.SerializeToString())
    mutate(model, draw)
    wanted = model.graph.input[0]
    dims = wanted.type.tensor_type.shape.dim
    array = feeds[wanted.name]
    shape = [dim.dim_value if dim.HasField("dim_value") else size for dim, size in zip(dims, array.shape)]
    if shape != list(array.shape):
        feeds = {wanted.name: numpy.resize(array, shape)}
    return model.SerializeToString(), feeds


def run_case(case):
    """In a process of its own; prints the outcome."""
    resource.setrlimit(resource.RLIMIT_AS, (12 * GIB, 12 * GIB))
    import provider
    source, feeds = mutant(case)

    def attempt(make):
        try:
            return make().run(None, feeds)
        except Exception as error:  # pylint: disable=broad-except
            return f"{type(error).__name__}: {error}"

    without = attempt(lambda: provider.cpu_session(source))
    sessions = []

    def make():
        sessions.append(provider.Session(source))
        return sessions[-1].session

    found = attempt(make)
    if isinstance(found, str):
        print("refused" if isinstance(without, str) else f"only with the provider: {found}")
    elif isinstance(without, str):
        print("ran")
    else:
        same = all(one.dtype == other.dtype and one.tobytes() == other.tobytes() for one, other in zip(found, without))
        print("equal" if same else "different")


def outcome(case):
    try:
        child = subprocess.run([sys.executable, __file__, "--case", str(case)], capture_output=True, text=True,
                               timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return case, "endless"
    lines = child.stdout.strip().splitlines()
    if child.returncode != 0 or not lines:
        return case, f"crashed with {child.returncode}: {child.stderr[-300:]}"
    return case, lines[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case", type=int, help="runs this one in this process")
    options = parser.parse_args()
    if options.case is not None:
        run_case(options.case)
        return 0
    counts, bad = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, result in pool.map(outcome, range(options.first, options.first + options.cases)):
            counts[result.split(":")[0]] += 1
            if result.split(" ")[0] in ("crashed", "endless", "only", "different"):
                bad.append((case, result))
    for result, count in sorted(counts.items()):
        print(f"{count:6} {result}")
    for case, result in bad:
        print(f"--case {case}: {result}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
