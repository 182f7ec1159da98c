# SPDX-License-Identifier: Apache-2.0
"""If, Loop and Scan have ONNX Runtime's values, whether their condition and turns are known before the network runs or
not; Loops without an end are refused by name. Inputs that are numbers (`--input sr=16000`) make more of them known."""

import numpy
import onnx
from onnx import parser

from harness import ProgramTest, infer


def model_of(text, opset=17):
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')
    onnx.checker.check_model(model)
    return model


# x is [2, 3]; a branch reads what is around it.
BY_RATE = """g (float[2, 3] x, int64 sr) => (float[A, B] y) {
  k = Constant <value = int64 {16000}> ()
  c = Equal (sr, k)
  y = If (c) <then_branch = t () => (float[A, B] a) {a = Relu (x)}, else_branch = e () => (float[A, B] b) {b = Neg (x)}>
}"""
# By the rank and by a size; an If in an If.
BY_SHAPE = """g (float[N, 3] x) => (float[A, B] y) {
  s = Shape (x)
  zero = Constant <value = int64 {0}> ()
  two = Constant <value = int64 {2}> ()
  rows = Gather (s, zero)
  c = Equal (rows, two)
  y = If (c) <then_branch = t () => (float[A, B] a) {
    one = Constant <value = int64 {1}> ()
    columns = Gather (s, one)
    d = Greater (columns, two)
    a = If (d) <then_branch = tt () => (float[A, B] u) {u = Exp (x)}, else_branch = te () => (float[A, B] v) {v = Abs (x)}>
  }, else_branch = e () => (float[A, B] b) {b = Neg (x)}>
}"""
LOOP = """g (float[2, 3] x, int64 n) => (float[2, 3] last, float[T, 2, 3] all) {
  true = Constant <value = bool {1}> ()
  last, all = Loop (n, true, x) <body = b (int64 i, bool go, float[2, 3] state) => (bool again, float[2, 3] next, float[2, 3] seen) {
    again = Identity (go)
    f = Cast <to = 1> (i)
    half = Constant <value = float {0.5}> ()
    g = Mul (f, half)
    sum = Add (state, g)
    next = Mul (sum, x)
    seen = Neg (state)
  }>
}"""
# Two states' worth of turns over columns, one of them in reverse.
SCAN = """g (float[2, 3] x, float[3, 2] w) => (float[2] last, float[2, 3] sums) {
  none = Constant <value = float[2] {0.0, 0.0}> ()
  last, sums = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [0, 1],
                     scan_output_axes = [-1], scan_output_directions = [1],
                     body = b (float[2] state, float[2] column, float[2] row) => (float[2] next, float[2] sum) {
    both = Mul (column, row)
    next = Add (state, both)
    sum = Identity (next)
  }> (none, x, w)
}"""
# The condition of one is what another makes.
CHAIN = """g (float[2, 3] x, bool first) => (float[2, 3] y) {
  c = If (first) <then_branch = t () => (bool p) {p = Constant <value = bool {0}> ()},
                  else_branch = e () => (bool q) {q = Constant <value = bool {1}> ()}>
  y = If (c) <then_branch = t2 () => (float[2, 3] a) {a = Relu (x)}, else_branch = e2 () => (float[2, 3] b) {b = Neg (x)}>
}"""
BY_VALUES = """g (float[2, 3] x, bool c) => (float[2, 3] y) {
  y = Loop (, c, x) <body = b (int64 i, bool go, float[2, 3] state) => (bool again, float[2, 3] next) {
    s = ReduceSum <keepdims = 0> (state)
    k = Constant <value = float {9.0}> ()
    again = Less (s, k)
    next = Add (state, state)
  }>
}"""
ENDLESS = """g (float[2, 3] x, int64 n) => (float[2, 3] y) {
  true = Constant <value = bool {1}> ()
  y = Loop (NUMBER, true, x) <body = b (int64 i, bool go, float[2, 3] state) => (bool again, float[2, 3] next) {
    again = Identity (go)
    next = Neg (state)
  }>
}"""
# A Loop in a branch, both of which are known only when the network runs; the layer is in the inner body.
NESTED = """g (float[2, 3] x) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
  sum = ReduceSum <keepdims = 0> (x)
  n = Cast <to = 7> (sum)
  zero = Constant <value = float {0.0}> ()
  c = Greater (sum, zero)
  y = If (c) <then_branch = t () => (float[2, 3] a) {
    go = Constant <value = bool {1}> ()
    a = Loop (n, go, x) <body = b (int64 i, bool g, float[2, 3] state) => (bool again, float[2, 3] next) {
      again = Identity (g)
      next = MatMul (state, w)
    }>
  }, else_branch = e () => (float[2, 3] b) {b = Neg (x)}>
}"""


