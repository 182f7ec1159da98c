# SPDX-License-Identifier: Apache-2.0
"""Products of integers between operators on floats, on the RTL: MatMulNBits whose activations are quantized block by
block (of 4 bits the host has ONNX Runtime's bits), QAttention, DynamicQuantizeMatMul and ConvInteger. Their sums are exact, so that ONNX Runtime's results are these but for the
last bits; each layer takes the cycles that `analyze` predicts."""

import json
import math
import unittest

import numpy
import onnx
from onnx import TensorProto, helper

from harness import ProgramTest, infer, make_model, saturates

RELATIVE = 1e-5  # of the largest


class IntegerProducts(ProgramTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(24)

    def save(self, *parts):
        onnx.save(make_model(*parts, opset=20, ir_version=9), self.folder / "m.onnx")

    def layer(self, operator, x, constants, y, arguments=(), domain="com.microsoft", kind_of_y=TensorProto.FLOAT,
              **attributes):
        """Runs a network of one node, compares it, and returns its report and analysis of the layer. Of `constants`,
        None is an input left out."""
        names = [f"c{i}" if value is not None else "" for i, value in enumerate(constants)]
        node = helper.make_node(operator, ["x", *names], ["y"], "layer", domain=domain, **attributes)
        self.save([node], [("x", x)], [("y", kind_of_y, y)], {name: value for name, value in zip(names, constants) if name})
        numpy.save(self.folder / "x.npy", x)
        self.succeed("run", "--model", "m.onnx", "--input", "x.npy", "--array", 4, "--output", "y.npy", "--json",
                     "run.json", *arguments)
        self.succeed("analyze", "m.onnx", "--array", 4, "--json", "analyze.json")
        expected = infer(str(self.folder / "m.onnx"), {"x": x})[0]
        found = numpy.load(self.folder / "y.npy")
        if kind_of_y == TensorProto.INT32:
            self.assertEqual(found.tolist(), expected.tolist())
        largest = float(numpy.abs(expected).max())
        self.assertLess(float(numpy.abs(found - expected).max()), RELATIVE * largest)
        report, analysis = self.read_json("run.json"), self.read_json("analyze.json")
        self.assertEqual(report["verified"], report["layers"][0].get("on") != "host")
        return report["layers"], analysis["layers"][0]

    def check_layer(self, layers, analysis, shape):
        self.assertEqual(len(layers), 1)
        layer = layers[0]
        self.assertEqual((layer["name"], layer["m"], layer["k"], layer["n"]), ("layer", *shape))
        self.assertEqual(layer["why_int32"], "its results are not of 8 bits")
        self.assertEqual(analysis["on"], "device")
        self.assertEqual(layer["cycles"], analysis["array"]["clocks"])

    def check_sweep(self, array=4):
        sweep = {"networks": "m.onnx", "designs": {"array": array}}
        rows = {}
        for mode in ("predict", "run"):
            (self.folder / "rows.json").unlink(missing_ok=True)
            (self.folder / "sweep.json").write_text(json.dumps({"mode": mode, **sweep}))
            self.succeed("sweep", "sweep.json", "--json", "rows.json")
            rows[mode] = self.read_json("rows.json")["rows"][0]
            for key in ("mode", "device", "predicted_cycles", "verified", "mismatches"):
                del rows[mode][key]
        self.assertEqual(rows["run"], rows["predict"])

    def bits_layer(self, bits, block, k, zeros, *arguments, level=4):
        n, blocks = 7, -(-k // block)
        packed = self.random.integers(0, 256, [n, blocks, block * bits // 8]).astype(numpy.uint8)
        scales = self.random.uniform(0.01, 0.1, n * blocks).astype(numpy.float32)
        points = self.random.integers(0, 256, [n * ((blocks * bits + 7) // 8)]).astype(numpy.uint8) if zeros else None
        bias = self.random.standard_normal(n).astype(numpy.float32)
        x = self.random.standard_normal([2, 3, k]).astype(numpy.float32)
        return self.layer("MatMulNBits", x, [packed, scales, points, None, bias], [2, 3, n], arguments, K=k, N=n,
                          bits=bits, block_size=block, accuracy_level=level)

    def test_blocks_of_few_bits(self):
        for bits, block, k, zeros in ((8, 16, 32, True), (8, 64, 64, False), (2, 32, 64, True)):
            with self.subTest(bits=bits, block=block, zeros=zeros):
                self.check_layer(*self.bits_layer(bits, block, k, zeros), (6, k, 7))
                self.check_sweep()
                self.check_sweep(64)

    def test_blocks_of_4_bits_are_onnxruntimes_bits_on_the_host_and_exact_on_the_device(self):
        for block, k, zeros in ((16, 48, False), (32, 90, True), (64, 64, True)):
            with self.subTest(block=block, zeros=zeros):
                layers, analysis = self.bits_layer(4, block, k, zeros, "--allow-host-only")
                self.assertEqual([layer["on"] for layer in layers], ["host"])
                self.assertIn("--precision int8 takes them to the device", layers[0]["reason"])
                self.assertEqual(analysis["on"], "device", "with --precision int8")
                expected = infer(str(self.folder / "m.onnx"), {"x": numpy.load(self.folder / "x.npy")})[0]
                self.assertEqual(numpy.load(self.folder / "y.npy").tobytes(), expected.tobytes())
                for check in ("layers", "outputs"):
                    layers, analysis = self.bits_layer(4, block, k, zeros, "--precision", "int8", "--check", check)
                    self.assertEqual((layers[0]["m"], layers[0]["k"], layers[0]["n"]), (6, k, 7))
                    self.assertEqual(layers[0]["cycles"], analysis["array"]["clocks"])
                self.check_sweep()

    def test_blocks_are_layers_of_one_program(self):
        layers, _ = self.bits_layer(8, 16, 40, True, "--one-program")
        self.assertEqual([layer["name"] for layer in layers], ["layer/0", "layer/1", "layer/2"])

    def test_nodes_whose_operands_are_there_are_one_program(self):
        """q, k, v and a product in three blocks, of one input; then what reads v. An array of 32 has the rows of two
        blocks at once."""
        constants = {name: self.random.integers(-128, 128, [40, columns]).astype(numpy.int8)
                     for name, columns in (("wq", 12), ("wk", 12), ("wv", 40), ("wo", 9))}
        constants["bits"] = self.random.integers(0, 256, [7, 3, 16]).astype(numpy.uint8)
        constants["scales"] = self.random.uniform(0.01, 0.1, 21).astype(numpy.float32)
        node = helper.make_node
        nodes = [node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"]),
                 *(node("MatMulInteger", ["xq", f"w{name}", "xz"], [name], name) for name in "qkv"),
                 node("MatMulNBits", ["x", "bits", "scales"], ["n"], "n", domain="com.microsoft", K=40, N=7, bits=8,
                      block_size=16, accuracy_level=4),
                 node("Cast", ["v"], ["vf"], to=TensorProto.FLOAT),
                 node("DynamicQuantizeLinear", ["vf"], ["vq", "vs", "vz"]),
                 node("MatMulInteger", ["vq", "wo", "vz"], ["o"], "o")]
        self.save(nodes, [("x", TensorProto.FLOAT, ["images", 3, 40])],
                  [(name, kind, ["images", 3, columns]) for name, columns, kind in (
                      ("q", 12, TensorProto.INT32), ("k", 12, TensorProto.INT32), ("n", 7, TensorProto.FLOAT),
                      ("o", 9, TensorProto.INT32))], constants)
        x = self.random.standard_normal([1, 3, 40]).astype(numpy.float32)
        numpy.save(self.folder / "x.npy", x)
        expected = infer(str(self.folder / "m.onnx"), {"x": x})
        for array, tiles, arguments in ((4, 24, ()), (4, 24, ("--check", "outputs")), (4, 24, ("--memory-stalls", 0.2)),
                                        (32, 2, ()), (64, 1, ())):
            with self.subTest(array=array, arguments=arguments):
                self.succeed("run", "--model", "m.onnx", "--input", "x.npy", "--array", array, "--json", "run.json",
                             "--dump-activations", "*=out", *arguments)
                for name, value in zip("qkno", expected):
                    found = numpy.load(self.folder / "out" / f"{name}.npy")
                    numpy.testing.assert_array_equal(found, value) if name != "n" else \
                        numpy.testing.assert_allclose(found, value, rtol=RELATIVE)
                report = self.read_json("run.json")
                layers = [(layer["name"], layer["program"]) for layer in report["layers"] if layer.get("on") != "host"]
                self.assertEqual(layers, [("q", 1), ("k", 1), ("v", 1), ("n", 1), ("o", 2)])
                self.assertEqual(report["total"]["programs"], 2)
                blocks = next(layer for layer in report["layers"] if layer["name"] == "n")
                self.assertEqual((blocks["m"], blocks["k"], blocks["n"], blocks["tiles"]), (3, 40, 7, tiles))
                if arguments and arguments[0] == "--memory-stalls":
                    continue
                self.assertEqual(report["total"]["cycles"], report["total"]["predicted_cycles"])
                self.succeed("analyze", "m.onnx", "--input-shape", "x=1x3x40", "--array", array, "--json", "analyze.json")
                analysis = self.read_json("analyze.json")
                self.assertEqual([program["clocks"] for program in analysis["array"]["programs"]],
                                 [program["cycles"] for program in report["programs"]])

    def test_floats_stay_on_the_host(self):
        for arguments, level in (([], 0), (["--precision", "float32"], 4)):
            layers, _ = self.bits_layer(4, 16, 32, True, "--allow-host-only", *arguments, level=level)
            self.assertEqual([layer["on"] for layer in layers], ["host"])

    @unittest.skipIf(saturates(), "this processor's products of uint8 with int8 saturate in ONNX Runtime")
    def test_quantized_attention(self):
        for unsigned in (False, True):
            columns = 3 * 2 * 4
            x = self.random.integers(0, 256, [2, 3, 5]).astype(numpy.uint8)
            weights = self.random.integers(-127, 128, [5, columns]).astype(numpy.int8)
            zero = numpy.int8(0)
            if unsigned:
                weights, zero = (weights + numpy.int16(128)).astype(numpy.uint8), numpy.uint8(117)
            constants = [weights, self.random.standard_normal(columns).astype(numpy.float32), numpy.float32(0.02),
                         numpy.float32(0.01), None, numpy.array(119, numpy.uint8), numpy.array(zero)]
            constants = [value if value is None else numpy.array(value) for value in constants]
            layers, analysis = self.layer("QAttention", x, constants, [2, 3, 8], num_heads=2)
            self.check_layer(layers, analysis, (6, 5, columns))
            # Each of 2 x 3 queries with 3 keys, and what they say with 3 values, of 8 numbers each.
            self.assertEqual(analysis["macs"], 6 * 5 * columns + 2 * (6 * 3 * 8))

    @unittest.skipIf(saturates(), "this processor's products of uint8 with int8 saturate in ONNX Runtime")
    def test_convolutions(self):
        cases = ((2, 5, [6, 7], [3, 2], numpy.uint8, 117), (1, 9, [11], [4], numpy.int8, None),
                 (3, 3, [4, 4], [1, 1], numpy.uint8, None))
        for batch, channels, size, kernel, kind, zero in cases:
            with self.subTest(size=size, kernel=kernel):
                x = self.random.integers(0, 256, [batch, channels, *size]).astype(numpy.uint8)
                weights = self.random.integers(*((0, 256) if kind is numpy.uint8 else (-128, 128)),
                                               [6, channels, *kernel]).astype(kind)
                pads, strides = [1] * len(size) + [0] * len(size), [2] + [1] * (len(size) - 1)
                out = [(n + 1 - k) // s + 1 for n, k, s in zip(size, kernel, strides)]
                constants = [weights, numpy.array(131, numpy.uint8), None if zero is None else numpy.array(zero, kind)]
                layers, analysis = self.layer("ConvInteger", x, constants, [batch, 6, *out], domain="",
                                              kind_of_y=TensorProto.INT32, pads=pads, strides=strides)
                self.check_layer(layers, analysis, (batch * math.prod(out), channels * math.prod(kernel), 6))

    def test_groups_share_tiles(self):
        """Groups of a dynamically quantized convolution, as many in a job as take the fewest cycles; of one axis, two
        and three. With their tiles on an array of 64, and what these are wide and high together."""
        cases = ((2, 14, 35, 7, [5, 6], [3, 2], (numpy.uint8, 140), (2, 128, 64)),
                 (1, 70, 70, 70, [6, 5], [3, 3], (numpy.uint8, 0), (10, 512, 128)),  # 56 and 14 of 9 values each
                 (3, 9, 18, 9, [11], [4], (numpy.int8, -3), (1, 64, 64)),
                 (1, 4, 4, 2, [3, 4, 3], [2, 2, 2], (numpy.uint8, 117), (1, 64, 64)))
        for batch, channels, filters, groups, size, kernel, (kind, zero), (tiles, wide, high) in cases:
            if kind is numpy.int8 and saturates():
                continue
            x = self.random.integers(0, 256, [batch, channels, *size]).astype(numpy.uint8)
            weights = self.random.integers(*((0, 256) if kind is numpy.uint8 else (-128, 128)),
                                           [filters, channels // groups, *kernel]).astype(kind)
            out = [n + 2 - k for n, k in zip(size, kernel)]
            constants = [weights, numpy.array(131, numpy.uint8), numpy.array(zero, kind)]
            shape = batch * math.prod(out), channels // groups * math.prod(kernel), filters
            layers, analysis = self.layer("ConvInteger", x, constants, [batch, filters, *out], domain="",
                                          kind_of_y=TensorProto.INT32, pads=[1] * len(size) + [0] * len(size),
                                          group=groups)
            self.check_layer(layers, analysis, shape)
            self.succeed("run", "--model", "m.onnx", "--input", "x.npy", "--json", "run.json")
            layer = self.read_json("run.json")["layers"][0]
            self.assertEqual((layer["tiles"], layer["padded"]), (tiles, [shape[0], wide, high]))

    def test_products_of_computed_tensors_are_one_program(self):
        """Heads small enough share a tile. Zero points are those of two DynamicQuantizeLinears."""
        names = "xq", "xs", "xz", "kq", "ks", "kz"
        node = helper.make_node
        for heads, tokens, size, tiles in ((6, 10, 20, {4: 6 * 5 * 3, 64: 2}), (2, 70, 40, {4: 2 * 10 * 18, 64: 4}),
                                           (1, 3, 5, {4: 2, 64: 1})):
            nodes = [node("DynamicQuantizeLinear", ["x"], names[:3]), node("DynamicQuantizeLinear", ["k"], names[3:]),
                     node("MatMulInteger", ["xq", "kq", "xz", "kz"], ["y"], "y"),
                     node("MatMulIntegerToFloat", ["xq", "kq", "xs", "ks", "xz", "kz"], ["f"], "f", domain="com.microsoft")]
            x, k = (self.random.standard_normal([1, heads, *shape]).astype(numpy.float32)
                    for shape in ((tokens, size), (size, tokens)))
            self.save(nodes, [("x", x), ("k", k)], [("y", TensorProto.INT32, [1, heads, tokens, tokens]),
                                                    ("f", TensorProto.FLOAT, [1, heads, tokens, tokens])])
            numpy.save(self.folder / "x.npy", x)
            numpy.save(self.folder / "k.npy", k)
            wanted = dict(zip("yf", infer(str(self.folder / "m.onnx"), {"x": x, "k": k})))
            for array in tiles:
                self.succeed("run", "--model", "m.onnx", "--input", "x=x.npy", "--input", "k=k.npy", "--array", array,
                             "--dump-activations", "*=out", "--json", "run.json")
                for name, value in wanted.items():
                    numpy.testing.assert_array_equal(numpy.load(self.folder / "out" / f"{name}.npy"), value)
                report = self.read_json("run.json")
                self.succeed("analyze", "m.onnx", "--array", array, "--json", "analyze.json")
                analysis = self.read_json("analyze.json")
                self.assertEqual([program["clocks"] for program in analysis["array"]["programs"]],
                                 [program["cycles"] for program in report["programs"]])
                self.assertEqual((report["total"]["programs"], report["total"]["device_share"]), (1, 1))
                for layer in report["layers"]:
                    self.assertEqual((layer["m"], layer["k"], layer["n"], layer["products"], layer["tiles"]),
                                     (heads * tokens, size, tokens, heads, tiles[array]))

    def test_vectors_stay_on_the_host(self):
        self.save([helper.make_node("MatMulInteger", ["x", "k"], ["y"], "layer")],
                  [("x", TensorProto.UINT8, [5]), ("k", TensorProto.UINT8, [5, 3])], [("y", TensorProto.INT32, [3])])
        self.succeed("analyze", "m.onnx", "--json", "analyze.json")
        layer = self.read_json("analyze.json")["layers"][0]
        self.assertEqual(layer["why_on_host"], "an operand is a vector")

    @unittest.skipIf(saturates(), "this processor's products of uint8 with int8 saturate in ONNX Runtime")
    def test_activations_quantized_by_their_range(self):
        x = self.random.standard_normal([2, 3, 5]).astype(numpy.float32)
        weights = self.random.integers(-127, 128, [5, 6]).astype(numpy.int8)
        constants = [weights, numpy.array(0.01, numpy.float32), numpy.array(0, numpy.int8),
                     self.random.standard_normal(6).astype(numpy.float32)]
        self.check_layer(*self.layer("DynamicQuantizeMatMul", x, constants, [2, 3, 6]), (6, 5, 6))
