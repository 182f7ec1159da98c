# SPDX-License-Identifier: Apache-2.0
"""The trained network of tests/data on 2,500 of Fashion-MNIST's test images: what `make -C scripts/models accuracy` does with
all 10,000, and the same bytes in ONNX Runtime."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import ProgramTest

ROOT = pathlib.Path(__file__).parent.parent.parent
MODEL = ROOT / "tests" / "data" / "fashion_cnn.onnx"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
ALL_IMAGES = ["--input", DATA / "t10k-images-idx3-ubyte.gz"]
IMAGES = [*ALL_IMAGES, "--images", "2500"]
LABELS = ["--labels", DATA / "t10k-labels-idx1-ubyte.gz"]
CALIBRATION = ["--calibrate", DATA / "train-images-idx3-ubyte.gz", "--calibrate-images", "1000"]


class Accuracy(ProgramTest):
    def same_as_onnxruntime(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "scripts" / "models" / "same-as-onnxruntime.py", self.program,
                               *arguments], cwd=self.folder, capture_output=True, text=True, check=False)

    def test_is_that_of_float32_and_the_bytes_are_onnxruntimes(self):
        self.assertLess(MODEL.stat().st_size, 2 << 20)
        self.succeed("run", "--model", MODEL, "--device", "tlm", *CALIBRATION, *IMAGES, *LABELS,
                     "--output", "scores.npy", "--json", "report.json")
        report = self.read_json("report.json")
        found = report["classification"]
        self.assertTrue(report["verified"])
        self.assertEqual((found["images"], report["images_at_once"]), (2500, 250))
        print(f"top-1 {found['top1']} in int8, {found['float32']['top1']} in float32")
        self.assertGreaterEqual(found["float32"]["top1"], 2275)
        self.assertGreaterEqual(found["top1"], found["float32"]["top1"] - 10)
        self.assertEqual(sum(map(sum, found["matrix"])), 2500)
        self.assertEqual(sum(found["matrix"][i][i] for i in range(10)), found["top1"])

        self.succeed("quantize", MODEL, *CALIBRATION, "-o", "q.onnx")
        same = self.same_as_onnxruntime("q.onnx", "scores.npy", "--", *IMAGES)
        self.assertEqual((same.returncode, same.stderr), (0, ""))
        self.assertIn("2,500 of 2,500 images have the same bytes", same.stdout)

    def test_a_wrong_byte_is_noticed(self):
        images = [*ALL_IMAGES, "--images", "9"]
        self.succeed("quantize", MODEL, *CALIBRATION[:2], "--calibrate-images", "9", "-o", "q.onnx")
        self.succeed("run", "--model", "q.onnx", "--device", "tlm", *images, "--output", "scores.npy")
        scores = bytearray((self.folder / "scores.npy").read_bytes())
        scores[-1] ^= 1
        (self.folder / "scores.npy").write_bytes(scores)
        same = self.same_as_onnxruntime("q.onnx", "scores.npy", "--", *images)
        self.assertEqual(same.returncode, 1, same.stderr)
        self.assertIn("8 of 9", same.stdout)


class Scripts(unittest.TestCase):
    def test_those_that_fetch_and_train_tell_how(self):
        for script in ("imagenet.sh", "export-imagenet.py", "train-fashion.py", "text.sh", "smollm2.sh"):
            printed = subprocess.run([ROOT / "scripts/models" / script, "--help"], capture_output=True, text=True,
                                  check=True, env={**os.environ, "PATH": "/usr/bin:/bin"})
            self.assertIn(script.split(".")[0], printed.stdout)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "gemm64").mkdir()  # a folder of this name is no program
            for script, why in (("imagenet.sh", "is not built"), ("text.sh", "has no Python module"),
                                ("smollm2.sh", "has no Python module")):
                refused = subprocess.run([ROOT / "scripts/models" / script, "--build", folder], capture_output=True,
                                         text=True, check=False)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(why, refused.stderr)
