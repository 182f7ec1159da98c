# SPDX-License-Identifier: Apache-2.0
"""QDQ groups whose scales, zero points, types and attributes are perturbed: the network's outputs are ONNX Runtime's,
byte for byte, if the group is claimed or not. Prints the option that repeats a graph that differs:

    GEMM64=build/gemm64 build/venv/bin/python tests/onnxruntime/perturbed_groups_test.py --graphs 2000
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPSETS = [13, 13, 17, 19, 21]
BATCH = 50  # graphs in one file
LAST_BITS = 2e-6  # of the largest: what a product in float may be off that the device computes, or the host otherwise
STEP_OPERATORS = ("QuantizeLinear", "DequantizeLinear")


class Graph:
    """One group, and what is around it, with names of its own; `notes` say what was drawn."""

    def __init__(self, seed, number, opset):
        self.random = numpy.random.default_rng([seed, number])
        self.number, self.opset = number, opset
        self.nodes, self.constants, self.inputs, self.notes = [], [], {}, []
        self.in_float = False  # is its output a product that nothing quantizes?
        self.keeps_zero = False  # of rows of pairs, of which ONNX Runtime joins those with a zero point
        # May a sum lie between two steps, and be rounded otherwise than ONNX Runtime's in float32? That of a bias whose
        # integers are exact in other steps, and of a pool that stays in float.
        self.ties = False
        self.kind = self.choice([numpy.uint8, numpy.uint8, numpy.int8])
        draw = self.choice([self.conv, self.conv, self.conv, self.gemm, self.gemm, self.matmul, self.pair, self.pool,
                            self.move, self.function, self.concat, self.transposed_conv, self.double_pair])
        y = draw()
        self.step = 0 if isinstance(y, str) else float(y[1])
        self.output = y if isinstance(y, str) else self.dequantize(*y)

    # Draws

    def coin(self, often=0.5):
        return bool(self.random.random() < often)

    def choice(self, values):
        return values[int(self.random.integers(len(values)))]

    def integer(self, low, high):
        return int(self.random.integers(low, high, endpoint=True))

    def sizes(self, count, high=5):
        return [self.integer(1, high) for _ in range(count)]

    def scale(self):
        return numpy.float32(self.choice([0.02, 0.03125, 0.05, 0.1 * self.random.random() + 0.001]))

    def zero(self, kind):
        limits = numpy.iinfo(kind)
        return kind(self.choice([0, limits.min, self.integer(limits.min, limits.max)]))

    def note(self, text):
        self.notes.append(text)

    # Parts of a graph

    def name(self, text):
        return f"g{self.number}_{text}{len(self.nodes) + len(self.constants)}"

    def constant(self, values):
        name = self.name("c")
        self.constants.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def node(self, operator, inputs, outputs=1, **attributes):
        name = self.name(operator.lower())
        names = [name] + [f"{name}_{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name, **attributes))
        return name if outputs == 1 else names

    def input(self, shape):
        name = self.name("x")
        self.inputs[name] = numpy.float32(2 * self.random.standard_normal(shape))
        return name

    def steps(self, scale, zero, kind):
        """Inputs of a QuantizeLinear or DequantizeLinear after its first; a zero point of 0 may be left out."""
        inputs = [self.constant(scale)]
        if not numpy.any(zero) and kind == numpy.uint8 and not self.keeps_zero and self.coin(0.3):
            self.note("no zero point")
            return inputs
        return inputs + [self.constant(zero)]

    def quantize(self, x, scale, zero, kind):
        return self.node("QuantizeLinear", [x, *self.steps(scale, zero, kind)])

    def dequantize(self, q, scale, zero, kind, **attributes):
        return self.node("DequantizeLinear", [q, *self.steps(scale, zero, kind)], **attributes)

    def no_op(self, x):
        """Sometimes a node that computes nothing."""
        if not self.coin(0.15):
            return x
        one, zero = numpy.float32(1), numpy.float32(0)
        kind = self.choice(["Identity", "Dropout", "Mul", "Div", "Add", "Sub", "Cast", "Expand", "Left", "Vector"])
        self.note(kind)
        if kind in ("Mul", "Div"):
            return self.node(kind, [x, self.constant(one)])
        if kind in ("Add", "Sub"):
            return self.node(kind, [x, self.constant(zero)])
        if kind == "Left":
            return self.node("Mul", [self.constant(one.reshape(1)), x])
        if kind == "Vector":
            return self.node("Add", [x, self.constant(zero.reshape(1, 1))])
        if kind == "Expand":
            return self.node(kind, [x, self.constant(numpy.int64([1]))])
        return self.node(kind, [x], **({"to": TensorProto.FLOAT} if kind == "Cast" else {}))

    def activation(self, shape, scale=None, kind=None):
        """A pair of an input; the float value and its scale."""
        kind = kind or self.kind
        scale, zero = scale or self.scale(), self.zero(kind)
        q = self.quantize(self.input(shape), scale, zero, kind)
        if self.coin(0.08):
            self.note("another scale after")
            scale = numpy.float32(scale * self.choice([0.5, 1.01, 2]))
        if self.coin(0.08):
            self.note("another zero point after")
            zero = self.zero(kind)
        return self.no_op(self.dequantize(q, scale, zero, kind)), scale

    def result(self, y, scale):
        """What a pair makes of y: quantized values with their scale, zero point and kind."""
        kind = self.kind
        if kind == numpy.int8 and self.coin(0.05):  # int8 of uint8 ONNX Runtime makes uint8 here
            self.note("another type")
            kind = numpy.uint8
        zero = self.zero(kind)
        y = self.no_op(y)
        if self.coin(0.2):
            y = self.node(*self.choice([("Relu", [y]), ("Clip", [y, self.constant(numpy.float32(0)),
                                                                  self.constant(numpy.float32(6))])]))
            self.note("clipped")
        return self.quantize(y, numpy.float32(scale), zero, kind), numpy.float32(scale), zero, kind

    def weights(self, shape, axis, channels):
        """Weights, dequantized; their scales."""
        kind = numpy.int8 if self.kind == numpy.int8 or self.coin(0.7) else numpy.uint8
        if self.coin(0.04):
            self.note("weights of the other type")
            kind = numpy.uint8 if kind == numpy.int8 else numpy.int8
        if self.coin(0.1):
            self.note("float weights")
            return self.constant(numpy.float32(self.random.standard_normal(shape))), None
        limits = numpy.iinfo(kind)
        values = self.random.integers(limits.min, limits.max, shape, kind, endpoint=True)
        each = self.coin()
        scales = numpy.float32(self.choice([0.01, 0.0125, 0.02]))
        if each:
            scales = numpy.float32(self.random.uniform(0.005, 0.02, channels))
        zero = numpy.full(channels if each else (), self.zero(kind) if self.coin(0.3) else kind(0), kind)
        attributes = {"axis": axis} if each else {}
        if each and self.coin(0.3):
            attributes["axis"] = axis - len(shape)
            self.note("negative axis")
        if each and len(set(shape)) == 1 and self.coin(0.3):
            attributes["axis"] = 1 - axis
            self.note("other axis")
        transposed = self.coin(0.15)
        order = [int(i) for i in self.random.permutation(len(shape))]
        if transposed:
            self.note("transposed weights")
            values = numpy.ascontiguousarray(numpy.transpose(values, numpy.argsort(order)))
            if each:
                attributes["axis"] = order[attributes["axis"]]
        inputs = [self.constant(values), self.constant(scales)]
        if self.coin(0.1):
            self.note("weights quantized in the file")
            floats = (values - zero.reshape([-1 if i == attributes.get("axis", 0) % len(shape) and each else 1
                                             for i in range(len(shape))]).astype(numpy.float32))
            inputs[0] = self.node("QuantizeLinear", [self.constant(floats * numpy.float32(0.01)), *inputs[1:],
                                                     self.constant(zero)], **attributes)
        if numpy.any(zero) or self.coin(0.8):
            inputs.append(self.constant(zero))
        else:
            self.note("no zero point of weights")
        w = self.node("DequantizeLinear", inputs, **attributes)
        if transposed:
            w = self.node("Transpose", [w], perm=order)
        elif self.coin(0.05):
            self.note("reshaped weights")
            w = self.node("Reshape", [w, self.constant(numpy.int64(shape))])
        return self.no_op(w), scales

    def bias(self, x_scale, scales, shape):
        """A bias, in int32 or float; its scale may not be that of the sums."""
        if scales is None or self.coin(0.2):
            self.note("float bias")
            return self.constant(numpy.float32(self.random.standard_normal(shape)))
        integers = self.random.integers(-3000, 3000, shape, numpy.int32)
        scale = numpy.float32(x_scale * scales)
        if self.coin(0.5):
            factor = numpy.float32(self.choice([1.0001, 0.995, 1.009, 1.02, 0.98, 2, 0.5, 3, 0.3, 10]))
            self.note(f"bias scale * {factor}")
            self.ties = factor in (0.5, 2, 3, 10)
            if numpy.ndim(scale) and self.coin():
                scale = scale.copy()
                scale[-1] *= factor
            else:
                scale = numpy.float32(scale * factor)
        zero = numpy.zeros(numpy.shape(scale), numpy.int32)
        if self.coin(0.1):
            zero = numpy.full(numpy.shape(scale), self.integer(-900, 900), numpy.int32)
            self.note("bias zero point")
        inputs = [self.constant(integers), self.constant(scale)]
        if numpy.any(zero) or self.coin():
            inputs.append(self.constant(zero))
        return self.node("DequantizeLinear", inputs, **({"axis": 0} if numpy.ndim(scale) else {}))

    @staticmethod
    def steps_of(x_scale, scales, length):
        """A scale of results that most sums of `products` products fit."""
        return 50 * x_scale * (1 if scales is None else float(numpy.max(scales)) * 70) * length**0.5 / 100

    def result_scale(self, *arguments):
        scale = self.steps_of(*arguments)
        return numpy.float32(2.0 ** round(numpy.log2(scale)) if self.coin(0.3) else scale)

    # Groups

    def window(self, axes=2):
        """Attributes of a window, and a size of each axis that it fits."""
        kernel, dilations = self.sizes(axes, 3), self.sizes(axes, 2)
        attributes = {"kernel_shape": kernel, "strides": self.sizes(axes, 2)}
        if self.coin(0.4):
            attributes["dilations"] = dilations
        else:
            dilations = [1] * axes
        how = self.integer(0, 3)
        if how == 1:
            attributes["pads"] = [self.integer(0, k - 1) for k in kernel + kernel]
        if how == 2:
            attributes["auto_pad"] = self.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
            if attributes.pop("dilations", None):  # ONNX Runtime does not take both
                dilations = [1] * axes
            self.note(attributes["auto_pad"])
        return attributes, [d * (k - 1) + self.integer(1, 6) for k, d in zip(kernel, dilations)]

    def conv(self):
        axes = self.choice([1, 2, 2, 2])
        attributes, size = self.window(axes)
        groups = self.choice([1, 1, 1, 2])
        channels, filters = groups * self.integer(1, 6), groups * self.integer(1, 6)
        if self.coin(0.15):
            channels = filters = groups = self.integer(2, 6)
        if self.coin(0.1) and groups == 1:
            channels, filters = 16, 16
        x, x_scale = self.activation([self.integer(1, 2), channels, *size])
        shape = [filters, channels // groups, *attributes["kernel_shape"]]
        w, scales = self.weights(shape, 0, filters)
        inputs = [x, w]
        if self.coin(0.8):
            inputs.append(self.bias(x_scale, scales, filters))
        if groups != 1:
            attributes["group"] = groups
        y = self.node("Conv", inputs, **attributes)
        return self.result(y, self.result_scale(x_scale, scales, int(numpy.prod(shape[1:]))))

    def gemm(self):
        m, k, n = self.sizes(3, 9)
        if self.coin(0.2):
            k = n
        attributes = {}
        for name in ("transA", "transB"):
            if self.coin():
                attributes[name] = 1
        for name in ("alpha", "beta"):
            if self.coin(0.2):
                attributes[name] = self.choice([0.5, 2.0, 0.3])
                self.note(f"{name} {attributes[name]}")
        x, x_scale = self.activation([k, m] if "transA" in attributes else [m, k])
        transposed = "transB" in attributes
        w, scales = self.weights([n, k] if transposed else [k, n], 0 if transposed else 1, n)
        inputs = [x, w]
        if self.coin(0.8):
            shape = self.choice([n, n, n, (1, n), (m, n), (m, 1), 1]) if numpy.ndim(scales) == 0 else n
            inputs.append(self.bias(x_scale, scales, shape))
        y = self.node("Gemm", inputs, **attributes)
        if self.coin(0.2):
            self.note("float result")
            self.in_float = True
            return y
        return self.result(y, self.result_scale(x_scale, scales, k))

    def matmul(self):
        m, k, n = self.sizes(3, 9)
        x, x_scale = self.activation([*self.choice([[], [2], [1, 3]]), m, k])
        if self.coin(0.3):
            w, scales = self.activation([k, n])
        else:
            w, scales = self.weights([k, n], 1, n)
        y = self.node("MatMul", [x, w])
        if self.coin(0.2):
            self.in_float = True
            return y
        return self.result(y, self.result_scale(x_scale, scales, k))

    def pair(self):
        shape = [self.integer(1, 2), *self.sizes(3)]
        other = [size if self.coin(0.7) else 1 for size in shape]
        if self.coin(0.3):
            other = other[self.integer(0, 3):]
        a, a_scale = self.activation(shape)
        b, b_scale = self.activation(other, kind=self.kind if self.coin(0.9) else numpy.uint8)
        if self.coin():
            a, b = b, a
        operator = self.choice(["Add", "Mul", "Add", "Sub"])
        factor = 4 * b_scale if operator == "Mul" else 1
        return self.result(self.node(operator, [a, b]), self.choice([1, 1.7]) * (a_scale + b_scale) * factor)

    def pool(self):
        axes = 2
        attributes, size = self.window(axes)
        x, scale = self.activation([self.integer(1, 2), self.integer(1, 5), *size])
        operator = self.choice(["MaxPool", "AveragePool", "AveragePool", "GlobalAveragePool"])
        if operator == "GlobalAveragePool":
            self.ties = True
            return self.result(self.node(operator, [x]), scale * self.choice([1, 0.5]))
        if self.coin(0.3) and "auto_pad" not in attributes:
            attributes["ceil_mode"] = 1
        if operator == "AveragePool":
            if self.opset < 19:
                attributes.pop("dilations", None)
            if self.coin():
                attributes["count_include_pad"] = 1
        elif self.coin(0.2):
            attributes["storage_order"] = 1
        self.note(f"{operator} {attributes}")
        self.ties = operator == "AveragePool"
        return self.result(self.node(operator, [x], **attributes), scale * self.choice([1, 1, 0.5]))

    def move(self):
        shape = [self.integer(1, 2), *self.sizes(3)]
        x, scale = self.activation(shape)
        axis = self.integer(0, 3)
        sizes = lambda *values: self.constant(numpy.int64(values))
        kind = self.choice(["Transpose", "Reshape", "Flatten", "Slice", "Gather", "Unsqueeze", "Expand", "Tile", "Resize",
                            "Pad", "ReduceMax", "Split", "DepthToSpace"])
        self.note(kind)
        if kind == "Transpose":
            y = self.node(kind, [x], perm=[int(i) for i in self.random.permutation(4)])
        elif kind == "Reshape":
            y = self.node(kind, [x, sizes(0, -1)])
        elif kind == "Flatten":
            y = self.node(kind, [x], axis=self.integer(-4, 4))
        elif kind == "Slice":
            y = self.node(kind, [x, sizes(-1), sizes(-9), sizes(axis), sizes(-1)])
        elif kind == "Gather":
            y = self.node(kind, [x, sizes(-1, 0)], axis=axis - 4)
        elif kind == "Unsqueeze":
            y = self.node(kind, [x, sizes(axis, -1)])
        elif kind == "Expand":
            y = self.node(kind, [x, sizes(2, 1, 1, 1, 1)])
        elif kind == "Tile":
            y = self.node(kind, [x, sizes(1, 2, 1, 3)])
        elif kind == "Resize":
            mode = self.choice(["nearest", "nearest", "linear"])
            self.note(mode)
            y = self.node(kind, [x, "", self.constant(numpy.float32([1, 1, 2, 1.5]))], mode=mode,
                          coordinate_transformation_mode=self.choice(["asymmetric", "half_pixel"]))
        elif kind == "Pad":
            pads = [0] * 8
            pads[axis] = pads[4 + (axis + 1) % 4] = 1
            added = [self.constant(numpy.float32(self.choice([0, 0, 0.5])))] if self.coin() else []
            y = self.node(kind, [x, sizes(*pads), *added], mode="constant" if added else self.choice(["constant", "edge"]))
        elif kind == "ReduceMax":
            axes = {} if self.opset >= 18 else {"axes": [axis]}
            y = self.node(kind, [x, *([] if axes else [sizes(axis)])], keepdims=int(self.coin()), **axes)
        elif kind == "Split" and shape[axis] > 1:
            y, _ = self.node(kind, [x, sizes(1, shape[axis] - 1)], 2, axis=axis)
        else:
            y = self.node("Transpose", [x])
        return self.result(y, scale * self.choice([1, 1, 1.5]))

    def function(self):
        shape = [self.integer(1, 2), *self.sizes(3)]
        x, _ = self.activation(shape)
        kind = self.choice(["Sigmoid", "LeakyRelu", "Softmax", "HardSigmoid", "Tanh", "Relu"])
        attributes = {}
        if kind == "LeakyRelu":
            attributes["alpha"] = self.choice([0.01, 0.5, 2.0])
        if kind == "Softmax" and self.coin(0.7):
            attributes["axis"] = self.choice([axis for axis in range(-4, 4) if shape[axis] > 1] or [-1])
        self.note(f"{kind} {attributes}")
        return self.result(self.node(kind, [x], **attributes), self.choice([1 / 256, 1 / 128, 0.02]))

    def concat(self):
        shape = [self.integer(1, 2), *self.sizes(3)]
        axis = self.integer(0, 3)
        parts, scale = [], self.scale()
        for _ in range(self.integer(1, 3)):
            shape[axis] = self.integer(1, 4)
            parts.append(self.activation(shape, scale if self.coin() else None)[0])
        return self.result(self.node("Concat", parts, axis=self.choice([axis, axis - 4])), scale)

    def transposed_conv(self):
        channels, filters, kernel = self.integer(1, 5), self.integer(1, 5), self.sizes(2, 3)
        x, x_scale = self.activation([self.integer(1, 2), channels, *self.sizes(2)])
        if self.coin():
            self.note("float weights")
            w, scales = self.constant(numpy.float32(self.random.standard_normal([channels, filters, *kernel]))), None
        else:
            w, scales = self.weights([channels, filters, *kernel], 1, filters)
        inputs = [x, w]
        if self.coin(0.8):
            inputs.append(self.bias(x_scale, scales, filters))
        y = self.node("ConvTranspose", inputs, kernel_shape=kernel, strides=self.sizes(2, 2))
        return self.result(y, self.result_scale(x_scale, scales, channels * kernel[0] * kernel[1]))

    def double_pair(self):
        self.keeps_zero = True
        x, scale = self.activation(self.sizes(3))
        for _ in range(self.integer(1, 2)):
            quantized = self.result(x, scale * self.choice([1, 0.7, 1.3]))
            x = self.no_op(self.dequantize(*quantized))
        return x


def model_of(graphs):
    """All graphs in one file, in the order of their numbers."""
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
              for graph in graphs for name, value in graph.inputs.items()]
    outputs = [helper.make_tensor_value_info(graph.output, TensorProto.FLOAT, None) for graph in graphs]
    graph = helper.make_graph([node for graph in graphs for node in graph.nodes], "groups", inputs, outputs,
                              [constant for graph in graphs for constant in graph.constants])
    return helper.make_model(graph, ir_version=8 if graphs[0].opset < 21 else 10,
                             opset_imports=[helper.make_opsetid("", graphs[0].opset)])


def wanted(graphs, path):
    """ONNX Runtime's outputs at its default level, on one thread. int8 activations stay int8."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    signed = graphs[0].kind == numpy.int8  # with both, ONNX Runtime has no kernels for int8 activations
    options.add_session_config_entry("session.qdqisint8allowed" if signed else "session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = {name: value for graph in graphs for name, value in graph.inputs.items()}
    names = [graph.output for graph in graphs]
    return dict(zip(names, session.run(names, feeds)))


def found(graphs, path, folder, device):
    """The program's outputs, its report, or why there are none."""
    arguments = []
    for graph in graphs:
        for name, value in graph.inputs.items():
            numpy.save(folder / f"{name}.npy", value)
            arguments += ["--input", f"{name}={name}.npy"]
    result = subprocess.run([os.environ["GEMM64"], "run", "--model", str(path), *arguments, *device.split(),
                             "--allow-host-only", "--output", "found/", "--json", "report.json"],
                            cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if result.returncode != 0:
        return None, f"exit code {result.returncode}: {(result.stderr or result.stdout).strip()[-300:]}"
    report = json.loads((folder / "report.json").read_text())
    return {graph.output: numpy.load(folder / "found" / f"{graph.output}.npy") for graph in graphs}, report


def compare(graphs, device, keep=None):
    """For each graph what differs, if anything does; how many layers ran on the device."""
    with tempfile.TemporaryDirectory(prefix="gemm64_") as place:
        folder = pathlib.Path(keep or place)
        path = folder / "groups.onnx"
        onnx.save(model_of(graphs), path)
        try:
            right = wanted(graphs, path)
        except Exception as error:  # one of them is no network: the others are tried by themselves
            if len(graphs) == 1:
                return {graphs[0].number: ("unusable", str(error)[:200])}, 0
            right = None
        mine, report = found(graphs, path, folder, device) if right is not None else (None, "")
        if mine is None and len(graphs) > 1:
            halves = [compare(half, device) for half in (graphs[:len(graphs) // 2], graphs[len(graphs) // 2:])]
            return {**halves[0][0], **halves[1][0]}, halves[0][1] + halves[1][1]
        outcome = {}
        for graph in graphs:
            if mine is None:
                outcome[graph.number] = ("refused", report)
                continue
            a, b = right[graph.output], mine[graph.output]
            if a.shape != b.shape or a.dtype != b.dtype:
                outcome[graph.number] = ("different", f"{b.dtype}{b.shape} for {a.dtype}{a.shape}")
            elif a.tobytes() != b.tobytes() and not numpy.array_equal(a, b, equal_nan=True):
                far = numpy.max(numpy.abs(a - b))
                few = numpy.sum(a != b) <= max(1, a.size // 20) and far <= 1.01 * graph.step
                outcome[graph.number] = (
                    "last bits" if graph.in_float and far <= LAST_BITS * numpy.max(numpy.abs(a)) else
                    "ties" if graph.ties and few else "different", f"{numpy.sum(a != b)} of {a.size}, by {far:.3g}")
            else:
                outcome[graph.number] = ("equal", "")
        return outcome, len(report["layers"]) if mine is not None else 0


def describe(graph):
    operators = [node.op_type for node in graph.nodes if node.op_type not in STEP_OPERATORS]
    return f"opset {graph.opset}, {numpy.dtype(graph.kind).name}, {' '.join(operators)}: {'; '.join(graph.notes)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="--device reference --array 8")
    parser.add_argument("--keep", help="leaves the files of one graph in this folder")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    groups = collections.defaultdict(list)  # graphs that may be in one file
    for number in range(options.first, options.first + options.graphs):
        opset = OPSETS[number % len(OPSETS)]
        graph = Graph(options.seed, number, opset)
        groups[opset, numpy.dtype(graph.kind).name].append(graph)
    counts, layers = collections.Counter(), 0
    for graphs in groups.values():
        for begin in range(0, len(graphs), BATCH):
            part = graphs[begin:begin + BATCH]
            outcomes, ran = compare(part, options.device, options.keep)
            layers += ran
            for graph in part:
                outcome, text = outcomes[graph.number]
                counts[outcome] += 1
                if outcome not in ("equal", "last bits", "ties"):
                    print(f"{outcome}: --seed {options.seed} --first {graph.number} --graphs 1: {text}; {describe(graph)}",
                          flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) + f"; {layers} layers on the device")
    most = max(2, options.graphs // 50)  # ONNX Runtime itself refuses some, by its own faults
    return 0 if not counts["different"] + counts["refused"] and counts["unusable"] <= most else 1


if __name__ == "__main__":
    sys.exit(main())
