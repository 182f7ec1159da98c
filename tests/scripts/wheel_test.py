# SPDX-License-Identifier: Apache-2.0
"""`pip install .` builds each library that it installs: an installation of a library that was not built fails."""

import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Wheel(unittest.TestCase):
    def test_builds_what_it_installs(self) -> None:
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["scikit-build"]
        text = (ROOT / "python" / "CMakeLists.txt").read_text(encoding="utf-8")
        installed = set()
        for targets in re.findall(r"install\(TARGETS ([\w ]+?) LIBRARY", text):
            installed |= set(targets.split())
        self.assertIn("gemm64_python", installed)
        self.assertEqual(installed - set(settings["build"]["targets"]), set())
