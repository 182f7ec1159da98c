# SPDX-License-Identifier: Apache-2.0
"""scripts/setup/fetch-onnxruntime.sh: the pinned version, and what happens when it cannot be fetched."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/setup/fetch-onnxruntime.sh"


def fetch(folder, **environment):
    own = {key: value for key, value in os.environ.items() if key != "GEMM64_ONNXRUNTIME"}
    return subprocess.run([SCRIPT, folder], check=False, capture_output=True, text=True, env={**own, **environment})


class FetchOnnxRuntime(unittest.TestCase):
    def test_version_is_that_of_the_tests(self):
        pinned = [re.search(r"^onnxruntime==\S+", (ROOT / "scripts" / "setup" / name).read_text(), re.MULTILINE)[0]
                  for name in ("onnxruntime-packages.txt", "requirements.txt")]
        self.assertEqual(pinned[0], pinned[1])

    def test_failure_names_the_remedy_and_keeps_nothing(self):
        with tempfile.TemporaryDirectory(prefix="gemm64_") as folder:
            wanted = pathlib.Path(folder) / "onnxruntime"
            result = fetch(wanted, PYTHON="/bin/false")
            self.assertEqual(result.returncode, 1)
            self.assertIn("GEMM64_ONNXRUNTIME=FILE names a library of your own", result.stderr)
            self.assertEqual([file.name for file in pathlib.Path(folder).iterdir()], ["onnxruntime.lock"])

    def test_nothing_is_fetched_for_a_library_of_ones_own(self):
        with tempfile.TemporaryDirectory(prefix="gemm64_") as folder:
            result = fetch(pathlib.Path(folder) / "onnxruntime", PYTHON="/bin/false", GEMM64_ONNXRUNTIME="/own")
            self.assertEqual((result.returncode, list(pathlib.Path(folder).iterdir())), (0, []))
