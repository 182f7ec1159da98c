# SPDX-License-Identifier: Apache-2.0
"""Random networks whose batch normalizations stay float32 between a DequantizeLinear and a QuantizeLinear, as those in front
of a convolution do, on the RTL: the bytes of ONNX Runtime, as one program. GEMM64_CASES: how many (default 8), GEMM64_SEED:
which ones."""

import os
import random

import numpy
from onnx import TensorProto, helper

from harness import ProgramTest, drawn, make_model, saturates

CASES = drawn(8)
SEED = int(os.environ.get("GEMM64_SEED", "5"))


class Network:
    """Convolutions, with a function of each value and its channel ahead of each but the first, and concatenations."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.getrandbits(32))
        self.kind = numpy.int8 if saturates() or self.random.random() < 0.5 else numpy.uint8
        self.constants, self.nodes = {}, []
        self.array = self.random.choice([4, 8])
        self.size = [self.random.randint(3, 9), self.random.randint(3, 9)]

    def constant(self, name, value):
        self.constants[name] = numpy.asarray(value)
        return name

    def quantized(self, name, value, low, high):
        """The value, quantized to a range and dequantized again."""
        least, most = numpy.iinfo(self.kind).min, numpy.iinfo(self.kind).max
        scale = numpy.float32((high - low) / 255)
        zero = int(numpy.clip(numpy.rint(least - low / scale), least, most))
        inputs = [self.constant(f"{name}_s", scale), self.constant(f"{name}_z", self.kind(zero))]
        self.nodes += [helper.make_node("QuantizeLinear", [value, *inputs], [f"{name}_q"], f"{name}_q"),
                       helper.make_node("DequantizeLinear", [f"{name}_q", *inputs], [f"{name}_d"], f"{name}_d")]
        return f"{name}_d"

    def convolution(self, name, value, channels, filters, kernel):
        inputs = [self.constant(f"{name}_w", self.numpy.integers(-127, 128, [filters, channels, kernel, kernel]).astype(numpy.int8)),
                  self.constant(f"{name}_ws", numpy.float32(0.01)), self.constant(f"{name}_wz", numpy.int8(0))]
        self.nodes += [helper.make_node("DequantizeLinear", inputs, [f"{name}_wd"], f"{name}_wd"),
                       helper.make_node("Conv", [value, f"{name}_wd"], [name], name, pads=[kernel // 2] * 4)]
        most = 1.5 * (channels * kernel**2)**0.5
        return self.quantized(name, name, -most, most)

    def function(self, name, value, channels):
        """A BatchNormalization, of which the file may quantize a parameter, or what it is made of."""
        n, r = self.numpy, self.random
        if r.random() < 0.3:
            of = [channels, 1, 1]
            self.constant(f"{name}_f", n.uniform(-2, 2, of).astype(numpy.float32))
            self.constant(f"{name}_a", n.uniform(-2, 2, of).astype(numpy.float32))
            self.nodes += [helper.make_node("Mul", [value, f"{name}_f"], [f"{name}_m"], f"{name}_m"),
                           helper.make_node("Add", [f"{name}_m", f"{name}_a"], [name], name)]
        else:
            factor = f"{name}_f"
            if r.random() < 0.5:
                inputs = [self.constant(f"{name}_fq", n.integers(-127, 128, channels).astype(numpy.int8)),
                          self.constant(f"{name}_fs", numpy.float32(0.02)), self.constant(f"{name}_fz", numpy.int8(0))]
                self.nodes.append(helper.make_node("DequantizeLinear", inputs, [factor], factor))
            else:
                self.constant(factor, n.uniform(-2, 2, channels).astype(numpy.float32))
            rest = [self.constant(f"{name}_b", n.uniform(-2, 2, channels).astype(numpy.float32)),
                    self.constant(f"{name}_mean", n.uniform(-1, 1, channels).astype(numpy.float32)),
                    self.constant(f"{name}_var", n.uniform(0.3, 2, channels).astype(numpy.float32))]
            self.nodes.append(helper.make_node("BatchNormalization", [value, factor, *rest], [name], name))
        if r.random() < 0.6:
            self.nodes.append(helper.make_node("Relu", [name], [f"{name}_r"], f"{name}_r"))
            return self.quantized(name, f"{name}_r", 0, r.uniform(2, 8))
        return self.quantized(name, name, -r.uniform(2, 8), r.uniform(2, 8))

    def model(self):
        r = self.random
        channels = r.randint(1, 9)
        shape = [r.randint(1, 2), channels, *self.size]
        self.x = self.numpy.standard_normal(shape).astype(numpy.float32)
        value = self.quantized("x", "x", -3, 3)
        filters = r.randint(1, 12)
        value = self.convolution("first", value, channels, filters, 3)
        for index in range(r.randint(1, 3)):
            channels = filters
            given = self.function(f"f{index}", value, channels)
            more = r.randint(1, 12)
            made = self.convolution(f"c{index}", given, channels, more, r.choice([1, 3]))
            # ONNX Runtime leaves what reads int8 values that others read as well in float32.
            if self.kind is numpy.int8 or r.random() < 0.5:
                value, filters = made, more
                continue
            self.nodes.append(helper.make_node("Concat", [value, made], [f"j{index}"], f"j{index}", axis=1))
            value, filters = self.quantized(f"j{index}", f"j{index}", -8, 8), channels + more
        value = self.convolution("last", self.function("g", value, filters), filters, 3, 1)
        return make_model(self.nodes, [("x", self.x)], [(value, TensorProto.FLOAT)], self.constants)


class ChannelFunctions(ProgramTest):
    def check(self, number):
        case = Network(f"{SEED} {number}")
        model = case.model()
        latency = case.random.choice([1, 20, 100])
        what = f"seed {SEED}, case {number}, array {case.array}, latency {latency}"
        report = self.run_case(model, {"x": case.x}, "--array", case.array, "--memory-latency", latency, what=what)
        self.assertTrue(report["verified"], what)
        reasons = {node["reason"] for node in report["host"].get("between_programs", [])}
        if not any(reason.startswith("no integer factors") for reason in reasons):
            self.assertEqual(report["total"]["programs"], 1, what)
            self.joined += 1
        self.assertEqual(report["total"]["cycles"], report["total"]["predicted_cycles"], what)

    def test_random_cases(self):
        self.joined = 0
        for number in range(CASES):
            with self.subTest(number):
                self.check(number)
        self.assertGreater(self.joined, CASES // 2)
        print(f"{CASES} networks, {self.joined} of them one program", flush=True)
