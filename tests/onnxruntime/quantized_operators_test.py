# SPDX-License-Identifier: Apache-2.0
"""Each operator on quantized values gives the very bytes that ONNX Runtime's kernel gives: random
cases, many of whose scales make ties. Unoptimized, so that ONNX Runtime runs the nodes as they are;
optimizing does not change what these operators give."""

import itertools
import unittest

import numpy
import onnx
from onnx import TensorProto

from harness import ProgramTest, infer, saturates

CASES = 64
SCALES = [0.5, 0.25, 0.1, 1.0, 0.125, 0.2, 0.05, 0.02, 0.0375, 0.3]
MICROSOFT = "com.microsoft"


class Cases:
    """One graph of many nodes, each on constants of its own."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.constants, self.outputs = [], [], []

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def bytes(self, kind, shape):
        limits = numpy.iinfo(kind)
        return self.random.integers(limits.min, limits.max, shape, kind, endpoint=True)

    def scale(self, size=None):
        """Scales that make ties in two of three cases."""
        if self.random.integers(3) == 0:
            return numpy.float32(0.001 + 0.2 * self.random.random(size))
        return numpy.float32(self.random.choice(SCALES, size))

    def zero(self, kind):
        """A zero point: 0, or any."""
        return kind(0) if self.random.integers(3) == 0 else self.bytes(kind, ())[()]

    def kind(self):
        return self.random.choice([numpy.int8, numpy.uint8])

    def sizes(self, count, high=7):
        return [int(size) for size in self.random.integers(1, high, count, endpoint=True)]

    def coin(self):
        return bool(self.random.integers(2))

    def quantized(self, kind, shape):
        """Names of values, scale and zero point."""
        return [self.constant(self.bytes(kind, shape)), self.constant(self.scale()),
                self.constant(self.zero(kind))]

    def result(self, kind):
        """Names of an output's scale and zero point."""
        return [self.constant(self.scale()), self.constant(self.zero(kind))]

    def result_of(self, kind, x, weights, length):
        """The same for a product of `length` terms: most results are within the type, and sums are
        about a power of two apart from the next result, so that many are ties but for rounding."""
        steps = 2.0 ** round(numpy.log2(6000 * length**0.5 / 50) + self.random.integers(-1, 2))
        factor = float(self.random.choice(numpy.atleast_1d(weights)))
        return [self.constant(numpy.float32(float(x) * factor * steps)),
                self.constant(self.zero(kind))]

    def ties(self, size=None):
        return numpy.float32(self.random.choice(SCALES, size))

    def add(self, operator, inputs, outputs=1, domain="", **attributes):
        name = f"n{len(self.nodes)}"
        names = [name] + [f"{name}.{i}" for i in range(1, outputs)]
        self.nodes.append(
            onnx.helper.make_node(operator, inputs, names, name, domain=domain, **attributes))
        self.outputs += names

    def model(self, opset=21):
        helper = onnx.helper
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
        nodes = self.nodes + [helper.make_node("Identity", ["x"], ["y"], "identity")]
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs]
        graph = helper.make_graph(nodes, "cases", [x], [y] + outputs, self.constants)
        return helper.make_model(graph, ir_version=9, opset_imports=[
            helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)])


