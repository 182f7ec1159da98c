# SPDX-License-Identifier: Apache-2.0
"""`run --model` as a user meets it: networks on the accelerator, images, and what is refused."""

import math

import numpy
import onnx
from PIL import Image

from harness import ProgramTest, infer, make_model


class Accelerator(ProgramTest):
    def report(self, *arguments):
        output = self.succeed("run", *arguments, "--json", "report.json")
        return output, self.read_json("report.json")

    @staticmethod
    def layers(report, place):
        return [layer for layer in report["layers"] if layer["on"] == place]

    def test_runs_linear_layers_on_the_rtl(self):
        self.succeed("make-model", "mnist-cnn", "-o", "model.onnx", "--batch", 4)
        images = numpy.random.default_rng(1).random((4, 1, 28, 28), numpy.float32)
        numpy.save(self.folder / "images.npy", images)
        output, report = self.report("--model", "model.onnx", "--input", "images.npy", "--output",
                                     "scores.npy", "--array", 8, "--precision", "int8")
        self.assertIn(" equal: VERIFIED in ", output)
        self.assertEqual(report["device"], "rtl")
        self.assertEqual(report["batch"], 4)
        self.assertTrue(report["verified"])
        model = onnx.load(self.folder / "model.onnx")
        linear = [node.name for node in model.graph.node if node.op_type in ("Gemm", "MatMul")]
        on_device = self.layers(report, "device")
        self.assertEqual([layer["name"] for layer in on_device], linear)
        self.assertEqual(
            [(layer["m"], layer["k"], layer["n"]) for layer in on_device],
            [(4, 392, 256), (4, 256, 10)])
        convolutions = [node.name for node in model.graph.node if node.op_type == "Conv"]
        self.assertEqual([layer["name"] for layer in self.layers(report, "host")], convolutions)
        for layer in on_device:
            self.assertGreater(layer["cycles"], 0)
            self.assertEqual(layer["cycles"], layer["predicted_cycles"])
        self.assertEqual(report["host"]["nodes"], len(model.graph.node) - 2)
        expected = infer(str(self.folder / "model.onnx"), {model.graph.input[0].name: images})[0]
        found = numpy.load(self.folder / "scores.npy")
        noise = float(numpy.sum((found - expected) ** 2, dtype=numpy.float64))
        ratio = 10 * math.log10(float(numpy.sum(expected**2, dtype=numpy.float64)) / noise)
        self.assertAlmostEqual(ratio, report["quality"]["signal_to_noise_db"], delta=0.01)
        self.assertGreater(ratio, 30)
        self.assertLess(ratio, 60)  # it was quantized
        self.assertEqual(report["quality"]["top1_agreement"],
                         float(numpy.mean(found.argmax(1) == expected.argmax(1))))

    def test_float32_from_slices_is_nearly_exact(self):
        self.succeed("make-model", "lenet", "-o", "model.onnx")
        _, report = self.report("--model", "model.onnx", "--array", 8, "--precision", "float32")
        self.assertTrue(report["verified"])
        self.assertGreater(report["quality"]["signal_to_noise_db"], 110)

    def test_runs_every_block_of_a_tiled_network(self):
        self.succeed("make-model", "lenet", "-o", "model.onnx")
        self.succeed("tile", "model.onnx", "-o", "tiled.onnx")
        _, report = self.report("--model", "tiled.onnx", "--device", "reference", "--precision",
                                "int8")
        blocks = [node for node in onnx.load(self.folder / "tiled.onnx").graph.node
                  if node.op_type == "MatMul"]
        self.assertEqual(len(self.layers(report, "device")), len(blocks))
        self.assertGreater(report["quality"]["signal_to_noise_db"], 30)

    def test_the_seed_chooses_the_input(self):
        self.succeed("make-model", "lenet", "-o", "model.onnx")
        def scores(seed):
            self.succeed("run", "--model", "model.onnx", "--device", "reference", "--seed", seed,
                         "--output", "scores.npy")
            return numpy.load(self.folder / "scores.npy")
        numpy.testing.assert_array_equal(scores(1), scores(1))
        self.assertTrue(numpy.any(scores(1) != scores(2)))


