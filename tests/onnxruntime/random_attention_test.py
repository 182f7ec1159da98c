# SPDX-License-Identifier: Apache-2.0
"""Random products of two tensors that the network computes, and attention made of them, on the RTL, with memories that
stall at random: the bytes of ONNX Runtime, all MACs on the device, in the cycles that `analyze` predicts. GEMM64_CASES: how
many (default 10), GEMM64_SEED: which ones, GEMM64_ARRAYS: on arrays of which sizes."""

import math
import os
import random

import numpy
from onnx import TensorProto, helper

from harness import ProgramTest, drawn, make_model, saturates

CASES = drawn(10)
SEED = int(os.environ.get("GEMM64_SEED", "1"))
ARRAYS = [int(size) for size in os.environ.get("GEMM64_ARRAYS", "4 8 64").split()]
ROWS = 300_000  # that may enter the smallest array, zero points not counted
RANGES = {numpy.uint8: (0, 256), numpy.int8: (-128, 128)}


def up(a, b):
    return -(-a // b)


class Case:
    """A network of QLinearMatMuls, and its inputs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.getrandbits(32))
        self.inputs, self.outputs, self.constants, self.nodes = {}, [], {}, []
        self.rows = 0
        self.programs = None  # where there is one number that they must be
        self.result = None    # the outputs' type, where it is not the input's
        self.random.choices([self.attention, self.stack, self.block, self.dynamic, self.sums], [4, 5, 2, 3, 4])[0]()

    def log_uniform(self, least, most):
        return min(most, int(least * (most / least + 1)**self.random.random()))

    def constant(self, name, value):
        self.constants[name] = numpy.asarray(value)
        return name

    def values(self, kind, shape):
        return self.numpy.integers(*RANGES[kind], shape).astype(kind)

    def zero(self, kind):
        """Any, but often those that need no column of sums, or the most."""
        low, high = RANGES[kind]
        return kind(self.random.choice([self.random.randrange(low, high)] * 3 + [(low + high) // 2, low, high - 1]))

    def product(self, name, a, b, kinds, shape, weights_zero=True):
        """a * b, of `kinds` and of [m, k, n]."""
        m, k, n = shape
        left, right = kinds
        self.rows += m * up(k, 4) * up(n, 4)
        zero = self.zero(right) if weights_zero else right((RANGES[right][0] + RANGES[right][1]) // 2)
        inputs = [a, self.constant(f"{name}_as", numpy.float32(0.02)), self.constant(f"{name}_az", self.zero(left)),
                  b, self.constant(f"{name}_bs", numpy.float32(0.01)), self.constant(f"{name}_bz", zero),
                  self.constant(f"{name}_ys", numpy.float32(0.02 * 0.01 * 74 * 74 * k**0.5 / 60)),
                  self.constant(f"{name}_yz", self.zero(left))]
        self.nodes.append(helper.make_node("QLinearMatMul", inputs, [name], name))
        return name

    def moved(self, name, value, shape, order):
        """Reshaped, then transposed; each where it is given."""
        for step, kind, setting in ((f"{name}_r", "Reshape", shape), (f"{name}_t", "Transpose", order)):
            if setting is None:
                continue
            extra = [self.constant(f"{step}_to", numpy.array(setting, numpy.int64))] if kind == "Reshape" else []
            self.nodes.append(helper.make_node(kind, [value, *extra], [step], step,
                                               **({} if kind == "Reshape" else {"perm": setting})))
            value = step
        return value

    def kinds(self):
        pairs = [(numpy.uint8, numpy.uint8), (numpy.int8, numpy.int8)]
        return self.random.choice(pairs if saturates() else [*pairs, (numpy.uint8, numpy.int8)])

    def operands(self, kinds):
        """Two tensors, a and b, of which either may be stretched, and the second a constant; returns [m, k, n]."""
        r = self.random
        while True:
            whole = [r.randint(1, 3), r.randint(1, 5)][:r.randint(0, 2)]
            m, k, n = self.log_uniform(1, 130), self.log_uniform(1, 130), self.log_uniform(1, 130)
            if math.prod(whole) * m * up(k, 4) * up(n, 4) <= ROWS:
                break
        stacks = [[1 if r.random() < 0.2 else size for size in whole][r.choice([0, 0, 0, len(whole)]):] for _ in range(2)]
        for name, kind, stack, matrix in zip("ab", kinds, stacks, ([m, k], [k, n])):
            self.inputs[name] = self.values(kind, [*stack, *matrix])
        if len(stacks[1]) > 0 and r.random() < 0.2:
            self.constant("b", self.inputs.pop("b"))
        self.text = f"{stacks[0]}x{m}x{k} by {stacks[1]}x{k}x{n} of {[kind.__name__ for kind in kinds]}"
        return math.prod(whole) * m, k, n

    def stack(self):
        kinds = self.kinds()
        self.outputs = [self.product("y", "a", "b", kinds, self.operands(kinds))]

    def sums(self):
        """The same as int32, with zero points or without."""
        kinds = self.random.choice([(numpy.uint8, numpy.uint8), (numpy.int8, numpy.uint8), (numpy.int8, numpy.int8)])
        self.operands(kinds)
        zeros = [self.constant(f"{name}_z", self.zero(kind)) for name, kind in zip("ab", kinds)][:self.random.choice([0, 2, 2, 2])]
        self.nodes.append(helper.make_node("MatMulInteger", ["a", "b", *zeros], ["y"], "y"))
        self.outputs, self.result, self.programs = ["y"], TensorProto.INT32, 1
        self.text += f", {len(zeros)} zero points"

    def dynamic(self):
        """Attention without its Softmax, quantized dynamically, attention's products as well."""
        r = self.random
        while True:
            batch, heads, size, tokens = r.randint(1, 2), r.randint(1, 5), self.log_uniform(1, 70), self.log_uniform(1, 70)
            if batch * heads * tokens * up(tokens, 4) * up(size, 4) * 2 <= ROWS:
                break
        width = min(heads * size, 16)
        self.inputs["x"] = self.numpy.standard_normal([batch, tokens, width]).astype(numpy.float32)
        kind = numpy.uint8 if saturates() else r.choice([numpy.uint8, numpy.int8])

        def quantized(name):
            outputs = [f"{name}_{part}" for part in ("q", "s", "z")]
            if not any(outputs[0] in node.output for node in self.nodes):
                self.nodes.append(helper.make_node("DynamicQuantizeLinear", [name], outputs))
            return outputs

        def product(name, a, b, last=False):
            """Of float tensors; b may be (weights, their scale, their zero point)."""
            a, a_scale, a_zero = quantized(a)
            b, b_scale, b_zero = quantized(b) if isinstance(b, str) else b
            self.nodes.append(helper.make_node("MatMulInteger", [a, b, a_zero, b_zero], [f"{name}_i"], name))
            if last:
                return f"{name}_i"
            self.nodes += [helper.make_node("Cast", [f"{name}_i"], [f"{name}_f"], to=TensorProto.FLOAT),
                           helper.make_node("Mul", [a_scale, b_scale], [f"{name}_m"]),
                           helper.make_node("Mul", [f"{name}_f", f"{name}_m"], [name])]
            return name

        parts = {}
        for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            weights = [self.constant(f"{name}_w", self.values(kind, [width, heads * size])),
                       self.constant(f"{name}_ws", numpy.float32(0.01)), self.constant(f"{name}_wz", self.zero(kind))]
            parts[name] = self.moved(name, product(name, "x", weights), [batch, tokens, heads, size], order)
        scores = product("scores", parts["q"], parts["k"])
        self.outputs, self.result, self.programs = [product("y", scores, parts["v"], last=True)], TensorProto.INT32, 3
        self.text = f"dynamic, {batch} x {heads} heads of {tokens}x{size}, weights of {kind.__name__}"

    def attention(self):
        """Linear layers give queries, keys and values of some heads; another one takes the result."""
        r = self.random
        kind = numpy.uint8 if r.random() < 0.5 and not saturates() else numpy.int8
        while True:
            batch, heads, size = r.randint(1, 3), r.randint(1, 5), self.log_uniform(1, 70)
            tokens = self.log_uniform(1, 130)
            if batch * heads * tokens * up(tokens, 4) * up(size, 4) * 2 <= ROWS:
                break
        width = min(heads * size, 16)
        self.inputs["x"] = self.values(kind, [batch, tokens, width])
        weights = (kind, numpy.int8)

        def linear(name, value, k, n):
            self.constant(f"{name}_w", self.values(numpy.int8, [k, n]))
            return self.product(name, value, f"{name}_w", weights, (batch * tokens, k, n), weights_zero=False)

        parts = {}
        for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            given = linear(name, "x", width, heads * size)
            parts[name] = self.moved(name, given, [batch, tokens, heads, size], order)
        every = batch * heads * tokens
        scores = self.product("scores", parts["q"], parts["k"], (kind, kind), (every, size, tokens))
        if r.random() < 0.7:
            steps = [self.constant("p_xs", numpy.float32(0.05)), self.constant("p_xz", self.zero(kind)),
                     self.constant("p_ys", numpy.float32(1 / 256)), self.constant("p_yz", kind(RANGES[kind][0]))]
            self.nodes.append(helper.make_node("QLinearSoftmax", [scores, *steps], ["p"], "p", domain="com.microsoft",
                                               axis=-1, opset=13))
            scores = "p"
        mixed = self.product("mixed", scores, parts["v"], (kind, kind), (every, tokens, size))
        self.outputs = [linear("y", self.moved("m", self.moved("mt", mixed, None, [0, 2, 1, 3]),
                                               [batch, tokens, heads * size], None), heads * size, 5)]
        self.text = f"{batch} x {heads} heads of {tokens}x{size}, {kind.__name__}"

    def block(self):
        """Two Linear layers with biases, a function of single values between, and the input added."""
        r = self.random
        kind = numpy.uint8 if r.random() < 0.5 and not saturates() else numpy.int8
        batch, tokens = r.randint(1, 3), 2 * self.log_uniform(1, 70)
        width, hidden = self.log_uniform(2, 30), self.log_uniform(2, 70)  # one value would be a table
        self.inputs["x"] = self.values(kind, [batch, tokens, width])

        def steps(name, scale=0.02):
            return [self.constant(f"{name}_s", numpy.float32(scale * r.uniform(0.5, 2))),
                    self.constant(f"{name}_z", self.zero(kind))]

        def linear(name, value, k, n):
            self.constant(f"{name}_w", self.values(numpy.int8, [k, n]))
            given = self.product(name, value, f"{name}_w", (kind, numpy.int8), (batch * tokens, k, n), weights_zero=False)
            operands = [[given, *steps(f"{name}_a")], [self.constant(f"{name}_b", self.values(kind, [n])), *steps(f"{name}_o")]]
            r.shuffle(operands)
            return self.node(f"{name}_biased", "QLinearAdd", [*sum(operands, []), *steps(f"{name}_r")])

        bent = self.node("bent", r.choice(["QLinearSigmoid", "QLinearLeakyRelu"]),
                         [linear("h", "x", width, hidden), *steps("f"), *steps("g", 1 / 128)])
        self.outputs = [self.node("y", "QLinearAdd", [linear("z", bent, hidden, width), *steps("l"), "x", *steps("m"),
                                                      *steps("n")])]
        self.programs = 1
        self.text = f"a block of {batch} x {tokens} rows, {width} to {hidden} columns, {kind.__name__}"

    def node(self, name, operator, inputs):
        self.nodes.append(helper.make_node(operator, inputs, [name], name, domain="com.microsoft"))
        return name

    def model(self):
        kind = self.result or helper.np_dtype_to_tensor_dtype(next(iter(self.inputs.values())).dtype)
        return make_model(self.nodes, self.inputs.items(), [(name, kind) for name in self.outputs], self.constants)


class RandomAttention(ProgramTest):
    def check(self, number):
        case = Case(f"{SEED} {number}")
        model = case.model()
        products = 0
        for array in ARRAYS:
            stalls = case.random.choice([0, 0, 0.1, 0.3])
            latency = case.random.choice([1, 20, 100])
            how = ["--array", array, "--memory-latency", latency]
            what = f"seed {SEED}, case {number}, array {array}, stalls {stalls}, latency {latency}: {case.text}"
            report = self.run_case(model, case.inputs, *how, "--memory-stalls", stalls, "--seed", number, what=what)
            self.assertEqual(report["total"]["device_share"], 1, what)
            self.assertTrue(report["verified"], what)
            products += sum(layer.get("products", 0) for layer in report["layers"])
            self.succeed("analyze", "case.onnx", *how, "--json", "a.json")
            analysis = self.read_json("a.json")
            layers = [layer for layer in analysis["layers"] if "array" in layer]
            copies = sum(layer["pool"]["clocks"] for layer in analysis["layers"] if "pool" in layer)
            self.assertEqual([layer["on"] for layer in layers], ["device"] * len(layers), what)
            self.assertEqual(sum(layer["array"]["clocks"] for layer in layers) + copies,
                             report["total"]["predicted_cycles"], what)
            if case.programs is not None:
                self.assertEqual(report["total"]["programs"], case.programs, what)
            if case.result is None and case.programs is not None:
                self.assertEqual(report["total"]["host_nodes"], 1, what)
            self.assertEqual(sum(layer["macs"] for layer in layers), report["total"]["macs"], what)
        if case.programs is None or case.result is not None:
            self.assertGreater(products, 0, what)
        return products

    def test_random_cases(self):
        products = sum(self.check(number) for number in range(CASES))
        print(f"{CASES} networks with {products} products of computed tensors", flush=True)
