# SPDX-License-Identifier: Apache-2.0
"""The example's convolution, Linear, ReLU and pooling have ONNX Runtime's values."""

import pathlib
import random
import subprocess
import sys
import unittest

import numpy
import onnx
from onnx import TensorProto, helper

from harness import infer

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python/examples"
sys.path.insert(0, str(EXAMPLES))
import first_principles as own  # pylint: disable=wrong-import-position


class FirstPrinciples(unittest.TestCase):
    def check(self, found, operator, inputs, **attributes):
        names = [f"x{i}" for i in range(len(inputs))]
        graph = helper.make_graph([helper.make_node(operator, names, ["y"], **attributes)], "node",
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        expected = infer(model.SerializeToString(), dict(zip(names, inputs)))[0]
        self.assertEqual(found.dtype, numpy.float32)
        numpy.testing.assert_allclose(found, expected, rtol=0, atol=own.TOLERANCE * max(1, abs(expected).max()))

    def test_random_layers(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                draw, values = random.Random(seed), numpy.random.default_rng(seed)

                def floats(*shape, values=values):
                    return values.standard_normal(shape).astype(numpy.float32)

                kernel, strides = [[draw.randint(1, 3) for _ in range(2)] for _ in range(2)]
                pads = [draw.randint(0, size - 1) for size in kernel * 2]
                x = floats(draw.randint(1, 2), draw.randint(1, 4), draw.randint(3, 9), draw.randint(3, 9))
                window = {"kernel_shape": kernel, "strides": strides, "pads": pads}
                weights, bias = floats(draw.randint(1, 5), x.shape[1], *kernel), floats(1)
                bias = numpy.repeat(bias, len(weights))
                self.check(own.convolution(x, weights, bias, strides, pads), "Conv", [x, weights, bias], **window)
                self.check(own.max_pool(x, kernel, strides, pads), "MaxPool", [x], **window)
                self.check(own.relu(x), "Relu", [x])
                rows, weights = floats(draw.randint(1, 5), draw.randint(1, 20)), floats(draw.randint(1, 9), 1)
                weights = numpy.repeat(weights, rows.shape[1], axis=1) * floats(1, rows.shape[1])
                bias = floats(len(weights))
                self.check(own.linear(rows, weights, bias), "Gemm", [rows, weights, bias], transB=1)

    def test_network(self):
        model = onnx.load(ROOT / "tests/data/fashion_cnn.onnx")
        x = numpy.random.default_rng(2).random((2, 1, 28, 28), numpy.float32)
        for node, found, _, expected in own.layers(model, x):
            numpy.testing.assert_allclose(found, expected, rtol=0, atol=own.TOLERANCE * abs(expected).max(),
                                          err_msg=node.name)

    def test_program(self):
        result = subprocess.run([sys.executable, EXAMPLES / "first_principles.py", ROOT / "tests/data/fashion_cnn.onnx"],
                                capture_output=True, text=True, check=True)
        self.assertIn("196x288x64, 3,612,672 MACs", result.stdout)
