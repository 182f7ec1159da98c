# SPDX-License-Identifier: Apache-2.0
"""Additions and products of a layer's results with a second operand, as QDQ files have them: in both orders, in both types,
with a value for each element, column, channel or image, scales and zero points of their own. The bytes are ONNX Runtime's.
GEMM64_CASES: how many networks (default 6), GEMM64_SEED: which ones."""

import os

import numpy
from onnx import TensorProto, helper

from harness import ProgramTest, drawn, make_model, saturates
from random_quantized_test import DEVICES

CASES = drawn(6)
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
        return make_model(self.nodes, self.feeds.items(), [(name, TensorProto.FLOAT) for name in self.outputs],
                          self.constants)


class RandomAdditions(ProgramTest):
    def check(self, number):
        network = Network(number)
        device = DEVICES[number % len(DEVICES)]
        what = f"seed {SEED}, network {number}, {numpy.dtype(network.type)}, {device}: {network.texts}"
        int8 = {"session.qdqisint8allowed": "1"}  # as int8, whatever the processor
        self.assertTrue(self.run_case(network.model(), network.feeds, *device.split(), what=what, config=int8)["verified"])

    def test_random_networks(self):
        for number in range(CASES):
            self.check(number)
