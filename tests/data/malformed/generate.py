#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the corpus of ONNX files that must be refused, each with one fault, next to this script.

expected.txt lists for each file what the one line about it must contain. Needs nothing but Python.
"""
import os
import struct

FLOAT, INT64 = 1, 7
FOLDER = os.path.dirname(os.path.abspath(__file__))


# ------------------------------------------------------------------------------ protobuf, by hand


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def many(field, values):
    return b"".join(text(field, value) for value in values)


def attribute(name, value):
    if isinstance(value, int):
        return text(1, name) + number(3, value) + number(20, 2)
    if isinstance(value, float):
        return text(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, str):
        return text(1, name) + text(4, value) + number(20, 3)
    if isinstance(value, bytes):  # a tensor
        return text(1, name) + text(5, value) + number(20, 4)
    return text(1, name) + b"".join(number(8, v) for v in value) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    return (many(1, inputs) + many(2, outputs) + text(3, name or op.lower()) + text(4, op)
            + many(5, [attribute(k, v) for k, v in attributes.items()])
            + (text(7, domain) if domain else b""))


def tensor(name, dims, data_type=FLOAT, raw=None, extra=b""):
    return (b"".join(number(1, d) for d in dims) + number(2, data_type) + text(8, name)
            + (b"" if raw is None else text(9, raw)) + extra)


def integers(name, values):
    return tensor(name, [len(values)], INT64, struct.pack(f"<{len(values)}q", *values))


def value(name, dims, data_type=FLOAT):
    shape = b"".join(text(1, number(1, d)) for d in dims)
    return text(1, name) + text(2, text(1, number(1, data_type) + text(2, shape)))


def model(nodes, inputs, outputs=("y",), initializers=(), opsets=(13,)):
    graph = (many(1, nodes) + text(2, "graph") + many(5, initializers) + many(11, inputs)
             + many(12, [text(1, o) for o in outputs]))
    return (number(1, 7) + text(7, graph)
            + many(8, [text(1, "") + number(2, version) for version in opsets]))


# ---------------------------------------------------------------------------------------- the files

X = value("x", [1, 3, 8, 8])
W = tensor("w", [4, 3, 3, 3])


def one(op, inputs=("x",), shape=(1, 3, 8, 8), initializers=(), opsets=(13,), **attributes):
    """A model of one node that reads `x` of that shape."""
    return model([node(op, inputs, ["y"], **attributes)], [value("x", shape)],
                 initializers=initializers, opsets=opsets)


def conv(**attributes):
    return one("Conv", ["x", "w"], initializers=[W], **attributes)


def nested(levels):
    """A graph in an attribute of a node in a graph, and so on."""
    graph = b""
    for _ in range(levels):
        graph = text(1, text(5, text(6, graph)))
    return graph


good = conv()
huge = 1 << 40
FILES = {
    "empty": (b"", "the file is empty"),
    "text": (b"This is no model.\n" * 8, "is not an ONNX model"),
    "random": (bytes((i * 7919 + i * i * 104729) >> 5 & 255 for i in range(600)),
               "is not an ONNX model"),
    "truncated": (good[:len(good) * 2 // 3], "is cut off"),
    "cut_in_length": (good[:7] + b"\xff\xff\xff\xff", "is cut off"),
    "no_graph": (number(1, 7) + text(8, text(1, "") + number(2, 13)), "holds no graph"),
    "deep": (number(1, 7) + text(7, nested(60)), "is not an ONNX model"),
    "no_output": (model([node("Relu", ["x"], ["y"])], [X], outputs=[]), "has no output"),
    "output_from_nowhere": (model([node("Relu", ["x"], ["y"])], [X], outputs=["z"]),
                            "nothing produces the graph's output 'z'"),
    "no_opset": (one("Relu", opsets=()), "does not say which opset"),
    "opset_of_the_future": (one("Relu", opsets=(999,)), "opset 999"),
    "opset_negative": (one("Relu", opsets=(-5,)), "opset -5"),
    "two_opsets": (one("Relu", opsets=(13, 12)), "two opsets"),
    "unknown_operator": (one("Frobnicate"), "Frobnicate"),
    "withdrawn_operator": (one("ATen"), "ATen"),
    "operator_of_unknown_domain": (one("Relu", domain="nowhere"), "nowhere"),
    "cycle": (model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]),
                     node("Relu", ["b"], ["y"])], [X]), "form a cycle"),
    "cycle_of_one": (model([node("Add", ["x", "y"], ["y"])], [X]), "form a cycle"),
    "input_from_nowhere": (one("Relu", ["z"]), "reads 'z', which nothing produces"),
    "too_few_inputs": (one("Conv", ["x"]), "Conv"),
    "too_many_inputs": (one("Relu", ["x", "x", "x"]), "Relu"),
    "missing_input": (one("Add", ["x", ""]), "input 1"),
    "duplicate_output": (model([node("Relu", ["x"], ["y"]), node("Relu", ["x"], ["y"])], [X]),
                         "produces 'y', which exists already"),
    "duplicate_of_input": (model([node("Relu", ["x"], ["x"])], [X], outputs=["x"]),
                           "produces 'x', which exists already"),
    "duplicate_input": (model([node("Relu", ["x"], ["y"])], [X, X]), "two inputs are called 'x'"),
    "duplicate_initializer": (one("Conv", ["x", "w"], initializers=[W, W]),
                              "two initializers are called 'w'"),
    "duplicate_graph_output": (model([node("Relu", ["x"], ["y"])], [X], outputs=["y", "y"]),
                               "two outputs are called 'y'"),
    "nameless_input": (model([node("Relu", ["x"], ["y"])], [X, value("", [1])]), "has no name"),
    "nameless_initializer": (one("Relu", initializers=[tensor("", [1])]), "has no name"),
    "negative_input": (one("Relu", shape=(1, -3, 8, 8)), "is -3"),
    "negative_initializer": (one("Conv", ["x", "w"], initializers=[tensor("w", [4, -3, 3, 3])]),
                             "negative dimension"),
    "negative_reshape": (one("Reshape", ["x", "s"], initializers=[integers("s", [-7, 2])]),
                         "Invalid dimension value: -7"),
    "huge_input": (one("Relu", shape=(huge, huge, huge)), "too large for any memory"),
    "huge_initializer": (one("Conv", ["x", "w"], initializers=[tensor("w", [huge, 3, huge, 3])]),
                         "too large for any memory"),
    "huge_hidden_by_zero": (one("Relu", shape=(0, huge, huge, huge)), "too large for any memory"),
    "huge_expand": (one("Expand", ["x", "s"], shape=(1, 1),
                        initializers=[integers("s", [huge, huge])]), "too large for any memory"),
    "huge_macs": (one("MatMul", ["x", "w"], shape=(1 << 30, 1 << 29),
                      initializers=[tensor("w", [1 << 29, 1 << 30])]), "beyond 2^63"),
    "huge_sum": (model([node("Relu", ["x"], ["a"], "r0")]
                       + [node("Relu", ["a"], [f"b{i}"], f"r{i + 1}") for i in range(12)]
                       + [node("Relu", ["a"], ["y"], "last")], [value("x", [1 << 59])],
                       outputs=["y"] + [f"b{i}" for i in range(12)]), "beyond 2^63"),
    "many_dimensions": (one("Relu", shape=[1] * 100), "100 dimensions"),
    "unknown_type": (one("Conv", ["x", "w"], initializers=[tensor("w", [4, 3, 3, 3], 99)]),
                     "element type 99"),
    "cast_to_nothing": (one("Cast", to=77), "does not specify a valid type"),
    "data_too_short": (one("Conv", ["x", "w"], initializers=[tensor("w", [4, 3, 3, 3], FLOAT,
                                                                    bytes(16))]),
                       "needs 432 bytes, but the file holds 16"),
    "data_too_long": (one("Conv", ["x", "w"], initializers=[tensor("w", [1], FLOAT, bytes(16))]),
                      "needs 4 bytes, but the file holds 16"),
    "data_twice": (one("Conv", ["x", "w"], initializers=[
        tensor("w", [1], FLOAT, bytes(4), text(4, bytes(4)))]), "given twice"),
    "constant_without_data": (model([node("Constant", [], ["y"], value=tensor("t", [4]))], []),
                              "not its data"),
    "stride_of_zero": (conv(strides=[0, 1]), "strides must only contain positive values"),
    "stride_huge": (conv(strides=[1, -huge]), "strides must only contain positive values"),
    "dilation_of_zero": (conv(dilations=[0, 0]), "dilations must only contain positive values"),
    "dilation_huge": (conv(dilations=[1 << 62, 1]), "dilations holds"),
    "pads_negative": (conv(pads=[-1, 0, 0, 0]), "pads must not contain negative values"),
    "pads_too_few": (conv(pads=[1, 1]), "pads has incorrect size"),
    "kernel_of_zero": (one("MaxPool", kernel_shape=[0, 2]), "kernel_shape must only contain positive values"),
    "kernel_too_large": (one("MaxPool", kernel_shape=[9, 9]), "spans 9 values"),
    "kernel_not_the_weights": (conv(kernel_shape=[5, 5]), "the weights are 3x3"),
    "weights_without_kernel": (one("Conv", ["x", "w"], initializers=[tensor("w", [4, 3, 0, 3])]),
                               "kernel_shape must only contain positive values"),
    "group_of_zero": (conv(group=0), "in 0 groups"),
    "group_negative": (conv(group=-3), "in -3 groups"),
    "group_does_not_divide": (conv(group=2), "in 2 groups"),
    "auto_pad_unknown": (conv(auto_pad="MAYBE"), "Unknown AutoPadType"),
    "attribute_of_other_type": (conv(group=1.5), "group"),
    "attribute_unknown": (conv(colour=3), "colour"),
    "axis_out_of_range": (one("Softmax", axis=9), "value is: 9"),
    "concat_axis_out_of_range": (one("Concat", axis=-9), "axis must be in"),
    "transpose_twice_the_same": (one("Transpose", perm=[0, 0, 1, 2]), "perm"),
    "gemm_does_not_fit": (one("Gemm", ["x", "w"], shape=(2, 5), initializers=[tensor("w", [6, 7])]),
                          "between 6 and 5"),
    "matmul_does_not_fit": (one("MatMul", ["x", "w"], initializers=[tensor("w", [9, 9])]),
                            "Incompatible dimensions"),
    "add_does_not_fit": (one("Add", ["x", "w"], initializers=[tensor("w", [5])]),
                         "Incompatible dimensions"),
    "reshape_does_not_fit": (one("Reshape", ["x", "s"], initializers=[integers("s", [5, -1])]),
                             "incompatible shapes"),
    "reshape_overflow": (one("Reshape", ["x", "s"],
                             initializers=[integers("s", [huge, huge, huge, 0])]), "product overflow"),
    "split_does_not_fit": (model([node("Split", ["x", "s"], ["y", "z"], axis=1)], [X],
                                 initializers=[integers("s", [1, 9])]), "Mismatch between the sum"),
    "slice_step_of_zero": (one("Slice", ["x", "a", "b", "c", "d"], initializers=[
        integers("a", [0]), integers("b", [2]), integers("c", [0]), integers("d", [0])]),
        "'step' cannot be 0"),
    "resize_to_infinity": (one("Resize", ["x", "", "s"], initializers=[
        tensor("s", [4], FLOAT, struct.pack("<4f", 1, 1, float("inf"), float("nan")))]),
        "must be finite"),
    "name_with_newline": (model([node("Relu", ["z\nz"], ["y"], "a\nb\x1b[31m\x00c")], [X]),
                          "'a?b?[31m?c'"),
    "name_not_utf8": (model([node("Relu", [b"\xff\xfe"], ["y"], "n")], [X]), "'??'"),
    "name_very_long": (model([node("Relu", ["z" * 5000], ["y"], "n" * 5000)], [X]), "nnn..."),
    "subgraph_reads_nowhere": (model([
        text(1, "c") + text(2, "y") + text(3, "if") + text(4, "If") + many(5, [
            text(1, branch) + number(20, 5) + text(6, text(1, node("Relu", ["nope"], ["z"]))
                                                   + text(2, branch) + text(12, value("z", [1])))
            for branch in ("then_branch", "else_branch")])], [value("c", [1], 9)]), "nope"),
}


def main():
    for name in os.listdir(FOLDER):
        if name.endswith(".onnx"):
            os.remove(os.path.join(FOLDER, name))
    with open(os.path.join(FOLDER, "expected.txt"), "w", encoding="utf-8") as expected:
        for name, (contents, message) in FILES.items():
            with open(os.path.join(FOLDER, name + ".onnx"), "wb") as file:
                file.write(contents)
            expected.write(f"{name}.onnx: {message}\n")


if __name__ == "__main__":
    main()
