# SPDX-License-Identifier: Apache-2.0
"""The float path, `run --model --device reference --precision float32`, agrees with ONNX Runtime in
every node's output."""

import math
import pathlib
import unittest

import numpy
import onnx

from harness import ProgramTest, infer

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
# Of the largest value of a node's output: what other orders of sums change, layer after layer.
RELATIVE = 2e-4


def fill_weights(model, seed):
    """Gives initializers that a file holds the shapes of alone values that keep activations near 1."""
    random = numpy.random.default_rng(seed)
    variances = {node.input[4] for node in model.graph.node if node.op_type == "BatchNormalization"}
    filled = 0
    for tensor in model.graph.initializer:
        fields = (tensor.raw_data, tensor.float_data, tensor.int64_data, tensor.int32_data)
        if any(len(field) for field in fields) or 0 in tensor.dims:
            continue
        if tensor.data_type != onnx.TensorProto.FLOAT:
            raise AssertionError(f"{tensor.name} holds no data and is no float")
        fan_in = math.prod(tensor.dims[1:]) if len(tensor.dims) > 1 else 1
        values = random.standard_normal(list(tensor.dims), numpy.float32)
        values *= numpy.float32(math.sqrt(2 / fan_in) if len(tensor.dims) > 1 else 0.1)
        if tensor.name in variances:
            values = 1 + abs(values)
        tensor.raw_data = values.tobytes()
        filled += 1
    return filled


class Executor(ProgramTest):
    def compare_by_layer(self, path, shape, least_nodes):
        """Every node's first output, by the program and by ONNX Runtime."""
        values = numpy.random.default_rng(7).standard_normal(shape).astype(numpy.float32)
        numpy.save(self.folder / "input.npy", values)
        output = self.succeed(
            "run", "--model", path, "--input", "input.npy", "--output", "output.npy", "--device",
            "reference", "--precision", "float32", "--dump-activations", "*=activations")
        self.assertIn("VERIFIED", output)

        model = onnx.load(path)
        graph = model.graph
        names = []
        known = {value.name for value in graph.output}
        for node in graph.node:
            if node.op_type == "Constant":
                continue
            names.append((node, node.output[0]))
            if node.output[0] not in known:
                graph.output.append(onnx.ValueInfoProto(name=node.output[0]))
        extended = self.folder / "extended.onnx"
        onnx.save(model, extended)
        # Without fusing, so that each node is what the file says.
        results = infer(str(extended), {graph.input[0].name: values}, optimize=False)
        by_name = dict(zip((value.name for value in graph.output), results))

        worst = (0.0, "")
        compared = 0
        for index, (node, name) in enumerate(names):
            expected = by_name[name]
            file = (node.name or f"{node.op_type} number {index}").replace("/", "_") + ".npy"
            found = numpy.load(self.folder / "activations" / file)
            self.assertEqual(found.shape, expected.shape, node.name)
            self.assertEqual(found.dtype, expected.dtype, node.name)
            if expected.dtype != numpy.float32:
                numpy.testing.assert_array_equal(found, expected, node.name)
                continue
            scale = float(numpy.abs(expected).max())
            error = float(numpy.abs(found.astype(numpy.float64) - expected).max())
            # The comparison means something: values differ by far more than what is allowed.
            self.assertGreater(float(expected.std()), 20 * RELATIVE * scale, node.name)
            worst = max(worst, (error / scale if scale else error, node.name))
            self.assertLessEqual(error, RELATIVE * scale, f"{node.name} ({node.op_type})")
            compared += 1
        self.assertGreaterEqual(compared, least_nodes)
        numpy.testing.assert_array_equal(
            numpy.load(self.folder / "output.npy"),
            numpy.load(self.folder / "activations" / file))
        print(f"{pathlib.Path(path).name}: {compared} nodes, largest difference {worst[0]:.1e} of the "
              f"largest value, in {worst[1]}", flush=True)

    def made(self, network, shape, least_nodes):
        self.succeed("make-model", network, "-o", f"{network}.onnx", "--batch", shape[0])
        self.compare_by_layer(self.folder / f"{network}.onnx", shape, least_nodes)

    def exported(self, network, shape, least_nodes):
        model = onnx.load(DATA / f"{network}.onnx", load_external_data=False)
        self.assertGreater(fill_weights(model, 3), 0)
        for value in (model.graph.input[0], model.graph.output[0]):
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
        for node in model.graph.node:
            if node.op_type == "Dropout":
                del node.input[2:]  # exported in training mode, in which ONNX Runtime drops indeed
        onnx.save(model, self.folder / f"{network}.onnx")
        self.compare_by_layer(self.folder / f"{network}.onnx", shape, least_nodes)

    def test_mnist_cnn(self):
        self.made("mnist-cnn", (3, 1, 28, 28), 9)

    def test_lenet(self):
        self.made("lenet", (3, 1, 32, 32), 10)

    def test_alexnet(self):
        self.made("alexnet", (2, 3, 224, 224), 20)

    def test_googlenet(self):
        self.exported("googlenet", (2, 3, 224, 224), 100)

    def test_mobilenet_v2(self):
        self.exported("mobilenet_v2", (2, 3, 224, 224), 100)

    def test_resnet50(self):
        self.exported("resnet50", (2, 3, 224, 224), 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