class Images(ProgramTest):
    def preprocessed(self, pixels, size):
        """What a network is given for an image, by one that hands it on."""
        values = [(name, onnx.TensorProto.FLOAT, [1, 3, *size]) for name in "xy"]
        onnx.save(make_model([onnx.helper.make_node("Identity", ["x"], ["y"])], values[:1], values[1:]),
                  self.folder / "model.onnx")
        Image.fromarray(pixels).save(self.folder / "image.png")
        self.succeed("run", "--model", "model.onnx", "--input", "image.png", "--device", "reference",
                     "--precision", "float32", "--output", "y.npy", "--allow-host-only")
        return numpy.load(self.folder / "y.npy")[0]

    @staticmethod
    def normalised(pixels):
        values = pixels.astype(numpy.float64).transpose(2, 0, 1) / 255
        mean = numpy.array([0.485, 0.456, 0.406]).reshape(3, 1, 1)
        deviation = numpy.array([0.229, 0.224, 0.225]).reshape(3, 1, 1)
        return (values - mean) / deviation

    def test_one_of_the_right_size_is_normalised_only(self):
        pixels = numpy.random.default_rng(1).integers(0, 256, (20, 30, 3), numpy.uint8)
        numpy.testing.assert_allclose(self.preprocessed(pixels, (20, 30)), self.normalised(pixels),
                                      rtol=0, atol=1e-6)

    def test_the_middle_of_a_larger_one_is_seen(self):
        # Left third red, middle green, right blue; the middle square is all that remains.
        pixels = numpy.zeros((64, 192, 3), numpy.uint8)
        for third in range(3):
            pixels[:, 64 * third:64 * third + 64, third] = 255
        green = self.normalised(pixels[:1, 64:65])[:, 0, 0]
        found = self.preprocessed(pixels, (28, 28))
        numpy.testing.assert_allclose(found, numpy.broadcast_to(green.reshape(3, 1, 1), found.shape),
                                      rtol=0, atol=1e-5)


class Refusals(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("make-model", "lenet", "-o", "lenet.onnx")

    def refused(self, reason, *arguments):
        before = sorted(self.folder.iterdir())
        code, output, complaint = self.run_program("run", *arguments)
        self.assertEqual((code, output), (2, ""), complaint)
        self.assertEqual(complaint.count("\n"), 1, complaint)
        self.assertIn(reason, complaint)
        self.assertEqual(sorted(self.folder.iterdir()), before, "some file was left")

    def test_bad_usage_is_one_line(self):
        lenet = ("--model", "lenet.onnx")
        self.refused("no such file", "--model", "none.onnx")
        self.refused("excludes", "alexnet", *lenet)
        self.refused("requires --model", "--input", "x.npy")
        self.refused("cannot be read", *lenet, "--input", "none.npy")
        self.refused("PATTERN=FOLDER", *lenet, "--dump-activations", "c1")
        self.refused("no node's name matches", *lenet, "--dump-activations", "conv9=d")
        self.refused("--trace needs a device with signals to look at: --device rtl", *lenet, "--device", "reference", "--precision",
                     "float32", "--trace", "x.fst")

    def test_inputs_must_fit(self):
        numpy.save(self.folder / "double.npy", numpy.zeros((1, 1, 32, 32)))
        numpy.save(self.folder / "small.npy", numpy.zeros((1, 1, 28, 28), numpy.float32))
        (self.folder / "text.npy").write_text("hello")
        (self.folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        lenet = ("--model", "lenet.onnx", "--input")
        self.refused("float32 is needed", *lenet, "double.npy")
        self.refused("is 1x1x28x28", *lenet, "small.npy")
        self.refused("the file is text", *lenet, "text.npy")
        self.refused("the PNG image ends early", *lenet, "image.png")

    def test_operators_that_only_onnx_runtime_has(self):
        helper = onnx.helper
        value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
        nodes = [helper.make_node("MeanVarianceNormalization", ["x"], ["a"], name="first"),
                 helper.make_node("RandomUniformLike", ["a"], ["y"], name="second")]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:]), ir_version=7,
                                    opset_imports=[helper.make_opsetid("", 13)]),
                  self.folder / "odd.onnx")
        output, report = Accelerator.report(self, "--model", "odd.onnx", "--array", 8, "--allow-host-only")
        self.assertEqual(report["host"]["nodes"], 2, output)


