# SPDX-License-Identifier: Apache-2.0
"""Whole networks that `make-model` writes: ONNX Runtime runs them, and runs them alike after
`tile`."""

import numpy
import onnx

from harness import ABSOLUTE, ProgramTest, infer, operators

MEAN_SQUARED = 1e-12


class TiledNetworks(ProgramTest):
    def compare(self, network, shape, classes, matmuls):
        """Output of the network and of its rewritten form for random images."""
        self.succeed("make-model", network, "-o", "model.onnx", "--batch", shape[0])
        self.succeed("tile", "model.onnx", "-o", "tiled.onnx", "--json", "tiled.json")
        report = self.read_json("tiled.json")
        self.assertEqual([layer["matmuls"] for layer in report["layers"]], matmuls)
        tiled = str(self.folder / "tiled.onnx")
        model = onnx.load(tiled)
        self.assertEqual(operators(model)["MatMul"], sum(matmuls))
        self.assertEqual(operators(model)["Gemm"], 0)
        onnx.checker.check_model(model)
        del model

        images = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
        original = infer(str(self.folder / "model.onnx"), {"input": images}, optimize=False)[0]
        result = infer(tiled, {"input": images}, optimize=False)[0]
        self.assertEqual(original.shape, (shape[0], classes))
        self.assertEqual(result.shape, original.shape)
        difference = result.astype(numpy.float64) - original.astype(numpy.float64)
        error = numpy.mean(difference**2)
        print(f"{network}: largest difference {numpy.abs(difference).max():.2e}, mean squared error "
              f"{error:.2e}, largest output {numpy.abs(original).max():.3f}", flush=True)
        numpy.testing.assert_allclose(result, original, rtol=0, atol=ABSOLUTE)
        self.assertLessEqual(error, MEAN_SQUARED)
        # The comparison means something: outputs are far above its bound, and images differ.
        self.assertGreater(numpy.abs(original).max(), 1e4 * ABSOLUTE)
        self.assertGreater(numpy.abs(original[0] - original[1]).max(), 1e2 * ABSOLUTE)

    def test_alexnet(self):
        self.compare("alexnet", (2, 3, 224, 224), 1000, [9216, 4096, 1024])

    def test_lenet(self):
        self.compare("lenet", (3, 1, 32, 32), 10, [7 * 2, 2 * 2, 2])

    def test_mnist_cnn(self):
        self.compare("mnist-cnn", (70, 1, 28, 28), 10, [2 * 7 * 4, 2 * 4])
