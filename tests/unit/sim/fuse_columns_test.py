#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sim/models/fuse_columns.py: what it replaces, and what it does not. Arguments: the sources that the build made of N = 64."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sim" / "models"))
import fuse_columns  # noqa: E402

FUSED = "".join(Path(file).read_text() for file in sys.argv[1:])
del sys.argv[1:]
BEGIN = ("VL_INLINE_OPT void Vtop___nba_sequent__TOP__{}(Vtop* vlSelf) {{\n    if (false && vlSelf) {{}}  // Prevent unused\n"
         "    CData/*7:0*/ a__Vlvbound_h0;\n    // Body\n")
STAGE = ("sums", "before", "activation_q", "weight_q")
SUMS = "".join("    " + fuse_columns.expected_sum(c, *STAGE).replace("+", "\n    + ") + "\n" for c in range(64))
LOADS = "".join(f"    a__Vlvbound_h0 = {'enters' if i % 65 == 0 else f'vlSelf->activation_q[{fuse_columns.index(i - 1)}]'};\n"
                f"    __Vdlyvval__activation_q__v{i} = a__Vlvbound_h0;\n" for i in range(260))
STORES = "".join(f"    vlSelf->activation_q[{fuse_columns.index(i)}] = __Vdlyvval__activation_q__v{i};\n" for i in range(260))
ENTERING = [f"__Vdlyvval__activation_q__v{i}" for i in (0, 65, 130, 195)]

OTHERS = ("store_row", "where", "lanes_sum", "sum_i")
LAST = [f"a_column__BRA__{c}__KET____DOT__u_column__DOT__read_{bank}_q" for c in range(64) for bank in range(2)]
BEFORE = "".join(f"    vlSelf->__Vdly__{name} = vlSelf->{name};\n" for name in LAST)
AFTER = "".join(f"    vlSelf->{name} = vlSelf->__Vdly__{name};\n" for name in LAST)


def block(bank, columns):
    text = fuse_columns.expected_columns("a_", bank, columns, OTHERS)
    busy = f"a___Vcellinp__column__BRA__{columns[0] // 8 * 8}__KET____DOT__u_column__busy_{bank}_i"
    return f"    if (vlSelf->{busy}) {{\n        {text}\n    }}\n"


BLOCKS = [block(bank, list(reversed(range(first, first + 8)))) for first in range(56, -8, -8) for bank in "10"]


def function(number, body):
    return BEGIN.format(number) + body + "}\n"


def fuse(*bodies):
    return fuse_columns.fuse_files([function(number, body) for number, body in enumerate(bodies)])


