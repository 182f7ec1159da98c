# SPDX-License-Identifier: Apache-2.0
"""Networks that ONNX Runtime's own quantizer wrote give the very bytes that ONNX Runtime gives, in
every tensor: QOperator files, QDQ files as ONNX Runtime fuses them, and dynamic ones. Outputs of
only QuantizeLinear are looked at in QDQ files, since others as outputs would stop the fusing."""

import pathlib

import numpy
import onnx
from onnx import TensorProto, helper
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat, QuantType

from harness import Graph, infer, saturates
from quantized import QuantizedTest, Reader


class Builder(Graph):
    """A network of layers with seeded weights; `channels` of each value."""

    def __init__(self, shape, seed):
        super().__init__(seed)
        self.shape = shape
        self.channels = {"x": shape[1]}

    def node(self, operator, inputs, channels, **attributes):
        output = super().node(operator, *inputs, **attributes)
        self.channels[output] = channels
        return output

    def weights(self, shape, deviation):
        return self.constant(numpy.float32(deviation * self.random.standard_normal(shape)))

    def conv(self, x, filters, kernel, stride=1, groups=1, activation="Relu", bias=True):
        channels = self.channels[x]
        inputs = [x, self.weights([filters, channels // groups, kernel, kernel],
                                  (2 / (channels // groups * kernel**2))**0.5)]
        if bias:
            inputs.append(self.weights([filters], 0.1))
        y = self.node("Conv", inputs, filters, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                      pads=[kernel // 2] * 4, group=groups)
        if activation == "Clip":
            return self.node("Clip", [y, self.constant(numpy.float32(0)),
                                      self.constant(numpy.float32(6))], filters)
        return self.node(activation, [y], filters) if activation else y

    def pool(self, operator, x, kernel, stride, pad=0, **attributes):
        return self.node(operator, [x], self.channels[x], kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[pad] * 4, **attributes)

    def join(self, operator, *inputs, **attributes):
        counts = [self.channels[name] for name in inputs]
        return self.node(operator, list(inputs), sum(counts) if operator == "Concat" else counts[0],
                         **attributes)

    def head(self, x, classes=10, softmax=False, pixels=0):
        channels = self.channels[x]
        y = x if pixels else self.node("GlobalAveragePool", [x], channels)
        channels *= max(pixels, 1)
        y = self.node("Flatten", [y], channels)
        y = self.node("Gemm", [y, self.weights([classes, channels], channels**-0.5),
                               self.weights([classes], 0.1)], classes, transB=1)
        return self.node("Softmax", [y], classes) if softmax else y

    def model(self, output):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "network", [x], [y], self.constants)
        return onnx.shape_inference.infer_shapes(
            helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]))


def resnet(pixels=0):
    """With `pixels`, its last map goes into the classifier whole."""
    net = Builder([2, 3, 32, 32], 1)
    x = net.pool("MaxPool", net.conv("x", 16, 7, 2), 3, 2, 1)
    for filters, stride in ((16, 1), (24, 2)):
        y = net.conv(net.conv(x, filters, 3, stride), filters, 3, activation="", bias=False)
        if stride != 1:
            x = net.conv(x, filters, 1, stride, activation="")
        x = net.node("Relu", [net.join("Add", y, x)], filters)
    return net.model(net.head(x, pixels=pixels))


def mobilenet():
    net = Builder([2, 3, 24, 24], 2)
    x = net.conv("x", 16, 3, 2, activation="Clip")
    for _ in range(2):
        y = net.conv(x, 48, 1, activation="Clip")
        y = net.conv(y, 48, 3, groups=48, activation="Clip")
        x = net.join("Add", net.conv(y, 16, 1, activation=""), x)
    # Squeeze and excitation.
    s = net.node("GlobalAveragePool", [x], 16)
    s = net.node("Sigmoid", [net.conv(s, 16, 1, activation="LeakyRelu")], 16)
    return net.model(net.head(net.join("Mul", x, s), softmax=True))


def googlenet():
    net = Builder([1, 3, 28, 28], 3)
    x = net.conv("x", 12, 3)
    one = net.conv(x, 8, 1)
    three = net.conv(net.conv(x, 6, 1), 10, 3)
    five = net.conv(net.conv(x, 4, 1), 6, 5)
    pooled = net.conv(net.pool("MaxPool", x, 3, 1, 1), 5, 1)
    x = net.join("Concat", one, three, five, pooled, axis=1)
    x = net.pool("AveragePool", x, 3, 2, 1, count_include_pad=1)
    x = net.pool("AveragePool", x, 3, 2, 1)
    return net.model(net.head(x))


def hard_swish(net, x):
    return net.join("Mul", x, net.node("HardSigmoid", [x], net.channels[x], alpha=1 / 6, beta=0.5))


def mobilenet_v3():
    """Squeeze and excitation inside of a block, as MobileNetV3 has it."""
    net = Builder([1, 3, 24, 24], 5)
    x = hard_swish(net, net.conv("x", 16, 3, 2, activation=""))
    for expanded, kernel, stride in ((40, 3, 2), (48, 5, 1)):
        y = hard_swish(net, net.conv(x, expanded, 1, activation=""))
        y = hard_swish(net, net.conv(y, expanded, kernel, stride, expanded, activation=""))
        s = net.conv(net.node("GlobalAveragePool", [y], expanded), 12, 1)
        s = net.node("HardSigmoid", [net.conv(s, expanded, 1, activation="")], expanded, alpha=1 / 6)
        y = net.conv(net.join("Mul", y, s), 16, 1, activation="")
        x = net.join("Add", x, y) if stride == 1 else y
    return net.model(net.head(x))


def yolo():
    """Branches that are concatenated and enlarged on their way to a head."""
    def conv(x, filters, kernel, stride=1):
        y = net.conv(x, filters, kernel, stride, activation="")
        return net.join("Mul", y, net.node("Sigmoid", [y], filters))

    def block(x, filters):
        a, b = conv(x, filters // 2, 1), conv(x, filters // 2, 1)
        a = net.join("Add", a, conv(conv(a, filters // 2, 1), filters // 2, 3))
        return conv(net.join("Concat", a, b, axis=1), filters, 1)

    net = Builder([1, 3, 24, 24], 6)
    fine = block(conv("x", 12, 3, 2), 12)
    coarse = conv(block(conv(fine, 20, 3, 2), 20), 8, 1)
    x = net.node("Resize", [coarse, "", net.constant(numpy.float32([1, 1, 2, 2]))], 8)
    x = block(net.join("Concat", x, fine, axis=1), 20)
    x = net.join("Concat", conv(x, 10, 3, 2), coarse, axis=1)
    return net.model(net.node("Sigmoid", [net.conv(x, 18, 1, activation="")], 18))


def t5_block():
    """A T5 layer's normalization and Linear layers, in the primitive nodes that exporters write; with the formula of
    BERT's Gelu and LayerNormalization after it."""
    net = Builder([1, 12, 48], 7)

    def number(value):
        return net.constant(numpy.float32(value))

    def node(operator, *inputs, **attributes):
        return net.node(operator, list(inputs), 48, **attributes)

    def mean_square(x):
        mean = node("ReduceMean", node("Pow", x, number(2)), axes=[-1])
        return node("Sqrt", node("Add", mean, number(1e-6)))

    def linear(x, inputs, outputs):
        return node("MatMul", x, net.weights([inputs, outputs], inputs**-0.5))

    y = node("Mul", "x", node("Div", number(1), mean_square("x")))
    y = linear(node("Mul", net.weights([48], 1), y), 48, 100)
    cubic = node("Add", y, node("Mul", node("Pow", y, number(3)), number(0.044715)))
    more = node("Add", node("Tanh", node("Mul", cubic, number(0.7978845608))), number(1))
    x = node("Add", "x", linear(node("Mul", node("Mul", y, number(0.5)), more), 100, 48))
    distance = node("Sub", x, node("ReduceMean", x, axes=[-1]))
    y = node("Mul", node("Div", distance, mean_square(distance)), net.weights([48], 1))
    y = linear(node("Add", y, net.weights([48], 0.1)), 48, 100)
    more = node("Add", node("Erf", node("Div", y, number(2**0.5))), number(1))
    return net.model(node("Add", x, linear(node("Mul", node("Mul", y, more), number(0.5)), 100, 48)))


def layout():
    """What moves values, and a MatMul of three dimensions."""
    net = Builder([2, 3, 12, 12], 4)
    x = net.conv("x", 8, 3)
    bounds = [net.constant(numpy.int64([value])) for value in (0, 4, 8, 1)]
    low = net.node("Slice", [x, bounds[0], bounds[1], bounds[3]], 4)
    high = net.node("Slice", [x, bounds[1], bounds[2], bounds[3]], 4)
    x = net.join("Concat", high, low, axis=1)
    x = net.node("Pad", [x, net.constant(numpy.int64([0, 0, 1, 0, 0, 0, 0, 1]))], 8)
    x = net.node("Resize", [x, "", net.constant(numpy.float32([1, 1, 2, 2]))], 8)
    x = net.node("Transpose", [net.pool("MaxPool", x, 2, 2)], 13, perm=[0, 2, 3, 1])
    x = net.node("Reshape", [x, net.constant(numpy.int64([2, 169, 8]))], 8)
    x = net.node("MatMul", [x, net.weights([8, 5], 0.4)], 5)
    return net.model(net.node("Softmax", [net.node("Unsqueeze", [x, bounds[3]], 5)], 5))


class Networks(QuantizedTest):
    def network(self, name):
        """A float model as a file, its input's name, and inputs to calibrate with and to run."""
        path = self.folder / f"{name}.onnx"
        makers = {"resnet": resnet, "mobilenet": mobilenet, "googlenet": googlenet,
                  "layout": layout, "mobilenet-v3": mobilenet_v3, "yolo": yolo, "t5-block": t5_block,
                  "resnet-without-mean": lambda: resnet(16)}
        if name in makers:
            onnx.save(makers[name](), path)
        else:
            self.succeed("make-model", name, "-o", path, "--batch", 2)
        model = onnx.load(path)
        value = model.graph.input[0]
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        random = numpy.random.default_rng(11)
        batches = [random.standard_normal(shape).astype(numpy.float32) for _ in range(4)]
        return path, value.name, batches

    def quantize(self, network, form, activations, weights, per_channel):
        path, name, batches = self.network(network)
        target = self.folder / f"{network}.q.onnx"
        quantization.quantize_static(
            path, target, Reader(name, batches[:3]), quant_format=form, per_channel=per_channel,
            activation_type=activations, weight_type=weights)
        return target, name, batches[3]

    def static(self, network):
        # int8 activations stay int8 in gemm64, as they do in ONNX Runtime with that option (x86).
        stay = {"session.qdqisint8allowed": "1"}
        u8, s8 = QuantType.QUInt8, QuantType.QInt8
        pairs = [(s8, s8)] if saturates() else [(u8, s8), (s8, s8)]
        for activations, weights in pairs:
            for per_channel in (False, True):
                with self.subTest(form="QDQ", activations=activations, per_channel=per_channel):
                    model, name, x = self.quantize(network, QuantFormat.QDQ, activations, weights,
                                                   per_channel)
                    count = self.compare(model, name, x, self.quantized_values, stay)
                    self.assertGreaterEqual(count, 6)
                    # Nothing but the network's own outputs, so that nothing stops the fusing.
                    self.compare(model, name, x, lambda _: [], stay)
                    self.run_on_rtl(model, x)
                with self.subTest(form="QOperator", activations=activations, per_channel=per_channel):
                    model, name, x = self.quantize(network, QuantFormat.QOperator, activations,
                                                   weights, per_channel)
                    count = self.compare(model, name, x, self.all_values)
                    self.assertGreaterEqual(count, 9)
                    self.run_on_rtl(model, x)

    def test_lenet(self):
        self.static("lenet")

    def test_mnist_cnn(self):
        self.static("mnist-cnn")

    def test_resnet(self):
        self.static("resnet")

    def test_mobilenet(self):
        self.static("mobilenet")

    def test_googlenet(self):
        self.static("googlenet")

    def test_layout(self):
        self.static("layout")

    def test_mobilenet_v3(self):
        self.static("mobilenet-v3")

    def test_yolo(self):
        self.static("yolo")

    def test_whole_networks_are_one_program(self):
        for network in ("mobilenet-v3", "yolo"):
            with self.subTest(network=network):
                activations = QuantType.QInt8 if saturates() else QuantType.QUInt8
                model, _, x = self.quantize(network, QuantFormat.QDQ, activations, QuantType.QInt8, True)
                report = self.run_on_rtl(model, x)
                self.assertEqual(len(report["programs"]), 1)
                self.assertFalse({"QuantizeLinear", "DequantizeLinear", "Flatten"}.symmetric_difference(
                    report["host"]["operators"]) - {"Flatten"})

    def test_analyze_predicts_what_run_counts(self):
        for network in ("resnet", "mobilenet", "googlenet", "mnist-cnn"):
            for form in (QuantFormat.QDQ, QuantFormat.QOperator):
                with self.subTest(network=network, form=form):
                    activations = QuantType.QInt8 if saturates() else QuantType.QUInt8
                    model, _, x = self.quantize(network, form, activations, QuantType.QInt8, True)
                    report = self.run_on_rtl(model, x, 64)
                    self.succeed("analyze", model, "--json", "analysis.json")
                    analysis = self.read_json("analysis.json")
                    programs = analysis["array"]["programs"]
                    self.assertEqual([program["clocks"] for program in programs],
                                     [program["cycles"] for program in report["programs"]])
                    clocks = {layer["name"]: layer["array"]["clocks"] for layer in analysis["layers"]
                              if "array" in layer}
                    # Pools have no products, and no entry of their own.
                    self.assertEqual({layer["name"]: layer["cycles"] for layer in report["layers"]
                                      if "program" in layer and layer["macs"] != 0},
                                     {layer: clocks[layer] for program in programs
                                      for layer in program["layers"] if layer in clocks})

    def test_analyze_and_tile_take_quantized_files(self):
        macs = set()
        for form in (QuantFormat.QDQ, QuantFormat.QOperator):
            model, _, _ = self.quantize("resnet", form, QuantType.QUInt8, QuantType.QInt8, True)
            self.succeed("analyze", model, "--json", "report.json")
            report = self.read_json("report.json")
            macs.add(report["total"]["macs"])
            self.assertIn("QLinearConv", {layer["operator"] for layer in report["layers"]})
            output = self.succeed("tile", model, "-o", "tiled.onnx")
            self.assertIn("no layer was rewritten", output)
            self.assertIn("a convolution, not a Linear layer", output)
        self.assertEqual(len(macs), 1)

    def test_what_quantize_writes(self):
        for network in ("mnist-cnn", "resnet", "mobilenet", "googlenet", "layout"):
            with self.subTest(network=network):
                path, name, batches = self.network(network)
                numpy.save(self.folder / "images.npy", batches[0])
                output = self.succeed("quantize", path, "--calibrate", "images.npy", "-o", "q.onnx")
                self.assertIn("on integers: ", output)
                self.assertNotIn("Conv", output.split("in float: ")[1])
                written = self.folder / "q.onnx"
                onnx.checker.check_model(str(written), full_check=True)
                exact = infer(str(path), {name: batches[0]})[0]
                near = infer(str(written), {name: batches[0]})[0]
                noise = float(numpy.sum((exact - near)**2)) / float(numpy.sum(exact**2))
                self.assertLess(noise, 0.01)
                self.assertGreater(noise, 0)
                if saturates():
                    print("this processor has no VNNI: bytes of uint8 x int8 are NOT COMPARED")
                    continue
                count = self.compare(written, name, batches[3], self.quantized_values)
                self.assertGreaterEqual(count, 6)

    def test_analyze_predicts_what_quantize_will_write(self):
        def programs(*arguments):
            self.succeed("analyze", *arguments, "--json", "analysis.json")
            found = self.read_json("analysis.json")["array"].get("programs", [])
            return [(program["layers"], program["clocks"]) for program in found]

        for network in ("mnist-cnn", "resnet", "mobilenet", "googlenet", "layout", "mobilenet-v3", "yolo"):
            with self.subTest(network=network):
                path, _, batches = self.network(network)
                numpy.save(self.folder / "images.npy", batches[0])
                self.succeed("quantize", path, "--calibrate", "images.npy", "-o", "q.onnx")
                wanted = programs("q.onnx")
                self.assertTrue(wanted)
                found = programs(path, "--quantized")
                self.assertNotEqual(programs(path), wanted)
                if network not in ("googlenet", "layout", "yolo"):
                    self.assertEqual(found, wanted)
                    continue
                # Which parts of a concatenation need another scale shows when ranges are measured.
                self.assertEqual(len(found), len(wanted))
                cycles = [sum(cycles for _, cycles in each) for each in (found, wanted)]
                self.assertLess(abs(cycles[0] - cycles[1]), 0.08 * cycles[1])

    def test_dynamic(self):
        # No means: float sums depend on their order, and ONNX Runtime's is its processor's.
        flags = pathlib.Path("/proc/cpuinfo")
        exact = flags.exists() and "avx512f" in flags.read_text()
        for network in ("mnist-cnn", "resnet-without-mean") + (("t5-block",) if exact else ()):
            with self.subTest(network=network):
                path, name, batches = self.network(network)
                target = self.folder / f"{network}.d.onnx"
                quantization.quantize_dynamic(path, target, weight_type=QuantType.QUInt8)
                self.compare(target, name, batches[3], lambda _: [])
