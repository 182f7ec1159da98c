#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaces, in the C++ that Verilator generates for N = 64, what it writes once for each column by loops over all of them.

Usage: fuse_columns.py FOLDER GENERATED.cpp...

Files of the same names are written to FOLDER. Replaced are
  the sums of each gemm64_stage, which must be exactly 64 statements
    sum_o[c] = sum_i[c] + sum over r of sign-extended activation_q[65 * r + c] * byte r of weight_q[c]
    (without sum_i for the first stage), by a call of column_products.hpp;
  rows that move on in each cycle (activation_q of the stages, row_q and request_q of the accumulator), which Verilator copies to a
    variable for each value and, once all of them have been read, back, by calls of column_steps.hpp;
  the accumulator's columns, eight of which share a condition, by 16 calls of column_steps.hpp; the copies of what was
    read last that Verilator makes before and after are left out, as nothing else reads it in between.
Functions that run with the clock's edge are looked at as if they were one, since Verilator divides them anywhere. Each
statement must be as Verilator 5.006 writes it; a set that has another one, or others among it that use its variables,
stays as it is: results are the same, and the simulation is slower.
Exit: 0 written (the last line of output says how many sets were replaced), 2 usage or input.
"""
import collections
import re
import sys
from pathlib import Path

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
HEADERS = {"gemm64::column_products::": "sim/models/column_products.hpp", "gemm64::column_steps::": "sim/models/column_steps.hpp"}


# How an array moves on: statements that are left out, those that store, variables of what enters, where these are known.
Shift = collections.namedtuple("Shift", "dropped stores entering ready count")


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


def used_between(source, run, names):
    """Do statements among those of the run, which one call at its end replaces, use a variable of these names?"""
    between = "".join(source[this.end():following.start()] for this, following in zip(run, run[1:]))
    return any(re.search(rf"\b{name}\b", between) for name in names)


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


def sums_call(sum_o, sum_i, activations, weights, entering=None):
    """entering: the variables of what enters column 0, if the activations move on, too."""
    addend = "nullptr" if sum_i is None else f"&vlSelf->{sum_i}[0U]"
    name, last = ("step", f", {{{', '.join(entering)}}}") if entering else ("add", "")
    return (f"    gemm64::column_products::{name}(&vlSelf->{sum_o}[0U], {addend}, &vlSelf->{activations}[0U], "
            f"&vlSelf->{weights}[0U]{last});\n")


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
    dropped, ready = [], 0
    for i, store in enumerate(stores):
        (load, bound), *others = loads.get(store.group("stored"), [(None, None)])
        if store.group("at") != index(i) or others or not load or load.group("number") != str(i) or load.end() > stores[0].start():
            return None
        ready = max(ready, load.end())
        if i % count == 0:
            continue
        # It may pass a variable that Verilator checks its place with.
        if compact(bound.group("value") if bound else load.group("from")) != f"vlSelf->{values}[{index(i - 1)}]":
            return None
        dropped += [bound, load] if bound else [load]
    if used_between(source, stores, [values]):
        return None
    return Shift(dropped, stores, [stores[count * row].group("stored") for row in range(rows)], ready, count)


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


def bank_call(prefix, bank, busy, names):
    """busy: of each group, the name of its variable."""
    store_row, where, lanes_sum, sum_i = names
    flags = ", ".join(f"&vlSelf->{name}" for name in busy)
    return (f"    gemm64::column_steps::accumulate<kPlaces{bank}>(vlSelf, {{{{{flags}}},\n"
            f"        vlSelf->{prefix}read_{bank}, vlSelf->{prefix}add_{bank}_q, vlSelf->{prefix}first_q,\n"
            f"        vlSelf->{prefix}store_{bank} != 0, vlSelf->{store_row}, 0x7fU & vlSelf->{prefix}request_q[0x10U], "
            f"&vlSelf->{prefix}row_q[0U], &vlSelf->{sum_i}[0U],\n"
            f"        vlSelf->{prefix}lanes_{bank} != 0, 0x7fU & vlSelf->{where}, &vlSelf->{lanes_sum}[0U]}});\n")


def places_of_columns(prefix, bank, model):
    """A table of where a bank's variables are in the model."""
    tables = ", ".join("{" + ", ".join(f"__builtin_offsetof({model}, {column_of(prefix, c)}{variable}_{bank}_q)"
                                       for c in range(COLUMNS)) + "}" for variable in ("sums", "read"))
    return f"    static constexpr gemm64::column_steps::Places kPlaces{bank} = {{{tables}}};\n"


def find_accumulator(source):
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
    own = before + run + after
    if used_between(source, sorted(own, key=lambda match: match.start()), [r"\w+u_column__DOT__(?:read|sums)_[01]_q"]):
        return [], None
    model = re.search(r"\((\w+)\* vlSelf\)", source).group(1)
    call = "".join(places_of_columns(prefix, bank, model) + bank_call(prefix, bank, busy[bank], names.groups()) for bank in "10")
    replacements = in_place_of(run, f"    {{\n{call}    }}\n")
    return replacements + drop(before + after), prefix


def fuse(source):
    """Returns the source with the calls in place of the statements, and how many sets of each kind were replaced."""
    sums = find_sums(source)
    accumulator, prefix = find_accumulator(source)
    lengths = {names[2]: (ROWS, ROW_STEP) for _, names in sums}
    if prefix:
        lengths |= {f"{prefix}row_q": (1, COLUMNS), f"{prefix}request_q": (1, REQUESTS)}
    shifts = find_shifts(source, lengths) if lengths else {}
    replacements = list(accumulator)
    for shift in shifts.values():
        replacements += drop(shift.dropped)
    joined = set()
    for run, names in sums:
        shift = shifts.get(names[2])
        # Activations move on with the sums, if nothing needs them between there and where they would.
        if shift and shift.ready <= run[-1].start() <= shift.stores[0].start() and \
                not used_between(source, [run[-1], *shift.stores], [names[2]]):
            replacements += in_place_of(run, sums_call(*names, shift.entering)) + drop(shift.stores)
            joined.add(names[2])
        else:
            replacements += in_place_of(run, sums_call(*names))
    for name, shift in shifts.items():
        if name not in joined:
            replacements += in_place_of(shift.stores, shift_call(name, shift.entering, shift.count))
    return replace(source, replacements), (len(sums), len(shifts), int(prefix is not None))


def fuse_files(texts):
    """Returns the files' texts, fused as if the functions that run with the clock's edge were one, and the numbers."""
    places = sorted((int(match.group(1)), match.group(2), file, match.start(), match.end())
                    for file, text in enumerate(texts) for match in FUNCTION.finditer(text))
    fused, counts = fuse(MARK.join([""] + [texts[file][begin:end] for *_, file, begin, end in places]))
    replacements = [[] for _ in texts]
    for (*_, file, begin, end), part in zip(places, fused.split(MARK)[1:]):
        replacements[file].append((begin, end, part))
    return [replace(text, parts) for text, parts in zip(texts, replacements)], counts


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, files = Path(arguments[0]), list(map(Path, arguments[1:]))
    try:
        texts, counts = fuse_files([file.read_text() for file in files])
        for file, text in zip(files, texts):
            includes = "".join(f'#include "{header}"\n' for call, header in HEADERS.items() if call in text)
            (folder / file.name).write_text(includes + text)
    except OSError as error:
        print(f"fuse_columns.py: {error}", file=sys.stderr)
        return 2
    print("fuse_columns.py: replaced {} sums, {} shifts, {} accumulators".format(*counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
