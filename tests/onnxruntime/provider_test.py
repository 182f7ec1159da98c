# SPDX-License-Identifier: Apache-2.0
"""Networks in ONNX Runtime with the execution provider give the bytes that they give without it."""

import concurrent.futures
import importlib.machinery
import importlib.util
import itertools
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantFormat, QuantType

import harness
import provider
import quantized_networks_test as networks
from harness import saturates
from quantized import quantize, quantize_dynamically

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
import transformers  # noqa: E402  pylint: disable=wrong-import-position


def load_script(name):
    """A script of scripts/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts/codegen" / f"{name}.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


TABLE = load_script("transformer-table")
logging.disable(logging.WARNING)  # the quantizer's
LEVELS = onnxruntime.GraphOptimizationLevel
ALL_LEVELS = (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_BASIC, LEVELS.ORT_ENABLE_EXTENDED, LEVELS.ORT_ENABLE_ALL)
LONG = bool(os.environ.get("GEMM64_LONG"))  # `make regression` sets it for all forms of all networks (-k test_every)
U8, S8 = QuantType.QUInt8, QuantType.QInt8
# u8 x s8 saturates on processors without VNNI.
PAIRS = [(S8, S8), (U8, U8)] if saturates() else [(U8, S8), (S8, S8), (U8, U8)]
PRODUCTS = {"Conv", "Gemm", "MatMul", "QLinearConv", "QGemm", "QLinearMatMul", "MatMulInteger", "ConvInteger"}
NETWORKS = {"resnet": networks.resnet, "mobilenet": networks.mobilenet, "googlenet": networks.googlenet,
            "layout": networks.layout, "mobilenet-v3": networks.mobilenet_v3, "yolo": networks.yolo,
            "t5-block": networks.t5_block}


class Graph(harness.Graph):
    """One of quantized layers."""

    def quantization(self, scale, zero, kind=numpy.uint8):
        return self.constant(numpy.float32(scale)), self.constant(kind(zero))

    def weights(self, *shape):
        """int8 values, dequantized."""
        values = self.constant(self.random.integers(-127, 128, shape).astype(numpy.int8))
        return self.node("DequantizeLinear", values, *self.quantization(0.02, 0, numpy.int8))

    def linear(self, x, inputs, outputs, scales):
        """From quantized values to quantized values of the same scale."""
        y = self.node("MatMul", self.node("DequantizeLinear", x, *scales), self.weights(inputs, outputs))
        return self.node("QuantizeLinear", y, *scales)

    def graph(self, name, inputs, outputs):
        def infos(values):
            return [helper.make_tensor_value_info(value, kind, shape) for value, kind, shape in values]
        return helper.make_graph(self.nodes, name, infos(inputs), infos(outputs), self.constants)


def model_of(graph, opset=17):
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def three_layers(rows=4, size=20, seed=1):
    """Three Linear layers in QDQ form; `rows` may be a name."""
    g = Graph(seed)
    scales = g.quantization(0.05, 128)
    value = g.node("QuantizeLinear", "x", *scales)
    for _ in range(3):
        value = g.linear(value, size, size, scales)
    y = g.node("Softmax", g.node("DequantizeLinear", value, *scales))
    return model_of(g.graph("three", [("x", TensorProto.FLOAT, [rows, size])], [(y, TensorProto.FLOAT, None)]))


def values(*shape, seed=2):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


class ProviderTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gemm64_")))

    def compare(self, model, feeds, own=None, least=1, level=None, entries=None):
        """Runs a model with the provider and without it; returns the report. At least `least` layers ran on the
        device. Only from its third level on does ONNX Runtime itself compute groups in integers, as the device does."""
        source = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
        source = source if isinstance(source, bytes) else str(source)
        cpu = provider.cpu_session(source, entries=entries)
        session = provider.Session(source, own, level=level, entries=entries)
        found = session.run(feeds)
        names = [value.name for value in cpu.get_outputs()]
        self.assertEqual(provider.differences(names, found, cpu.run(None, feeds)), [])
        report = session.report
        self.assertGreaterEqual(len(report["layers"]), least)
        self.assertTrue(report["verified"] or not report["layers"])
        return report


class Networks(ProviderTest):
    def check(self, name, forms, own=None):
        for form, types, per_channel in forms:
            with self.subTest(form=form.name, types=types, per_channel=per_channel):
                model, feeds = quantize(NETWORKS[name](), self.folder, types, per_channel, quant_format=form)
                report = self.compare(model, feeds, own, least=2)
                left = [node for node in report["not_claimed"] if node["op_type"] in PRODUCTS]
                self.assertEqual(left, [])

    def test_every_form_on_the_reference_device(self):
        forms = list(itertools.product(QuantFormat if LONG else [QuantFormat.QDQ], PAIRS, (False, True) if LONG else [True]))
        for name in NETWORKS:
            with self.subTest(network=name):
                self.check(name, forms)

    def test_rtl(self):
        for name in NETWORKS:
            with self.subTest(network=name):
                self.check(name, [(QuantFormat.QDQ, (S8, S8), True)], {"device": "rtl", "array": "8"})

    def test_dynamic(self):
        for name in ("resnet", "t5-block"):
            with self.subTest(network=name):
                self.compare(*quantize_dynamically(NETWORKS[name](), self.folder))


class Transformers(ProviderTest):
    def test_every_kind_and_form(self):
        """Their floats are as ONNX Runtime joins nodes: what is claimed changes none of that."""
        for kind, form in itertools.product(transformers.KINDS, TABLE.FORMS) if LONG else (("bert", TABLE.FORMS[0]), ("t5", TABLE.FORMS[1])):
            network = TABLE.Seeded(transformers, kind)
            model = TABLE.quantize(network, form, self.folder)
            # As the table has it: int8 activations are no matter here.
            entries = {"session.qdqisint8allowed": "0"}
            for sizes in ((1, 1), (2, 16)):
                with self.subTest(kind=kind, form=form, sizes=sizes):
                    report = self.compare(model, network.feeds(*sizes), {"array": "64"}, 9, entries=entries)
                    self.assertFalse([node for node in report["not_claimed"]
                                      if node["op_type"] in PRODUCTS - {"MatMul", "Gemm"}])


class Graphs(ProviderTest):
    def test_levels(self):
        for level, device in itertools.product(ALL_LEVELS, ("reference", "tlm", "rtl")):
            with self.subTest(level=level, device=device):
                report = self.compare(three_layers(), {"x": values(4, 20)}, {"device": device}, 3, level)
                self.assertEqual({layer["program"] for layer in report["layers"]}, {1})

    def test_open_sizes(self):
        session = provider.Session(three_layers("batch").SerializeToString())
        cpu = provider.cpu_session(three_layers("batch").SerializeToString())
        for rows in (1, 7, 3, 7, 65):
            x = {"x": values(rows, 20)}
            self.assertEqual(provider.differences("y", session.run(x), cpu.run(None, x)), [])
            self.assertEqual([layer["m"] for layer in session.report["layers"]], [rows] * 3)

    def test_value_inside_is_output(self):
        g = Graph()
        scales = g.quantization(0.05, 128)
        first = g.linear(g.node("QuantizeLinear", "x", *scales), 20, 20, scales)
        second = g.linear(first, 20, 20, scales)
        outputs = [(first, TensorProto.UINT8, None), (second, TensorProto.UINT8, None)]
        model = model_of(g.graph("inside", [("x", TensorProto.FLOAT, [4, 20])], outputs))
        for level in ALL_LEVELS:
            with self.subTest(level=level):
                self.compare(model, {"x": values(4, 20)}, least=2, level=level)

    def test_int8_with_relu_and_zero_point(self):
        """Where a Relu cuts above the lowest byte, ONNX Runtime computes in float, and so it does here."""
        for zero in (-128, -20, 5):
            for operator in ("MatMul", "Conv", "Gemm"):
                with self.subTest(zero=zero, operator=operator):
                    g = Graph()
                    scales = g.quantization(0.05, zero, numpy.int8)
                    x = g.node("DequantizeLinear", g.node("QuantizeLinear", "x", *scales), *scales)
                    if operator == "Conv":
                        shape, y = [2, 8, 6, 6], g.node("Conv", x, g.weights(12, 8, 3, 3))
                    else:
                        shape, y = [5, 20], g.node(operator, x, g.weights(20, 12))
                    y = g.node("QuantizeLinear", g.node("Relu", y), *g.quantization(0.3, zero, numpy.int8))
                    model = model_of(g.graph("relu", [("x", TensorProto.FLOAT, shape)], [(y, TensorProto.INT8, None)]))
                    self.compare(model, {"x": values(*shape)}, least=int(zero == -128))

    def test_bodies(self):
        def rename(graph, prefix):
            """Gives what the graph makes names that no other graph has."""
            names = {}
            for tensor in graph.initializer:
                names[tensor.name] = tensor.name = prefix + tensor.name
            for node in graph.node:
                for i, name in enumerate(node.output):
                    names[name] = node.output[i] = prefix + name
            known = {name[len(prefix):]: name for name in names.values()}
            for node in graph.node:
                for i, name in enumerate(node.input):
                    node.input[i] = known.get(name, name)
            for value in graph.output:
                value.name = known.get(value.name, value.name)
            return graph

        def layers(seed, x):
            g = Graph(seed)
            scales = g.quantization(0.05, 128)
            value = g.linear(g.linear(g.node("QuantizeLinear", x, *scales), 20, 20, scales), 20, 20, scales)
            return g, g.node("DequantizeLinear", value, *scales)

        float_info = ("x", TensorProto.FLOAT, [4, 20])
        branches = []
        for seed in (1, 2):
            g, y = layers(seed, "x")
            branches.append(rename(g.graph(f"branch{seed}", [], [(y, TensorProto.FLOAT, [4, 20])]), f"b{seed}_"))
        outer = Graph()
        outer.nodes.append(helper.make_node("If", ["condition"], ["y"], "if", then_branch=branches[0],
                                            else_branch=branches[1]))
        model = model_of(outer.graph("if", [("condition", TensorProto.BOOL, []), float_info],
                                     [("y", TensorProto.FLOAT, [4, 20])]))
        for condition in (True, False):
            with self.subTest(condition=condition):
                self.compare(model, {"condition": numpy.array(condition), "x": values(4, 20)}, least=2)

        g, y = layers(3, "state")
        go_on = g.node("Identity", "condition_in")
        turn = g.graph("turn", [("i", TensorProto.INT64, []), ("condition_in", TensorProto.BOOL, []),
                                ("state", TensorProto.FLOAT, [4, 20])],
                       [(go_on, TensorProto.BOOL, []), (y, TensorProto.FLOAT, [4, 20])])
        outer = Graph()
        outer.nodes.append(helper.make_node("Loop", [outer.constant(numpy.int64(3)), "", "x"], ["y"], "loop",
                                            body=rename(turn, "t_")))
        self.compare(model_of(outer.graph("loop", [float_info], [("y", TensorProto.FLOAT, [4, 20])])),
                     {"x": values(4, 20)}, least=6)

        g, y = layers(4, "row")
        step = g.graph("step", [("row", TensorProto.FLOAT, [4, 20])], [(y, TensorProto.FLOAT, [4, 20])])
        outer = Graph()
        outer.nodes.append(helper.make_node("Scan", ["x"], ["y"], "scan", body=rename(step, "s_"), num_scan_inputs=1))
        self.compare(model_of(outer.graph("scan", [("x", TensorProto.FLOAT, [2, 4, 20])],
                                          [("y", TensorProto.FLOAT, [2, 4, 20])])),
                     {"x": values(2, 4, 20)}, least=4)

    def test_floats_stay_with_onnx_runtime(self):
        g = Graph()
        y = g.node("MatMul", "x", g.constant(values(20, 8)))
        model = model_of(g.graph("float", [("x", TensorProto.FLOAT, [4, 20])], [(y, TensorProto.FLOAT, None)]))
        report = self.compare(model, {"x": values(4, 20)}, least=0)
        self.assertIn("with option precision", report["not_claimed"][0]["reason"])
        session = provider.Session(model.SerializeToString(), {"precision": "float32", "device": "tlm"})
        found = session.run({"x": values(4, 20)})[0]
        numpy.testing.assert_allclose(found, values(4, 20) @ numpy_helper.to_array(g.constants[0]), rtol=1e-4,
                                      atol=1e-5)
        self.assertEqual(len(session.report["layers"]), 1)

    def test_what_kernels_would_refuse(self):
        """ONNX Runtime's kernels do not look at nodes that a provider has claimed."""
        def model(scale=0.05, group=1, pads=0, kernel=3, filters=6, zero=0, bias=6):
            g = Graph()
            scales, own = g.quantization(scale, 128), (g.constant(numpy.float32(scale)), g.constant(numpy.int8(zero)))
            w = g.constant(g.random.integers(-9, 9, (filters, 4, 3, 3)).astype(numpy.int8))
            b = g.constant(numpy.zeros(bias, numpy.int32))
            x = g.node("QuantizeLinear", "x", *g.quantization(0.05, 128))
            y = g.node("QLinearConv", x, *scales, w, *own, *scales, b, group=group, pads=[pads] * 4,
                       kernel_shape=[kernel, kernel])
            return model_of(g.graph("conv", [("x", TensorProto.FLOAT, [1, 4, 7, 7])], [(y, TensorProto.UINT8, None)]))

        x = {"x": values(1, 4, 7, 7)}
        for changed in ({"group": 0}, {"group": -1}, {"group": 3}, {"group": 2**40}, {"pads": -9}, {"pads": 2**40},
                        {"pads": 2**62}, {"kernel": 0}, {"kernel": 5}, {"kernel": 2**62}, {"filters": 0}, {"bias": 5},
                        {"scale": 0.0}, {"scale": -1.0}, {"scale": float("nan")}, {"scale": float("inf")},
                        {"scale": 1e-45}, {"zero": 3}):
            with self.subTest(changed=changed):
                source = model(**changed).SerializeToString()
                try:
                    wanted = provider.cpu_session(source).run(None, x)
                except Exception:  # pylint: disable=broad-except
                    with self.assertRaises(Exception):
                        provider.Session(source).run(x)
                    continue
                self.assertEqual(provider.differences("y", provider.Session(source).run(x), wanted), [])

    def test_every_node_not_claimed_has_a_reason(self):
        report = self.compare(three_layers(), {"x": values(4, 20)})
        self.assertEqual([node["op_type"] for node in report["not_claimed"]],
                         ["QuantizeLinear", "DequantizeLinear", "Softmax"])
        self.assertTrue(all(node["reason"] for node in report["not_claimed"]))


