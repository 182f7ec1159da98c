# SPDX-License-Identifier: Apache-2.0
"""Linear layers of ragged shapes: what `gemm64 tile` and `make-linear --tiled` write agrees with the
original in ONNX Runtime."""

import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import ABSOLUTE, ProgramTest, infer, operators

LAYERS = 160
NEWEST_OPSET = 24  # of ONNX's own domain that ONNX Runtime knows
BATCHED = ((), (5,), (2, 3), (3, 33), (2, 1, 40))


class Layer:
    """One random Gemm or MatMul and inputs for it.

    An absolute bound means something at one scale only, and float32 rounds in proportion. Products
    are scaled to a standard deviation of 1/6 whatever K and alpha, so that the largest are near 1:
    ONNX Runtime's own Gemm is then up to 5e-7 away from the exact result, and at four times the
    scale it would miss 1e-6 only. A block in a wrong place is off by 1e-1.
    """

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.seed = seed
        self.kind = self.pick(["Gemm"] * 5 + ["MatMul"] * 2)
        self.opset = int(self.random.integers(7, NEWEST_OPSET + 1))
        self.block = self.pick([64] * 4 + [16, 7])
        self.type = self.pick([numpy.float32] * 9 + [numpy.float64])
        self.m, self.k, self.n = (self.size() for _ in range(3))
        self.inputs, self.initializers, self.feeds = [], [], {}
        weights_first = self.kind == "MatMul" and self.random.random() < 0.2
        self.attributes = {}
        rows = (self.m,)
        if self.kind == "Gemm":
            for name in ("transA", "transB"):
                if self.random.random() < 0.5:
                    self.attributes[name] = 1
            for name in ("alpha", "beta"):
                if self.random.random() < 0.4:
                    self.attributes[name] = self.pick([0.5, -1.25, 2.0, 1.0, 0.3])
            if self.random.random() < 0.05:
                self.attributes["beta"] = 0.0
        elif not weights_first and self.random.random() < 0.6:
            rows = self.pick(BATCHED)
            self.m = math.prod(rows)
        a = self.values((*rows, self.k))
        scale = 2 * math.sqrt(self.k) * abs(self.attributes.get("alpha", 1))
        b = self.values((self.k, self.n)) / scale
        a, b = a.astype(self.type), b.astype(self.type)
        expected = a.astype(numpy.float64) @ b.astype(numpy.float64)
        expected *= numpy.float32(self.attributes.get("alpha", 1))
        self.add("a", a.T if "transA" in self.attributes else a, weights_first)
        self.add("b", b.T if "transB" in self.attributes else b, not weights_first)
        names = ["a", "b"]
        self.bias = None
        shapes = [None, (), (1,), (self.n,), (self.n,), (1, self.n), (self.m, 1), (self.m, self.n)]
        shape = self.pick(shapes) if self.kind == "Gemm" else None
        if shape is None and self.kind == "Gemm" and self.opset < 11:
            shape = (self.n,)  # C was not yet optional
        if shape is not None:
            self.bias = shape
            c = numpy.asarray(self.values(shape) / 4, self.type)
            expected = expected + c.astype(numpy.float64) * numpy.float32(
                self.attributes.get("beta", 1))
            self.add("c", c, self.random.random() < 0.7)
            names.append("c")
        self.expected = expected
        node = helper.make_node(self.kind, names, ["y"], name="layer", **self.attributes)
        output = helper.make_tensor_value_info("y", self.element(), expected.shape)
        graph = helper.make_graph([node], "layer", self.inputs, [output], self.initializers)
        self.model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def size(self):
        """Up to four blocks; half of the time at the edge of one."""
        block = self.block
        if self.random.random() < 0.5:
            return max(1, self.pick((1, block, 2 * block, 3 * block)) + self.pick((-1, 0, 1)))
        return int(self.random.integers(1, 4 * block))

    def values(self, shape):
        return self.random.uniform(-1, 1, shape)

    def element(self):
        return helper.np_dtype_to_tensor_dtype(numpy.dtype(self.type))

    def add(self, name, value, constant):
        value = numpy.ascontiguousarray(value) if value.ndim else value
        if constant:
            self.initializers.append(numpy_helper.from_array(value, name))
        else:
            self.inputs.append(helper.make_tensor_value_info(name, self.element(), value.shape))
            self.feeds[name] = value

    def blocks(self):
        return math.prod(math.ceil(size / self.block) for size in (self.m, self.k, self.n))

    def __str__(self):
        return (f"seed {self.seed}: {self.kind} {self.m}x{self.k}x{self.n} {self.attributes} bias "
                f"{self.bias} block {self.block} opset {self.opset} {self.type.__name__}")


