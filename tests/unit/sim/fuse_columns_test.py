#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sim/models/fuse_columns.py: what it replaces, and what it does not. Arguments: the sources that the build made of N = 64."""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sim" / "models"))
import fuse_columns  # noqa: E402

fuse_columns.STAGES = 4  # which takes less time than 16

FUSED = "".join(Path(file).read_text() for file in sys.argv[1:])
del sys.argv[1:]
BEGIN = ("VL_INLINE_OPT void Vtop___nba_sequent__TOP__{}(Vtop* vlSelf) {{\n    if (false && vlSelf) {{}}  // Prevent unused\n"
         "    CData/*7:0*/ a__Vlvbound_h0;\n    // Body\n")
MEMORY = "columns_q"


def names(stage):
    return f"sums{stage}", f"sums{stage - 1}" if stage else None, f"activations{stage}", f"weights{stage}"


def sums(stage):
    return "".join("    " + fuse_columns.expected_sum(c, *names(stage)).replace("+", "\n    + ") + "\n" for c in range(64))


def byte(stage, row):
    """A byte of the word that enters a stage: the last two steps of a skew are no arrays."""
    name = f"vlSelf->row_step__BRA__{stage}__KET____DOT__word_q"
    word = ("vlSelf->row_0", f"{name}[0U]", f"(IData)({name})", name)[stage]
    shifted = (f"({word} >> 0U)", f"({word} >> 8U)", f"({word} >> 0x10U)", f"({word} >> 0x18U)")[row]
    if stage == 2:
        shifted = f"(IData)({shifted.replace('(IData)', '').replace(f'({name})', name)})"
    return f"(0xffU & {word})" if row == 0 else shifted if row == 3 and stage != 2 else f"(0xffU & {shifted})"