class FuseColumns(unittest.TestCase):
    def unchanged(self, *bodies):
        texts, counts = fuse(*bodies)
        self.assertEqual(texts, [function(number, body) for number, body in enumerate(bodies)])
        self.assertEqual(counts, (0, 0, 0))

    def test_the_build_uses_the_calls(self):
        stages = FUSED.count("gemm64::column_products::step(") + FUSED.count("gemm64::column_products::add(")
        self.assertEqual(stages, 16)
        self.assertEqual(FUSED.count("gemm64::column_steps::accumulate<"), 2)
        for variable in ("activation_q__v64", "u_accumulator__DOT__row_q__v63"):
            self.assertFalse(variable in FUSED, variable)

    def test_the_sums_of_all_columns_become_one_call(self):
        (text,), counts = fuse("a;\n" + SUMS + "b;\n")
        self.assertEqual((text, counts), (function(0, "a;\n" + fuse_columns.sums_call(*STAGE) + "b;\n"), (1, 0, 0)))

    def test_sums_that_are_divided_become_one_call(self):
        lines = SUMS.splitlines(keepends=True)
        texts, counts = fuse("".join(lines[:20]), "".join(lines[20:]))
        self.assertEqual((texts, counts), ([function(0, ""), function(1, fuse_columns.sums_call(*STAGE))], (1, 0, 0)))

    def test_a_sum_that_differs_stays(self):
        for old, new in (("0x41U", "0x42U"), ("0xffU&", "0x7fU&"), (">>8U", ">>9U"), ("before[5U]", "before[6U]"),
                         ("32,8", "32,7"), ("sums[0x3fU]", "sums[0x3eU]"), ("0x18U", "0x19U")):
            with self.subTest(old):
                changed = SUMS.replace(old, new, 1)
                self.assertNotEqual(changed, SUMS)
                self.unchanged(changed)

    def test_sums_with_a_use_of_their_variables_between_stay(self):
        lines = SUMS.split(";\n")
        for name in STAGE:
            with self.subTest(name):
                self.unchanged(";\n".join(lines[:20] + [f"    vlSelf->{name}[40U] = 0U"] + lines[20:]))

    def test_activations_move_on_with_the_sums(self):
        (text,), counts = fuse(LOADS + SUMS + "b;\n" + STORES)
        self.assertEqual(counts, (1, 1, 0))
        self.assertIn(fuse_columns.sums_call(*STAGE, ENTERING) + "b;\n}", text)
        self.assertNotIn("activation_q__v1 ", text)

    def test_activations_that_are_used_after_the_sums_move_on_later(self):
        use = "    vlSelf->edge = vlSelf->activation_q[0x40U];\n"
        (text,), counts = fuse(LOADS + SUMS + use + STORES)
        self.assertEqual(counts, (1, 1, 0))
        self.assertIn(fuse_columns.sums_call(*STAGE) + use + fuse_columns.shift_call("activation_q", ENTERING, 65), text)

    def test_activations_that_pass_no_other_variable_move_on(self):
        loads = "".join(f"    __Vdlyvval__activation_q__v{i} = " + ("enters" if i % 65 == 0 else
                        f"vlSelf->activation_q[{fuse_columns.index(i - 1)}]") + ";\n" for i in range(260))
        self.assertEqual(fuse(loads + SUMS + STORES)[1], (1, 1, 0))

    def test_a_shift_that_differs_stays(self):
        for old, new in (("activation_q[7U];", "activation_q[8U];"), ("[9U] = __Vdlyvval__activation_q__v9;", "[9U] = other;"),
                         ("__v64 = a__V", "__v64 = b__V")):
            with self.subTest(old):
                body = (LOADS + SUMS + STORES).replace(old, new, 1)
                self.assertNotEqual(body, LOADS + SUMS + STORES)
                self.assertEqual(fuse(body)[1], (1, 0, 0))

    def test_the_accumulator_becomes_one_call_a_bank(self):
        texts, counts = fuse(BEFORE + "".join(BLOCKS[:5]), "".join(BLOCKS[5:]) + "b;\n" + AFTER)
        self.assertEqual(counts, (0, 0, 1))
        self.assertEqual(texts[0], function(0, ""))
        self.assertEqual(texts[1].count("accumulate<kPlaces"), 2)
        self.assertTrue(texts[1].endswith("    }\nb;\n}\n"))

    def test_an_accumulator_that_differs_stays(self):
        whole = BEFORE + "".join(BLOCKS) + AFTER
        column = "a_column__BRA__9__KET____DOT__u_column__DOT__"
        for old, new in (("(1U&(IData)((vlSelf->a_add_1_q>>9U)))", "(1U&(IData)((vlSelf->a_add_1_q>>8U)))"), ("?0U:", "?1U:"),
                         ("a_row_q[9U]", "a_row_q[8U]"), ("vlSelf->store_row", "vlSelf->where"), (BLOCKS[3], ""),
                         (BLOCKS[3], f"    vlSelf->other = 0U;\n{BLOCKS[3]}"), (BLOCKS[3], BLOCKS[1]),
                         (f"    vlSelf->{column}read_0_q = vlSelf->__Vdly__{column}read_0_q;\n", ""),
                         (AFTER, f"    vlSelf->other = vlSelf->{column}read_0_q;\n{AFTER}")):
            with self.subTest(old[:60]):
                changed = whole.replace(old, new, 1)
                self.assertNotEqual(changed, whole)
                self.unchanged(changed)


if __name__ == "__main__":
    unittest.main()