class ControlFlow(ProgramTest):
    def setUp(self):
        super().setUp()
        self.x = numpy.random.default_rng(3).standard_normal([2, 3]).astype(numpy.float32)

    def run_model(self, model, feeds, numbers=(), options=()):
        """Outputs in order; inputs in `numbers` are given as such."""
        onnx.save(model, self.folder / "m.onnx")
        inputs = []
        for name, value in feeds.items():
            if name in numbers:
                inputs += ["--input", f"{name}={value}".replace("True", "true").replace("False", "false")]
                continue
            numpy.save(self.folder / f"{name}.npy", value)
            inputs += ["--input", f"{name}={name}.npy"]
        for output in model.graph.output:
            inputs += ["--output", f"{output.name}={output.name}.out.npy"]
        code, _, complaint = self.run_program("run", "--model", "m.onnx", "--allow-host-only", *inputs, *options)
        if code != 0:
            return complaint
        return [numpy.load(self.folder / f"{output.name}.out.npy") for output in model.graph.output]

    def check(self, text, numbers=(), opset=17, **feeds):
        model = model_of(text, opset)
        feeds = {name: numpy.asarray(value) for name, value in feeds.items()}
        found = self.run_model(model, feeds, numbers)
        self.assertIsInstance(found, list, found)
        for mine, wanted in zip(found, infer(model.SerializeToString(), feeds, optimize=False)):
            self.assertEqual(mine.dtype, wanted.dtype)
            self.assertEqual(mine.shape, wanted.shape)
            numpy.testing.assert_allclose(mine, wanted, rtol=1e-6)

    def test_branches(self):
        for rate in (16000, 8000):
            for numbers in ((), ("sr",)):
                self.check(BY_RATE, numbers, x=self.x, sr=numpy.int64(rate))
        for rows in (1, 2):
            self.check(BY_SHAPE, x=self.x[:rows])
        for first in (True, False):
            self.check(CHAIN, ("first",), x=self.x, first=numpy.bool_(first))

    def test_turns(self):
        for opset in (11, 17):
            self.check(LOOP, ("n",), opset, x=self.x, n=numpy.int64(4))
            self.check(SCAN, (), opset, x=self.x, w=numpy.float32([[1, 2], [3, 4], [5, 6]]))

    def test_linear_layers_inside_run_on_the_device(self):
        text = """g (float[2, 3] x) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
          n = Constant <value = int64 {3}> ()
          y = Loop (n, , x) <body = b (int64 i, bool go, float[2, 3] state) => (bool again, float[2, 3] next) {
            again = Constant <value = bool {1}> ()
            next = MatMul (state, w)
          }>
        }"""
        self.check(text, x=self.x)
        self.succeed("run", "--model", "m.onnx", "--array", 4, "--input", "x=x.npy", "--json", "r.json")
        layers = self.read_json("r.json")["layers"]
        self.assertEqual([layer["on"] for layer in layers], ["device"] * 3)
        self.succeed("analyze", "m.onnx", "--json", "a.json")
        self.assertEqual(self.read_json("a.json")["total"]["macs"], 3 * 2 * 3 * 3)

    def test_what_is_not_known_runs_in_onnx_runtime(self):
        self.check(LOOP, ("n",), x=self.x / 9, n=numpy.int64(20000))  # more than are unrolled
        self.check(LOOP, x=self.x, n=numpy.int64(3))
        for go in (True, False):
            self.check(BY_VALUES, (), x=abs(self.x), c=numpy.bool_(go))
            self.check(NESTED, x=numpy.float32([[1, 0.5, 0], [0.25, 1, 0.5]]) * (1 if go else -1))

    def test_loops_without_an_end_are_refused(self):
        for number, numbers in (("", ()), ("n", ("n",))):
            text = ENDLESS.replace("NUMBER", number)
            feeds = {"x": self.x, "n": numpy.int64(2**62)}
            self.assertIn("Loop without an end (Loop", self.run_model(model_of(text), feeds, numbers))
        _, output, _ = self.run_program("analyze", "m.onnx", "--input", f"n={2**62}")
        self.assertIn("gemm64 run refuses this network: not supported: Loop without an end", output)

    def test_analyze_names_what_is_not_known(self):
        onnx.save(model_of(BY_RATE), self.folder / "m.onnx")
        output = self.succeed("analyze", "m.onnx")
        self.assertIn("If whose condition is not known before the network runs", output)
        self.assertNotIn("refuses", output)
        output = self.succeed("analyze", "m.onnx", "--input", "sr=16000")
        self.assertNotIn("whose condition", output)

    def test_numbers_fit_their_inputs(self):
        def complaint(text, number):
            return self.run_model(model_of(text), {"x": self.x, **number}, tuple(number))
        self.assertIn("--input sr: 0.5 is no int64", complaint(BY_RATE, {"sr": 0.5}))
        self.assertIn("--input first: 2 is no bool", complaint(CHAIN, {"first": 2}))
        onnx.save(model_of(BY_RATE), self.folder / "m.onnx")
        code, _, text = self.run_program("analyze", "m.onnx", "--input", "rate=16000")
        self.assertEqual((code, text), (2, "gemm64: --input rate=16000: NAME=NUMBER of one of its inputs is needed: "
                                           "x, sr\n"))
