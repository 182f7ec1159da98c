# SPDX-License-Identifier: Apache-2.0
"""The Java program of docs/guides/onnxruntime.md gives what ONNX Runtime gives in Python. GEMM64_JAVA is its package."""

import json
import os
import pathlib
import re
import subprocess

import numpy

import provider
from harness import ProgramTest

GUIDE = pathlib.Path(__file__).parents[2] / "docs/guides/onnxruntime.md"


class Java(ProgramTest):
    def test_the_guides_program(self):
        program = re.search(r"```java\n(.*?)```", GUIDE.read_text(), re.DOTALL).group(1)
        (self.folder / "Run.java").write_text(program)
        self.succeed("make-model", "mnist-cnn", "-o", "net.onnx")
        numpy.save(self.folder / "images.npy", numpy.random.default_rng(1).random((8, 1, 28, 28), numpy.float32))
        self.succeed("quantize", "net.onnx", "--calibrate", "images.npy", "-o", "quantized.onnx")
        java = subprocess.run(["java", "-cp", os.environ["GEMM64_JAVA"], "Run.java", os.environ["GEMM64_EP"]],
                              cwd=self.folder, capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(java.returncode, 0, java.stderr)
        found = numpy.float32(json.loads(java.stdout))
        session = provider.cpu_session(str(self.folder / "quantized.onnx"))
        wanted, = session.run(None, {"input": numpy.zeros((1, 1, 28, 28), numpy.float32)})
        numpy.testing.assert_allclose(found, wanted[0], rtol=1e-6)
        report = self.read_json("report.json")
        self.assertTrue(report["verified"])
        self.assertEqual(report["device"], "rtl")
