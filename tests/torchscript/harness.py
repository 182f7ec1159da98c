# SPDX-License-Identifier: Apache-2.0
"""The program and networks' files, for the tests of this folder."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import unittest
import warnings

import numpy
import torch

BUILD = pathlib.Path(os.environ["GEMM64_BUILD"])
PROGRAM = BUILD / "gemm64"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(name):
    """A Python script of scripts/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"),
                                                  str(ROOT / "scripts/models" / f"{name}.py"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class TorchScriptTest(unittest.TestCase):
    """Each test has a folder of its own, which is gone afterwards."""

    def setUp(self):
        warnings.simplefilter("ignore")
        self.folder = BUILD / "torchscript" / self.id().replace(" ", "_")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, self.folder)
        torch.manual_seed(0)

    def program(self, *arguments, code=0):
        """Runs the program in the test's folder; returns what it said."""
        outcome = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder,
                                 capture_output=True, text=True, timeout=600)
        self.assertEqual(outcome.returncode, code, f"{arguments}\n{outcome.stderr}")
        return outcome

    def refusal(self, *arguments):
        """The one line in which the program refuses its input."""
        outcome = self.program(*arguments, code=2)
        self.assertEqual(outcome.stdout, "")
        self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
        return outcome.stderr

    def analyze(self, file, *options):
        self.program("analyze", file, "--json", "report.json", *options)
        return json.loads((self.folder / "report.json").read_text())

    def run_network(self, file, inputs, *options):
        """The outputs of a network, computed in float32 by the host."""
        numpy.save(self.folder / "in.npy", inputs.detach().numpy())
        self.program("run", "--model", file, "--input", "in.npy", "--output", "out.npy",
                     "--device", "reference", "--precision", "float32", "--allow-host-only",
                     *options)
        return numpy.load(self.folder / "out.npy")

    def save(self, network, name, how, example=None):
        """Scripts or traces a network; returns the file's name."""
        network.eval()
        with torch.no_grad():
            made = torch.jit.script(network) if how == "scripted" else torch.jit.trace(network, example)
        made.save(str(self.folder / name))
        return name

    def assert_close(self, actual, expected, relative=1e-4):
        """Equal to float32's accuracy, seen from the largest value."""
        expected = expected.detach().numpy()
        self.assertEqual(actual.shape, expected.shape)
        error = numpy.abs(actual - expected).max()
        self.assertLessEqual(error, relative * max(numpy.abs(expected).max(), 1e-6))
