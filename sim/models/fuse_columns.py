#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaces, in the C++ that Verilator generates for N = 64, what it writes once for each column by loops over all of them.

Usage: fuse_columns.py FOLDER GENERATED.cpp...

Files of the same names are written to FOLDER. Replaced are
  the array, by calls of column_array.hpp; of each of its 16 gemm64_stage,
    exactly 64 statements sum_o[c] = sum_i[c] + sum over r of sign-extended activation_q[65 * r + c] * byte r of weight_q[c],
      sum_i being the sums of the stage above, and none for the first stage;
    rows of activations that move on in each cycle, which Verilator copies to a variable for each value and, once all of
      them have been read, back;
    the column of weights that is written, and its valid bit and index that move on to the stage below;
    and both gemm64_skew, in which each step keeps one word less than the step before;
  the rows and requests of the accumulator, which move on likewise, by calls of column_steps.hpp;
  the accumulator's columns, eight of which share a condition, by two calls of column_steps.hpp; what was read is
    then read from their memory, and the copies of it that Verilator makes before and after are left out.
Functions that run with the clock's edge are looked at as if they were one, since Verilator divides them anywhere. Each
statement must be as Verilator 5.006 writes it, and no other may use a variable that is left out: else the set stays as it
is, results are the same, and the simulation is slower. The loops keep their values in a memory of the model's own,
columns_q of gemm64_ahead.v. What other modules do alike in each of 64 lanes becomes loops too (roll_lanes.py). Conditions
of long blocks are marked as unlikely.
Exit: 0 written (the last line of output says how many sets were replaced), 2 usage or input.
"""
import collections
import re
import sys
from pathlib import Path

import roll_lanes

COLUMNS = 64
ROWS = 4
ROW_STEP = COLUMNS + 1  # a row of activations keeps one more than the columns use
REQUESTS = COLUMNS // ROWS + 1  # cycles from a request to the array's first sum
GROUP = 8               # columns of the accumulator that share a condition
FUNCTION = re.compile(r"^VL_INLINE_OPT void \w*_nba_sequent__TOP__(\d+)\((\w+)\* vlSelf\) \{\n.*?^}\n", re.MULTILINE | re.DOTALL)
BOUNDARY = re.compile(r"}\n// next function\nVL_INLINE_OPT void [^;]*?// Prevent unused\n.*?    // Body\n", re.DOTALL)
MARK = "// next function\n"
SUM = re.compile(r"^[ \t]*vlSelf->(\w+)\[\w+\]\s*=[^;]*VL_MULS_III\(32,[^;]*;\n", re.MULTILINE)
ADDEND = re.compile(r"=\(*vlSelf->(\w+)\[0U\]\+VL_MULS_III")
OPERANDS = re.compile(r"VL_MULS_III\(32,VL_EXTENDS_II\(32,8,vlSelf->(\w+)\[0U\]\),VL_EXTENDS_II\(32,8,\(0xffU&vlSelf->(\w+)\[0U\]")
BUSY = re.compile(r"^    if \(vlSelf->(\w+)__Vcellinp__column__BRA__(\d+)__KET____DOT__u_column__busy_([01])_i\) \{\n(.*?)^    \}\n",
                  re.MULTILINE | re.DOTALL)
STAGES = COLUMNS // ROWS
LONG = 8                # statements of a block that is worth a branch
CONDITION = re.compile(r"^( *)if \((?!VL_)", re.MULTILINE)
MEMORY = re.compile(r"VlUnpacked<IData/\*31:0\*/, \d+> (\w*columns_q);")
HEADERS = {"gemm64::column_": '#include "sim/models/columns.hpp"\n', "GEMM64_LANES": '#include "sim/models/lanes.hpp"\n'}


# How an array moves on: statements that are left out, those that store, variables of what enters, where these are known; and
# of what enters, the statements that set these variables, and its values without white space.
Shift = collections.namedtuple("Shift", "dropped stores entering ready count loads values")


def index(value):
    """A constant as Verilator 5.006 writes it: 9U, 0x1fU."""
    return f"{value}U" if value < 10 else f"0x{value:x}U"


def compact(text):
    return re.sub(r"\s+", "", text)


def replace(source, replacements):
    """Returns the source with (begin, end, text) replaced, none of which overlap."""
    pieces, begin = [], 0
    for start, end, text in sorted(replacements):
        pieces += [source[begin:start], text]
        begin = end
    return "".join(pieces + [source[begin:]])


def drop(statements):
    return [(match.start(), match.end(), "") for match in statements]


def in_place_of(run, call):
    """The replacements that put the call where the last statement of the run is."""
    return drop(run[:-1]) + [(run[-1].start(), run[-1].end(), call)]


def uses(text, names):
    """Does the text use a variable of these names?"""
    return re.search(rf"\b(?:{'|'.join(names)})\b", text) is not None


def used_between(source, run, names):
    """Do statements among those of the run, which one call at its end replaces, use a variable of these names?"""
    return uses("".join(source[this.end():following.start()] for this, following in zip(run, run[1:])), names)


def expected_sum(column, sum_o, sum_i, activations, weights):
    """The statement of a column, without white space. sum_i: None for the first stage."""
    text = None if sum_i is None else f"vlSelf->{sum_i}[{index(column)}]"
    for row in range(ROWS):
        weight = f"vlSelf->{weights}[{index(column)}]"
        if row < ROWS - 1:
            weight = f"(0xffU&{weight})" if row == 0 else f"(0xffU&({weight}>>{index(8 * row)}))"
        else:
            weight = f"({weight}>>{index(8 * row)})"
        activation = f"vlSelf->{activations}[{index(row * ROW_STEP + column)}]"
        product = f"VL_MULS_III(32,VL_EXTENDS_II(32,8,{activation}),VL_EXTENDS_II(32,8,{weight}))"
        text = product if text is None else f"({text}+{product})"
    return f"vlSelf->{sum_o}[{index(column)}]={text};"


def find_sums(source):
    """Returns each complete set of sums: its statements, and the names of sum_o, sum_i, activations and weights."""
    found, sets = [], collections.defaultdict(list)
    for match in SUM.finditer(source):
        sets[match.group(1)].append(match)
    for sum_o, run in sets.items():
        first = compact(run[0].group())
        operands, addend = OPERANDS.search(first), ADDEND.search(first)
        if not operands or len(run) != COLUMNS:
            continue
        names = (sum_o, addend and addend.group(1), *operands.groups())
        if any(compact(match.group()) != expected_sum(column, *names) for column, match in enumerate(run)):
            continue
        if not used_between(source, run, [name for name in names if name]):
            found.append((run, names))
    return found


def shift_call(values, first, count):
    """first: what enters each row of count values."""
    return "".join(f"    gemm64::column_steps::shift(&vlSelf->{values}[{index(row * count)}], {count}, {variable});\n"
                   for row, variable in enumerate(first))


def find_shifts(source, lengths):
    """Returns, for each array whose shift is as expected, a Shift. lengths: of its name, (rows, values in each)."""
    name = "|".join(map(re.escape, lengths))
    statement = re.compile(
        rf"^[ \t]*(?:(?P<bound>(?:vlSelf->)?\w*__Vlvbound_\w+)\s*=\s*(?P<value>[^;]*)"
        rf"|(?P<loaded>(?:vlSelf->)?__Vdlyvval__(?P<load>{name})__v(?P<number>\d+))\s*=\s*(?P<from>[^;]*)"
        rf"|vlSelf->(?P<store>{name})\s*\[(?P<at>[^;=]*)\]\s*=(?!=)\s*(?P<stored>[^;]*));\n", re.MULTILINE)
    bounds = {}
    loads = {name: {} for name in lengths}
    stores = {name: [] for name in lengths}
    for match in statement.finditer(source):
        if match.group("bound"):
            bounds[match.group("bound")] = match
        elif match.group("load"):
            loads[match.group("load")].setdefault(match.group("loaded"), []).append((match, bounds.get(match.group("from"))))
        else:
            stores[match.group("store")].append(match)
    shifts = {name: find_shift(source, name, *lengths[name], loads[name], stores[name]) for name in lengths}
    return {name: shift for name, shift in shifts.items() if shift}


def find_shift(source, values, rows, count, loads, stores):
    """Returns the Shift of an array, or none. loads: of each variable, with what they load."""
    if len(stores) != rows * count:
        return None
    dropped, ready, first, entering = [], 0, [], []
    for i, store in enumerate(stores):
        (load, bound), *others = loads.get(store.group("stored"), [(None, None)])
        if store.group("at") != index(i) or others or not load or load.group("number") != str(i) or load.end() > stores[0].start():
            return None
        ready = max(ready, load.end())
        # It may pass a variable that Verilator checks its place with.
        value = compact(bound.group("value") if bound else load.group("from"))
        if i % count == 0:
            first += [bound, load] if bound else [load]
            entering.append(value)
            continue
        if value != f"vlSelf->{values}[{index(i - 1)}]":
            return None
        dropped += [bound, load] if bound else [load]
    if used_between(source, stores, [values]):
        return None
    return Shift(dropped, stores, [stores[count * row].group("stored") for row in range(rows)], ready, count, first, entering)


def bit(name, column):
    return f"(1U&(IData)(vlSelf->{name}))" if column == 0 else f"(1U&(IData)((vlSelf->{name}>>{index(column)})))"


def column_of(prefix, column):
    return f"{prefix}column__BRA__{column}__KET____DOT__u_column__DOT__"


def expected_columns(prefix, bank, columns, names):
    """What these columns do in a cycle in which their bank is busy, without white space."""
    store_row, where, lanes_sum, sum_i = names
    reads, lanes, adds = "", "", ""
    for c in columns:
        sums, last = f"{column_of(prefix, c)}sums_{bank}_q", f"{column_of(prefix, c)}read_{bank}_q"
        old = f"vlSelf->{prefix}request_q[0x10U]" if c == 0 else f"vlSelf->{prefix}row_q[{index(c - 1)}]"
        row = f"((IData)(vlSelf->{prefix}store_{bank})?(IData)(vlSelf->{store_row}):{old})"
        row = f"(0x7fU&{row})" if c == 0 else row
        reads += f"if({bit(f'{prefix}read_{bank}', c)}){{vlSelf->__Vdly__{last}=vlSelf->{sums}[{row}];}}"
        lanes += f"vlSelf->{sums}[(0x7fU&(IData)(vlSelf->{where}))]=vlSelf->{lanes_sum}[{index(c)}];"
        adds += (f"if({bit(f'{prefix}add_{bank}_q', c)}){{vlSelf->{sums}[vlSelf->{prefix}row_q[{index(c)}]]="
                 f"(({bit(f'{prefix}first_q', c)}?0U:vlSelf->{last})+vlSelf->{sum_i}[{index(c)}]);}}")
    adds = f"{{{adds}}}" if len(columns) > 1 else adds
    return f"{reads}if(vlSelf->{prefix}lanes_{bank}){{{lanes}}}else{adds}"


def columns_of(memory, member):
    return f"gemm64::columns_in(vlSelf->{memory}).{member}"


def bank_call(prefix, bank, busy, names, memory):
    """busy: of each group, the name of its variable."""
    store_row, where, lanes_sum, sum_i = names
    flags = ", ".join(f"&vlSelf->{name}" for name in busy)
    return (f"    gemm64::column_steps::accumulate({columns_of(memory, f'banks[{bank}]')}, {{{{{flags}}},\n"
            f"        vlSelf->{prefix}read_{bank}, vlSelf->{prefix}add_{bank}_q, vlSelf->{prefix}first_q,\n"
            f"        vlSelf->{prefix}store_{bank} != 0, vlSelf->{store_row}, 0x7fU & vlSelf->{prefix}request_q[0x10U], "
            f"&vlSelf->{prefix}row_q[0U], &vlSelf->{sum_i}[0U],\n"
            f"        vlSelf->{prefix}lanes_{bank} != 0, 0x7fU & vlSelf->{where}, &vlSelf->{lanes_sum}[0U]}});\n")


def show_call(data, bank, count, memory):
    return f"        gemm64::column_steps::show({columns_of(memory, f'banks[{bank}]')}, &vlSelf->{data}[0U], {count});\n"


def find_shown(source, prefix, taken, memory):
    """Returns the replacements of what reads the sums that were read last. taken: statements that are replaced otherwise."""
    name = re.compile(rf"vlSelf->{prefix}column__BRA__(\d+)__KET____DOT__u_column__DOT__read_([01])_q\b")
    shown = re.compile(rf"^[ \t]*vlSelf->(\w+)\s*\[(\w+)\]\s*=\s*{name.pattern};\n", re.MULTILINE)
    runs, replacements = [], []
    for match in shown.finditer(source):
        data, at, column, bank = match.groups()
        if at != index(int(column)):
            continue
        if runs and match.start() == runs[-1][-1].end() and (data, str(len(runs[-1])), bank) == (runs[-1][0].group(1), column, runs[-1][0].group(4)):
            runs[-1].append(match)
        elif column == "0":
            runs.append([match])
    for run in runs:
        replacements += in_place_of(run, show_call(run[0].group(1), run[0].group(4), len(run), memory))
    covered = taken + replacements
    for match in name.finditer(source):
        if not any(begin <= match.start() < end for begin, end, _ in covered):
            replacements.append((match.start(), match.end(), columns_of(memory, f"banks[{match.group(2)}].last[{match.group(1)}]")))
    return replacements


def find_accumulator(source, memory):
    """Returns the replacements of the accumulator's columns, or none, and the prefix of their names."""
    run = list(BUSY.finditer(source))
    if not run:
        return [], None
    prefix = run[0].group(1)
    groups = collections.defaultdict(list)
    for this, following in zip(run, run[1:]):
        between = source[this.end():following.start()]
        if between and not BOUNDARY.fullmatch(between):
            return [], None
    names = re.search(r"\?\(IData\)\(vlSelf->(\w+)\):.*\[\(0x7fU&\(IData\)\(vlSelf->(\w+)\)\)\]=vlSelf->(\w+)\[.*\+vlSelf->(\w+)\[",
                      compact(run[0].group(4)))
    for match in run:
        columns = list(map(int, re.findall(r"__Vdly__\w+column__BRA__(\d+)__KET__", match.group(4))))
        if not names or compact(match.group(4)) != expected_columns(prefix, match.group(3), columns, names.groups()):
            return [], None
        groups[match.group(2), match.group(3)] += columns
    busy = {"0": [None] * (COLUMNS // GROUP), "1": [None] * (COLUMNS // GROUP)}
    for (column, bank), columns in groups.items():
        group = int(column) // GROUP  # columns of a group share a variable, named after one of them
        if sorted(columns) != list(range(GROUP * group, GROUP * group + GROUP)):
            return [], None
        busy[bank][group] = f"{prefix}__Vcellinp__column__BRA__{column}__KET____DOT__u_column__busy_{bank}_i"
    if None in busy["0"] + busy["1"]:
        return [], None
    copies = list(re.finditer(rf"^[ \t]*vlSelf->(__Vdly__)?({prefix}column__BRA__\d+__KET____DOT__u_column__DOT__read_[01]_q)\s*="
                              r"\s*vlSelf->(__Vdly__)?(\w+);\n", source, re.MULTILINE))
    before = [match for match in copies if match.group(1) and not match.group(3) and match.group(2) == match.group(4)]
    after = [match for match in copies if not match.group(1) and match.group(3) and match.group(2) == match.group(4)]
    whole = {f"{column_of(prefix, c)}read_{bank}_q" for c in range(COLUMNS) for bank in range(2)}
    if not all(len(found) == len(whole) and {match.group(2) for match in found} == whole for found in (before, after)):
        return [], None
    if before[-1].end() > run[0].start() or after[0].start() < run[-1].end():
        return [], None
    columns = rf"{prefix}column__BRA__\d+__KET____DOT__u_column__DOT__(?:read|sums)_[01]_q"
    if used_between(source, sorted(before + run + after, key=lambda match: match.start()), [columns]):
        return [], None
    call = "".join(bank_call(prefix, bank, busy[bank], names.groups(), memory) for bank in "10")
    replacements = in_place_of(run, call) + drop(before + after)
    replacements += find_shown(source, prefix, replacements, memory)
    fused = replace(source, replacements)
    if uses(fused, [columns]) or re.search(r"\.last\[\d+\]\s*(?:=[^=]|\[)", fused):
        return [], None
    return replacements, prefix


def assigned_between(source, begin, end, names):
    """Does a statement there assign to a variable of these names?"""
    begin, end = min(begin, end), max(begin, end)
    return re.search(rf"\b(?:{'|'.join(map(re.escape, names))})\b\s*(?:\[[^\]]*\]\s*)*=(?!=)", source[begin:end]) is not None


def variables(text):
    return re.findall(r"vlSelf->(\w+)", text)


class Statements:
    """All statements of the form variable = value;, by the variable without white space."""

    def __init__(self, source):
        self.of = collections.defaultdict(list)
        for match in re.finditer(r"^[ \t]*vlSelf->(\w+\s*(?:\[[^\]]*\]\s*)?)=(?!=)\s*([^;]*);\n", source, re.MULTILINE):
            self.of[compact(match.group(1))].append(match)

    def only(self, variable, value=None):
        """The one statement that sets the variable, or none. value: what it must be, without white space."""
        found = self.of[variable]
        return found[0] if len(found) == 1 and value in (None, compact(found[0].group(2))) else None


def step_of(skew, step):
    return f"{skew}step__BRA__{step}__KET____DOT__word_q"


def words_of(skew, step):
    """The words that a step of the skew keeps, as another statement reads them: Verilator has types for one and two."""
    name, count = f"vlSelf->{step_of(skew, step)}", STAGES - step
    if count == 1:
        return [name]
    if count == 2:
        return [f"(IData)({name})", f"(IData)(({name}>>0x20U))"]
    return [f"{name}[{index(word)}]" for word in range(count)]


def byte_of(word, row):
    """A byte of a word of 32 bits as Verilator writes it."""
    shift = index(8 * row)
    wide = re.fullmatch(r"\(IData\)\((.*)\)", word)  # of 64 bits
    if wide:
        return f"(0xffU&{word})" if row == 0 else f"(0xffU&(IData)(({wide.group(1)}>>{shift})))"
    return f"(0xffU&{word})" if row == 0 else f"({word}>>{shift})" if row == ROWS - 1 else f"(0xffU&({word}>>{shift}))"


def find_skew(statements, skew):
    """Returns the statements of the skew's first step, which read words 1 and up of a row, and those of the others, or none."""
    first, others = [], []
    for step in range(1, STAGES):
        count, before = STAGES - step, words_of(skew, step - 1) if step > 1 else None
        if count > 2:
            for word in range(count):
                found = statements.only(f"{step_of(skew, step)}[{index(word)}]", before and before[word + 1])
                (first if step == 1 else others).append(found)
        elif count == 2:
            pair = f"(((QData)((IData)({before[2]}))<<0x20U)|(QData)((IData)({before[1]})))"
            others.append(statements.only(step_of(skew, step), pair))
        else:
            others.append(statements.only(step_of(skew, step), before[1]))
    return (first, others) if None not in first + others else (None, None)


def find_activations(source, statements, shifts, array):
    """Returns the replacements of what moves activations on, where the row enters, and the variables left out, or none."""
    skew = re.fullmatch(r"\(0xffU&vlSelf->(\w+)step__BRA__1__KET____DOT__word_q\[0U\]\)", shifts[1].values[0])
    word_0 = re.fullmatch(r"\(0xffU&(vlSelf->\w+)\)", shifts[0].values[0])
    first, others = find_skew(statements, skew.group(1)) if skew else (None, None)
    if not first or not word_0:
        return [], 0, []
    words = [word_0.group(1)] + [words_of(skew.group(1), step)[0] for step in range(1, STAGES)]
    for shift, word in zip(shifts, words):
        if shift.values != [byte_of(word, row) for row in range(ROWS)]:
            return [], 0, []
    values = [compact(match.group(2)) for match in first]
    if any(re.search(r"\b(?!IData\b|QData\b|[0-9])\w", re.sub(r"vlSelf->\w+", "", value)) for value in values):
        return [], 0, []  # what is no variable of the model may have another value where the call is
    begun, enters = shifts[0].loads, first[-1].start()
    if begun[-1].start() > enters or assigned_between(source, begun[0].start(), begun[-1].end(), variables(words[0])):
        return [], 0, []
    if assigned_between(source, first[0].start(), enters, variables("".join(values))):
        return [], 0, []
    replacements = in_place_of(begun, f"    gemm64::column_array::enter_first({array}, {words[0]});\n")
    for shift in shifts[1:]:
        replacements += drop(shift.loads)
    for shift in shifts:
        replacements += drop(shift.dropped + shift.stores)
    replacements += drop(others) + in_place_of(first, f"    gemm64::column_array::enter({array}, {{{', '.join(values)}}});\n")
    return replacements, enters, [step_of(skew.group(1), step) for step in range(1, STAGES)]


def find_weights(source, statements, weights, array):
    """The same of weights. weights: the variable of each stage."""
    blocks, writes, clears = [], [], []
    for name in weights:
        value, flag, at = (rf"(?:vlSelf->)?__Vdlyv{part}__{name}__v0" for part in ("val", "set", "dim0"))
        block = list(re.finditer(rf"^ *if \(vlSelf->(\w+)\) {{\n\s*{value}\s*=\s*([^;]*);\n\s*{flag}\s*= 1U;\n"
                                 rf"\s*{at}\s*=\s*vlSelf->(\w+);\n\s*}}\n", source, re.MULTILINE))
        write = list(re.finditer(rf"^ *if \({flag}\) {{\n\s*vlSelf->{name}\s*\[{at}\]\s*=\s*{value};\n\s*}}\n",
                                 source, re.MULTILINE))
        clear = list(re.finditer(rf"^ *{flag} = 0U;\n", source, re.MULTILINE))
        if not len(block) == len(write) == len(clear) == 1:
            return [], 0, []
        blocks += block
        writes += write
        clears += clear
    skew = re.fullmatch(r"vlSelf->(\w+)step__BRA__1__KET____DOT__word_q\[0U\]", compact(blocks[1].group(2)))
    word_0 = compact(blocks[0].group(2))
    first, others = find_skew(statements, skew.group(1)) if skew else (None, None)
    if not first or not re.fullmatch(r"vlSelf->\w+\[0U\]", word_0):
        return [], 0, []
    if any(compact(block.group(2)) != words_of(skew.group(1), step)[0] for step, block in enumerate(blocks) if step != 0):
        return [], 0, []
    words = [word_0] + [compact(match.group(2)) for match in first]
    if words != [word_0.replace("0U", index(word)) for word in range(STAGES)]:
        return [], 0, []
    # The valid bit and the column of each stage are those of the stage above, a cycle later.
    valid, column = [block.group(1) for block in blocks], [block.group(3) for block in blocks]
    moved = statements.only(valid[1])
    running = moved and re.fullmatch(rf"\(\(IData\)\(vlSelf->{valid[0]}\)&\(IData\)\(vlSelf->(\w+)\)\)", compact(moved.group(2)))
    if not running:
        return [], 0, []
    steps = []
    for above, below in zip(range(STAGES), range(1, STAGES)):
        steps += [statements.only(column[below], f"vlSelf->{column[above]}"),
                  statements.only(valid[below], f"((IData)(vlSelf->{valid[above]})&(IData)(vlSelf->{running.group(1)}))")]
    if None in steps:
        return [], 0, []
    run = sorted(first + steps[:2], key=lambda match: match.start())
    names = variables(word_0) + [valid[0], column[0], running.group(1)]
    begin = min(blocks[0].start(), run[0].start())
    if assigned_between(source, begin, max(blocks[0].end(), run[-1].end()), names):
        return [], 0, []
    call = (f"    if (vlSelf->{valid[0]}) {{\n        gemm64::column_array::load({array}, vlSelf->{column[0]}, "
            f"{{{', '.join(words)}}});\n    }}\n"
            f"    if (!vlSelf->{running.group(1)}) gemm64::column_array::reset({array});\n")
    flags = [f"__Vdlyv{part}__{name}__v0" for name in weights for part in ("val", "set", "dim0")]
    left_out = flags + valid[1:] + column[1:] + [step_of(skew.group(1), step) for step in range(1, STAGES)]
    return in_place_of(run, call) + drop(blocks + writes + clears + others + steps[2:]), run[-1].start(), left_out


def find_array(source, shifts, memory):
    """Returns the replacements of the array's stages and skews, or none."""
    below = {names[1]: (run, names) for run, names in find_sums(source)}
    stages, sums = [], None
    while sums in below:
        stages.append(below.pop(sums))
        sums = stages[-1][1][0]
    moving = [shifts.get(names[2]) for _, names in stages]
    if len(stages) != STAGES or below or None in moving:
        return []
    array = columns_of(memory, "array")
    step, step_at = f"    gemm64::column_array::step({array}, &vlSelf->{sums}[0U]);\n", stages[-1][0][-1].end()
    statements, weights = Statements(source), [names[3] for _, names in stages]
    activation_changes, enters, words = find_activations(source, statements, moving, array)
    weight_changes, loads, others = find_weights(source, statements, weights, array)
    # The step is of what was there before the edge, as the stages' sums are, which read those above before these change.
    if not activation_changes or not weight_changes or min(enters, loads) < step_at:
        return []
    for (run, _), shift in zip(stages, moving):
        if shift.stores[0].start() < run[-1].end():
            return []
    for (run, _), (following, _) in zip(stages, stages[1:]):
        if run[0].start() < following[-1].end():
            return []
    replacements = activation_changes + weight_changes + in_place_of(stages[-1][0], step)
    for run, _ in stages[:-1]:
        replacements += drop(run)
    left_out = [name for _, names in stages for name in names[2:]] + [names[0] for _, names in stages[:-1]] + words + others
    return [] if uses(replace(source, replacements), left_out) else replacements


def fuse(source, memory):
    """Returns the source with the calls in place of the statements, and how many sets of each kind were replaced."""
    accumulator, prefix = find_accumulator(source, memory)
    activations = {names[2]: (ROWS, ROW_STEP) for _, names in find_sums(source)}
    rows = {f"{prefix}row_q": (1, COLUMNS), f"{prefix}request_q": (1, REQUESTS)} if prefix else {}
    shifts = find_shifts(source, activations | rows) if activations or rows else {}
    array = find_array(source, shifts, memory)
    replacements = accumulator + array
    moved = [name for name in rows if name in shifts]
    for name in moved:
        shift = shifts[name]
        replacements += drop(shift.dropped) + in_place_of(shift.stores, shift_call(name, shift.entering, shift.count))
    return replace(source, replacements), (int(bool(array)), len(moved), int(prefix is not None))


def fuse_files(texts, memory):
    """Returns the files' texts, fused as if the functions that run with the clock's edge were one, and the numbers."""
    places = sorted((int(match.group(1)), match.group(2), file, match.start(), match.end())
                    for file, text in enumerate(texts) for match in FUNCTION.finditer(text))
    fused, counts = fuse(MARK.join([""] + [texts[file][begin:end] for *_, file, begin, end in places]), memory)
    replacements = [[] for _ in texts]
    for (*_, file, begin, end), part in zip(places, fused.split(MARK)[1:]):
        replacements[file].append((begin, end, part))
    return [replace(text, parts) for text, parts in zip(texts, replacements)], counts


def lay_out(text):
    """Returns the text with the conditions of long blocks, which have no other branch, marked as unlikely: the compiler puts
    such a block out of the way, so that hardware that rests costs the simulation a branch that is not taken."""
    replacements = []
    for match in CONDITION.finditer(text):
        begin, close = text.find("{", match.end()) - 2, f"\n{match.group(1)}}}"
        if not text.startswith(") {\n", begin):
            continue  # the block is empty
        end = text.find(close, begin)
        if text.count(";\n", begin, end + 1) >= LONG and not text.startswith(" else", end + len(close)):
            replacements += [(match.end(), match.end(), "VL_UNLIKELY("), (begin, begin, ")")]
    return replace(text, replacements)


def memory_of(header):
    """Returns the name of the model's memory for columns, or none."""
    found = MEMORY.search(header)
    return found and found.group(1)


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, files = Path(arguments[0]), list(map(Path, arguments[1:]))
    try:
        texts, counts = [file.read_text() for file in files], (0, 0, 0)
        header = "".join(header.read_text() for header in files[0].parent.glob("*root.h"))  # which Verilator wrote next to them
        memory = memory_of(header)
        if memory:
            texts, counts = fuse_files(texts, memory)
        texts, runs = roll_lanes.roll(texts, header)
        for file, text in zip(files, texts):
            text = FUNCTION.sub(lambda match: lay_out(match.group()), text)
            (folder / file.name).write_text("".join(line for use, line in HEADERS.items() if use in text) + text)
    except OSError as error:
        print(f"fuse_columns.py: {error}", file=sys.stderr)
        return 2
    print("fuse_columns.py: replaced {} arrays, {} shifts, {} accumulators, {} runs of lanes".format(*counts, runs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
