#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ header that names every register of two Verilated models of the accelerator, from the headers that
Verilator made of them: each() hands the same register of both to a function. A register is what rtl/ declares as reg.
Fails if the first model has a register that the second lacks, but for those of the array's stages, which the second
model keeps as modules (sim/models/stages.vlt). Those of gemm64_ahead.v are no part of the accelerator.

Usage: common_registers.py RTL FIRST.h SECOND.h OUT.hpp [--fused SOURCE.cpp...]

--fused: the first model's sources are these, its sums are in the memory of sim/models/columns.hpp, and variables of the
loops of sim/models/roll_lanes.py, which have a value only within a cycle, are not kept."""

import os
import re
import sys

SUMS = re.compile(r"u_accumulator__DOT__column__BRA__(\d+)__KET____DOT__u_column__DOT__(sums|read)_([01])_q$")
MEMBER = re.compile(r"^\s+(\S.*?)/\*\d+:0\*/(, \d+>)? (gemm64_ahead__DOT__)?(gemm64__DOT__\w+);")


def read_rtl(folder):
    """Registers of each module, and modules of each instance's name."""
    registers, instances = {}, {}
    for file in os.listdir(folder):
        if not file.endswith(".v"):
            continue
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            code = re.sub(r"//.*", "", text.read())
        names = registers[file[:-2]] = set()
        for declaration in re.findall(r"^\s*(?:output )?reg\b(.*)$", code, re.M):
            names |= set(re.findall(r"[a-z]\w*", re.sub(r"\[.*?\]|\bsigned\b", "", declaration)))
        for module, instance in re.findall(r"(gemm64_\w+)\s*(?:#\s*\(.*?\)\s*)?(u_\w+)\s*\(", code, re.S):
            instances.setdefault(instance, set()).add(module)
    return registers, instances


def is_register(member, registers, instances):
    """A member of an instance's port stands for a register only where the instance's module says so."""
    last = member.split("__")[-1]
    port = re.search(r"__Vcellout__(?:.*__)?(u_\w+?)__" + last + "$", member)
    modules = instances[port[1]] if port else registers
    return any(last in registers[module] for module in modules)


def members(header, rtl):
    found = {}
    with open(header, encoding="utf-8") as text:
        for line in text:
            match = MEMBER.match(line)
            if match and is_register(match[4].replace("__DOT__", "__"), *rtl):
                found[match[4]] = match[1] + (match[2] or ""), match[3] or ""
    return found


def local_variables(sources):
    """The variables that are declared in the sources and not stored in the model."""
    declared, stored = set(), set()
    for source in sources:
        with open(source, encoding="utf-8") as file:
            text = file.read()
        declared |= set(re.findall(r"^ +[CSIQ]Data (\w+);$", text, re.M))
        stored |= set(re.findall(r"^ +vlSelf->(\w+) = \1;$", text, re.M))
    return declared - stored


def in_first(name, prefix, prefix_b, fused):
    """The expression for what the first model holds in the register."""
    sums = SUMS.search(name)
    if not fused or not sums:
        return f"a.{prefix}{name}"
    column, kind, bank = sums.groups()
    columns = f"columns_in(a.gemm64_ahead__DOT__columns_q).banks[{bank}]"
    return f"{columns}.last[{column}]" if kind == "read" else f"sums_of<std::decay_t<decltype(b.{prefix_b}{name})>>({columns}, {column})"


def main():
    rtl, first, second, out = sys.argv[1:5]
    fused = "--fused" in sys.argv[5:]
    rtl = read_rtl(rtl)
    a, b = members(first, rtl), members(second, rtl)
    a = {name: found for name, found in a.items() if "u_array__DOT__" not in name or "u_stage__" not in name}
    # A reg of an always @* block is a signal, which Verilator may drop.
    a = {name: found for name, found in a.items() if name in b or name.endswith(("_q", "_o"))}
    local = local_variables(sys.argv[6:])
    a = {name: found for name, found in a.items() if f"{found[1]}{name}" not in local}
    missing = [name for name, (kind, _) in a.items() if b.get(name, [""])[0] != kind]
    if missing or len(a) < 400:
        print(f"common_registers: of {len(a)} registers the second model lacks {missing[:10]}", file=sys.stderr)
        return 1
    lines = ["// SPDX-License-Identifier: Apache-2.0", "// Made by tests/system/common_registers.", "#pragma once", "",
             "#include <type_traits>", "", '#include "sim/models/columns.hpp"', "", "namespace gemm64::system_test {", "",
             "template <class Rows, class Sums>", "Rows sums_of(Sums& sums, unsigned column) {", "  Rows rows;",
             "  for (unsigned row = 0; row < column_steps::kRows; ++row) rows[row] = sums.at(row, column);", "  return rows;", "}", "",
             "/// Calls `f` with the name of each register and with what either model holds in it.",
             "template <class A, class B, class F>", "void each_register(A& a, B& b, F&& f) {"]
    lines += [f'  f("{name}", {in_first(name, a[name][1], b[name][1], fused)}, b.{b[name][1]}{name});' for name in a]
    lines += ["}", "", "}  // namespace gemm64::system_test", ""]
    with open(out, "w", encoding="utf-8") as text:
        text.write("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
