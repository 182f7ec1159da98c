# SPDX-License-Identifier: Apache-2.0
"""Random blocks of branches and their concatenations on the RTL, for memories that make maps stay on the chip: the bytes of
ONNX Runtime, and counters as predicted. GEMM64_CASES: how many (default 8), GEMM64_SEED: which ones."""

import json
import os
import random

import numpy
import onnx
from onnxruntime import quantization

from harness import drawn, infer
from quantized import QuantizedTest, Reader
from quantized_networks_test import Builder

CASES = drawn(8)
SEED = int(os.environ.get("GEMM64_SEED", "1"))
MEMORIES = (("--memory", "shared", "--memory-bytes-per-cycle", 1), ("--memory", "dram:ddr4,width=16"), ())


def branch(net, r, x, array):
    """One that keeps the size of its map."""
    kind = r.choice(["1x1", "3x3", "reduced", "pooled"])
    filters = r.randint(1, 2 * array)
    if kind == "pooled":
        x = net.pool("MaxPool", x, 3, 1, 1)
    if kind == "reduced":
        x = net.conv(x, r.randint(1, array), 1)
    return net.conv(x, filters, 3 if kind in ("3x3", "reduced") else 1)


def network(number):
    r = random.Random(f"{SEED} {number}")
    array, size = r.choice([4, 8, 8]), r.randint(7, 14)
    net = Builder([1, 3, size, size], r.getrandbits(32))
    x = net.conv("x", r.randint(2, 2 * array), 3)
    for _ in range(r.randint(1, 3)):
        x = net.join("Concat", *(branch(net, r, x, array) for _ in range(r.randint(2, 4))), axis=1)
        if r.random() < 0.4:
            x = net.pool("MaxPool", x, 3, r.choice([1, 2]), 1)
    if r.random() < 0.3:
        x = net.node("Relu", [net.join("Add", net.conv(x, 9, 1), net.conv(x, 9, 1))], 9)
    return net.model(net.head(x, pixels=0)), array, r


class RandomConcatenations(QuantizedTest):
    def check(self, number):
        model, array, r = network(number)
        shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
        inputs = numpy.random.default_rng(number).standard_normal([4, *shape]).astype(numpy.float32)
        onnx.save(model, self.folder / "float.onnx")
        kind = quantization.QuantType.QInt8
        quantization.quantize_static(self.folder / "float.onnx", self.folder / "q.onnx", Reader("x", inputs[:3]),
                                     activation_type=kind, weight_type=kind, per_channel=r.random() < 0.5)
        wanted, = infer(str(self.folder / "q.onnx"), {"x": inputs[3]}, config={"session.qdqisint8allowed": "1"})
        numpy.save(self.folder / "x.npy", inputs[3])
        memory = MEMORIES[number % len(MEMORIES)]
        what = f"seed {SEED}, case {number}, array {array}, {memory}"
        code, output, complaint = self.run_program(
            "run", "--model", "q.onnx", "--input", "x.npy", "--output", "y.npy", "--json", "r.json", "--array", array, *memory)
        self.assertEqual((code, complaint), (0, ""), f"{what}\n{output[-2000:]}")
        self.assertEqual(numpy.load(self.folder / "y.npy").tobytes(), wanted.tobytes(), what)
        report = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(report["verified"], what)
        self.assertEqual(report["total"]["device_share"], 1, what)
        self.succeed("compile", "q.onnx", "-o", f"c{number}.g64", "--json", "c.json", "--array", array, *memory)
        compiled = json.loads((self.folder / "c.json").read_text())
        self.assertEqual(compiled["total"]["predicted_cycles"], report["total"]["cycles"], what)
        self.with_gaps += compiled["options"]["whole_parts"]
        self.on_chip += any("channels" in layer and layer.get("results_in") == "scratchpad"
                            for program in compiled["programs"] for layer in program["layers"])

    def test_random_cases(self):
        self.with_gaps = self.on_chip = 0
        for number in range(CASES):
            self.check(number)
        self.assertGreater(self.with_gaps, 0)
        self.assertGreaterEqual(self.on_chip, self.with_gaps)
        print(f"{CASES} networks, concatenations of {self.on_chip} on the chip, {self.with_gaps} with gaps", flush=True)
