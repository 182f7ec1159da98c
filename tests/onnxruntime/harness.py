# SPDX-License-Identifier: Apache-2.0
"""Runs the program, and runs what it writes in ONNX Runtime."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

PROGRESS = re.compile(r"^gemm64: .*: \d+ %, \d+ s(, \d+ s left)?\n", re.MULTILINE)
ABSOLUTE = 1e-6  # what the rewritten graph may differ from the original by


def drawn(cases):
    """How many of a test's random cases are run: GEMM64_CASES; else one in GEMM64_TEST_SHARE, which `make test` sets."""
    share = int(os.environ.get("GEMM64_TEST_SHARE", "1"))
    return int(os.environ.get("GEMM64_CASES", (cases + share - 1) // share))


def operators(model):
    """How many nodes of each kind a model has."""
    return collections.Counter(node.op_type for node in model.graph.node)


def infer(model, feeds, optimize=True, config=()):
    """All outputs of a model, given as a path or serialized, for the inputs `feeds`. `config`: entries of the
    session's configuration, by name."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    if not optimize:
        # Else ONNX Runtime folds the cutting of the weights, block by block, while it loads.
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_DISABLE_ALL
    for key, value in dict(config).items():
        options.add_session_config_entry(key, value)
    return cpu_session(model, options).run(None, feeds)


def saturates():
    """May ONNX Runtime's products of uint8 with int8 saturate here? They do on processors without
    VNNI, where pairs of products are added in 16 bits."""
    flags = pathlib.Path("/proc/cpuinfo")
    return not flags.exists() or "vnni" not in flags.read_text()


def cpu_session(model, options):
    """A session of ONNX Runtime's CPU provider for a model, given as a path or serialized. Its sums do not saturate,
    unless `options` disable all optimizations or a body reads an int8 constant of the outer graph."""
    def session(model):
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if saturates():
        options.add_session_config_entry("session.x64quantprecision", "1")
        own = unshared(model)
        for form in filter(None, (of_opset_20(own), own)):
            try:
                return session(form)
            except NoKernel:  # of int8 activations, which do not saturate, the option makes nodes that no kernel runs
                break
            except Exception:  # not of opset 20
                if form is own:
                    raise
        options.add_session_config_entry("session.x64quantprecision", "0")
    return session(model)


def of_opset_20(model):
    """A model of a later opset as one of 20, whose nodes mean the same: of QLinearMatMul, ONNX Runtime makes the weights
    uint8 in the version of opset 10 only. None where there is no such model."""
    proto = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model)
    opsets = [opset for opset in proto.opset_import if opset.domain in ("", "ai.onnx") and opset.version > 20]
    if not opsets or any(node.op_type == "GroupNormalization" for node in proto.graph.node):
        return None
    opsets[0].version = 20
    return proto.SerializeToString()


def unshared(model):
    """The model, serialized if it changes, in which each input that is an int8 constant has its own: ONNX Runtime makes
    a uint8 constant of each, and rejects the second of one name."""
    proto = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model)

    copies = []

    def unshare(graph):
        constants = {tensor.name: tensor for tensor in graph.initializer if tensor.data_type == TensorProto.INT8}
        read = set()
        for at, node in enumerate(graph.node):
            for i, name in enumerate(node.input):
                if name in read and name in constants:
                    copy = graph.initializer.add()
                    copy.CopyFrom(constants[name])
                    copy.name = node.input[i] = f"{name}/{at}.{i}"
                    copies.append(copy.name)
                read.add(name)
            for attribute in node.attribute:
                for body in (attribute.g, *attribute.graphs):
                    unshare(body)

    unshare(proto.graph)
    return proto.SerializeToString() if copies else model


def make_model(nodes, inputs, outputs, constants=(), opset=13, ir_version=8):
    """`inputs` and `outputs`: name, type and shape of each, or an input's name and array; `constants`: arrays by name."""
    def info(name, kind, *shape):
        if isinstance(kind, numpy.ndarray):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind.dtype), kind.shape)
        return helper.make_tensor_value_info(name, kind, *shape or [None])
    graph = helper.make_graph(
        nodes, "network", [info(*value) for value in inputs], [info(*value) for value in outputs],
        [numpy_helper.from_array(numpy.asarray(array), name) for name, array in dict(constants).items()])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, ir_version=ir_version, opset_imports=opsets)


class Graph:
    """Nodes and constants of a graph under construction; each method returns the name of a value."""

    def __init__(self, seed=1):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, values, name=None):
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def node(self, operator, *inputs, **attributes):
        name = f"{operator.lower()}{len(self.nodes)}"
        domain = "com.microsoft" if operator in ("QGemm", "QLinearAdd") else ""
        self.nodes.append(helper.make_node(operator, list(inputs), [name + ".y"], name, domain=domain, **attributes))
        return name + ".y"


class ProgramTest(unittest.TestCase):
    """Has a folder of its own for each test, in which the program runs."""

    def setUp(self):
        self.program = os.environ["GEMM64"]
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gemm64_")))

    def run_program(self, *arguments):
        """Runs it; returns its exit code, its output and its complaints. Warnings of a slow machine about
        its progress is none."""
        result = subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
            timeout=600, check=False)
        return result.returncode, result.stdout, PROGRESS.sub("", result.stderr)

    def succeed(self, *arguments):
        code, output, complaint = self.run_program(*arguments)
        self.assertEqual((code, complaint), (0, ""), f"gemm64 {' '.join(map(str, arguments))}")
        return output

    def read_json(self, name):
        return json.loads((self.folder / name).read_text())

    def inputs_of(self, feeds):
        """Writes arrays by name; the options that name them."""
        for name, values in feeds.items():
            numpy.save(self.folder / f"{name}.npy", values)
        return [option for name in feeds for option in ("--input", f"{name}={name}.npy")]

    def run_case(self, model, feeds, *options, what="", config=()):
        """Runs a model; its outputs have ONNX Runtime's bytes, and the device's values are verified. Returns the report."""
        onnx.save(model, self.folder / "case.onnx")
        shutil.rmtree(self.folder / "found", ignore_errors=True)
        code, output, complaint = self.run_program(
            "run", "--model", "case.onnx", *self.inputs_of(feeds), "--output", "found/", "--json", "case.json", *options)
        self.assertEqual((code, complaint), (0, ""), f"{what}\n{output[-2000:]}")
        expected = infer(model.SerializeToString(), feeds, config=config)
        for value, array in zip(model.graph.output, expected):
            found = numpy.load(self.folder / "found" / f"{value.name}.npy")
            self.assertEqual((found.dtype, found.shape), (array.dtype, array.shape), f"{value.name}, {what}")
            self.assertEqual(found.tobytes(), array.tobytes(), f"{value.name}, {what}")
        report = self.read_json("case.json")
        self.assertTrue(report["verified"] or not report["layers"], what)
        return report

    def tile(self, model, *arguments):
        """Writes a model, rewrites it, checks the result and returns it with the report."""
        onnx.save(model, self.folder / "model.onnx")
        self.succeed("tile", "model.onnx", "-o", "tiled.onnx", "--json", "tiled.json", *arguments)
        tiled = onnx.load(self.folder / "tiled.onnx")
        onnx.checker.check_model(tiled, full_check=True)
        return tiled, self.read_json("tiled.json")
