# SPDX-License-Identifier: Apache-2.0
"""The Verilog header, bounds of the proofs and the bridge."""

from problem import Problem
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
    for field in commands["fields"]:
        chosen = [o for o in opcodes if any(b["field"] == field["name"] and b["relation"] == ">=" and b["number"] == 1
                                            and b["flag"] is None for b in o["bounds"])]
        if chosen:
            rows.append((f"OPS_AT_LEAST_1_{field['name']}", bits(chosen)))
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


def verilog_bounds(spec):
    """A function for proofs: does a command keep all bounds of its fields?"""
    commands = spec["commands"]
    places = {f["name"]: f"c[{32 * f['word'] + f['lsb']} +: {f['width']}]" for f in commands["fields"]}
    flags = {f["name"]: f"c[{next(32 * p['word'] + p['lsb'] for p in commands['fields'] if p['name'] == 'FLAGS') + f['bit']}]" for f in commands["flags"]}

    def condition(bound):
        field = f"$signed({places[bound['field']]})" if bound["signed"] else places[bound["field"]]
        limit = str(bound["number"]) if bound["number"] is not None else places.get(bound["limit"], bound["limit"].lower())
        holds = f"{field} {bound['relation']} {limit}"
        if bound["flag"] is None:
            return f"({holds})"
        return f"({'~' if bound['when'] == 'with' else ''}{flags[bound['flag']]} | {holds})"

    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "// To be included in a module: whether a command keeps the bounds of its fields.",
             "function keeps_bounds;", f"    input [{8 * commands['bytes'] - 1}:0] c;", "    input [31:0] accumulator_rows, scratchpad_words;",
             "    case (c[7:0])"]
    for opcode in commands["opcodes"]:
        terms = "\n            & ".join(condition(bound) for bound in opcode["bounds"]) or "1'b1"
        lines.append(f"        8'd{opcode['value']}: keeps_bounds = {terms};  // {opcode['name']}")
    known = " | ".join(f"c[7:0] == 8'd{opcode['value']}" for opcode in commands["opcodes"])
    return "\n".join([*lines, "        default: keeps_bounds = 1'b1;", "    endcase", "endfunction", "function known_opcode;",
                      f"    input [{8 * commands['bytes'] - 1}:0] c;", f"    known_opcode = {known};", "endfunction", ""])


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
