# SPDX-License-Identifier: Apache-2.0
"""Random first layers of mobile networks on the RTL, whose maps are folded into strips: the bytes of ONNX Runtime, with
memories that stall at random. GEMM64_CASES: how many (default 8), GEMM64_SEED: which ones."""

import math
import os
import random

import numpy
from onnx import TensorProto, helper

from harness import ProgramTest, drawn, make_model, saturates

CASES = drawn(8)
SEED = int(os.environ.get("GEMM64_SEED", "4"))
ROWS = 250_000  # that may enter the array


class Chain:
    """A convolution of few channels, then depthwise and 1x1 ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.getrandbits(32))
        while not self.draw():
            pass

    def draw(self):
        """Sizes; false where a window does not fit, or the case would take too long."""
        r = self.random
        self.array = r.choice([4, 8, 8, 64])
        self.channels = r.randint(1, min(3, self.array // 2))
        self.size = [r.randint(40, 120), r.randint(40, 100)]
        self.layers, self.sizes = [], []
        channels, size, rows = self.channels, self.size, 0
        for index in range(r.randint(3, 7)):
            depthwise = index != 0 and r.random() < 0.5
            kernel = r.choice([2, 3]) if index == 0 else r.choice([3, 3, 5, r.randint(2, 7)]) if depthwise else 1
            stride = r.choice([1, 1, 1, 2, 3] if kernel != 1 else [1])
            most = self.array // 2 if index == 0 else self.array * 2
            filters = channels if depthwise else r.randint(1, most)
            summand = None  # the value that is added
            if index != 0 and not depthwise and r.random() < 0.6:
                summand = r.choice([i for i in range(len(self.sizes)) if self.sizes[i] == size] or [None])
                filters = filters if summand is None else self.layers[summand][1]
            pads = [r.choice([kernel // 2, r.randint(0, kernel - 1)]) for _ in range(4)]
            if depthwise and r.random() < 0.6:  # a map of the same size
                kernel, stride, pads = 3, 1, [1] * 4
            size = [(size[i] + pads[i] + pads[2 + i] - kernel) // stride + 1 for i in range(2)]
            if min(size) < 1:
                return False
            self.layers.append((channels, filters, kernel, stride, pads, channels if depthwise else 1, summand))
            self.sizes.append(size)
            rows += size[0] * size[1] * -(-filters // self.array) * -(-channels // self.array)
            channels = filters
        return rows <= ROWS and self.layers[-1][5] == 1

    def text(self):
        return f"1x{self.channels}x{self.size}, array {self.array}: {self.layers}"

    def model(self):
        n = self.numpy
        signed = saturates() or self.random.random() < 0.5
        kind, low, high = (TensorProto.INT8, -128, 128) if signed else (TensorProto.UINT8, 0, 256)
        dtype = numpy.int8 if signed else numpy.uint8
        constants, nodes, value, self.values = {}, [], "x", []
        scale, zero = numpy.float32(0.02), dtype(self.random.randrange(low, high))
        constants.update(x_scale=scale, x_zero=zero)
        for index, (channels, filters, kernel, stride, pads, groups, summand) in enumerate(self.layers):
            to = f"v{index}"
            length = channels // groups * kernel * kernel
            constants[f"w{index}"] = n.integers(-128, 128, [filters, channels // groups, kernel, kernel]).astype(numpy.int8)
            constants[f"{to}_scale"] = numpy.float32(n.uniform(0.01, 0.04))
            usual = constants[f"{to}_scale"] / (constants[f"{value}_scale"] * 74 * length**0.5)
            constants[f"w{index}_scale"] = (n.uniform(0.5, 2, filters) * usual).astype(numpy.float32)
            constants[f"b{index}"] = n.integers(-9000, 9000, filters).astype(numpy.int32)
            constants[f"{to}_zero"] = dtype(self.random.randrange(low // 2 + high // 4, low // 2 + 3 * high // 4))
            constants[f"wz{index}"] = numpy.zeros(filters, numpy.int8)
            nodes.append(helper.make_node(
                "QLinearConv", [value, f"{value}_scale", f"{value}_zero", f"w{index}", f"w{index}_scale", f"wz{index}",
                                f"{to}_scale", f"{to}_zero", f"b{index}"], [to], f"conv{index}",
                kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups))
            value = to
            if summand is not None:
                value = f"s{index}"
                constants[f"{value}_scale"] = numpy.float32(n.uniform(0.01, 0.04))
                constants[f"{value}_zero"] = dtype(self.random.randrange(low // 2 + high // 4, low // 2 + 3 * high // 4))
                values = [name for of in (to, self.values[summand]) for name in (of, f"{of}_scale", f"{of}_zero")]
                nodes.append(helper.make_node("QLinearAdd", values + [f"{value}_scale", f"{value}_zero"], [value],
                                              f"add{index}", domain="com.microsoft"))
            self.values.append(value)
        shape = [1, self.channels] + self.size
        names = self.values  # but of a sum's own layer, which nothing else may read
        model = make_model(nodes, [("x", kind, shape)], [(name, kind) for name in names], constants)
        return model, n.integers(low, high, shape).astype(dtype)


class RandomStrips(ProgramTest):
    def check(self, number):
        case = Chain(f"{SEED} {number}")
        model, x = case.model()
        stalls, latency = case.random.choice([0, 0.1, 0.3]), case.random.choice([1, 20, 100])
        what = f"seed {SEED}, case {number}, stalls {stalls}, latency {latency}: {case.text()}"
        report = self.run_case(model, {"x": x}, "--array", case.array, "--memory-stalls", stalls, "--memory-latency",
                               latency, "--seed", number, what=what)
        self.assertEqual(report["total"]["device_share"], 1, what)
        self.assertTrue(report["verified"], what)
        macs = sum(channels // groups * kernel**2 * filters * math.prod(size)
                   for (channels, filters, kernel, _, _, groups, _), size in zip(case.layers, case.sizes))
        self.assertEqual(report["total"]["macs"], macs, what)
        if any("strips" in layer for layer in report["layers"]):
            self.in_strips += 1
            self.added += any("strips" in layer and "vector_nodes" in layer for layer in report["layers"])

    def test_random_cases(self):
        self.in_strips = self.added = 0
        for number in range(CASES):
            self.check(number)
        self.assertGreater(self.added, 0)
        print(f"{CASES} chains, {self.in_strips} of them in strips, {self.added} with additions there", flush=True)
