# SPDX-License-Identifier: Apache-2.0
"""Random convolutions on the RTL, with memories that stall at random: the bytes of ONNX Runtime.
GEMM64_CASES: how many of all kinds, and how many depthwise ones on the lanes (default 12 each),
GEMM64_SEED: which ones, GEMM64_ARRAYS: on arrays of which sizes."""

import math
import os
import random

import numpy
from onnx import TensorProto, helper

from harness import ProgramTest, drawn, make_model, saturates

CASES = drawn(12)
SEED = int(os.environ.get("GEMM64_SEED", "1"))
ARRAYS = [int(size) for size in os.environ.get("GEMM64_ARRAYS", "4 8 64").split()]
MAX_CYCLES = 2_000_000    # that no case may take
ROWS = 350_000        # of the smallest array, so that stalls do not bring a case near that


def up(a, b):
    return -(-a // b)


class Convolution:
    """One QLinearConv, and perhaps a pool after it: their sizes, and a network of them only."""

    stalls, ways = [0, 0.1, 0.3], ["window", "window", "array"]

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.getrandbits(32))
        while not (self.draw() and self.fits()):
            pass

    def log_uniform(self, least, most):
        return min(most, int(least * (most / least + 1)**self.random.random()))

    def draw_dilation(self):
        return self.random.choice([1, 1, self.random.randint(1, 3)])

    def draw_window(self, kernel):
        """Its sizes; kernel(): of one axis."""
        r = self.random
        self.rank = r.choice([2, 2, 2, 2, 2, 1])
        axes = range(self.rank)
        self.kernel = [kernel() for _ in axes]
        self.strides = [r.choice([1, r.randint(1, 4)]) for _ in axes]
        self.dilations = [self.draw_dilation() for _ in axes]
        self.size = [self.log_uniform(1, 60) for _ in axes]
        if r.random() < 0.2:    # rows, or columns, that the lanes take in strips
            self.size[r.choice(list(axes))] = r.randint(100, 300)
        self.batch = r.choice([1, r.randint(1, 5)])
        self.reach = [d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilations)]
        self.pads = [r.choice([0, r.randint(0, size)]) for size in self.padded() * 2]
        room = [size + self.pads[i] + self.pads[self.rank + i] - self.reach[i]
                for i, size in enumerate(self.size)]
        self.output = [room[i] // self.strides[i] + 1 for i in axes]
        return min(room) >= 0

    def padded(self):
        """Most of each axis that is beyond a border."""
        return self.kernel

    def draw(self):
        """Sizes; false where the window does not fit."""
        r = self.random
        if not self.draw_window(lambda: r.choice([1, 3, r.randint(1, 11)])):
            return False
        kind = r.choice(["plain", "plain", "groups", "depthwise"])
        self.groups = 1
        self.channels, self.filters = self.log_uniform(1, 300), self.log_uniform(1, 300)
        if kind == "groups":
            self.groups = self.log_uniform(1, 40)
            self.channels = self.groups * self.log_uniform(1, 300 // self.groups)
            self.filters = self.groups * self.log_uniform(1, 300 // self.groups)
        elif kind == "depthwise":
            self.groups = self.channels
            self.filters = self.channels * (r.randint(1, 3) if self.channels < 70 else 1)
        self.pool = self.draw_pool() if r.random() < 0.5 else None
        return True

    def fits(self):
        """Is it done in time on the smallest array?"""
        pixels = self.batch * math.prod(self.output)
        taps = math.prod(self.kernel)
        # Groups that make whole planes together share tiles; else all do.
        parts = [part for part in range(1, self.groups + 1) if self.groups % part == 0 and
                 self.channels // part % 4 == 0 and self.filters // part % 4 == 0]
        part = max(parts, default=1)
        tiles = up(self.channels, 4 * part) * up(self.filters, 4) * taps
        return pixels * tiles <= ROWS

    def draw_pool(self):
        """The operator of a pool of the output and its attributes; None where a window does not
        fit."""
        r = self.random
        name = r.choice(["QLinearGlobalAveragePool", "QLinearAveragePool", "MaxPool"])
        if name == "QLinearGlobalAveragePool":
            return name, {}
        axes = range(self.rank)
        pool = {"kernel_shape": [r.choice([2, 3, r.randint(1, 7)]) for _ in axes],
                "strides": [r.randint(1, 4) for _ in axes], "ceil_mode": r.randint(0, 1)}
        if r.random() < 0.2:
            pool["kernel_shape"] = self.output
        pool["pads"] = [r.choice([0, r.randint(0, size - 1)]) for size in pool["kernel_shape"] * 2]
        spans = pool["kernel_shape"]
        if name == "QLinearAveragePool":
            pool["count_include_pad"] = r.randint(0, 1)
        elif r.random() < 0.3:
            pool["dilations"] = [r.randint(1, 3) for _ in axes]
            spans = [d * (k - 1) + 1 for k, d in zip(spans, pool["dilations"])]
        room = [size + pool["pads"][i] + pool["pads"][self.rank + i] - spans[i]
                for i, size in enumerate(self.output)]
        return (name, pool) if min(room) >= 0 else None

    def text(self):
        return (f"{self.batch}x{self.channels}x{self.size} to {self.filters}, kernel {self.kernel}, "
                f"strides {self.strides}, dilations {self.dilations}, pads {self.pads}, "
                f"groups {self.groups}, pool {self.pool}")

    def model(self):
        """QLinearConv of random bytes, and its input."""
        r, n = self.random, self.numpy
        signed = saturates() or r.random() < 0.5
        kind, low, high = (TensorProto.INT8, -128, 128) if signed else (TensorProto.UINT8, 0, 256)
        dtype = numpy.int8 if signed else numpy.uint8
        per_channel = r.random() < 0.5
        length = self.channels // self.groups * math.prod(self.kernel)
        weights = n.integers(-128, 128, [self.filters, self.channels // self.groups] + self.kernel)
        w_zero = r.choice([0, r.randrange(-128, 128)])
        w_shift, w_dtype = r.choice([(0, numpy.int8)] if signed else [(0, numpy.int8), (128, numpy.uint8)])
        scales = n.uniform(0.5, 2, self.filters if per_channel else 1).astype(numpy.float32) / 1000
        constants = {
            "x_scale": numpy.float32(0.02), "x_zero": dtype(r.randrange(low, high)),
            "w": (weights + w_shift).astype(w_dtype), "w_scale": scales if per_channel else scales[0],
            "w_zero": numpy.full(self.filters if per_channel else (), w_zero + w_shift, w_dtype),
            "y_scale": numpy.float32(0.02 * 0.001 * 74 * 74 * length**0.5 / 60),
            "y_zero": dtype(r.randrange(low, high))}
        if r.random() < 0.7:
            constants["bias"] = n.integers(-90000, 90000, self.filters).astype(numpy.int32)
        inputs = ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"]
        nodes = [helper.make_node(
            "QLinearConv", inputs + (["bias"] if "bias" in constants else []),
            ["y" if self.pool is None else "c"], "conv", kernel_shape=self.kernel, strides=self.strides,
            dilations=self.dilations, pads=self.pads, group=self.groups)]
        if self.pool and self.pool[0] == "MaxPool":
            nodes.append(helper.make_node("MaxPool", ["c"], ["y"], "pool", **self.pool[1]))
        elif self.pool:
            constants["p_scale"] = r.choice([constants["y_scale"],
                                             numpy.float32(0.02 * r.uniform(0.05, 1))])
            nodes.append(helper.make_node(
                self.pool[0], ["c", "y_scale", "y_zero", "p_scale", "y_zero"], ["y"], "pool",
                domain="com.microsoft", **self.pool[1]))
        shape = [self.batch, self.channels] + self.size
        model = make_model(nodes, [("x", kind, shape)], [("y", kind)], constants)
        return model, n.integers(low, high, shape).astype(dtype)


class Depthwise(Convolution):
    """One on the lanes, and perhaps a pool after it, with stalls."""

    stalls, ways = [0.1, 0.3], ["window"]

    def draw_dilation(self):
        return self.random.choice([1, self.random.randint(1, 6), self.random.randint(1, 18)])

    def padded(self):
        """Of "same" convolutions, and of any."""
        return self.random.choice([self.kernel, [reach // 2 for reach in self.reach], self.reach])

    def draw(self):
        r = self.random
        if not self.draw_window(lambda: r.randint(1, 7)):
            return False
        self.groups = self.channels = self.filters = r.choice([self.log_uniform(1, 300), r.randint(1, 300)])
        self.pool = self.draw_pool() if r.random() < 0.7 else None
        return True

    def fits(self):
        most = 6 if max(self.kernel) <= 3 else 2 if max(self.kernel) <= 5 else 1
        if max(self.dilations) > most or any(pad >= reach for pad, reach in zip(self.pads, self.reach)):
            return super().fits()    # the array has it, or may have
        sums = math.prod(self.output) * up(math.prod(self.kernel), 9)
        return self.batch * max(math.prod(self.size), sums) * up(self.channels, 4) <= ROWS


class RandomConvolutions(ProgramTest):
    def check(self, case, number):
        model, x = case.model()
        cycles = {}
        for array in ARRAYS:
            stalls = case.random.choice(case.stalls)
            latency = case.random.choice([1, 20, 100])
            depthwise = case.random.choice(case.ways)
            what = f"case {number}, array {array}, stalls {stalls}: {case.text()}"
            report = self.run_case(model, {"x": x}, "--array", array, "--memory-stalls", stalls, "--memory-latency",
                                   latency, "--seed", number, "--depthwise", depthwise, what=what)
            self.assertEqual(report["total"]["device_share"], 1, what)
            self.assertTrue(report["verified"], what)
            self.on_lanes += sum(layer["tiles"] == 0 for layer in report["layers"])
            cycles[array] = report["total"]["cycles"]
            self.assertLessEqual(cycles[array], MAX_CYCLES, what)
        return cycles

    def check_all(self, kind):
        self.on_lanes = 0
        most = dict.fromkeys(ARRAYS, 0)
        for number in range(CASES):
            for array, cycles in self.check(kind(f"{SEED} {number}"), number).items():
                most[array] = max(most[array], cycles)
        # Few of the convolutions of any kind are on the lanes.
        self.assertGreaterEqual(self.on_lanes, 1 if kind is Depthwise else CASES // 12)
        print(f"{CASES} convolutions, {self.on_lanes} layers on the lanes, at most {most} cycles each", flush=True)

    def test_random_cases(self):
        self.check_all(Convolution)

    def test_random_depthwise_cases(self):
        self.check_all(Depthwise)