class TiledLayers(ProgramTest):
    def test_random_layers_agree_with_their_originals(self):
        meaningful = 0
        for seed in range(LAYERS):
            layer = Layer(seed)
            with self.subTest(str(layer)):
                tiled, report = self.tile(layer.model, "--block", layer.block)
                self.assertEqual(operators(tiled)["MatMul"], layer.blocks())
                self.assertEqual(operators(tiled)["Gemm"], 0)
                self.assertEqual(report["total"]["matmuls"], layer.blocks())
                self.assertEqual(
                    [report["layers"][0][name] for name in "mkn"], [layer.m, layer.k, layer.n])
                original = infer(layer.model.SerializeToString(), layer.feeds)[0]
                result = infer(str(self.folder / "tiled.onnx"), layer.feeds)[0]
                self.assertEqual(result.shape, original.shape)
                self.assertEqual(result.dtype, original.dtype)
                numpy.testing.assert_allclose(result, original, rtol=0, atol=ABSOLUTE)
                numpy.testing.assert_allclose(result, layer.expected, rtol=0, atol=ABSOLUTE)
                meaningful += bool(numpy.abs(original).max() > 0.05)
        self.assertGreater(meaningful, 0.95 * LAYERS)

    def test_layers_cover_what_they_are_meant_to(self):
        layers = [Layer(seed) for seed in range(LAYERS)]
        self.assertGreaterEqual(len(layers), 100)
        for what in (
                lambda layer: "transA" in layer.attributes,
                lambda layer: "transB" in layer.attributes,
                lambda layer: layer.attributes.get("alpha", 1) != 1,
                lambda layer: layer.attributes.get("beta", 1) not in (0, 1),
                lambda layer: layer.attributes.get("beta", 1) == 0,
                lambda layer: layer.kind == "Gemm" and layer.bias is None,
                lambda layer: layer.bias == (),
                lambda layer: layer.bias == (layer.m, 1) and layer.m > 1,
                lambda layer: layer.bias == (layer.m, layer.n),
                lambda layer: layer.bias == (layer.n,),
                lambda layer: max(layer.m, layer.k, layer.n) <= layer.block,
                lambda layer: min(layer.m, layer.k, layer.n) > layer.block,
                lambda layer: layer.kind == "MatMul" and len(layer.expected.shape) == 1,
                lambda layer: layer.kind == "MatMul" and len(layer.expected.shape) > 2
                and layer.m > layer.block,
                lambda layer: layer.kind == "MatMul" and "b" in layer.feeds,
                lambda layer: layer.opset < 10,
                lambda layer: layer.type is numpy.float64):
            self.assertTrue(any(map(what, layers)))

    def test_an_open_batch_runs_with_any_batch(self):
        random = numpy.random.default_rng(1)
        weights = (random.uniform(-1, 1, (70, 130)) / 12).astype(numpy.float32)
        model = helper.make_model(
            helper.make_graph(
                [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], "layer",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 130])],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 70])],
                [numpy_helper.from_array(weights, "w")]),
            opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        self.tile(model)
        for batch in (1, 2, 64, 100):
            x = random.uniform(-1, 1, (batch, 130)).astype(numpy.float32)
            result = infer(str(self.folder / "tiled.onnx"), {"x": x})[0]
            numpy.testing.assert_allclose(result, x @ weights.T, rtol=0, atol=ABSOLUTE)
        self.tile(model, "--batch", 100)
        x = random.uniform(-1, 1, (100, 130)).astype(numpy.float32)
        result = infer(str(self.folder / "tiled.onnx"), {"x": x})[0]
        numpy.testing.assert_allclose(result, x @ weights.T, rtol=0, atol=ABSOLUTE)

    def test_both_forms_of_make_linear_agree(self):
        random = numpy.random.default_rng(2)
        for m, k, n, options in ((1, 1, 1, []), (3, 200, 100, ["--no-bias"]), (70, 130, 65, []),
                                 (64, 64, 64, ["--seed", "7"])):
            with self.subTest(f"{m}x{k}x{n}"):
                self.succeed("make-linear", m, k, n, "-o", "whole.onnx", *options)
                self.succeed("make-linear", m, k, n, "-o", "tiled.onnx", "--tiled", *options)
                self.succeed("tile", "whole.onnx", "-o", "again.onnx")
                self.assertEqual((self.folder / "tiled.onnx").read_bytes(),
                                 (self.folder / "again.onnx").read_bytes())
                whole = onnx.load(self.folder / "whole.onnx")
                self.assertEqual(operators(whole), {"Gemm": 1})
                self.assertEqual(len(whole.graph.node[0].input), 2 if options == ["--no-bias"] else 3)
                feeds = {"input": random.uniform(-1, 1, (m, k)).astype(numpy.float32)}
                original = infer(str(self.folder / "whole.onnx"), feeds)[0]
                result = infer(str(self.folder / "tiled.onnx"), feeds)[0]
                numpy.testing.assert_allclose(result, original, rtol=0, atol=ABSOLUTE)
                self.assertGreater(numpy.abs(original).max(), 0.05)


