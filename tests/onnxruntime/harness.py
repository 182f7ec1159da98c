# SPDX-License-Identifier: Apache-2.0
"""Runs the program, and runs what it writes in ONNX Runtime."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import onnx
import onnxruntime

PROGRESS = re.compile(r"^gemm64: .*: \d+ %, \d+ s(, \d+ s left)?\n", re.MULTILINE)
ABSOLUTE = 1e-6  # what the rewritten graph may differ from the original by


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
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def saturates():
    """May ONNX Runtime's products of uint8 with int8 saturate here? They do on processors without
    VNNI, where pairs of products are added in 16 bits."""
    flags = pathlib.Path("/proc/cpuinfo")
    return not flags.exists() or "vnni" not in flags.read_text()


class ProgramTest(unittest.TestCase):
    """Has a folder of its own for each test, in which the program runs."""

    def setUp(self):
        self.program = os.environ["GEMM64"]
        folder = tempfile.TemporaryDirectory(prefix="gemm64_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments):
        """Runs it; returns its exit code, its output and its complaints. What a slow machine tells of
        its progress is none."""
        result = subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
            timeout=600, check=False)
        return result.returncode, result.stdout, PROGRESS.sub("", result.stderr)

    def succeed(self, *arguments):
        code, output, complaint = self.run_program(*arguments)
        self.assertEqual((code, complaint), (0, ""), f"gemm64 {' '.join(map(str, arguments))}")
        return output

    def tile(self, model, *arguments):
        """Writes a model, rewrites it, checks the result and returns it with the report."""
        onnx.save(model, self.folder / "model.onnx")
        self.succeed("tile", "model.onnx", "-o", "tiled.onnx", "--json", "tiled.json", *arguments)
        tiled = onnx.load(self.folder / "tiled.onnx")
        onnx.checker.check_model(tiled, full_check=True)
        return tiled, json.loads((self.folder / "tiled.json").read_text())
