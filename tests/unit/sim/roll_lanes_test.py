#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sim/models/roll_lanes.py: which statements become loops over lanes, and which stay."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sim" / "models"))
import roll_lanes  # noqa: E402

HEADER = """\
    CData/*0:0*/ up;
    IData/*31:0*/ sum;
    IData/*31:0*/ scale;
    VlWide<16>/*511:0*/ bytes;
    VlWide<16>/*511:0*/ other_bytes;
    VlUnpacked<VlWide<16>/*511:0*/, 4> table;
    VlUnpacked<IData/*31:0*/, 64> a;
"""


def index(value):
    return roll_lanes.constant(value)


def lanes(statement):
    """The statement for each lane: {c} is the lane, {down} the lane from the last one."""
    return "".join(statement.format(c=index(c), next=index(c + 1), down=index(63 - c), twice=index(2 * c + 1)) for c in range(64))


def function(body):
    return f"void f(Vtop* vlSelf) {{\n    // Body\n{body}}}\n"


SUMS = """\
    vlSelf->sum
        = (vlSelf->a
           [{c}] + vlSelf->scale);
    vlSelf->up = (1U & (vlSelf->sum >> 7U));
    vlSelf->b[{c}] = ((vlSelf->sum >> 8U) + (IData)(vlSelf->up));
"""
LOOP = """\
    {
    const auto scale = vlSelf->scale;
    GEMM64_LANES (std::size_t lane = 0; lane < 64; ++lane) {
        IData sum;
        CData up;
        sum=(vlSelf->a[lane]+scale);
        up=(1U&(sum>>7U));
        vlSelf->b[lane]=((sum>>8U)+(IData)(up));
    }
    }
"""


def byte(word, at):
    shifted = f"(vlSelf->{word}[{index(at // 4)}] >> {index(8 * (at % 4))})"
    return (f"(0xffU & vlSelf->{word}[{index(at // 4)}])", f"(0xffU & {shifted})", f"(0xffU & {shifted})", shifted)[at % 4]


def set_byte(word, at, value):
    place = f"vlSelf->{word}[{index(at // 4)}]"
    mask, kept = f"0x{0xff << 8 * (at % 4):x}U", f"0x{0xffffffff ^ 0xff << 8 * (at % 4):x}U"
    moved = value if at % 4 == 0 else f"({value} << {index(8 * (at % 4))})"
    return f"    {place} = (({kept} & {place}) | {moved if at % 4 == 3 else f'({mask} & {moved})'});\n"


def lookup(c, entry="(IData)(vlSelf->up)", copy="__Vtemp_h1__"):
    copy += str(c)
    low = f"(0x18U & ({entry} << 3U))"
    return ("".join(f"    {copy}[{index(word)}] = vlSelf->table[(3U & ({entry} >> 6U))][{index(word)}];\n" for word in range(16)) +
            f"    vlSelf->b[{index(c)}] = (0xffU & ((IData)(vlSelf->scale) ? (((0U == {low}) ? 0U : "
            f"({copy}[(((IData)(7U) + (0x1f8U & ({entry} << 3U))) >> 5U)] << ((IData)(0x20U) - {low}))) | "
            f"({copy}[(0xfU & ({entry} >> 2U))] >> {low})) : {entry}));\n")