class UnusualFiles(ProgramTest):
    """Valid files that few exporters write: the outputs of ONNX Runtime."""

    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(3)

    def weights(self, name, *shape):
        return onnx.numpy_helper.from_array(numpy.float32(self.random.standard_normal(shape)), name)

    def compare(self, nodes, shape, constants=(), opsets=(("", 17),), declared="own", close=False):
        """Runs the nodes from x to y; `declared`: the shape of x in the file."""
        def value(name, sizes):
            return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes)
        sizes = shape if declared == "own" else declared
        graph = onnx.helper.make_graph(nodes, "g", [value("x", sizes)], [value("y", None)], list(constants))
        model = onnx.helper.make_model(graph, ir_version=8, opset_imports=[
            onnx.helper.make_opsetid(*opset) for opset in opsets])
        onnx.save(model, self.folder / "model.onnx")
        x = numpy.float32(1.5 * self.random.standard_normal(shape))
        numpy.save(self.folder / "x.npy", x)
        self.succeed("run", "--model", "model.onnx", "--input", "x.npy", "--device", "reference", "--array", 8,
                     "--allow-host-only", "--output", "y.npy")
        found, expected = numpy.load(self.folder / "y.npy"), infer(str(self.folder / "model.onnx"), {"x": x})[0]
        self.assertEqual(found.shape, expected.shape)
        if close:  # what the device computes of floats is not of the same bits
            numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * numpy.max(numpy.abs(expected)))
        else:
            self.assertEqual(found.tobytes(), expected.tobytes())

    def test_an_input_without_a_shape_has_that_of_the_data(self):
        self.compare([onnx.helper.make_node("Relu", ["x"], ["y"])], [3, 4], declared=None)

    def test_an_input_without_a_shape_is_refused_by_name_where_a_shape_is_needed(self):
        self.compare([onnx.helper.make_node("Relu", ["x"], ["y"])], [3, 4], declared=None)
        for command in (["compile", "model.onnx", "-o", "m.g64"], ["analyze", "model.onnx"],
                        ["quantize", "model.onnx", "--calibrate", "x.npy", "-o", "q.onnx"]):
            code, _, complaint = self.run_program(*command)
            self.assertIn(code, (0, 2), f"{command}: {complaint}")

    def test_an_opset_may_be_imported_twice(self):
        self.compare([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], [2, 8], [self.weights("w", 8, 4)],
                     opsets=(("", 17), ("", 17)), close=True)

    def test_layer_normalization_may_be_older_than_in_onnx(self):
        self.compare([onnx.helper.make_node("LayerNormalization", ["x", "s", "b"], ["y"], axis=-1)], [2, 5, 16],
                     [self.weights("s", 16), self.weights("b", 16)], opsets=(("", 14), ("com.microsoft", 1)))

    def test_an_open_first_size_may_be_no_batch(self):
        self.compare([onnx.helper.make_node("Unsqueeze", ["x", "a"], ["u"]),
                      onnx.helper.make_node("Transpose", ["u"], ["t"], perm=[0, 2, 1]),
                      onnx.helper.make_node("Conv", ["t", "w"], ["y"])], [21, 10],
                     [onnx.numpy_helper.from_array(numpy.int64([0]), "a"), self.weights("w", 5, 10, 3)],
                     declared=["T", 10], close=True)

    def test_a_branch_may_call_its_output_as_the_if_does(self):
        def branch(operator):
            result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
            return onnx.helper.make_graph([onnx.helper.make_node(operator, ["m"], ["y"])], operator, [], [result])
        for value in (False, True):
            condition = onnx.helper.make_node("Constant", [], ["c"], value=onnx.helper.make_tensor(
                "", onnx.TensorProto.BOOL, [], [value]))
            choice = onnx.helper.make_node("If", ["c"], ["y"], then_branch=branch("Relu"), else_branch=branch("Neg"))
            self.compare([onnx.helper.make_node("Abs", ["x"], ["m"]), condition, choice], [2, 8])
