# SPDX-License-Identifier: Apache-2.0
"""`gemm64 quantize`: what it accepts, what it leaves in float, and its ranges next to those of ONNX Runtime's
calibrators. What it writes loads in ONNX Runtime, passes ONNX's checker, and gives the same bytes in both."""

import contextlib
import io

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import calibrate

import harness
from harness import infer, operators, saturates
from quantized import QuantizedTest, Reader

FLOAT = TensorProto.FLOAT


class Graph(harness.Graph):
    """One of float layers with seeded weights."""

    def weights(self, *shape, deviation=None):
        deviation = deviation or (2 / numpy.prod(shape[1:]))**0.5
        return self.constant(numpy.float32(deviation * self.random.standard_normal(shape)))

    def model(self, inputs, outputs, opset=17, ir_version=8, fed=()):
        """`inputs`: shapes by name. `fed`: constants that are inputs, too."""
        shapes = {tensor.name: list(tensor.dims) for tensor in self.constants if tensor.name in fed}
        graph = helper.make_graph(
            self.nodes, "network",
            [helper.make_tensor_value_info(name, FLOAT, shape)
             for name, shape in {**inputs, **shapes}.items()],
            [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs], self.constants)
        model = helper.make_model(graph, ir_version=ir_version,
                                  opset_imports=[helper.make_opsetid("", opset)])
        return onnx.shape_inference.infer_shapes(model)


def attention(mask=None):
    """Two heads of self-attention; `mask` is added to the scores."""
    graph = Graph(3)
    parts = []
    for _ in range(3):
        y = graph.node("Add", graph.node("MatMul", "x", graph.weights(8, 8)), graph.weights(8, deviation=.1))
        y = graph.node("Reshape", y, graph.constant(numpy.int64([0, 0, 2, 4])))
        parts.append(y)
    query = graph.node("Transpose", parts[0], perm=[0, 2, 1, 3])
    key = graph.node("Transpose", parts[1], perm=[0, 2, 3, 1])
    value = graph.node("Transpose", parts[2], perm=[0, 2, 1, 3])
    scores = graph.node("Mul", graph.node("MatMul", query, key), graph.constant(numpy.float32(0.5)))
    inputs = {"x": ["batch", "sequence", 8]}
    if mask == "constant":
        hidden = graph.node("Mul", graph.node("Sub", graph.constant(numpy.float32(1)), "mask"),
                            graph.constant(numpy.float32(-10000)))
        inputs["mask"] = ["batch", 1, 1, "sequence"]
        scores = graph.node("Add", scores, hidden)
    elif mask == "fed":
        inputs["mask"] = ["batch", 1, 1, "sequence"]
        scores = graph.node("Add", scores, "mask")
    elif mask == "infinite":
        inputs["mask"] = ["batch", 1, 1, "sequence"]
        hidden = graph.node("Cast", "mask", to=TensorProto.BOOL)
        scores = graph.node("Where", hidden, scores, graph.constant(numpy.float32(-numpy.inf)))
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)
    y = graph.node("Transpose", y, perm=[0, 2, 1, 3])
    y = graph.node("Reshape", y, graph.constant(numpy.int64([0, 0, 8])))
    return graph.model(inputs, [graph.node("MatMul", y, graph.weights(8, 8))])


