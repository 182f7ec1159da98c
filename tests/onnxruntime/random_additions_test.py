# SPDX-License-Identifier: Apache-2.0
"""Additions and products of a layer's results with a second operand, as QDQ files have them: in both orders, in both types,
with a value for each element, column, channel or image, scales and zero points of their own. The bytes are ONNX Runtime's.
GEMM64_CASES: how many networks (default 6), GEMM64_SEED: which ones."""

import json
import os
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import ProgramTest, infer, saturates
from random_quantized_test import DEVICES, differences

CASES = int(os.environ.get("GEMM64_CASES", "6"))
SEED = int(os.environ.get("GEMM64_SEED", "1"))
# Sizes of the layer's results; of the second operand.
FORMS = [([1, 24, 40], [1, 24, 40]), ([24, 40], [40]), ([24, 40], [1, 40]), ([1, 24, 40], [40]), ([2, 13, 40], [1, 1, 40]),
         ([2, 2, 13, 24], [24]), ([1, 24, 7, 9], [24, 1, 1]), ([1, 24, 7, 9], [1, 24, 1, 1]), ([2, 24, 5, 7], [24, 1, 1]),
         ([2, 24, 5, 7], [2, 24, 1, 1]), ([2, 40, 1, 1], [40, 1, 1]), ([2, 24, 33], [24, 1])]


class Network:
    """A branch for each form: x, a layer, the operator."""

    def __init__(self, number):
        self.random = numpy.random.default_rng([SEED, number])
        signed = saturates() or self.random.random() < 0.5
        self.type = numpy.int8 if signed else numpy.uint8
        self.nodes, self.constants, self.feeds, self.outputs, self.texts = [], {}, {}, [], []
        for index, (full, other) in enumerate(FORMS):
            for operator in ("Add", "Mul"):
                for order in ("layer first", "layer second"):
                    self.branch(f"{operator}{index}{order[6]}", operator, full, other, order)

    def node(self, operator, inputs, to, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [to], to, **attributes))
        return to

    def constant(self, name, value):
        self.constants[name] = numpy.asarray(value)
        return name

    def scale(self, name, scale):
        kind = numpy.iinfo(self.type)
        zero = self.random.choice([self.random.integers(kind.min, kind.max + 1), (kind.min + kind.max + 1) // 2])
        return [self.constant(f"{name}_s", numpy.float32(scale)), self.constant(f"{name}_z", self.type(zero))]

    def pair(self, value, name, scale):
        steps = self.scale(name, scale)
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [value, *steps], f"{name}_q"), *steps], f"{name}_d")

    def bytes_of(self, name, shape, scale):
        kind = numpy.iinfo(self.type)
        values = self.random.integers(kind.min, kind.max + 1, shape).astype(self.type)
        return self.node("DequantizeLinear", [self.constant(f"{name}_c", values), *self.scale(name, scale)], f"{name}_d")

    def branch(self, name, operator, full, other, order):
        r = self.random
        # Sums with such factors are often halfway between two values, within the rounding of float32.
        step = 0.0173
        of_layer, of_second = (int(r.integers(1, 40)) * 0.05 * step for _ in range(2))
        if operator == "Mul":
            of_second /= 10 * step
        conv = len(full) == 4 and full[-1] != 24 or full == [2, 24, 33]
        inner = 5
        shape = [full[0], inner, *full[2:]] if conv else [*full[:-1], inner]
        self.feeds[f"{name}_x"] = r.standard_normal(shape).astype(numpy.float32)
        x = self.pair(f"{name}_x", f"{name}_x", 0.03)
        weights = r.integers(-127, 128, [full[1], inner] + [1] * (len(full) - 2) if conv else [inner, full[-1]]).astype(numpy.int8)
        steps = [self.constant(f"{name}_ws", numpy.float32(of_layer / r.uniform(50, 70) / 0.03)), self.constant(f"{name}_wz", numpy.int8(0))]
        w = self.node("DequantizeLinear", [self.constant(f"{name}_w", weights), *steps], f"{name}_wd")
        layer = self.pair(self.node("Conv" if conv else "MatMul", [x, w], f"{name}_l"), f"{name}_l", of_layer)
        second = self.bytes_of(f"{name}_b", other, of_second)
        operands = [layer, second] if order == "layer first" else [second, layer]
        self.outputs.append(self.pair(self.node(operator, operands, f"{name}_o"), f"{name}_y", step))
        self.texts.append(f"{operator} of {full} and {other}, {order}")

    def model(self):
        graph = helper.make_graph(
            self.nodes, "additions",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in self.feeds.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


class RandomAdditions(ProgramTest):
    def check(self, number):
        network = Network(number)
        model = network.model()
        onnx.save(model, self.folder / "a.onnx")
        inputs = []
        for name, value in network.feeds.items():
            numpy.save(self.folder / f"{name}.npy", value)
            inputs += ["--input", f"{name}={name}.npy"]
        int8 = {"session.qdqisint8allowed": "1"}  # as int8, whatever the processor
        expected = dict(zip(network.outputs, infer(model.SerializeToString(), network.feeds, config=int8)))
        device = DEVICES[number % len(DEVICES)]
        what = f"seed {SEED}, network {number}, {numpy.dtype(network.type)}, {device}"
        code, output, complaint = self.run_program("run", "--model", "a.onnx", *inputs, *device.split(), "--output",
                                                   "found/", "--json", "r.json")
        self.assertEqual((code, complaint), (0, ""), f"{what}\n{output[-2000:]}")
        report = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(report["verified"], what)
        found = {path.stem: numpy.load(path) for path in (self.folder / "found").glob("*.npy")}
        wrong = []
        for name, text in zip(network.outputs, network.texts):
            differ, _ = differences({name: expected[name]}, found)
            wrong += [f"{text}: {differ}"] if differ else []
        self.assertFalse(wrong, what)

    def test_random_networks(self):
        for number in range(CASES):
            self.check(number)


if __name__ == "__main__":
    unittest.main(verbosity=2)
