# SPDX-License-Identifier: Apache-2.0
"""bins.py: bins follow rtl/gemm64.json, their groups are those of the testplan, and the module elaborates in Verilator."""

import copy
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))

import bins  # noqa: E402


class Bins(unittest.TestCase):
    def names(self, facts):
        return [entry.name for entry in bins.bins(facts)]

    def test_each_command_error_cause_and_flag_has_some(self):
        facts = bins.definition()
        names = self.names(facts)
        self.assertEqual(len(names), len(set((entry.group, entry.name) for entry in bins.bins(facts))))
        for opcode in facts["commands"]["opcodes"]:
            self.assertIn(opcode["name"].lower(), names)
        for flag in facts["commands"]["flags"]:
            self.assertTrue(any(name.endswith(f"_{flag['name'].lower()}_set") for name in names), flag["name"])
        for counter in facts["counters"]:
            if counter["engine"] not in ("total", "bytes"):
                self.assertIn(f"{counter['engine']}_{counter['cause']}", names)
        for error in facts["errors"]:
            if error["value"]:
                self.assertTrue(any(name.startswith(f"{error['name'].lower()}_of_") for name in names), error["name"])

    def test_a_new_flag_has_bins(self):
        facts = copy.deepcopy(bins.definition())
        facts["commands"]["flags"].append({"name": "NEW", "bit": 7, "purpose": "STORE: something. MATMUL: something else."})
        new = set(self.names(facts)) - set(self.names(bins.definition()))
        self.assertEqual(new, {"store_new_set", "store_new_clear", "matmul_new_set", "matmul_new_clear"})

    def test_groups_are_those_of_the_testplan(self):
        plan = (ROOT / "tests" / "testplan.hjson").read_text(encoding="utf-8")
        groups = set(re.findall(r"^      name: (\w+_cg)$", plan, re.M))
        self.assertEqual({entry.group for entry in bins.bins(bins.definition())}, groups)

    def test_waived_bins_exist_and_have_reasons(self):
        names = {f"{entry.group}.{entry.name}" for entry in bins.bins(bins.definition())}
        self.assertLessEqual(set(bins.WAIVED), names)
        self.assertTrue(all(len(reason) > 20 for reason in bins.WAIVED.values()))

    def test_the_module_elaborates(self):
        with tempfile.TemporaryDirectory() as folder:
            cover = pathlib.Path(folder) / "gemm64_cover.sv"
            cover.write_text(bins.module(bins.definition()), encoding="utf-8")
            said = subprocess.run(
                ["verilator", "--lint-only", "-Wall", "-Wno-DECLFILENAME", "--coverage-user", "--unroll-count", "256", "-GN=4", f"-I{ROOT / 'rtl'}",
                 "--top-module", "gemm64", ROOT / "rtl" / "gemm64.vlt", *sorted((ROOT / "rtl").glob("*.v")), cover],
                capture_output=True, text=True, check=False)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