def old_forms(opset):
    """Operators whose form changed between opset 9 and 13."""
    graph = Graph(5)
    x = graph.node("Conv", "x", graph.weights(6, 3, 3, 3), graph.weights(6, deviation=.1))
    x = graph.node("Clip", x, min=0.0, max=4.0) if opset < 11 else graph.node(
        "Clip", x, graph.constant(numpy.float32(0)), graph.constant(numpy.float32(4)))
    pads = [0, 0, 1, 0, 0, 0, 0, 1]
    x = graph.node("Pad", x, pads=pads) if opset < 11 else graph.node(
        "Pad", x, graph.constant(numpy.int64(pads)))
    scales = graph.constant(numpy.float32([1, 1, 2, 2]))
    if opset < 10:
        x = graph.node("Upsample", x, scales, mode="nearest")
    elif opset < 11:
        x = graph.node("Resize", x, scales, mode="nearest")
    else:
        x = graph.node("Resize", x, graph.constant(numpy.float32([])), scales, mode="nearest",
                       coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = graph.node("Conv", x, graph.weights(8, 6, 1, 1), kernel_shape=[1, 1])
    x = graph.node("Softmax", x, axis=2)
    x = graph.node("Dropout", x, **({"ratio": 0.5} if opset < 12 else {}))
    if opset < 10:
        x = graph.node("Slice", x, starts=[1], ends=[7], axes=[1])
    else:
        x = graph.node("Slice", x, *(graph.constant(numpy.int64([i])) for i in (1, 7, 1)))
    x = graph.node("Mul", x, graph.constant(numpy.float32(20)))
    graph.nodes.append(helper.make_node("Split", [x], ["left", "right"], "split", axis=1, split=[2, 4]))
    y = graph.node("Squeeze", graph.node("ReduceSum", "left", axes=[1]), axes=[1])
    graph.nodes[-1].op_type = "Squeeze"
    y = graph.node("Unsqueeze", y, axes=[1])
    x = graph.node("Concat", graph.node("Conv", "right", graph.weights(4, 4, 3, 3), pads=[1] * 4), y, axis=1)
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph.model({"x": ["n", 3, 8, 8]}, [graph.node("Softmax", x)], opset,
                       ir_version=3 if opset == 9 else 6,
                       fed=[t.name for t in graph.constants] if opset == 9 else ())


def u_net():
    """A U-Net of two levels, whose transposed convolutions stay in float."""
    graph = Graph(9)

    def block(x, channels, filters):
        for count in (channels, filters):
            x = graph.node("Relu", graph.node("Conv", x, graph.weights(filters, count, 3, 3),
                                              graph.weights(filters, deviation=.1), pads=[1] * 4))
        return x

    def up(x, skipped, channels, filters):
        x = graph.node("ConvTranspose", x, graph.weights(channels, filters, 2, 2),
                       graph.weights(filters, deviation=.1), strides=[2, 2])
        return block(graph.node("Concat", x, skipped, axis=1), 2 * filters, filters)

    first = block("x", 3, 6)
    second = block(graph.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2]), 6, 12)
    x = block(graph.node("MaxPool", second, kernel_shape=[2, 2], strides=[2, 2]), 12, 20)
    x = up(up(x, second, 20, 12), first, 12, 6)
    return graph.model({"x": ["n", 3, 16, 16]}, [graph.node("Conv", x, graph.weights(2, 6, 1, 1))])