class BadUsage(ProgramTest):
    def assert_refused(self, expected, *arguments):
        code, output, complaint = self.run_program(*arguments)
        self.assertEqual((code, output), (2, ""), complaint)
        self.assertIn(expected, complaint)
        self.assertEqual(complaint.count("\n"), 1, complaint)

    def test_is_one_line_and_leaves_no_file(self):
        (self.folder / "text.onnx").write_text("no model")
        self.succeed("make-linear", 2, 3, 4, "-o", "good.onnx")
        before = sorted(self.folder.iterdir())
        self.assert_refused("missing.onnx", "tile", "missing.onnx", "-o", "out.onnx")
        self.assert_refused("text.onnx", "tile", "text.onnx", "-o", "out.onnx")
        self.assert_refused("nowhere/out.onnx", "tile", "good.onnx", "-o", "nowhere/out.onnx")
        self.assert_refused("--output", "tile", "good.onnx")
        self.assert_refused("--block", "tile", "good.onnx", "-o", "out.onnx", "--block", 0)
        self.assert_refused("one ONNX file", "make-linear", 1, 40000, 40000, "-o", "out.onnx")
        self.assert_refused("0", "make-linear", 0, 3, 4, "-o", "out.onnx")
        self.assert_refused("use one of", "make-model", "vgg", "-o", "out.onnx")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_a_model_is_not_rewritten_in_place(self):
        self.succeed("make-linear", 2, 100, 4, "-o", "model.onnx")
        before = (self.folder / "model.onnx").read_bytes()
        self.assert_refused("is the file that the model is read from", "tile", "model.onnx", "-o", "model.onnx")
        self.assertEqual((self.folder / "model.onnx").read_bytes(), before)

    def test_an_open_size_is_told_by_an_option(self):
        model = helper.make_model(
            helper.make_graph(
                [helper.make_node("MatMul", ["x", "w"], ["y"])], "layer",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, "k"])],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
                [numpy_helper.from_array(numpy.ones((70, 3), numpy.float32), "w")]),
            opset_imports=[helper.make_opsetid("", NEWEST_OPSET)], ir_version=11)
        tiled, _ = self.tile(model)
        self.assertEqual(operators(tiled)["MatMul"], 1)
        tiled, report = self.tile(model, "--input-shape", "x=2x70")
        self.assertEqual(report["layers"][0]["k"], 70)
        self.assertEqual(operators(tiled)["MatMul"], 2)
        x = numpy.ones((2, 70), numpy.float32)
        numpy.testing.assert_array_equal(infer(str(self.folder / "tiled.onnx"), {"x": x})[0], numpy.full((2, 3), 70))