class Operators(ProgramTest):
    def compare(self, cases, opset=21):
        """Every byte of every first output. Returns all that ONNX Runtime gave."""
        self.assertGreaterEqual(len(cases.nodes), 60)
        model = cases.model(opset)
        onnx.save(model, self.folder / "cases.onnx")
        numpy.save(self.folder / "x.npy", numpy.zeros(1, numpy.float32))
        self.succeed("run", "--model", "cases.onnx", "--input", "x.npy", "--device", "reference",
                     "--allow-host-only", "--dump-activations", "n*=found")
        results = infer(str(self.folder / "cases.onnx"), {"x": numpy.zeros(1, numpy.float32)},
                        optimize=False)
        expected = dict(zip((value.name for value in model.graph.output), results))
        wrong = []
        for node in cases.nodes:
            found = numpy.load(self.folder / "found" / f"{node.name}.npy")
            wanted = expected[node.output[0]]
            if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
                wrong.append(f"{node.name}: {found.dtype}{found.shape} {wanted.dtype}{wanted.shape}")
            elif found.tobytes() != wanted.tobytes():
                differ = found.ravel() != wanted.ravel()
                wrong.append(f"{node.name}: {differ.sum()} of {differ.size}, "
                             f"{found.ravel()[differ][:4]} for {wanted.ravel()[differ][:4]}")
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(cases.nodes)}")
        return expected

    def weight_kind(self, cases, kind):
        """Weights that ONNX Runtime's kernels multiply exactly on this processor."""
        if kind == numpy.int8:
            return numpy.int8
        return numpy.uint8 if saturates() else cases.kind()

    def test_quantize_linear(self):
        cases = Cases(1)
        for _ in range(CASES):
            kind = cases.kind()
            shape = cases.sizes(3)
            scale = cases.scale()
            ties = cases.random.integers(-600, 600, shape) * numpy.float32(0.5) * scale
            x = numpy.float32(ties if cases.coin() else 60 * cases.random.standard_normal(shape))
            if cases.coin():
                x.ravel()[0] = cases.random.choice([numpy.inf, -numpy.inf, 1e30, -1e30])
            if cases.coin():
                cases.add("QuantizeLinear", [cases.constant(x), cases.constant(scale),
                                             cases.constant(cases.zero(kind))])
            else:
                axis = int(cases.random.integers(3))
                scales = cases.scale(shape[axis])
                cases.add("QuantizeLinear",
                          [cases.constant(x), cases.constant(scales),
                           cases.constant(cases.bytes(kind, shape[axis]))],
                          axis=axis)
        self.compare(cases)

    def test_dequantize_linear(self):
        cases = Cases(2)
        for i in range(CASES):
            shape = cases.sizes(3)
            axis = int(cases.random.integers(3))
            each = cases.coin()
            scales = cases.constant(cases.scale(shape[axis] if each else None))
            if i % 4 == 0:
                values = cases.random.integers(-2**31, 2**31, shape, numpy.int32)
                inputs = [cases.constant(values), scales]
            else:
                kind = cases.kind()
                zeros = cases.bytes(kind, shape[axis]) if each else cases.zero(kind)
                inputs = [cases.constant(cases.bytes(kind, shape)), scales, cases.constant(zeros)]
            cases.add("DequantizeLinear", inputs, axis=axis)
        self.compare(cases)

    def test_dynamic_quantize_linear(self):
        cases = Cases(3)
        for _ in range(CASES):
            x = cases.random.standard_normal(cases.sizes(2, 40)).astype(numpy.float32)
            x = numpy.float32((x + cases.random.integers(-2, 3)) * 10.0 ** cases.random.integers(-3, 4))
            if cases.random.integers(8) == 0:
                x[:] = 0
            cases.add("DynamicQuantizeLinear", [cases.constant(x)], 3)
        self.compare(cases)

    def test_qlinear_matmul(self):
        cases = Cases(4)
        for _ in range(CASES):
            kind = cases.kind()
            m, k, n = cases.sizes(3, 70)
            shape = [m, k] if cases.coin() else [*cases.sizes(1, 3), m, k]
            weights = self.weight_kind(cases, kind)
            each = cases.coin()
            scale, scales = cases.ties(), cases.ties(n if each else None)
            a = [cases.constant(cases.bytes(kind, shape)), cases.constant(scale),
                 cases.constant(cases.zero(kind))]
            b = [cases.constant(cases.bytes(weights, [k, n])), cases.constant(scales),
                 cases.constant(cases.bytes(weights, n) if each else cases.zero(weights))]
            cases.add("QLinearMatMul", [*a, *b, *cases.result_of(kind, scale, scales, k)])
        self.compare(cases)

    def test_matmul_integer(self):
        cases = Cases(5)
        for _ in range(CASES):
            kind = cases.kind()
            m, k, n = cases.sizes(3, 70)
            weights = self.weight_kind(cases, kind)
            inputs = [cases.constant(cases.bytes(kind, [m, k])),
                      cases.constant(cases.bytes(weights, [k, n]))]
            if cases.coin():
                zeros = cases.bytes(weights, n) if cases.coin() else cases.zero(weights)
                inputs += [cases.constant(cases.zero(kind)), cases.constant(zeros)]
            cases.add("MatMulInteger", inputs)
        self.compare(cases)

    def test_qgemm(self):
        cases = Cases(6)
        for _ in range(CASES):
            kind = cases.kind()
            m, k, n = cases.sizes(3, 70)
            flip_a, flip_b = cases.coin(), cases.coin()
            weights = self.weight_kind(cases, kind)
            each = cases.coin()
            scale, scales = cases.ties(), cases.ties(n if each else None)
            a = [cases.constant(cases.bytes(kind, [k, m] if flip_a else [m, k])),
                 cases.constant(scale), cases.constant(cases.zero(kind))]
            b = [cases.constant(cases.bytes(weights, [n, k] if flip_b else [k, n])),
                 cases.constant(scales),
                 cases.constant(cases.bytes(weights, n) if each else cases.zero(weights))]
            bias = ""
            if cases.coin():
                bias = cases.constant(cases.random.integers(-9999, 9999, [n], numpy.int32))
            result = cases.result_of(kind, scale, scales, k) if cases.random.integers(4) else []
            cases.add("QGemm", [*a, *b, bias, *result], domain=MICROSOFT, transA=int(flip_a),
                      transB=int(flip_b), alpha=float(cases.random.choice([1.0, 0.5, 0.3])))
        self.compare(cases)

    def convolution(self, cases, kind, weights):
        """Shapes and attributes of a convolution, and its input and weights."""
        axes = int(cases.random.choice([1, 2, 2, 2]))
        groups = int(cases.random.choice([1, 1, 2, 4]))
        channels = groups * int(cases.random.integers(1, 9))
        filters = groups * int(cases.random.integers(1, 9))
        if cases.random.integers(4) == 0:
            channels = filters = groups = int(cases.random.integers(1, 20))
        kernel = cases.sizes(axes, 4)
        dilations = cases.sizes(axes, 2)
        size = [int(cases.random.integers(d * (k - 1) + 1, 16)) for k, d in zip(kernel, dilations)]
        pads = [int(cases.random.integers(0, k)) for k in kernel + kernel]
        x = cases.bytes(kind, [*cases.sizes(1, 2), channels, *size])
        w = cases.bytes(weights, [filters, channels // groups, *kernel])
        return x, w, dict(group=groups, kernel_shape=kernel, dilations=dilations, pads=pads,
                          strides=cases.sizes(axes, 3))

    def test_qlinear_conv(self):
        cases = Cases(7)
        for _ in range(3 * CASES):
            kind = cases.kind()
            weights = self.weight_kind(cases, kind)
            x, w, attributes = self.convolution(cases, kind, weights)
            each = cases.coin()
            filters = w.shape[0]
            zero = numpy.full(filters if each else (), cases.zero(weights))
            scale, scales = cases.ties(), cases.ties(filters if each else None)
            inputs = [cases.constant(x), cases.constant(scale),
                      cases.constant(cases.zero(kind)), cases.constant(w), cases.constant(scales),
                      cases.constant(zero),
                      *cases.result_of(kind, scale, scales, w.size // filters)]
            if cases.coin():
                inputs.append(cases.constant(
                    cases.random.integers(-9999, 9999, filters, numpy.int32)))
            cases.add("QLinearConv", inputs, **attributes)
        self.compare(cases)

    def test_conv_integer(self):
        cases = Cases(8)
        for _ in range(CASES):
            x, w, attributes = self.convolution(cases, numpy.uint8, numpy.uint8)
            inputs = [cases.constant(x), cases.constant(w)]
            if cases.coin():
                inputs += [cases.constant(cases.zero(numpy.uint8)),
                           cases.constant(cases.zero(numpy.uint8))]
            cases.add("ConvInteger", inputs, **attributes)
        self.compare(cases)

    def test_dynamic_quantize_matmul(self):
        cases = Cases(9)
        for _ in range(CASES):
            m, k, n = cases.sizes(3, 70)
            weights = self.weight_kind(cases, numpy.uint8)
            a = cases.random.standard_normal([m, k]).astype(numpy.float32)
            each = cases.coin()
            inputs = [cases.constant(a), cases.constant(cases.bytes(weights, [k, n])),
                      cases.constant(cases.scale(n if each else None)),
                      cases.constant(cases.bytes(weights, n) if each else cases.zero(weights))]
            if cases.coin():
                inputs.append(cases.constant(cases.random.standard_normal(n).astype(numpy.float32)))
            cases.add("DynamicQuantizeMatMul", inputs, domain=MICROSOFT)
        self.compare(cases)

    def test_matmul_integer_to_float(self):
        cases = Cases(10)
        for _ in range(CASES):
            kind = cases.kind()
            m, k, n = cases.sizes(3, 70)
            weights = self.weight_kind(cases, kind)
            each = cases.coin()
            inputs = [cases.constant(cases.bytes(kind, [m, k])),
                      cases.constant(cases.bytes(weights, [k, n])), cases.constant(cases.scale()),
                      cases.constant(cases.scale(n if each else None)),
                      cases.constant(cases.zero(kind)),
                      cases.constant(cases.bytes(weights, n) if each else cases.zero(weights))]
            if cases.coin():
                inputs.append(cases.constant(cases.random.standard_normal(n).astype(numpy.float32)))
            cases.add("MatMulIntegerToFloat", inputs, domain=MICROSOFT)
        self.compare(cases)

    def stretched_pair(self, cases):
        """Two shapes that stretch to each other."""
        shape = cases.sizes(3, 16)
        a, b = list(shape), list(shape)
        for axis, which in itertools.product(range(3), (a, b)):
            if cases.random.integers(4) == 0:
                which[axis] = 1
        return a, b[int(cases.random.integers(3)):] if cases.coin() else b

    def binary(self, operator, seed):
        cases = Cases(seed)
        for _ in range(3 * CASES):
            kind = cases.kind()
            a, b = self.stretched_pair(cases)
            if cases.coin():
                a, b = b, a
            inputs = []
            for shape in (a, b):
                inputs += [cases.constant(cases.bytes(kind, shape)), cases.constant(cases.ties()),
                           cases.constant(cases.zero(kind))]
            # Of a product, the result is as wide as both together.
            wide = 64 if operator == "QLinearMul" else 1
            result = [cases.constant(wide * cases.ties()), cases.constant(cases.zero(kind))]
            cases.add(operator, inputs + result, domain=MICROSOFT)
        self.compare(cases)

    def test_qlinear_add(self):
        self.binary("QLinearAdd", 11)

    def test_qlinear_mul(self):
        self.binary("QLinearMul", 12)

    def test_qlinear_concat(self):
        cases = Cases(13)
        for _ in range(CASES):
            kind = cases.kind()
            shape = cases.sizes(3)
            axis = int(cases.random.integers(3))
            inputs = cases.result(kind)
            for _ in range(cases.random.integers(1, 5)):
                shape[axis] = int(cases.random.integers(1, 9))
                part = cases.quantized(kind, shape)
                inputs += [part[0], *inputs[:2]] if cases.random.integers(4) == 0 else part
            cases.add("QLinearConcat", inputs, domain=MICROSOFT, axis=axis)
        self.compare(cases)

    def test_qlinear_where(self):
        cases = Cases(31)
        for _ in range(CASES):
            kind = cases.kind()
            shape = cases.sizes(3)
            stretched = [[size if cases.random.integers(3) else 1 for size in shape] for _ in range(3)]
            condition = cases.constant(cases.random.integers(0, 2, stretched[0]).astype(bool))
            result = cases.result(kind)
            yes = cases.quantized(kind, stretched[1])
            no = cases.quantized(kind, stretched[2])
            if cases.random.integers(4) == 0:
                no = [no[0], *result]
            cases.add("QLinearWhere", [condition, *yes, *no, *result], domain=MICROSOFT)
        self.compare(cases)

    def test_qlinear_average_pool(self):
        cases = Cases(14)
        for _ in range(3 * CASES):
            kind = cases.kind()
            axes = int(cases.random.choice([1, 2, 2, 3]))
            kernel = cases.sizes(axes, 4)
            size = [int(cases.random.integers(k, 11)) for k in kernel]
            pads = [int(cases.random.integers(0, k)) for k in kernel + kernel]
            if cases.random.integers(4) == 0:    # the map, which has an arithmetic of its own
                size, pads = kernel, [0] * len(pads)
            cases.add("QLinearAveragePool",
                      [*cases.quantized(kind, [*cases.sizes(2, 3), *size]), *cases.result(kind)],
                      domain=MICROSOFT, kernel_shape=kernel, pads=pads,
                      strides=cases.sizes(axes, 3), count_include_pad=int(cases.coin()))
        self.compare(cases)

    def test_qlinear_global_average_pool(self):
        cases = Cases(15)
        for _ in range(CASES):
            kind = cases.kind()
            cases.add("QLinearGlobalAveragePool",
                      [*cases.quantized(kind, [*cases.sizes(2, 5), *cases.sizes(2, 12)]),
                       *cases.result(kind)], domain=MICROSOFT)
        self.compare(cases)

    def unary(self, operator, seed, **attributes):
        cases = Cases(seed)
        for _ in range(CASES):
            kind = cases.kind()
            x = numpy.arange(256).astype(numpy.uint8).view(kind).reshape(4, 64)
            cases.add(operator, [cases.constant(x), cases.constant(cases.scale()),
                                 cases.constant(cases.zero(kind)), *cases.result(kind)],
                      domain=MICROSOFT, **attributes)
        self.compare(cases)

    def test_qlinear_sigmoid(self):
        self.unary("QLinearSigmoid", 16)

    def test_qlinear_sigmoid_beside_ties(self):
        """One value of each table is half a step from two results, by the exact function."""
        cases = Cases(36)
        x = numpy.arange(256, dtype=numpy.uint8)
        for _ in range(CASES):
            scale, at = numpy.float32(0.2 * cases.random.random()), cases.random.integers(256)
            exact = 1 / (1 + numpy.exp(-float(scale * numpy.float32(at - 128))))
            step = numpy.float32(exact / (cases.random.integers(20, 250) + 0.5))
            cases.add("QLinearSigmoid",
                      [cases.constant(x), cases.constant(scale), cases.constant(numpy.uint8(128)),
                       cases.constant(step), cases.constant(numpy.uint8(0))], domain=MICROSOFT)
        self.compare(cases)

    def test_qlinear_leaky_relu(self):
        self.unary("QLinearLeakyRelu", 17, alpha=0.1)

    def test_qlinear_softmax(self):
        cases = Cases(18)
        for _ in range(CASES):
            kind = cases.kind()
            shape = cases.sizes(3, 12)
            scale = numpy.float32(cases.random.choice([1 / 256, 1 / 255, 0.01, 0.05]))
            zero = cases.constant(kind(0 if kind == numpy.uint8 else -128))
            cases.add("QLinearSoftmax",
                      [*cases.quantized(kind, shape), cases.constant(scale), zero],
                      domain=MICROSOFT, axis=int(cases.random.integers(-3, 3)),
                      opset=int(cases.random.choice([11, 13])))
        self.compare(cases)

    def test_what_moves_and_compares_bytes(self):
        cases = Cases(19)
        for i in range(12 * 6):
            kind = cases.kind()
            shape = [2, 3, *cases.sizes(2, 6)]
            x = cases.constant(cases.bytes(kind, shape))
            which = i % 12
            if which == 0:
                kernel = [min(2, size) for size in shape[2:]]
                cases.add("MaxPool", [x], kernel_shape=kernel, strides=cases.sizes(2, 2))
            elif which == 1:
                cases.add("Concat", [x, cases.constant(cases.bytes(kind, shape))], axis=i // 12 % 4)
            elif which == 2:
                cases.add("Reshape", [x, cases.constant(numpy.int64([3, -1]))])
            elif which == 3:
                cases.add("Transpose", [x], perm=[int(p) for p in cases.random.permutation(4)])
            elif which == 4:
                pads = cases.constant(cases.random.integers(0, 3, 8))
                cases.add("Pad", [x, pads, cases.constant(cases.zero(kind))])
            elif which == 5:
                low, high = sorted(int(value) for value in cases.bytes(kind, 2))
                cases.add("Clip", [x, cases.constant(kind(low)), cases.constant(kind(high))])
            elif which == 6:
                cases.add("Flatten", [x], axis=i // 12 % 4)
            elif which == 7:
                cases.add("Slice", [x, cases.constant(numpy.int64([1])), cases.constant(
                    numpy.int64([3])), cases.constant(numpy.int64([1]))])
            elif which == 8:
                cases.add("Gather", [x, cases.constant(numpy.int64([2, 0]))], axis=1)
            elif which == 9:
                cases.add("Squeeze", [cases.constant(cases.bytes(kind, [2, 1, 3]))])
            elif which == 10:
                cases.add("Unsqueeze", [x, cases.constant(numpy.int64([1]))])
            elif kind == numpy.int8:
                cases.add("Relu", [x])
        self.compare(cases)


if __name__ == "__main__":
    unittest.main(verbosity=2)
