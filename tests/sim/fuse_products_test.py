#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sim/fuse_products.py: what it replaces, and what it leaves alone. Argument: the source that the build made of a stage."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sim"))
import fuse_products  # noqa: E402

FUSED = Path(sys.argv.pop(1))
STATEMENTS = "".join("    " + fuse_products.expected(c).replace("+", "\n    + ") + "\n" for c in range(64))


class FuseProducts(unittest.TestCase):
    def test_the_build_uses_the_call(self):
        # One function for stages 0 to 14 and one for the last.
        self.assertEqual(FUSED.read_text().count("gemm64::column_products::add("), 2)

    def test_a_run_of_all_columns_becomes_one_call(self):
        fused, count = fuse_products.fuse("a;\n" + STATEMENTS + "b;\n" + STATEMENTS)
        self.assertEqual((fused, count), ("a;\n" + fuse_products.CALL + "b;\n" + fuse_products.CALL, 2))

    def test_what_differs_stays(self):
        for old, new in (("0x41U", "0x42U"), ("0xffU&", "0x7fU&"), (">>8U", ">>9U"), ("sum_i[5U]", "sum_i[6U]"),
                         ("32,8", "32,7"), ("sum_o[0x3fU]", "sum_o[0x3eU]"), ("0x18U", "0x19U")):
            changed = STATEMENTS.replace(old, new, 1)
            self.assertNotEqual(changed, STATEMENTS)
            self.assertEqual(fuse_products.fuse(changed), (changed, 0), old)

    def test_what_stands_between_stays(self):
        lines = STATEMENTS.split(";\n")
        changed = ";\n".join(lines[:20] + ["    vlSelf->sum_i[40U] = 0U"] + lines[20:])
        self.assertEqual(fuse_products.fuse(changed), (changed, 0))


if __name__ == "__main__":
    unittest.main()