class Quantize(QuantizedTest):
    def quantize(self, model, feeds, *options):
        """Writes the model, and quantizes it by `feeds`; the quantized one and the printed text."""
        onnx.save(model, self.folder / "float.onnx")
        arguments = []
        for name, values in feeds.items():
            numpy.save(self.folder / f"{name}.cal.npy", values)
            arguments += ["--calibrate", f"{name}={name}.cal.npy"]
        printed = self.succeed("quantize", "float.onnx", *arguments, "-o", "q.onnx", *options)
        written = onnx.load(self.folder / "q.onnx")
        onnx.checker.check_model(written, full_check=True)
        return written, printed

    def same_bytes(self, feeds, tolerance=0.0):
        """Both programs on what was written; ONNX Runtime's outputs."""
        self.succeed("run", "--model", "q.onnx", *self.inputs_of(feeds), "--array", 4, "--output", "found/",
                     "--allow-host-only")
        wanted = infer(str(self.folder / "q.onnx"), feeds)
        names = [value.name for value in onnx.load(self.folder / "q.onnx").graph.output]
        for name, value in zip(names, wanted):
            found = numpy.load(self.folder / "found" / f"{name}.npy")
            if tolerance:
                numpy.testing.assert_allclose(found, value, rtol=0, atol=tolerance)
            elif not saturates():
                self.assertEqual(found.tobytes(), value.tobytes(), name)
        return wanted

    def near(self, model, feeds, wanted, most=0.02):
        for exact, near in zip(infer(model.SerializeToString(), feeds), wanted):
            noise = float(numpy.sum((exact - near)**2)) / float(numpy.sum(exact**2))
            self.assertLess(noise, most)

    def draw(self, *shape):
        return numpy.random.default_rng(7).standard_normal(shape).astype(numpy.float32)

    def test_transposed_convolutions_between_quantized_values(self):
        """ONNX Runtime quantizes their weights though the file does not."""
        feeds = {"x": self.draw(2, 3, 16, 16)}
        model = u_net()
        written, _ = self.quantize(model, feeds)
        self.assertEqual(operators(written)["ConvTranspose"], 2)
        self.near(model, feeds, self.same_bytes(feeds))

    def test_sizes_may_be_open_and_products_of_activations_are_quantized(self):
        model = attention()
        written, printed = self.quantize(model, {"x": self.draw(4, 5, 8)})
        self.assertIn("6 MatMul", printed.split("in float")[0])
        self.assertEqual([d.dim_param for d in written.graph.input[0].type.tensor_type.shape.dim][:2],
                         ["batch", "sequence"])
        for shape in ((1, 3, 8), (2, 7, 8)):
            feeds = {"x": self.draw(*shape)}
            self.near(model, feeds, self.same_bytes(feeds))

    def test_old_opsets_become_one_that_scales_channels(self):
        for opset in (9, 10, 11, 12):
            with self.subTest(opset=opset):
                model = old_forms(opset)
                written, _ = self.quantize(model, {"x": self.draw(4, 3, 8, 8)})
                self.assertEqual(written.opset_import[0].version, 13)
                self.assertEqual([value.name for value in written.graph.input], ["x"])
                feeds = {"x": self.draw(2, 3, 8, 8)}
                # Means and Softmax are of float sums, whose order is the program's own.
                self.near(model, feeds, self.same_bytes(feeds, 1e-6))

    def test_initializers_that_are_inputs_become_constants(self):
        graph = Graph()
        y = graph.node("Gemm", "x", graph.weights(8, 4), graph.weights(4))
        model = graph.model({"x": [1, 8]}, [y], ir_version=3, fed=["c0", "c1"])
        written, printed = self.quantize(model, {"x": self.draw(5, 8)})
        self.assertIn("2 initializers are no longer among the inputs", printed)
        self.assertEqual([value.name for value in written.graph.input], ["x"])
        self.near(model, {"x": self.draw(1, 8)}, self.same_bytes({"x": self.draw(1, 8)}))

    def test_masks_stay_in_float_though_calibration_hid_nothing(self):
        for mask in ("constant", "fed", "infinite"):
            with self.subTest(mask=mask):
                model = attention(mask)
                nothing = 0.0 if mask == "fed" else 1.0
                hides = {"constant": 0.0, "fed": -10000.0, "infinite": 0.0}[mask]
                _, printed = self.quantize(
                    model, {"x": self.draw(4, 5, 8), "mask": numpy.full((4, 1, 1, 5), nothing, numpy.float32)})
                if mask != "infinite":
                    self.assertIn("mask", printed.split("in float: ")[1])
                hidden = numpy.full((2, 1, 1, 5), nothing, numpy.float32)
                hidden[:, :, :, 3:] = hides
                feeds = {"x": self.draw(2, 5, 8), "mask": hidden}
                # Softmax is a float's.
                self.near(model, feeds, self.same_bytes(feeds, 0.05))

    def test_operators_and_nodes_are_chosen(self):
        def quantized(*options):
            return self.quantize(attention(), {"x": self.draw(4, 5, 8)}, *options)[1].split("in float")[0]
        self.assertEqual(quantized("--op-types-to-quantize", "MatMul").strip(), "on integers: 6 MatMul")
        self.assertIn("5 MatMul", quantized("--nodes-to-exclude", "matmul0"))
        self.assertIn("4 MatMul", quantized("--nodes-to-exclude", "matmul0,matmul3"))
        self.assertEqual(quantized("--nodes-to-quantize", "matmul0").strip(), "on integers: 1 MatMul")
        for options, printed in ((("--nodes-to-exclude", "matmul99"), "has no node 'matmul99'"),
                              (("--op-types-to-quantize", "Softmax"), "Softmax cannot be quantized; what can be are Add,"),
                              (("--calib-percentile", "99"), "--calib-percentile is for --calibrate-method percentile")):
            code, _, complaint = self.run_program("quantize", "float.onnx", "--calibrate", "x=x.cal.npy", "-o",
                                                  "none.onnx", *options)
            self.assertEqual((code, printed in complaint), (2, True), complaint)
            self.assertFalse((self.folder / "none.onnx").exists())

    def test_nothing_to_quantize_is_refused(self):
        graph = Graph()
        half = graph.node("Cast", "x", to=TensorProto.FLOAT16)
        y = graph.node("MatMul", half, graph.constant(numpy.float16(self.draw(8, 4))))
        model = graph.model({"x": [1, 8]}, [graph.node("Cast", y, to=FLOAT)])
        onnx.save(model, self.folder / "half.onnx")
        numpy.save(self.folder / "x.npy", self.draw(2, 8))
        code, output, complaint = self.run_program("quantize", "half.onnx", "--calibrate", "x.npy", "-o", "q.onnx")
        self.assertEqual((code, output), (2, ""))
        self.assertIn("nothing in it can be quantized: 1 MatMul: of float16", complaint)
        self.assertFalse((self.folder / "q.onnx").exists())

    def test_weights_that_nodes_make_of_constants_are_weights(self):
        graph = Graph()
        weights = graph.node("Transpose", graph.weights(6, 8), perm=[1, 0])
        model = graph.model({"x": ["n", 8]}, [graph.node("MatMul", "x", weights)])
        written, printed = self.quantize(model, {"x": self.draw(6, 8)})
        self.assertEqual(printed.split("in float")[0].strip(), "on integers: 1 MatMul")
        self.assertEqual(operators(written)["Transpose"], 0)
        self.assertEqual([list(t.dims) for t in written.graph.initializer if t.data_type == TensorProto.INT8],
                         [[8, 6], [6]])
        feeds = {"x": self.draw(2, 8)}
        self.near(model, feeds, self.same_bytes(feeds))

    def test_names_that_are_taken_stay(self):
        graph = Graph()
        graph.constants.append(numpy_helper.from_array(numpy.float32(3), "x_scale"))
        y = graph.node("Div", graph.node("MatMul", "x", graph.weights(8, 4)), "x_scale")
        model = graph.model({"x": ["n", 8]}, [y])
        self.quantize(model, {"x": self.draw(6, 8)})
        feeds = {"x": self.draw(2, 8)}
        self.near(model, feeds, self.same_bytes(feeds))

    def test_a_bias_far_above_its_channels_weights_is_kept(self):
        graph = Graph()
        weights = self.draw(4, 8)
        weights[1] *= 1e-12
        y = graph.node("Gemm", "x", graph.constant(weights), graph.constant(numpy.float32([1, 1, 2, 3])), transB=1)
        model = graph.model({"x": [1, 8]}, [y])
        self.quantize(model, {"x": self.draw(9, 8)})
        feeds = {"x": self.draw(1, 8)}
        found = self.same_bytes(feeds)
        self.near(model, feeds, found)
        self.assertAlmostEqual(float(found[0][0, 1]), 1, delta=0.1)

    def ranges(self, model, feeds, method, **options):
        """Those of ONNX Runtime's calibrator."""
        path = str(self.folder / "float.onnx")
        onnx.save(model, path)
        with contextlib.redirect_stdout(io.StringIO()):
            theirs = calibrate.create_calibrator(
                path, None, str(self.folder / "augmented.onnx"), calibrate_method=method, extra_options=options)
            theirs.collect_data(Reader("x", feeds))
            return {name: tuple(float(numpy.ravel(v)[0]) for v in data.range_value) for name, data in theirs.compute_data().items()}

    def test_ranges_are_those_of_onnxruntimes_calibrators(self):
        graph = Graph(9)
        x = graph.node("Relu", graph.node("Conv", "x", graph.weights(5, 3, 3, 3)))
        x = graph.node("Sigmoid", graph.node("Conv", x, graph.weights(6, 5, 3, 3), graph.weights(6)))
        x = graph.node("Flatten", graph.node("AveragePool", x, kernel_shape=[2, 2]))
        model = graph.model({"x": [1, 3, 8, 8]}, [graph.node("Gemm", x, graph.weights(54, 7))])
        images = numpy.random.default_rng(2).standard_t(3, (300, 3, 8, 8)).astype(numpy.float32)
        Method = calibrate.CalibrationMethod
        cases = [((), Method.MinMax, {}),
                 (("--calibrate-method", "percentile"), Method.Percentile, {}),
                 (("--calibrate-method", "percentile", "--calib-percentile", "99.5"), Method.Percentile,
                  {"percentile": 99.5}),
                 (("--calibrate-method", "percentile", "--calib-bins", "512"), Method.Percentile, {"num_bins": 512}),
                 (("--calibrate-method", "entropy"), Method.Entropy, {}),
                 (("--calibrate-method", "entropy", "--calib-bins", "1024"), Method.Entropy, {"num_bins": 1024})]
        narrow = {}
        for options, method, theirs in cases:
            with self.subTest(options=options):
                written, _ = self.quantize(model, {"x": images}, *options)
                constants = {t.name: numpy_helper.to_array(t) for t in written.graph.initializer}
                compared = 0
                for name, (low, high) in self.ranges(model, [i[None] for i in images], method, **theirs).items():
                    if name + "_scale" not in constants:
                        continue
                    scale = (max(high, 0) - min(low, 0)) / 255
                    numpy.testing.assert_allclose(constants[name + "_scale"], scale, rtol=1e-5, err_msg=name)
                    self.assertEqual(int(constants[name + "_zero_point"]), round(-min(low, 0) / scale), name)
                    narrow[options, name] = scale
                    compared += 1
                self.assertGreaterEqual(compared, 5)
                self.same_bytes({"x": images[:1]})
        self.assertLess(narrow[cases[2][0], "x"], 0.9 * narrow[(), "x"])
        self.assertLess(narrow[cases[5][0], "x"], 0.9 * narrow[(), "x"])
