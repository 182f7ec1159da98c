# SPDX-License-Identifier: Apache-2.0
"""The Verilog header, bounds of the proofs and the bridge."""

from problem import Problem
from . import rules
from .spec import ADDRESS_BITS, DATA_ID_BITS, MEMORY_BITS, WARNING, all_uses


def command_words(commands, engine):
    """One bit for each word of a command that holds a field which the engine's commands use."""
    uses = {use for o in commands["opcodes"] if o["name"] in engine["commands"] for use in all_uses(o)}
    return sum(1 << word for word in {f["word"] for f in commands["fields"] if f["name"] in uses})


def opcode_sets(spec):
    """Sets of opcodes, a bit for each: 1 << value. Those with an address are always so, or with a flag."""
    commands = spec["commands"]
    opcodes = commands["opcodes"]

    def bits(chosen):
        return f"32'h{sum(1 << o['value'] for o in chosen):08x}"

    rows = [("OPS", bits(opcodes))]
    walkers = [o for o in opcodes if o["memory"]]
    rows.append(("OPS_ADDRESS", bits([o for o in walkers if o["memory"]["with"] is None])))
    for flag in sorted({o["memory"]["with"] for o in walkers} - {None}):
        rows.append((f"OPS_ADDRESS_{flag}", bits([o for o in walkers if o["memory"]["with"] == flag])))
    rows.append(("OPS_RUNS", bits([o for o in walkers if o["memory"]["runs"]])))
    rows.append(("OPS_STORE", bits([o for o in walkers if o["memory"]["operand"] == "RESULTS"])))
    engines = sorted(spec["engines"], key=lambda engine: -engine["value"])
    rows.append(("OPS_OF_ENGINES", "{" + ", ".join(
        bits([o for o in opcodes if o["name"] in e["commands"]]) for e in engines) + "}"))
    return rows


