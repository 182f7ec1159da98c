# SPDX-License-Identifier: Apache-2.0
"""scripts/ci/testplan.py: the plan's contradictions, gaps between plan and tests, names of tests, results, the page."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "ci"))
import fresh_draw  # noqa: E402  pylint: disable=wrong-import-position
import testplan  # noqa: E402  pylint: disable=wrong-import-position

DESCRIPTION = "**Goal**: a | b **Stimulus**: s **Check**: c"


def plan(**changes):
    point = {"name": "smoke", "stage": "V1", "desc": DESCRIPTION, "tests": ["rtl/Fifo.*"], "covergroups": ["fifo_cg"],
             "features": ["command.STORE"], **changes}
    return {"testpoints": [point], "covergroups": [{"name": "fifo_cg", "desc": "all of it"}]}


class Defects(unittest.TestCase):
    def test_a_sound_plan_has_none(self):
        self.assertEqual(testplan.defects(plan()), [])

    def test_each_is_named(self):
        for change in ({"name": "Smoke"}, {"stage": "V4"}, {"desc": "does something"}, {"tests": []}, {"covergroups": ["other_cg"]},
                       {"covergroups": []}):
            with self.subTest(change):
                self.assertTrue(testplan.defects(plan(**change)))

    def test_a_claim_needs_evidence(self):
        claimed = {**plan(), "checklist": [{"stage": "V1", "item": "X", "status": "done", "evidence": ""}]}
        self.assertEqual(len(testplan.defects(claimed)), 1)


class Gaps(unittest.TestCase):
    TESTS = {"rtl/Fifo.KeepsTheOrder", "host/Plan.IsCut"}

    def test_a_plan_that_fits_has_none(self):
        self.assertEqual(testplan.gaps(plan(), self.TESTS, {"command.STORE"}), [])

    def test_a_testpoint_without_a_test(self):
        self.assertEqual(len(testplan.gaps(plan(tests=["rtl/Fifo.*", "rtl/Fife.*"]), self.TESTS, {"command.STORE"})), 1)

    def test_a_test_of_the_rtl_without_a_testpoint(self):
        for test in ("rtl/Ram.Reads", "cocotb/cocotb.smoke", "system/Fifo.KeepsTheOrder"):
            self.assertEqual(len(testplan.gaps(plan(), self.TESTS | {test}, {"command.STORE"})), 1)

    def test_features_that_one_side_lacks(self):
        self.assertEqual(len(testplan.gaps(plan(), self.TESTS, {"command.STORE", "flag.START"})), 1)
        self.assertEqual(len(testplan.gaps(plan(), self.TESTS, set())), 1)


class FreshDraw(unittest.TestCase):
    def test_rows_of_other_parts_stay(self):
        old = [{"part": "mutants", "seed": 1}, {"part": "tests", "seed": 1}]
        self.assertEqual(fresh_draw.merged(old, [{"part": "mutants", "seed": 2}]),
                         [{"part": "tests", "seed": 1}, {"part": "mutants", "seed": 2}])

    def test_page_names_seed_and_commit_of_each(self):
        row = {"what": "a | b", "result": "1 of 2", "goal": "all", "met": False, "seed": 7, "commit": "abc"}
        self.assertIn("| a \\| b | 1 of 2 | all | **no** | 7 | `abc` |", testplan.fresh_lines({"rows": [row]}))


class Names(unittest.TestCase):
    def test_parameters_are_left_out(self):
        self.assertEqual(testplan.base("Settings/Shapes.Edges/N4x"), "Shapes.Edges")
        self.assertEqual(testplan.base("Fifo/0.Keeps"), "Fifo.Keeps")
        self.assertEqual(testplan.base("Array.IsExact<a::Shape<V, 2u>>"), "Array.IsExact")
        self.assertEqual(testplan.base("formal.short"), "formal.short")

    def test_ports_are_grouped(self):
        definition = {"commands": {"opcodes": [], "flags": [], "result_formats": []}, "errors": [], "registers": [], "memories": [],
                      "engines": [], "counters": [{"engine": "total"}]}
        top = "input wire clk_i, input wire [1:0] m_data_rresp_i, output wire s_axil_bvalid_o, output wire irq_o"
        self.assertEqual(testplan.facts(definition, top), {"counters.total", "port.m_data", "port.s_axil", "port.irq_o"})


class Results(unittest.TestCase):
    def test_are_counted_by_testpoint(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write('<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"><failure/></testcase>'
                       '<testcase name="c" status="notrun"/></testsuite>')
            file.flush()
            names = {name: "rtl/Fifo.Keeps" for name in "abc"}
            counts = testplan.by_testpoint(plan(), testplan.read_results([file.name], names))
        self.assertEqual(counts, {"smoke": [1, 1]})
        self.assertEqual(testplan.result(counts["smoke"]), "1 of 2 FAILED")
        self.assertEqual(testplan.result([0, 0]), "not run")

    def test_are_on_the_page(self):
        text = testplan.page(plan(), {"commit": "abc", "testpoints": {"smoke": [3, 0]}})
        self.assertIn("3 passed", text)
        self.assertIn("| a \\| b |", text)
