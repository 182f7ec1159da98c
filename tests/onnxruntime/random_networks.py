# SPDX-License-Identifier: Apache-2.0
"""Random float networks, and one of the ways in which ONNX Runtime's quantizers, or gemm64's, write each."""

import os
import random
import subprocess

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat, QuantType

from harness import Graph, cpu_session
from quantized import Reader

# What `gemm64 quantize` quantizes.
QUANTIZED = {"Add", "AveragePool", "Concat", "Conv", "Flatten", "Gemm", "GlobalAveragePool", "LeakyRelu", "MatMul",
             "MaxPool", "Mul", "Reshape", "Sigmoid", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
OPSETS = [11, 13, 13, 17, 19, 21]


class Unusable(Exception):
    """ONNX Runtime writes no such file, or does not run what it wrote."""


class Network(Graph):
    """A random network of one input; `shapes` of its values."""

    def __init__(self, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.getrandbits(32))
        self.opset = self.random.choice(OPSETS)
        self.shapes = {}
        self.random.choice([self.draw_images, self.draw_images, self.draw_rows])()
        self.outputs = [value for node in self.nodes for value in node.output
                        if not any(value in other.input for other in self.nodes)]
        if self.random.random() < 0.15:
            self.outputs.append(self.random.choice(self.nodes).output[0])
        self.outputs = list(dict.fromkeys(self.outputs))

    def weights(self, *shape):
        inner = numpy.prod(shape[1:]) if len(shape) > 1 else 100
        values = self.numpy.standard_normal(shape) * (2 / inner)**0.5
        if self.random.random() < 0.1:
            values[0] = 0  # a channel without weights
        return self.constant(numpy.float32(values))

    def node(self, operator, inputs, shape, **attributes):
        output = super().node(operator, *inputs, **attributes)
        self.shapes[output] = list(shape)
        return output

    def model(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shapes["x"])
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes[name])
                   for name in self.outputs]
        graph = helper.make_graph(self.nodes, "network", [x], outputs, self.constants)
        return onnx.shape_inference.infer_shapes(helper.make_model(
            graph, ir_version=8, opset_imports=[helper.make_opsetid("", self.opset)]))

    def shares(self, operator):
        """Do several nodes read the results of one of this operator? With a pair of QuantizeLinear and
        DequantizeLinear for each, ONNX Runtime computes a Softmax in 8 bits or in float32, depending on what a provider
        takes of the nodes after it."""
        return any(node.op_type == operator and sum(node.output[0] in other.input for other in self.nodes) > 1
                   for node in self.nodes)

    # Images

    def draw_images(self):
        r = self.random
        self.shapes["x"] = [r.choice([1, 1, 2, 3]), r.randint(1, 5), r.randint(5, 12), r.randint(5, 12)]
        x = "x"
        for _ in range(r.randint(1, 5)):
            x = r.choice([self.conv, self.conv, self.conv, self.pool, self.activation, self.residual,
                          self.branches, self.crossing, self.joined, self.scaled, self.resize, self.sliced, self.moved,
                          self.normalized, self.upscaled])(x)
        if not self.nodes:
            x = self.conv(x, None, 1)
        if r.random() < 0.6:
            x = self.head(x)

    def conv(self, x, filters=None, kernel=None, stride=None):
        r, (batch, channels, height, width) = self.random, self.shapes[x]
        kernel = kernel or r.choice([1, 2, 3, 3])
        if min(height, width) < kernel:
            return x
        groups = r.choice([1, 1, 1, channels])
        filters = filters or groups * r.randint(1, 10 if groups == 1 else 2)
        if filters % groups:
            groups = 1
        stride = stride or r.choice([1, 1, 2])
        pad = r.choice([0, kernel // 2])
        inputs = [x, self.weights(filters, channels // groups, kernel, kernel)]
        if r.random() < 0.7:
            inputs.append(self.weights(filters))
        shape = [batch, filters] + [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
        y = self.node("Conv", inputs, shape, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                      pads=[pad] * 4, group=groups)
        return self.activation(y) if r.random() < 0.6 else y

    def activation(self, x):
        operator = self.random.choice(["Relu", "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh",
                                       "HardSigmoid", "Softmax", "Elu"])
        inputs, attributes = [x], {}
        if operator == "Clip":
            inputs += [self.constant(numpy.float32(0)), self.constant(numpy.float32(6))]
        if operator == "LeakyRelu":
            attributes["alpha"] = self.random.choice([0.01, 0.1])
        if operator == "Softmax":
            attributes["axis"] = len(self.shapes[x]) - 1
        return self.node(operator, inputs, self.shapes[x], **attributes)

    def pool(self, x):
        r, (batch, channels, height, width) = self.random, self.shapes[x]
        operator = r.choice(["MaxPool", "MaxPool", "AveragePool", "GlobalAveragePool"])
        if operator == "GlobalAveragePool":
            return self.node(operator, [x], [batch, channels, 1, 1])
        kernel = min(height, width, r.choice([2, 3]))
        shape = [batch, channels] + [(size - kernel) // 2 + 1 for size in (height, width)]
        return self.node(operator, [x], shape, kernel_shape=[kernel] * 2, strides=[2, 2])

    def residual(self, x):
        y = self.conv(x, self.shapes[x][1], 1, 1)
        if self.shapes[y] != self.shapes[x]:
            return y
        return self.node(self.random.choice(["Add", "Add", "Mul"]), [x, y], self.shapes[x])

    def branches(self, x):
        parts = [self.conv(x, None, 1, 1) for _ in range(self.random.randint(2, 3))]
        if len({tuple(self.shapes[part][2:]) for part in parts}) != 1:
            return parts[-1]
        shape = list(self.shapes[x])
        shape[1] = sum(self.shapes[part][1] for part in parts)
        shape[2:] = self.shapes[parts[0]][2:]
        return self.node("Concat", parts, shape, axis=1)

    def part(self, x, begin, end):
        """Some channels."""
        bounds = [self.constant(numpy.int64([value])) for value in (begin, end, 1)]
        return self.node("Slice", [x, *bounds], [self.shapes[x][0], end - begin, *self.shapes[x][2:]])

    def parts(self, x):
        """All channels, in two or three parts."""
        r, (batch, channels, *map) = self.random, self.shapes[x]
        cuts = sorted(r.sample(range(1, channels), min(channels - 1, r.randint(1, 2))))
        bounds = list(zip([0, *cuts], [*cuts, channels]))
        if self.opset < 13 or r.random() < 0.4:
            return [self.part(x, begin, end) for begin, end in bounds]
        name = f"split{len(self.nodes)}"
        outputs = [f"{name}.{i}" for i in range(len(bounds))]
        sizes = self.constant(numpy.int64([end - begin for begin, end in bounds]))
        self.nodes.append(helper.make_node("Split", [x, sizes], outputs, name, axis=1))
        for output, (begin, end) in zip(outputs, bounds):
            self.shapes[output] = [batch, end - begin, *map]
        return outputs

    def crossing(self, x):
        """As YOLO's C2f: a split, a branch after one of its parts, and a concatenation of all."""
        r = self.random
        x = self.conv(x, r.randint(2, 14), 1, 1)
        parts = self.parts(x)
        y = parts[-1]
        for _ in range(r.randint(1, 2)):
            kind = r.choice(["conv", "conv", "residual", "pool", "deep"])
            shape = self.shapes[y]
            if kind == "residual":
                y = self.residual(y)
            elif kind == "pool":
                y = self.node("MaxPool", [y], shape, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            else:
                groups = shape[1] if kind == "deep" else 1
                filters = shape[1] if kind == "deep" else r.randint(1, 9)
                y = self.node("Conv", [y, self.weights(filters, shape[1] // groups, 3, 3)],
                              [shape[0], filters, *shape[2:]], kernel_shape=[3, 3], pads=[1] * 4, group=groups)
            parts.append(y)
        r.shuffle(parts)
        shape = list(self.shapes[x])
        shape[1] = sum(self.shapes[part][1] for part in parts)
        return self.conv(self.node("Concat", parts, shape, axis=1), None, 1, 1)

    def joined(self, x):
        """A concatenation of what mostly is not a convolution of the array, of any numbers of channels."""
        r = self.random
        parts, doubled = [], max(self.shapes[x][2:]) <= 16 and r.random() < 0.5
        for _ in range(r.randint(2, 4)):
            y = self.conv(x, r.randint(1, 11), 1, 1)
            shape = self.shapes[y]
            kind = r.choice(["none", "pool", "deep", "activation", "some"])
            if kind == "pool":
                y = self.node("MaxPool", [y], shape, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            elif kind == "deep":
                y = self.node("Conv", [y, self.weights(shape[1], 1, 3, 3)], shape, kernel_shape=[3, 3], pads=[1] * 4,
                              group=shape[1])
            elif kind == "activation":
                y = self.activation(y)
            elif kind == "some" and shape[1] > 1:
                y = self.part(y, 1, shape[1])
            parts.append(self.resize(y, 32) if doubled else y)
        if len({tuple(self.shapes[part][2:]) for part in parts}) != 1:
            return parts[-1]
        shape = list(self.shapes[parts[0]])
        shape[1] = sum(self.shapes[part][1] for part in parts)
        y = self.node("Concat", parts, shape, axis=1)
        return self.conv(y, None, 1, 1) if r.random() < 0.5 else y

    def scaled(self, x):
        """Squeeze and excitation, or a constant."""
        channels = self.shapes[x][1]
        if self.random.random() < 0.5:
            factor = self.weights(1, channels, 1, 1)
            return self.node(self.random.choice(["Mul", "Add"]), [x, factor], self.shapes[x])
        y = self.node("GlobalAveragePool", [x], self.shapes[x][:2] + [1, 1])
        y = self.node("Conv", [y, self.weights(channels, channels, 1, 1)], self.shapes[y])
        y = self.node("Sigmoid", [y], self.shapes[y])
        return self.node("Mul", [x, y], self.shapes[x])

    def resize(self, x, most=12):
        shape = self.shapes[x]
        if max(shape[2:]) > most:
            return x
        scales = self.constant(numpy.float32([1, 1, 2, 2]))
        return self.node("Resize", [x, "", scales] if self.opset >= 13 else
                         [x, self.constant(numpy.float32([])), scales],
                         shape[:2] + [2 * size for size in shape[2:]], mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def sliced(self, x):
        r, shape = self.random, list(self.shapes[x])
        axis = r.choice([1, 2, 3])
        if r.random() < 0.4:
            pads = [0] * 8
            pads[axis] = 1
            shape[axis] += 1
            return self.node("Pad", [x, self.constant(numpy.int64(pads))], shape)
        if r.random() < 0.5:
            order = [0] + r.sample([1, 2, 3], 3)
            return self.node("Transpose", [x], [shape[i] for i in order], perm=order)
        if shape[axis] < 2:
            return x
        cut = r.randint(1, shape[axis] - 1)
        shape[axis] = cut
        bounds = [self.constant(numpy.int64([value])) for value in (0, cut, axis)]
        return self.node("Slice", [x, *bounds], shape)

    def moved(self, x):
        """What moves values in other ways."""
        r, shape = self.random, list(self.shapes[x])
        kind = r.choice(["DepthToSpace", "Split", "Gather", "Reshape", "Tile", "ReduceMax", "Where"])
        axis = r.choice([1, 2, 3])
        if kind == "DepthToSpace" and shape[1] % 4 == 0 and max(shape[2:]) < 9:
            return self.node(kind, [x], [shape[0], shape[1] // 4, 2 * shape[2], 2 * shape[3]], blocksize=2)
        if kind == "Split" and shape[axis] % 2 == 0 and 13 <= self.opset < 18:
            name = f"split{len(self.nodes)}"
            half = shape[:axis] + [shape[axis] // 2] + shape[axis + 1:]
            self.nodes.append(helper.make_node(kind, [x], [name + ".a", name + ".b"], name, axis=axis))
            self.shapes[name + ".a"] = self.shapes[name + ".b"] = half
            return self.node("Concat", [name + ".b", name + ".a"], shape, axis=axis)
        if kind == "Gather":
            places = [r.randrange(shape[axis]) for _ in range(r.randint(1, 4))]
            shape[axis] = len(places)
            return self.node(kind, [x, self.constant(numpy.int64(places))], shape, axis=axis)
        if kind == "Reshape":
            to = [shape[0], shape[1], shape[2] * shape[3]]
            y = self.node(kind, [x, self.constant(numpy.int64(to))], to)
            to = [shape[0], shape[1], shape[3], shape[2]]
            return self.node(kind, [y, self.constant(numpy.int64(to))], to)
        if kind == "Tile" and shape[axis] < 5:
            times = [1 + (i == axis) for i in range(4)]
            return self.node(kind, [x, self.constant(numpy.int64(times))],
                             [size * count for size, count in zip(shape, times)])
        if kind == "ReduceMax" and self.opset < 18:
            shape[axis] = 1
            return self.node(kind, [x], shape, axes=[axis], keepdims=1)
        if kind == "Where":
            hidden = self.numpy.random(shape) < 0.3
            return self.node(kind, [self.constant(hidden), self.constant(numpy.float32(0.5)), x], shape)
        return x

    def normalized(self, x):
        r, shape = self.random, self.shapes[x]
        kind = r.choice(["InstanceNormalization", "BatchNormalization", "LayerNormalization"])
        if kind == "LayerNormalization" and self.opset >= 17:
            return self.node(kind, [x, self.weights(shape[-1]), self.weights(shape[-1])], shape, axis=-1)
        inputs = [x, self.weights(shape[1]), self.weights(shape[1])]
        if kind == "InstanceNormalization" and shape[2] * shape[3] > 1:
            return self.node(kind, inputs, shape)
        variances = self.constant(numpy.float32(self.numpy.uniform(0.5, 2, shape[1])))
        return self.node("BatchNormalization", inputs + [self.weights(shape[1]), variances], shape)

    def upscaled(self, x):
        (batch, channels, height, width), filters = self.shapes[x], self.random.randint(1, 4)
        if max(height, width) > 8:
            return x
        return self.node("ConvTranspose", [x, self.weights(channels, filters, 2, 2)],
                         [batch, filters, 2 * height, 2 * width], kernel_shape=[2, 2], strides=[2, 2])

    def head(self, x):
        r = self.random
        if r.random() < 0.5:
            x = self.node("GlobalAveragePool", [x], self.shapes[x][:2] + [1, 1])
        batch = self.shapes[x][0]
        x = self.node("Flatten", [x], [batch, int(numpy.prod(self.shapes[x][1:]))])
        for _ in range(r.randint(1, 2)):
            x = self.linear(x)
        return self.activation(x) if r.random() < 0.3 else x

    def linear(self, x, outputs=None):
        r, shape = self.random, list(self.shapes[x])
        outputs = outputs or r.randint(1, 12)
        to = shape[:-1] + [outputs]
        if len(shape) == 2 and r.random() < 0.6:
            transposed = r.random() < 0.7
            inputs = [x, self.weights(outputs, shape[-1]) if transposed else
                      self.weights(shape[-1], outputs)]
            if r.random() < 0.8:
                inputs.append(self.weights(outputs))
            y = self.node("Gemm", inputs, to, transB=int(transposed))
        else:
            y = self.node("MatMul", [x, self.weights(shape[-1], outputs)], to)
            if r.random() < 0.6:
                y = self.node("Add", [y, self.weights(outputs)], to)
        return self.node("Relu", [y], to) if r.random() < 0.3 else y

    # Rows

    def draw_rows(self):
        r = self.random
        self.shapes["x"] = [r.choice([1, 2]), r.randint(1, 6), r.randint(2, 12)]
        if r.random() < 0.3:
            self.shapes["x"] = self.shapes["x"][1:]
        x = "x"
        for _ in range(r.randint(1, 4)):
            kind = r.choice(["linear", "linear", "attention", "activation", "residual", "moves", "conv", "axes"])
            if kind == "attention" and len(self.shapes[x]) == 3:
                x = self.attention(x)
            elif kind == "conv" and len(self.shapes[x]) == 3:
                x = self.conv1d(x)
            elif kind == "axes" and self.opset >= 13:
                axis = self.constant(numpy.int64([1]))
                shape = self.shapes[x]
                y = self.node("Unsqueeze", [x, axis], shape[:1] + [1] + shape[1:])
                x = self.node("Squeeze", [self.node("Relu", [y], self.shapes[y]), axis], shape)
            elif kind == "activation":
                x = self.activation(x)
            elif kind == "residual":
                x = self.node("Add", [self.linear(x, self.shapes[x][-1]), x], self.shapes[x])
            elif kind == "moves":
                shape = self.shapes[x]
                order = r.sample(range(len(shape)), len(shape))
                x = self.node("Transpose", [x], [shape[i] for i in order], perm=order)
            else:
                x = self.linear(x)
        if not self.nodes:
            self.linear(x)

    def conv1d(self, x):
        (batch, channels, length), filters = self.shapes[x], self.random.randint(1, 8)
        inputs = [x, self.weights(filters, channels, 3)]
        if self.random.random() < 0.7:
            inputs.append(self.weights(filters))
        return self.node("Conv", inputs, [batch, filters, length], kernel_shape=[3], pads=[1, 1])

    def attention(self, x):
        r, (batch, rows, width) = self.random, self.shapes[x]
        inner = r.randint(1, 8)
        query, key, value = (self.node("MatMul", [x, self.weights(width, inner)], [batch, rows, inner])
                             for _ in range(3))
        key = self.node("Transpose", [key], [batch, inner, rows], perm=[0, 2, 1])
        scores = self.node("MatMul", [query, key], [batch, rows, rows])
        if r.random() < 0.5:
            scores = self.node("Mul", [scores, self.constant(numpy.float32(inner**-0.5))],
                               self.shapes[scores])
        if r.random() < 0.6:
            scores = self.node("Softmax", [scores], self.shapes[scores], axis=2)
        return self.node("MatMul", [scores, value], [batch, rows, inner])


class Case:
    """A network, and how it is quantized: `how` says so in words."""

    def __init__(self, seed):
        self.network = Network(seed)
        r = random.Random(f"{seed} form")
        self.form = r.choice(["QDQ", "QDQ", "QDQ", "QOperator", "dynamic", "gemm64"])
        self.activations, self.weights = r.choice(
            [("QUInt8", "QInt8"), ("QUInt8", "QInt8"), ("QInt8", "QInt8"), ("QUInt8", "QUInt8")])
        if self.form == "QDQ" and r.random() < 0.15:
            self.activations, self.weights = r.choice(
                [("QUInt16", "QInt8"), ("QInt16", "QInt8"), ("QUInt16", "QUInt8"), ("QInt16", "QInt16")])
        self.per_channel = r.random() < 0.4 and (self.network.opset >= 13 or self.form != "QDQ")
        self.reduce_range = r.random() < 0.1
        names = [node.name for node in self.network.nodes]
        self.excluded = r.sample(names, 1) if r.random() < 0.25 else []
        self.operators = None
        if r.random() < 0.1:
            kinds = sorted({node.op_type for node in self.network.nodes})
            self.operators = r.sample(kinds, r.randint(1, len(kinds)))
        self.options = {}
        self.method = ""
        if self.form == "gemm64":
            self.activations, self.weights, self.per_channel, self.reduce_range = "QUInt8", "QInt8", True, False
            self.method = r.choice(["minmax", "minmax", "percentile", "entropy"])
        elif self.form != "dynamic":
            for name, share in (("ActivationSymmetric", 0.1), ("ForceQuantizeNoInputCheck", 0.1),
                                ("MatMulConstBOnly", 0.1), ("CalibTensorRangeSymmetric", 0.05)):
                if r.random() < share:
                    self.options[name] = True
            if r.random() < 0.1:
                self.options["WeightSymmetric"] = False
        if self.form == "QDQ":
            for name, share in (("DedicatedQDQPair", 0.2), ("AddQDQPairToWeight", 0.1),
                                ("QDQKeepRemovableActivations", 0.1), ("UseQDQContribOps", 0.1)):
                if r.random() < share and not (name == "DedicatedQDQPair" and self.network.shares("Softmax")):
                    self.options[name] = True
        shape = self.network.shapes["x"]
        data = self.network.numpy
        self.batches = [data.standard_normal(shape).astype(numpy.float32) for _ in range(3)]
        self.x = (1.2 * data.standard_normal(shape)).astype(numpy.float32)

    @property
    def how(self):
        parts = [f"opset {self.network.opset}", f"{self.form} {self.method}".strip(), f"{self.activations}/{self.weights}"]
        parts += ["per channel"] if self.per_channel else []
        parts += ["reduced range"] if self.reduce_range else []
        parts += [f"without {', '.join(self.excluded)}"] if self.excluded else []
        parts += [f"only {', '.join(self.operators)}"] if self.operators else []
        parts += [name if value else f"no {name}" for name, value in self.options.items()]
        graph = ", ".join(node.op_type for node in self.network.nodes)
        return "; ".join(parts) + f"; {self.network.shapes['x']}: {graph}"

    def quantize(self, folder):
        """Writes q.onnx. Throws Unusable where ONNX Runtime's quantizer does not."""
        source, target = folder / "float.onnx", folder / "q.onnx"
        target.unlink(missing_ok=True)
        onnx.save(self.network.model(), source)
        if self.form == "gemm64":
            return self.quantize_by_gemm64(folder)
        common = {"per_channel": self.per_channel, "reduce_range": self.reduce_range,
                  "weight_type": QuantType[self.weights], "nodes_to_exclude": self.excluded,
                  "op_types_to_quantize": self.operators, "extra_options": self.options}
        try:
            if self.form == "dynamic":
                quantization.quantize_dynamic(source, target, **common)
            else:
                quantization.quantize_static(
                    source, target, Reader("x", self.batches), quant_format=QuantFormat[self.form],
                    activation_type=QuantType[self.activations], **common)
        except Exception as error:
            raise Unusable(f"quantizer: {type(error).__name__}: {error}") from error
        return target

    def quantize_by_gemm64(self, folder):
        """By the program, for sizes that are open in half of all cases."""
        model = self.network.model()
        orders = [attribute.ints[0] for node in self.network.nodes if node.op_type == "Transpose"
                  for attribute in node.attribute]
        if self.excluded and not any(orders):  # an open first size is that of a batch
            for axis, size in enumerate(model.graph.input[0].type.tensor_type.shape.dim):
                size.dim_param = f"size{axis}"
            del model.graph.value_info[:]
            for value in model.graph.output:
                value.type.tensor_type.ClearField("shape")
            model = onnx.shape_inference.infer_shapes(model)
        onnx.save(model, folder / "float.onnx")
        numpy.save(folder / "calibration.npy", self.batches[0])
        options = ["--calibrate-method", self.method]
        options += ["--nodes-to-exclude", *self.excluded] if self.excluded else []
        taken = [kind for kind in self.operators or [] if kind in QUANTIZED]
        options += ["--op-types-to-quantize", ",".join(taken)] if taken else []
        result = subprocess.run(
            [os.environ["GEMM64"], "quantize", "float.onnx", "--calibrate", "calibration.npy", "-o", "q.onnx", *options],
            cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        if "nothing in it can be quantized" in result.stderr:
            raise Unusable(result.stderr)
        assert result.returncode == 0, result.stderr
        onnx.checker.check_model(str(folder / "q.onnx"), full_check=True)
        return folder / "q.onnx"

    @staticmethod
    def wanted(target, feeds):
        """ONNX Runtime's outputs, with int8 activations left in int8."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.add_session_config_entry("session.qdqisint8allowed", "1")
        try:
            session = cpu_session(str(target), options)
            return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
        except Exception as error:
            raise Unusable(f"session: {type(error).__name__}: {error}") from error