def loads(stage, bound=True):
    text = ""
    for i in range(260):
        value = byte(stage, i // 65) if i % 65 == 0 else f"vlSelf->activations{stage}[{fuse_columns.index(i - 1)}]"
        if bound:
            text += f"    a__Vlvbound_h0 = {value};\n"
        text += f"    __Vdlyvval__activations{stage}__v{i} = {'a__Vlvbound_h0' if bound else value};\n"
    return text


def stores(stage):
    return "".join(f"    vlSelf->activations{stage}[{fuse_columns.index(i)}] = __Vdlyvval__activations{stage}__v{i};\n" for i in range(260))


def skew(name, entering):
    """The steps of a skew of four words, from the last."""
    step = f"vlSelf->{name}step__BRA__{{}}__KET____DOT__word_q".format
    return (f"    {step(3)} \n        = (IData)(({step(2)} >> 0x20U));\n"
            f"    {step(2)} = (((QData)((IData)({step(1)}[2U])) << 0x20U) | (QData)((IData)({step(1)}[1U])));\n" +
            "".join(f"    {step(1)}[{i}U] = {value};\n" for i, value in enumerate(entering)))


def take(stage):
    """A stage's column of weights."""
    name, step = f"weights{stage}__v0", f"vlSelf->column_step__BRA__{stage}__KET____DOT__word_q"
    word = ("vlSelf->weight[0U]", f"{step}[0U]", f"(IData)({step})", step)[stage]
    return (f"    if (vlSelf->valid{stage}) {{\n        vlSelf->__Vdlyvval__{name} \n            = {word};\n"
            f"        vlSelf->__Vdlyvset__{name} = 1U;\n        vlSelf->__Vdlyvdim0__{name} = vlSelf->column{stage};\n    }}\n")


def write(stage):
    name = f"weights{stage}__v0"
    return (f"    if (vlSelf->__Vdlyvset__{name}) {{\n        vlSelf->weights{stage}[vlSelf->__Vdlyvdim0__{name}] \n"
            f"            = vlSelf->__Vdlyvval__{name};\n    }}\n")


def pass_on(stage):
    return (f"    vlSelf->column{stage} = vlSelf->column{stage - 1};\n"
            f"    vlSelf->valid{stage} = ((IData)(vlSelf->valid{stage - 1}) & (IData)(vlSelf->running));\n")


LOADS = "".join(map(loads, range(4)))
SUMS = "".join(sums(stage) for stage in reversed(range(4)))
STORES = "".join(map(stores, range(4)))
WRITES = "".join(map(write, range(4)))
CLEARS = "".join(f"    vlSelf->__Vdlyvset__weights{stage}__v0 = 0U;\n" for stage in range(4))
TAKES = "".join(map(take, range(4)))
PASSED_ON = "".join(pass_on(stage) for stage in (3, 2, 1))
ROW = skew("row_", ("vlSelf->row_1", "(vlSelf->row_2 & vlSelf->enable)", "vlSelf->row_3"))
COLUMN = skew("column_", (f"vlSelf->weight[{word}U]" for word in (1, 2, 3)))
ARRAY = CLEARS + LOADS + TAKES + SUMS + STORES + ROW + COLUMN + PASSED_ON + WRITES

OTHERS = ("store_row", "where", "lanes_sum", "sum_i")
LAST = [f"a_column__BRA__{c}__KET____DOT__u_column__DOT__read_{bank}_q" for c in range(64) for bank in range(2)]
BEFORE = "".join(f"    vlSelf->__Vdly__{name} = vlSelf->{name};\n" for name in LAST)
AFTER = "".join(f"    vlSelf->{name} = vlSelf->__Vdly__{name};\n" for name in LAST)


SHOWN = "".join(f"    vlSelf->data[{fuse_columns.index(c)}] = vlSelf->{LAST[2 * c]};\n" for c in range(62)) + \
    f"    vlSelf->other = vlSelf->{LAST[126]};\n"


def block(bank, columns):
    text = fuse_columns.expected_columns("a_", bank, columns, OTHERS)
    busy = f"a___Vcellinp__column__BRA__{columns[0] // 8 * 8}__KET____DOT__u_column__busy_{bank}_i"
    return f"    if (vlSelf->{busy}) {{\n        {text}\n    }}\n"


BLOCKS = [block(bank, list(reversed(range(first, first + 8)))) for first in range(56, -8, -8) for bank in "10"]


def function(number, body):
    return BEGIN.format(number) + body + "}\n"


def fuse(*bodies):
    return fuse_columns.fuse_files([function(number, body) for number, body in enumerate(bodies)], MEMORY)


class FuseColumns(unittest.TestCase):
    def unchanged(self, *bodies):
        texts, counts = fuse(*bodies)
        self.assertEqual(texts, [function(number, body) for number, body in enumerate(bodies)])
        self.assertEqual(counts, (0, 0, 0))

    def test_the_build_uses_the_calls(self):
        for call, count in (("column_array::step(", 1), ("column_array::enter_first(", 1), ("column_array::enter(", 1),
                            ("column_array::load(", 1), ("column_array::reset(", 1),
                            ("column_steps::accumulate(", 2), ("column_steps::show(", 2), ("column_steps::shift(", 2)):
            self.assertEqual(FUSED.count(f"gemm64::{call}"), count, call)
        for variable in ("activation_q__v64", "u_accumulator__DOT__row_q__v63", "_skew__DOT__step__BRA__9"):
            self.assertFalse(variable in FUSED, variable)

    def test_the_build_rolls_the_requantizer_and_the_elementwise_unit(self):
        for unit, last in (("u_requantize", "whole_8"), ("u_vector", "whole_10")):
            self.assertRegex(FUSED, rf"\b\w+__{unit}__DOT__{last}\[lane\]=")
            self.assertNotRegex(FUSED, rf"__{unit}__DOT__(?!_)\w+_\d+\s*\[[^\]]*U\]")  # no register of a lane is used outside a loop

    def test_only_the_register_port_reaches_logic(self):
        """verilated_device.hpp leaves out what Verilator does with inputs, while those of this port stay."""
        body = FUSED[FUSED.index("___ico_sequent__TOP__0("):]
        inputs = set(re.findall(r"vlSelf->([a-z_]+_n?i)\b", body[:body.index("\n}\n")]))
        self.assertEqual({name for name in inputs if not name.startswith("s_axil_")}, set())
        self.assertIn("s_axil_wvalid_i", inputs)

    def test_the_array_becomes_one_step(self):
        (text,), counts = fuse(ARRAY)
        self.assertEqual(counts, (1, 0, 0))
        array = "gemm64::columns_in(vlSelf->columns_q).array"
        self.assertEqual(text, function(0, f"""\
    gemm64::column_array::enter_first({array}, vlSelf->row_0);
    gemm64::column_array::step({array}, &vlSelf->sums3[0U]);
    gemm64::column_array::enter({array}, {{vlSelf->row_1, (vlSelf->row_2&vlSelf->enable), vlSelf->row_3}});
    if (vlSelf->valid0) {{
        gemm64::column_array::load({array}, vlSelf->column0, {{vlSelf->weight[0U], vlSelf->weight[1U], vlSelf->weight[2U], vlSelf->weight[3U]}});
    }}
    if (!vlSelf->running) gemm64::column_array::reset({array});
"""))

    def test_stages_that_are_divided_become_one_step(self):
        lines = ARRAY.splitlines(keepends=True)
        self.assertEqual(fuse("".join(lines[:2528]), "".join(lines[2528:]))[1], (1, 0, 0))

    def test_activations_that_pass_no_other_variable_move_on(self):
        self.assertEqual(fuse(ARRAY.replace(LOADS, "".join(loads(stage, bound=False) for stage in range(4))))[1], (1, 0, 0))

    def test_an_array_that_differs_stays(self):
        for old, new in (("0x41U", "0x42U"), ("0xffU&", "0x7fU&"), (">>8U", ">>9U"), ("sums2[5U]", "sums2[6U]"),
                         ("32,8", "32,7"), ("sums3[0x3fU]=", "sums7[0x3eU]="), ("0x18U", "0x19U"),
                         ("activations1[7U];", "activations5[8U];"), ("__v64 = a__V", "__v64 = b__V"),
                         ("[9U] = __Vdlyvval__activations0__v9;", "[9U] = other;"), (write(1), ""),
                         ("__Vdlyvval__weights1__v0;", "__Vdlyvval__weights2__v0;"), (sums(0), ""),
                         (stores(2), f"{stores(2)}    vlSelf->edge = vlSelf->activations2[0x40U];\n"),
                         (sums(2), f"{sums(2)}    vlSelf->other = vlSelf->sums2[0U];\n"),
                         (WRITES, f"    vlSelf->other = vlSelf->weights1[1U];\n{WRITES}"),
                         ("row_0 >> 8U", "row_1 >> 8U"), ("_q >> 0x20U", "_q >> 0x10U"), ("_q[2U]", "_q[1U]"),
                         ("column_step__BRA__3__KET____DOT__word_q;", "column_step__BRA__2__KET____DOT__word_q;"),
                         ("vlSelf->weight[2U]", "vlSelf->weight[1U]"), ("= vlSelf->row_1;", "= row_1;"),
                         ("vlSelf->valid2) & (IData)(vlSelf->running)", "vlSelf->valid2) & (IData)(vlSelf->other)"),
                         ("vlSelf->column2 = vlSelf->column1", "vlSelf->column2 = vlSelf->column0"), (take(1), ""), (CLEARS, ""),
                         (PASSED_ON, f"{PASSED_ON}    vlSelf->other = vlSelf->valid3;\n"),
                         (ROW, f"{ROW}    vlSelf->edge = vlSelf->row_step__BRA__3__KET____DOT__word_q;\n"),
                         (SUMS, f"    vlSelf->weight[1U] = 0U;\n{SUMS}"), (SUMS, f"    vlSelf->running = 0U;\n{SUMS}")):
            with self.subTest(old[:60]):
                changed = ARRAY.replace(old, new, 1)
                self.assertNotEqual(changed, ARRAY)
                self.unchanged(changed)

    def test_an_array_in_another_order_stays(self):
        for old, new in ((SUMS, "".join(map(sums, range(4)))), (SUMS + STORES, STORES + SUMS),
                         (SUMS + STORES + ROW, ROW + SUMS + STORES), (SUMS + STORES + ROW + COLUMN + PASSED_ON, COLUMN + PASSED_ON + SUMS + STORES + ROW)):
            self.unchanged(ARRAY.replace(old, new))

    def test_the_accumulator_becomes_one_call_a_bank(self):
        texts, counts = fuse(BEFORE + "".join(BLOCKS[:5]), "".join(BLOCKS[5:]) + "b;\n" + AFTER + SHOWN)
        self.assertEqual(counts, (0, 0, 1))
        self.assertEqual(texts[0], function(0, ""))
        self.assertEqual(texts[1].count("accumulate(gemm64::columns_in(vlSelf->columns_q).banks["), 2)
        self.assertTrue(texts[1].endswith("b;\n" + fuse_columns.show_call("data", "0", 62, MEMORY) +
                                          "    vlSelf->other = gemm64::columns_in(vlSelf->columns_q).banks[0].last[63];\n}\n"))

    def test_an_accumulator_that_differs_stays(self):
        whole = BEFORE + "".join(BLOCKS) + AFTER + SHOWN
        column = "a_column__BRA__9__KET____DOT__u_column__DOT__"
        for old, new in (("(1U&(IData)((vlSelf->a_add_1_q>>9U)))", "(1U&(IData)((vlSelf->a_add_1_q>>8U)))"), ("?0U:", "?1U:"),
                         ("a_row_q[9U]", "a_row_q[8U]"), ("vlSelf->store_row", "vlSelf->where"), (BLOCKS[3], ""),
                         (BLOCKS[3], f"    vlSelf->other = 0U;\n{BLOCKS[3]}"), (BLOCKS[3], BLOCKS[1]),
                         (f"    vlSelf->{column}read_0_q = vlSelf->__Vdly__{column}read_0_q;\n", ""),
                         (AFTER, f"    vlSelf->other = vlSelf->{column}read_0_q;\n{AFTER}"),
                         (SHOWN, f"    vlSelf->{column}read_0_q = 0U;\n"), (SHOWN, f"    vlSelf->other = vlSelf->{column}sums_0_q[0U];\n")):
            with self.subTest(old[:60]):
                changed = whole.replace(old, new, 1)
                self.assertNotEqual(changed, whole)
                self.unchanged(changed)

    def test_conditions_of_long_blocks_are_unlikely(self):
        body = "        vlSelf->a = 1U;\n" * fuse_columns.LONG
        block = "    if ((vlSelf->b\n        & vlSelf->c)) {\n%s    }"
        self.assertEqual(fuse_columns.lay_out(block % body + "\n"),
                         "    if (VL_UNLIKELY((vlSelf->b\n        & vlSelf->c))) {\n%s    }\n" % body)
        for other in (block % body + " else {\n        vlSelf->a = 0U;\n    }\n", block % body[:-24] + "\n"):
            self.assertEqual(fuse_columns.lay_out(other), other)


if __name__ == "__main__":
    unittest.main()