class Running(ProviderTest):
    def test_options(self):
        x = {"x": values(4, 20)}
        for own in ({"check": "outputs"}, {"check": "none"}, {"array": "64", "device": "tlm"},
                    {"device": "rtl", "memory_latency": "7"}, {"device": "rtl", "memory": "shared"},
                    {"device": "rtl", "memory_stalls": "0.3", "seed": "5"}, {"results": "int32"},
                    {"device": "rtl", "self_check": "true"}, {"device": "tlm", "memory_bytes_per_cycle": "4"}):
            with self.subTest(own=own):
                model = three_layers().SerializeToString()
                session = provider.Session(model, own)
                found = session.run(x)
                wanted = provider.cpu_session(model).run(None, x)
                self.assertEqual(provider.differences("y", found, wanted), [])
                report = session.report
                self.assertEqual(report["verified"], own.get("check") != "none")

    def test_cycles_are_those_of_run(self):
        model = three_layers()
        onnx.save(model, self.folder / "model.onnx")
        numpy.save(self.folder / "x.npy", values(4, 20))
        subprocess.run([os.environ["GEMM64"], "run", "--model", "model.onnx", "--input", "x.npy", "--array", "8",
                        "--json", "run.json"], cwd=self.folder, check=True, capture_output=True)
        run = json.loads((self.folder / "run.json").read_text())
        report = self.compare(model, {"x": values(4, 20)}, {"device": "rtl"}, 3)
        for name in ("cycles", "predicted_cycles", "bytes"):
            self.assertEqual([layer[name] for layer in report["layers"]], [layer[name] for layer in run["layers"]])
        self.assertEqual(report["total"]["cycles"], run["total"]["cycles"])

    def test_failure_raises(self):
        """Nothing is run again on the CPU."""
        for fault in ("slverr:data@200", "weight:0,0:7=1@1;weight:1,1:7=1@1"):
            with self.subTest(fault=fault):
                session = provider.Session(three_layers().SerializeToString(),
                                           {"device": "rtl", "inject": fault})
                with self.assertRaisesRegex(onnxruntime.capi.onnxruntime_pybind11_state.Fail, "gemm64: "):
                    session.run({"x": values(4, 20)})
                self.assertFalse(session.report["verified"])

    def test_bad_options_are_refused(self):
        for own, text in (({"arrray": "8"}, "no option 'arrray'; its options are accumulate, array, check"),
                          ({"array": "7"}, "no array of 7x7"), ({"check": "some"}, "option check is 'some'"),
                          ({"memory_latency": "0"}, "option memory_latency is 0"),
                          ({"self_check": "maybe"}, "option self_check")):
            with self.subTest(own=own):
                with self.assertRaisesRegex(Exception, text):
                    provider.Session(three_layers().SerializeToString(), own)

    def test_threads(self):
        model = three_layers().SerializeToString()
        session, cpu = provider.Session(model, {"device": "tlm"}), provider.cpu_session(model)
        feeds = [{"x": values(4, 20, seed=seed)} for seed in range(12)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for found, x in zip(pool.map(session.run, feeds), feeds):
                self.assertEqual(provider.differences("y", found, cpu.run(None, x)), [])
        self.assertTrue(session.report["verified"])

    def test_two_sessions_of_different_devices(self):
        model, x = three_layers().SerializeToString(), {"x": values(4, 20)}
        one = provider.Session(model, {"device": "rtl", "array": "4"})
        two = provider.Session(model, {"device": "tlm", "array": "64"})
        for _ in range(2):
            self.assertEqual(provider.differences("y", one.run(x), two.run(x)), [])
        self.assertEqual((one.report["device"], one.report["array"]), ("rtl", 4))
        self.assertEqual((two.report["device"], two.report["array"]), ("tlm", 64))

    def test_io_binding(self):
        model, x = three_layers().SerializeToString(), values(4, 20)
        session = provider.Session(model)
        binding = session.session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_output(session.session.get_outputs()[0].name)
        session.session.run_with_iobinding(binding)
        wanted = provider.cpu_session(model).run(None, {"x": x})
        self.assertEqual(provider.differences("y", binding.copy_outputs_to_cpu(), wanted), [])

    def test_profile(self):
        session = provider.Session(three_layers().SerializeToString(), {"device": "rtl"}, enable_profiling=True,
                                   profile_file_prefix=str(self.folder / "profile"))
        session.run({"x": values(4, 20)})
        events = json.loads(pathlib.Path(session.session.end_profiling()).read_text())
        own = [event for event in events if "cycles" in event.get("args", {})]
        self.assertEqual(len(own), 1)
        self.assertEqual(int(own[0]["args"]["cycles"]), session.report["total"]["cycles"])
        self.assertEqual(int(own[0]["args"]["layers"]), 3)

    def test_compiled_models(self):
        x = {"x": values(4, 20)}
        for embedded, rows in itertools.product("01", (4, "batch")):
            with self.subTest(embedded=embedded, rows=rows):
                source, target = self.folder / "model.onnx", self.folder / f"context{embedded}{rows}.onnx"
                onnx.save(three_layers(rows), source)
                written = provider.Session(str(source), entries={
                    "ep.context_enable": "1", "ep.context_embed_mode": embedded,
                    "ep.context_file_path": str(target)})
                wanted = written.run(x)
                nodes = [node.op_type for node in onnx.load(target).graph.node]
                self.assertEqual(nodes.count("EPContext"), 1)
                self.assertNotIn("MatMul", nodes)
                source.unlink()
                loaded = provider.Session(str(target))
                self.assertEqual(provider.differences("y", loaded.run(x), wanted), [])
                self.assertEqual(len(loaded.report["layers"]), 3)
                if rows == 4:
                    with self.assertRaisesRegex(Exception, "compiled for an array of 8 columns"):
                        provider.Session(str(target), {"array": "4"})

    def test_interrupt(self):
        """Ctrl-C ends a long simulation."""
        program = """
import sys
sys.path.insert(0, sys.argv[1])
import provider, provider_test
session = provider.Session(provider_test.three_layers(4096, 512).SerializeToString(),
                           {"device": "rtl", "check": "none"})
print("running", flush=True)
session.run({"x": provider_test.values(4096, 512)})
"""
        child = subprocess.Popen([sys.executable, "-c", program, str(pathlib.Path(__file__).parent)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "running\n")
        time.sleep(2)
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, complaint = child.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertNotEqual(child.returncode, 0)
        self.assertIn("interrupted", complaint)