class RollLanes(unittest.TestCase):
    def rolled(self, body, count=1):
        (text,), loops = roll_lanes.roll([function(body)], HEADER)
        self.assertEqual(loops, count)
        return text

    def stays(self, body):
        (text,), loops = roll_lanes.roll([function(body)], HEADER)
        self.assertEqual((loops, text), (0, function(body)))

    def test_a_run_becomes_a_loop(self):
        self.assertEqual(self.rolled(lanes(SUMS)), "void f(Vtop* vlSelf) {\n" + LOOP + "}\n")

    def test_a_run_in_a_block_becomes_a_loop(self):
        self.assertIn(f"    if (vlSelf->move) {{\n{LOOP}", self.rolled(f"    if (vlSelf->move) {{{lanes(SUMS)}    }}\n"))

    def test_indexes_may_advance_by_any_constant(self):
        self.assertIn("vlSelf->b[63 + -1 * lane]=vlSelf->a[1 + 2 * lane];", self.rolled(lanes("    vlSelf->b[{down}] = vlSelf->a[{twice}];\n")))

    def test_a_run_that_is_not_complete_stays(self):
        lines = lanes("    vlSelf->b[{c}] = vlSelf->a[{c}];\n")
        for old, new in (("    vlSelf->b[9U] = vlSelf->a[9U];\n", ""), ("a[9U]", "a[8U]"), ("a[9U];", "a[9U] + 1U;"), ("a[9U]", "a[vlSelf->up]"),
                         ("    vlSelf->b[9U]", "    vlSelf->other = 1U;\n    vlSelf->b[9U]"), ("    vlSelf->b[9U]", "    f();\n    vlSelf->b[9U]")):
            with self.subTest(new):
                changed = lines.replace(old, new)
                self.assertNotEqual(changed, lines)
                self.stays(changed)

    def test_lanes_that_depend_on_each_other_stay(self):
        for statement in ("    vlSelf->b[{c}] = vlSelf->b[{next}];\n", "    vlSelf->b[{next}] = vlSelf->b[{c}];\n",
                          "    vlSelf->b[{c}] = vlSelf->sum;\n    vlSelf->sum = vlSelf->a[{c}];\n", "    vlSelf->sum = (vlSelf->sum + vlSelf->a[{c}]);\n",
                          "    vlSelf->b[0U] = vlSelf->a[{c}];\n", "    vlSelf->b[{c}] = vlSelf->b[vlSelf->up];\n",
                          "    vlSelf->b[{c}] = vlSelf->sum;\n    if (vlSelf->a[{c}]) {{\n        vlSelf->sum = vlSelf->a[{c}];\n    }}\n",
                          "    if (vlSelf->a[{c}]) {{\n        vlSelf->sum = 1U;\n    }}\n    vlSelf->b[{c}] = vlSelf->sum;\n"):
            with self.subTest(statement):
                self.stays(lanes(statement))

    def test_effects_that_are_not_known_stay(self):
        for value in ("f(vlSelf->a[{c}])", "other", "VL_RANDOM_I()", "(vlSelf->x = vlSelf->a[{c}])", "vlSelf->x++"):
            with self.subTest(value):
                self.stays(lanes(f"    vlSelf->b[{{c}}] = {value};\n"))

    def test_a_variable_whose_type_is_not_known_stays(self):
        self.stays(lanes("    vlSelf->unknown = vlSelf->a[{c}];\n    vlSelf->b[{c}] = vlSelf->unknown;\n"))

    def test_a_condition_that_sets_the_same_in_both_branches_becomes_part_of_the_loop(self):
        text = self.rolled(lanes("    if (vlSelf->a[{c}]) {{\n        vlSelf->sum = 1U;\n    }} else {{\n        vlSelf->sum = vlSelf->d[{c}];\n    }}\n"
                                 "    vlSelf->b[{c}] = vlSelf->sum;\n"))
        self.assertIn("        if(vlSelf->a[lane]){sum=1U;}else{sum=vlSelf->d[lane];}\n        vlSelf->b[lane]=sum;\n", text)

    def test_what_other_statements_use_is_stored_after_the_loop(self):
        text = self.rolled(lanes(SUMS) + "    vlSelf->c = vlSelf->up;\n")
        self.assertIn("    CData up;\n    GEMM64_LANES ", text)
        self.assertIn("    vlSelf->up = up;\n    }\n", text)
        self.assertNotIn("vlSelf->sum = ", text)

    def test_what_another_file_uses_is_stored_after_the_loop(self):
        (text, _), _ = roll_lanes.roll([function(lanes(SUMS)), function("    vlSelf->c = vlSelf->sum;\n")], HEADER)
        self.assertIn("    vlSelf->sum = sum;\n", text)

    def test_statements_that_share_no_variable_get_loops_of_their_own(self):
        text = self.rolled(lanes("    vlSelf->b[{c}] = vlSelf->a[{c}];\n    vlSelf->d[{c}] = vlSelf->e[{c}];\n"))
        self.assertEqual(text.count("GEMM64_LANES"), 2)

    def test_a_statement_of_the_lane_before_may_follow(self):
        """Verilator moves statements past others."""
        first, last = "    vlSelf->sum = vlSelf->a[{}];\n", "    vlSelf->b[{}] = vlSelf->d[{}];\n    vlSelf->e[{}] = vlSelf->sum;\n"
        body = first.format(index(0))
        for c in range(64):
            later, use = last.format(*[index(c)] * 3).splitlines(keepends=True)
            body += use + (first.format(index(c + 1)) if c < 63 else "") + later
        self.assertEqual(self.rolled(body).count("GEMM64_LANES"), 2)
        self.stays(body.replace("vlSelf->d[9U]", "vlSelf->sum"))

    def test_an_if_within_the_run_moves_before_it_if_that_changes_nothing(self):
        inner = "    if (vlSelf->swap) {{\n{}    }}\n"
        run = lanes("    vlSelf->b[{c}] = vlSelf->a[{c}];\n").splitlines(keepends=True)
        text = self.rolled(run[0] + inner.format(lanes("        vlSelf->d[{c}] = vlSelf->e[{c}];\n")) + "".join(run[1:]))
        self.assertEqual(text.count("GEMM64_LANES"), 2)
        self.assertLess(text.index("d[lane]"), text.index("b[lane]"))
        for other in ("        vlSelf->a[0U] = 1U;\n", "        vlSelf->b[0U] = 1U;\n", "        vlSelf->d[0U] = vlSelf->b[0U];\n", "        f();\n"):
            self.stays(run[0] + inner.format(other) + "".join(run[1:]))

    def test_bytes_of_wide_words_are_elements(self):
        body = "".join(f"    vlSelf->a[{index(c)}] = {byte('other_bytes', c)};\n" for c in range(64))
        self.assertIn("vlSelf->a[lane]=(IData)(gemm64::bytes_of(vlSelf->other_bytes)[lane]);", self.rolled(body))
        body = "".join(set_byte("bytes", c, f"vlSelf->a[{index(c)}]") for c in range(64))
        self.assertIn("gemm64::bytes_of(vlSelf->bytes)[lane]=vlSelf->a[lane];", self.rolled(body))
        self.stays(body.replace("0xff0000U", "0x7f0000U"))
        self.stays(body.replace("0xff00ffffU", "0xffffffU"))
        self.stays(body.replace("bytes", "a"))

    def test_a_shift_of_both_sides_of_an_operation_is_one_of_the_whole(self):
        def moved(name, bits):
            return f"(vlSelf->{name} << {index(bits)})" if bits else f"vlSelf->{name}"

        def statement(c):
            sides = f"({moved(f'a[{index(c)}]', 8 * (c % 4))} ^ {moved('scale', 8 * (c % 4) + 7)})"
            return set_byte("bytes", c, "0U").replace(f"(0U << {index(8 * (c % 4))})" if c % 4 else "& 0U", sides if c % 4 else f"& {sides}")
        self.assertIn("gemm64::bytes_of(vlSelf->bytes)[lane]=(vlSelf->a[lane]^(scale<<7U));", self.rolled("".join(map(statement, range(64)))))

    def test_bytes_and_words_of_the_same_variable_stay(self):
        self.stays("".join(f"    vlSelf->a[{index(c)}] = vlSelf->bytes[0U];\n" + set_byte("bytes", c, f"vlSelf->d[{index(c)}]") for c in range(64)))

    def test_a_lookup_reads_the_table(self):
        body = "".join(f"    vlSelf->up = {byte('bytes', c)};\n{lookup(c)}" for c in range(64))
        text = self.rolled(body)
        self.assertIn("vlSelf->b[lane]=(0xffU&((IData)(scale)?(IData)(gemm64::bytes_of(vlSelf->table)"
                      "[(0x40U*(3U&((IData)(up)>>6U))+(0x3fU&(IData)(up)))]):(IData)(up)));", text)
        self.assertNotIn("__Vtemp", text)
        for old, new in (("__Vtemp_h1__9[3U] = vlSelf->table", "__Vtemp_h1__9[3U] = vlSelf->other"), ("[(0xfU & ", "[(0x1fU & "), ("0x1f8U", "0x1f0U"),
                         ("    vlSelf->b[9U]", "    vlSelf->up = 0U;\n    vlSelf->b[9U]"), ("    vlSelf->b[9U]", "    vlSelf->c = __Vtemp_h1__9[0U];\n    vlSelf->b[9U]")):
            with self.subTest(new):
                changed = body.replace(old, new, 1)
                self.assertNotEqual(changed, body)
                self.stays(changed)


if __name__ == "__main__":
    unittest.main()
