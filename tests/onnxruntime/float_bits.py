#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The floats that ONNX Runtime gives for seeded nodes, as hashes: tests/unit/kernels/float_bits.inc.

The host's kernels must give the same bits (tests/unit/kernels/float_bits_test.cpp), on every machine. The hashes are
those of ONNX Runtime 1.31 on x86-64 with AVX-512, on one thread; without a flag, this script writes them, and with
--check it says whether ONNX Runtime gives them here. On other processors ONNX Runtime takes other kernels, so that
there is nothing to check.
Exit: 0 written or equal, 1 not equal, 2 another processor, 77 nothing to check.
"""
import argparse
import pathlib
import platform
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, parser

TABLE = pathlib.Path(__file__).resolve().parents[2] / "tests/unit/kernels/float_bits.inc"
MICROSOFT = "com.microsoft."


def cases():
    """Node, opset, is the second input a constant, scale of the values, sizes of the inputs."""
    for scale in (4, 64, 128):
        for name in ("Exp", "Sigmoid", "Tanh", "Erf"):
            yield f"y = {name} (x)", 17, False, scale, [[4099]]
        for text in ("Gelu (x)", 'Gelu <approximate = "tanh"> (x)'):
            yield f"y = {text}", 20, False, scale, [[4099]]
        for text in ("FastGelu (x)", "QuickGelu (x)", "QuickGelu <alpha = 1.0> (x)"):
            yield f"y = {MICROSOFT}{text}", 17, False, scale, [[4099]]
    for name in ("BiasGelu", "FastGelu"):
        yield f"y = {MICROSOFT}{name} (x, b)", 17, False, 4, [[20, 37], [37]]
    for width in (1, 2, 7, 16, 17, 47, 48, 49, 100, 128, 384, 513):
        for name in ("Softmax", "LogSoftmax"):
            yield f"y = {name} <axis = -1> (x)", 17, False, 8, [[9, width]]
    yield "y = Softmax <axis = 1> (x)", 17, False, 8, [[2, 19, 5]]
    yield "y = Softmax <axis = 1> (x)", 11, False, 8, [[2, 19, 5]]
    for width in (1, 5, 7, 8, 9, 12, 13, 15, 16, 17, 21, 31, 64, 100, 384, 768, 1001):
        of_width = [[11, width], [width], [width]]
        yield "y = LayerNormalization (x, s, b)", 17, False, 4, of_width
        yield "y = LayerNormalization <epsilon = 0.001> (x, s)", 17, False, 4, of_width[:2]
        yield "y = RMSNormalization (x, s)", 23, False, 4, of_width[:2]
        rows = [[3, 5, width], [3, 5, width], [width], [width], [width]]
        yield f"y = {MICROSOFT}SkipLayerNormalization (x, t, s, b, c)", 17, False, 4, rows
        yield f"y = {MICROSOFT}SkipLayerNormalization <epsilon = 1e-5> (x, t, s)", 17, False, 4, rows[:3]
        yield f"y = {MICROSOFT}SkipSimplifiedLayerNormalization <epsilon = 1e-5> (x, t, s)", 17, False, 4, rows[:3]
    yield "y = LayerNormalization <axis = 1> (x, s, b)", 17, False, 4, [[3, 4, 19], [4, 19], [4, 19]]
    sizes = [(1, 1, 1), (1, 64, 64), (1, 100, 384), (1, 37, 300), (1, 7, 1001), (5, 1, 300), (2, 3, 5), (3, 17, 129),
             (16, 48, 384), (7, 10, 1536), (33, 65, 257), (4, 200, 40), (12, 33, 600), (64, 64, 512), (128, 64, 65)]
    for m, n, k in sizes:
        for constant in (True, False):
            yield "y = MatMul (a, b)", 17, constant, 4, [[m, k], [k, n]]
            yield "y = Gemm (a, b, c)", 17, constant, 4, [[m, k], [k, n], [n]]
            yield ("y = Gemm <alpha = 0.3, beta = 1.7, transB = 1> (a, b, c)", 17, constant, 4,
                   [[m, k], [n, k], [1, n]])
            yield f"y = {MICROSOFT}FusedMatMul <alpha = 0.125, transB = 1> (a, b)", 17, constant, 4, [[m, k], [n, k]]
        yield "y = Gemm <transA = 1> (a, b)", 17, False, 4, [[k, m], [k, n]]
        yield "y = MatMul (a, b)", 17, False, 4, [[2, 3, m, k], [3, k, n]]
        yield f"y = {MICROSOFT}FusedMatMul <transB = 1> (a, b)", 17, False, 4, [[2, m, k], [2, n, k]]
    yield "y = MatMul (a, b)", 17, True, 4, [[5, 1, 300], [300, 20]]
    yield "y = MatMul (a, b)", 17, False, 4, [[5, 1, 300], [300, 20]]
    yield "y = MatMul (a, b)", 17, False, 4, [[5, 1, 300], [1, 300, 20]]
    yield "y = MatMul (a, b)", 17, False, 4, [[300], [300, 20]]
    yield "y = MatMul (a, b)", 17, False, 4, [[20, 300], [300]]
    for attributes, image, weights in (
            ("", [1, 1, 9, 12], [6, 1, 5, 5]), ("strides = [16, 16]", [2, 3, 32, 48], [24, 3, 16, 16]),
            ("strides = [32, 32]", [1, 3, 32, 64], [9, 3, 32, 32]),
            ("strides = [2, 2], pads = [3, 3, 3, 3]", [2, 3, 20, 23], [16, 3, 7, 7]),
            ("dilations = [2, 3], pads = [1, 2, 0, 1]", [1, 15, 11, 13], [20, 15, 3, 3])):
        yield f"y = Conv <{attributes}> (x, w, b)" if attributes else "y = Conv (x, w, b)", 17, True, 4, [
            image, weights, weights[:1]]
    for name in ("ReduceMean", "ReduceL2", "ReduceSumSquare"):
        for axes, shape in (("[-1]", [9, 3]), ("[-1]", [9, 15]), ("[-1]", [9, 49]), ("[2, 3]", [2, 5, 7, 7]),
                            ("[-1]", [3, 3, 384]), ("[0]", [49, 13]), ("[1]", [1, 49, 13]), ("[1]", [3, 49, 13]),
                            ("[1]", [3, 8, 13]), ("[1]", [3, 7, 1]), ("[0, 2]", [3, 20, 31]), ("[0, 2]", [3, 4, 5, 6]),
                            ("[1, 3]", [3, 4, 5, 6]), ("[0, 1]", [7, 11])):
            yield f"y = {name} <axes = {axes}> (x)", 13, False, 4, [shape]
    yield "y = ReduceSum <axes = [1]> (x)", 11, False, 4, [[3, 49, 13]]
    yield "y = ReduceSum <axes = [1]> (x)", 11, False, 4, [[13, 50]]
    for size, m, n, k in ((16, 1, 9, 128), (16, 2, 5, 250), (16, 3, 8, 48), (32, 1, 9, 576), (32, 2, 7, 90), (32, 5, 12, 1536),
                          (64, 1, 9, 576), (64, 2, 9, 64), (64, 3, 10, 1536), (128, 1, 6, 300), (128, 4, 9, 640),
                          (256, 1, 9, 256), (256, 3, 7, 700)):
        blocks = -(-k // size)
        attributes = f"K = {k}, N = {n}, bits = 4, block_size = {size}, accuracy_level = 4"
        shapes = [[m, k], [n, blocks, size // 2], [n * blocks], [n * -(-blocks // 2)]]
        yield f"y = {MICROSOFT}MatMulNBits <{attributes}> (a, b, s)", 17, True, 4, shapes[:3]
        yield f"y = {MICROSOFT}MatMulNBits <{attributes}> (a, b, s, z)", 17, True, 4, shapes
        yield f"y = {MICROSOFT}MatMulNBits <{attributes}> (a, b, s, z, , c)", 17, True, 4, [*shapes, [0], [n]]
    for scale in (0.25, 4, 100):
        yield "y, s, z = DynamicQuantizeLinear (x)", 17, False, scale, [[33, 37]]


def mixed_bits(sizes, number):
    """32 bits for each value of input `number`, the same as float_bits_test.cpp draws."""
    mixed = numpy.arange(int(numpy.prod(sizes)), dtype=numpy.uint32) + numpy.uint32(number * 0x9E3779B9 % 2**32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = (mixed ^ (mixed >> numpy.uint32(shift))) * numpy.uint32(factor)
    return mixed.reshape(sizes)


def values(sizes, number, scale):
    """Floats from -scale to scale."""
    units = (mixed_bits(sizes, number) >> numpy.uint32(8)).astype(numpy.int32) - 2**23
    return (units.astype(numpy.float32) * numpy.float32(scale / 2**23)).reshape(sizes)


def run(text, opset, constant, scale, shapes):
    """The bytes of the first output."""
    node = parser.parse_node(text)
    arrays = {name: values(sizes, i + 1, scale) for i, (name, sizes) in enumerate(zip(node.input, shapes))}
    weights = [node.input[1]] if constant else []
    if node.op_type == "MatMulNBits":
        for name in ("b", "z"):
            if name in arrays:
                place = list(node.input).index(name)
                arrays[name] = (mixed_bits(shapes[place], place + 1) >> numpy.uint32(24)).astype(numpy.uint8)
        arrays.pop("", None)
        weights = [name for name in node.input if name not in ("a", "")]
    if node.op_type == "Conv":
        weights = list(node.input[1:])  # it regroups channels where both are constant
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
                      for name, array in arrays.items() if name not in weights],
        [helper.make_tensor_value_info(node.output[0], TensorProto.UINT8 if "Quantize" in text else TensorProto.FLOAT,
                                       None)],
        [onnx.numpy_helper.from_array(arrays[name], name) for name in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset),
                                                    helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {name: array for name, array in arrays.items() if name not in weights}
    return session.run([node.output[0]], feeds)[0].tobytes()


def fnv(content):
    """64 bits of FNV-1a, which C++ computes in a line."""
    result = 0xCBF29CE484222325
    for byte in content:
        result = (result ^ byte) * 0x100000001B3 % 2**64
    return result


def rows():
    """The table's rows."""
    for text, opset, constant, scale, shapes in cases():
        found = fnv(run(text, opset, constant, scale, shapes))
        quoted = text.replace('"', '\\"')
        listed = ", ".join("{" + ", ".join(map(str, sizes)) + "}" for sizes in shapes)
        yield f'{{"{quoted}", {opset}, {str(constant).lower()}, {scale}, {{{listed}}}, 0x{found:016X}U}},\n'


def is_of_the_class():
    """Does ONNX Runtime take its kernels for AVX-512 here?"""
    flags = pathlib.Path("/proc/cpuinfo")
    wanted = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"}
    return (platform.machine() == "x86_64" and flags.exists() and wanted <= set(flags.read_text().split()) and
            onnxruntime.__version__.startswith("1.31."))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compares with the table and writes nothing")
    check = arguments.parse_args().check
    if not is_of_the_class():
        print("float_bits: this is not ONNX Runtime 1.31 on x86-64 with AVX-512", file=sys.stderr)
        return 77 if check else 2
    head = ("// SPDX-License-Identifier: Apache-2.0\n"
            "// Written by tests/onnxruntime/float_bits.py: node, opset, is its second input a constant, scale, sizes\n"
            "// of its inputs, and the hash of its first output in ONNX Runtime 1.31 on x86-64 with AVX-512.\n"
            "// clang-format off\n")
    if not check:
        TABLE.write_text(head + "".join(rows()))
        return 0
    stored = TABLE.read_text()
    wrong = [row for row in rows() if row not in stored]
    print(f"{len(wrong)} of {sum(1 for _ in cases())} cases are other than stored", *wrong[:10], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