def verilog(spec):
    sections = []  # (title, [(name, value)])
    version = spec["version"]
    sections.append(("Version of registers and commands", [
        ("VERSION_MAJOR", f"16'd{version['major']}"),
        ("VERSION_MINOR", f"16'd{version['minor']}")]))

    offsets, resets, fields = [], [], []
    for register in spec["registers"]:
        name = register["name"]
        offsets.append((f"REG_{name}", f"{ADDRESS_BITS}'h{register['offset']:03x}"))
        if register.get("reset") is not None:
            resets.append((f"REG_{name}_RESET", f"32'h{register['reset']:08x}"))
        for field in register["fields"]:
            if field["width"] == 1:
                fields.append((f"{name}_{field['name']}_BIT", field["lsb"]))
            fields.append((f"{name}_{field['name']}_LSB", field["lsb"]))
            fields.append((f"{name}_{field['name']}_WIDTH", field["width"]))
    sections += [("Byte offsets of registers", offsets), ("Registers after a reset", resets),
                 ("Fields of registers", fields)]

    commands = spec["commands"]
    used = max(32 * f["word"] + f["lsb"] + f["width"] for f in commands["fields"])
    rows = [("CMD_BYTES", commands["bytes"]), ("CMD_BITS", 8 * commands["bytes"]),
            ("CMD_USED_BITS", used)]
    for field in commands["fields"]:
        rows.append((f"CMD_{field['name']}_LSB", 32 * field["word"] + field["lsb"]))
        rows.append((f"CMD_{field['name']}_WIDTH", field["width"]))
    sections.append(("Commands: bit positions count from the command's first bit", rows))
    bits = next(f["width"] for f in commands["fields"] if f["name"] == "OPCODE")
    sections.append(("Opcodes", [(f"OP_{o['name']}", f"{bits}'d{o['value']}")
                                 for o in commands["opcodes"]]))
    sections.append(("Bits of the command's FLAGS", [(f"FLAG_{f['name']}_BIT", f["bit"])
                                                     for f in commands["flags"]]))
    sections.append(("Sets of opcodes: a bit for each, at its value", opcode_sets(spec)))
    sections.append(("Broken rules of a command, whose fields are wires called as these, and its flags flag_*; op is the opcode's bit. "
                     "AT_ONCE: in the cycle of the dispatch; the others after it, of commands with the flags that they need. Modules "
                     "add the rules with products", verilog_rules(commands)))
    bits = next(f["width"] for f in commands["fields"] if f["name"] == "FORMAT")
    formats = commands["result_formats"]
    rows = [(f"RESULT_{f['name']}", f"{bits}'d{f['value']}") for f in formats]
    table_of_bytes = sum(f["bytes"] << 4 * f["value"] for f in formats)
    rows.append(("RESULT_BYTES", f"{4 << bits}'h{table_of_bytes:0{1 << bits}x}"))
    sections.append(("Formats of results, as in the command's FORMAT; in digit i the bytes of a value of format "
                     "i, 0 where there is none", rows))
    sections.append(("Errors, as in ERROR.CODE", [
        (f"ERROR_{e['name']}", f"{spec['errors_bits']}'d{e['value']}") for e in spec["errors"]]))
    sections.append(("Memories, as in FAULT_MEMORY.NUMBER", [
        (f"MEMORY_{m['name']}", f"{MEMORY_BITS}'d{m['value']}") for m in spec["memories"]]))
    sections.append(("Engines, as in ERROR.ENGINE", [
        (f"ENGINE_{e['name']}", f"{spec['engines_bits']}'d{e['value']}") for e in spec["engines"]]))
    sections.append(("Engines in all, the place of each in vectors, and the words of its commands that it uses", [
        ("ENGINES", len(spec["engines"]))] + [(f"PLUG_{e['name']}", e["value"]) for e in spec["engines"]] + [
        (f"CMD_WORDS_{e['name']}", f"{commands['bytes'] // 4}'h{command_words(commands, e):04x}")
        for e in spec["engines"] if e["commands"]]))
    readers = sorted((e for e in spec["engines"] if e.get("data_port")), key=lambda e: e["data_port"]["turn"])
    ids = sum(e["data_port"]["id"] << DATA_ID_BITS * e["data_port"]["turn"] for e in readers)
    sections.append(("Readers of the data port: their places, the first goes first, and the IDs at these", [
        ("READERS", len(readers)), ("READER_ID_WIDTH", DATA_ID_BITS),
        ("READER_IDS", f"{DATA_ID_BITS * len(readers)}'h{ids:x}")] + [
        (f"READER_{e['name']}", e["data_port"]["turn"]) for e in readers]))
    rows = [("COUNTERS_BASE", f"{ADDRESS_BITS}'h{spec['counters_base']:03x}"),
            ("COUNTERS", len(spec["counters"]))]
    rows += [(f"COUNTER_{c['engine']}_{c['cause']}".upper(), i)
             for i, c in enumerate(spec["counters"])]
    rows += [(f"CAUSES_{e['name']}", f"{e['counters'][-1]}:{e['counters'][0]}") for e in spec["engines"] if e["counters"]]
    idle = sum(1 << i for i, c in enumerate(spec["counters"]) if c["cause"] == "idle")
    rows.append(("IDLE_CAUSES", f"{len(spec['counters'])}'h{idle:x}"))
    sections.append(("Counters of 64 bits: index, in steps of 8 bytes from the base", rows))

    return defines("GEMM64_DEFS_VH", sections)


def verilog_rules(commands):
    """Macros of the RTL's command check. Equal rules of several opcodes become one, for a set of opcodes."""
    flags = [f["name"] for f in commands["flags"]]

    def place(name):
        return f"flag_{name.lower()}" if name in flags else name.lower()

    def bits(name, first, last):
        return f"{name.lower()}[{first}:{last}]"

    def either(parts):
        return "(" + " \\\n    | ".join(parts) + ")"

    at_once, made = {}, []
    for o in commands["opcodes"]:
        for rule in o["bounds"]:
            if rule.at_once and rule.simple:
                at_once.setdefault(rule.verilog(place, bits), []).append(o["value"])
        late = [f"~({rule.verilog(place, bits, flags)})" for rule in o["bounds"] if rule.simple and not rule.at_once]
        if late:
            made.append((f"BROKEN_{o['name']}", either(late)))
    return [("BROKEN_AT_ONCE", either([f"((op & 32'h{sum(1 << value for value in opcodes):08x}) != 32'd0 & ~({holds}))"
                                       for holds, opcodes in at_once.items()])), *made]


