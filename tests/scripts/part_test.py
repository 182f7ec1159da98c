# SPDX-License-Identifier: Apache-2.0
"""scripts/ci/part.py: its parts cover all tests of a label once, cost about the same, and are what ctest runs."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "ci"))
import part  # noqa: E402  pylint: disable=wrong-import-position


class Parts(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gemm64-part-test-")))
        lines = []
        for i in range(30):
            label = "regression" if i % 3 else "quick"
            lines.append(f"add_test(t{i} true)\nset_tests_properties(t{i} PROPERTIES LABELS {label} COST {i})\n")
        lines.append("add_test(start true)\nset_tests_properties(start PROPERTIES LABELS regression FIXTURES_SETUP f)\n")
        lines.append("set_tests_properties(t4 PROPERTIES FIXTURES_REQUIRED f)\n")
        (self.folder / "CTestTestfile.cmake").write_text("".join(lines))

    def run_part(self, number: int) -> "set[str]":
        """The names of the tests that ctest runs of a part."""
        out = self.folder / "part.txt"
        subprocess.run(
            [ROOT / "scripts/ci/part.py", "--build", self.folder, "--parts", "8", "--part", str(number), "--out", out],
            check=True,
            capture_output=True,
        )
        shown = subprocess.run(
            ["ctest", "--test-dir", self.folder, "-N", "-I", out], check=True, capture_output=True, text=True
        ).stdout
        return {line.split()[-1] for line in shown.splitlines() if " Test " in line}

    def test_cover_all_tests_once(self) -> None:
        found = [self.run_part(number) for number in range(1, 9)]
        wanted = {f"t{i}" for i in range(30) if i % 3}
        self.assertEqual(set().union(*found) - {"start"}, wanted)
        self.assertEqual(sum(len(names - {"start"}) for names in found), len(wanted))
        self.assertEqual([names for names in found if "t4" in names], [names for names in found if "start" in names])

    def test_cost_about_the_same(self) -> None:
        tests = [(f"t{i}", float(i), i) for i in range(40)]
        for more in (0, 100, 150):
            sums = [sum(cost for _, cost, _ in one) for one in part.divided([*tests, ("command", more, None)], 4)]
            self.assertLess(max(sums) - min(sums), 5)

    def test_run_all_commands_of_make_once(self) -> None:
        found = []
        for number in range(1, 9):
            found += subprocess.run(
                [ROOT / "scripts/ci/part.py", "--build", self.folder, "--parts", "8", "--part", str(number), "--commands"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.splitlines()
        self.assertEqual(sorted(found), sorted(command for command, _ in part.COMMANDS))