def verilog_bounds(spec):
    """Functions for proofs: is a command legal, as far as it can be seen without the commands before it?"""
    commands = spec["commands"]
    fields = {f["name"]: f for f in commands["fields"]}
    bit_of = {f["name"]: 32 * fields["FLAGS"]["word"] + fields["FLAGS"]["lsb"] + f["bit"] for f in commands["flags"]}
    command = f"    input [{8 * commands['bytes'] - 1}:0] c;"
    sizes = f"    input [31:0] {', '.join(size.lower() for size in rules.SIZES)};"

    def lsb(name):
        return 32 * fields[name]["word"] + fields[name]["lsb"]

    def place(name):
        if name in bit_of:
            return f"c[{bit_of[name]}]"
        return name.lower() if name in rules.SIZES else f"c[{lsb(name)} +: {fields[name]['width']}]"

    def bits(name, first, last):
        return f"c[{lsb(name) + last} +: {first - last + 1}]"

    def function(name, about, belongs):
        lines = [f"// {about}", f"function {name};", command, sizes, "    case (c[7:0])"]
        for opcode in commands["opcodes"]:
            terms = "\n            & ".join(f"({rule.verilog(place, bits)})" for rule in opcode["bounds"] if belongs(rule)) or "1'b1"
            lines.append(f"        8'd{opcode['value']}: {name} = {terms};  // {opcode['name']}")
        return [*lines, f"        default: {name} = 1'b1;", "    endcase", "endfunction"]

    bits_of_walk = 80  # more than the bytes of any walk

    def wide(name):
        return f"{{{bits_of_walk - fields[name]['width']}'d0, {place(name)}}}"

    four_bytes = " | ".join(f"{place('FORMAT')} == {fields['FORMAT']['width']}'d{f['value']}" for f in commands["result_formats"] if f["bytes"] == 4)
    one = f"{bits_of_walk}'d1"
    walks = []
    for opcode in commands["opcodes"]:
        memory = opcode["memory"]
        if memory is None:
            continue
        walk = " * ".join(wide(memory[part]) for part in ("blocks", "run") if memory[part])
        if memory["runs"]:
            walk = f"{walk} + ({wide(memory['runs'])} - {one}) * {wide(memory['step'])}"
        if memory["of"]:
            walk = f"(({walk}) << ({four_bytes} ? 2 : 0))"
        unused = f"~{place(memory['with'])} | " if memory["with"] else ""
        end = f"(({walk}) << log_n)" if walk else f"{bits_of_walk}'d{8 * len(spec['counters'])} + (({one} << log_n) - {one})"
        walks.append(f"        8'd{opcode['value']}: legal_walk = {unused}(address & (({one} << log_n) - {one})) == {bits_of_walk}'d0 & "
                     f"((address + {end}) >> log_n) <= ({one} << (address_width - log_n));  // {opcode['name']}")
    known = " | ".join(f"c[7:0] == 8'd{opcode['value']}" for opcode in commands["opcodes"])
    return "\n".join([
        "// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}",
        "// To be included in a module: whether a command is legal, as far as it does not depend on those before it.",
        *function("keeps_bounds", "Rules of single fields, and of sums", lambda rule: rule.simple),
        *function("keeps_products", "Rules with differences and products", lambda rule: not rule.simple),
        "// Its address is a multiple of 2**log_n, and its words are within the address space. The tensor memory is not enabled.",
        "function legal_walk;", command, "    input [7:0] log_n, address_width;", f"    reg [{bits_of_walk - 1}:0] address;",
        "    begin", f"    address = {{{bits_of_walk - 64}'d0, {place('ADDRESS_HIGH')}, {place('ADDRESS_LOW')}}};", "    case (c[7:0])", *walks, "        default: legal_walk = 1'b1;", "    endcase", "    end", "endfunction",
        "function known_opcode;", command, f"    known_opcode = {known};", "endfunction", ""])


def verilog_bridge(bridge):
    commands = bridge["commands"]
    found = [command["value"] for command in commands]
    return defines("GEMM64_BRIDGE_VH", [
        ("Commands of the bridge", [(f"BRIDGE_{c['name']}", f"8'h{c['value']:02x}") for c in commands]
         + [("BRIDGE_FIRST", f"8'h{min(found):02x}"), ("BRIDGE_LAST", f"8'h{max(found):02x}")]),
        ("What it says of itself", [("BRIDGE_NAME", f"24'h{bridge['name']:06x}")])])


def defines(guard, sections):
    """A header of [(title, [(name, value)])]."""
    seen = set()
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", f"`ifndef {guard}", f"`define {guard}"]
    for title, rows in sections:
        if not rows:
            continue
        lines += ["", f"// {title}."]
        width = max(len(name) for name, _ in rows)
        for name, value in rows:
            if name in seen:
                raise Problem(f"two things would both be called GEMM64_{name}; rename one of them")
            seen.add(name)
            lines.append(f"`define GEMM64_{name:<{width}} {value}")
    return "\n".join([*lines, "", "`endif", ""])
