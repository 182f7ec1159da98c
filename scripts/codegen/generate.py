#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes everything that is made from rtl/gemm64.json: the Verilog header, the headers for C++ and C, the
the reference in docs/ and GTKWave's words for values, so that hardware, software and documentation
cannot disagree."""

import argparse
import itertools
import json
import os
import re
import sys
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from problem import Problem  # noqa: E402

JSON = "rtl/gemm64.json"
VERILOG = "rtl/gemm64_defs.vh"
CPP = "host/device/registers.hpp"
FACTS = "host/device/command_facts.hpp"
TYPES = "host/device/command_types.hpp"
C = "host/driver/gemm64_registers.h"
BOUNDS = "tests/signoff/formal/gemm64_bounds.svh"
BRIDGE_VERILOG = "rtl/board/gemm64_bridge.vh"
BRIDGE_CPP = "host/device/bridge.hpp"
REFERENCE = "docs/reference"
FILTERS = "waves/filters"

ACCESS = {
    "ro": ("kReadOnly", "read only"),
    "rw": ("kReadWrite", "read and write"),
    "w1c": ("kWriteOneToClear", "read; writing 1 clears a bit"),
    "w1p": ("kWriteOneToPulse", "writing 1 acts; reads as zero"),
}
ADDRESS_BITS = 12  # of the register port
DATA_ID_BITS = 2  # of the IDs of the data port
MEMORY_BITS = 8  # of FAULT_MEMORY.NUMBER
NAME = r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"
BOUND = (r"(?P<field>[A-Z_]+) (?P<relation>>=|<=|<) (?P<limit>-?[0-9]+|[A-Z][A-Z0-9_]*)"
         r"( (?P<when>with|without) (?P<flag>[A-Z_]+))?")
SIZES = ("ACCUMULATOR_ROWS", "SCRATCHPAD_WORDS")  # of an accelerator, which bounds may name
OPERANDS = ("WEIGHTS", "ACTIVATIONS", "PARAMETERS", "OPERANDS", "RESULTS", "COUNTERS")
WALK = ("run", "runs", "step", "passes", "blocks")  # fields that tell how many words, and how they lie
TILES = ("N", "SET")  # words of a tile: as many as the array has rows, or a set of parameters
WORD = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"


# ------------------------------------------------------------------------------ reading, checking


def number(value, where, bits=32):
    """An integer, or a string such as "0x020", from 0 to 2**bits - 1."""
    if isinstance(value, str) and re.fullmatch(r"0x[0-9a-fA-F]+|[0-9]+", value):
        value = int(value, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Problem(f"{where}: {value!r} is not a number (write 12 or \"0x00c\")")
    if not 0 <= value < 1 << bits:
        raise Problem(f"{where}: {value} does not fit in {bits} bits")
    return value


def keys(entry, where, required, optional=()):
    """Refuses missing and misspelt keys."""
    if not isinstance(entry, dict):
        raise Problem(f"{where}: expected an object {{...}}, found {entry!r}")
    for key in required:
        if key not in entry:
            raise Problem(f"{where}: \"{key}\" is missing")
    for key in entry:
        if key not in required and key not in optional:
            allowed = ", ".join([*required, *optional])
            raise Problem(f"{where}: \"{key}\" is unknown; use one of {allowed}")


def named(entries, where, required, optional=()):
    """Checks the shape of a list of named things; yields each with the place to blame."""
    if not isinstance(entries, list):
        raise Problem(f"{where}: expected a list [...]")
    seen = set()
    for index, entry in enumerate(entries):
        keys(entry, f"{where}[{index}]", required, optional)
        name = entry["name"]
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            raise Problem(f"{where}[{index}]: the name {name!r} is not of the form LIKE_THIS_1")
        if name in seen:
            raise Problem(f"{where}: the name {name} is given twice")
        seen.add(name)
        text(entry, f"{where} {name}", "purpose")
        yield entry, f"{where} {name}"


def text(entry, where, key):
    """One line of words, where given; quotes and backslashes would need escapes in C++."""
    value = entry.get(key, "")
    if not isinstance(value, str) or not value.isprintable() or '"' in value or "\\" in value:
        raise Problem(f"{where}: \"{key}\" must be one line without quotes or backslashes")


def place(taken, what, lsb, width, bits, where):
    """Marks `width` bits from `lsb` in `taken` as used by `what`."""
    if width < 1 or lsb + width > bits:
        raise Problem(f"{where}: bits {lsb + width - 1}:{lsb} do not lie in {bits - 1}:0")
    for bit in range(lsb, lsb + width):
        if bit in taken:
            raise Problem(f"{where}: bit {bit} is already taken by {taken[bit]}")
        taken[bit] = what


def values(entries, where, required, bits, optional=("purpose",)):
    """A list of names with distinct values."""
    used = {}
    for entry, here in named(entries, where, ("name", *required), optional):
        entry["value"] = number(entry["value"], here, bits)
        if entry["value"] in used:
            raise Problem(f"{here}: value {entry['value']} is already {used[entry['value']]}")
        used[entry["value"]] = entry["name"]


def check_registers(spec):
    taken = {}
    required = ("name", "offset", "access", "purpose")
    for register, where in named(spec["registers"], "registers", required, ("reset", "fields")):
        offset = register["offset"] = number(register["offset"], where, ADDRESS_BITS)
        if offset % 4:
            raise Problem(f"{where}: offset 0x{offset:03x} is not a multiple of 4")
        if offset in taken:
            raise Problem(f"{where}: offset 0x{offset:03x} is already {taken[offset]}")
        taken[offset] = register["name"]
        if register["access"] not in ACCESS:
            raise Problem(f"{where}: access {register['access']!r} is none of {', '.join(ACCESS)}")
        if register.get("reset") is not None:
            register["reset"] = number(register["reset"], f"{where} reset")
        bits = {}
        fields = register.setdefault("fields", [])
        for field, here in named(fields, f"{where} field", ("name", "lsb", "width", "purpose")):
            field["lsb"] = number(field["lsb"], f"{here} lsb")
            field["width"] = number(field["width"], f"{here} width")
            place(bits, field["name"], field["lsb"], field["width"], 32, here)
        if fields and any((register.get("reset") or 0) >> b & 1 for b in range(32) if b not in bits):
            raise Problem(f"{where}: the reset value sets a bit that no field holds")

    base = spec["counters_base"] = number(spec["counters_base"], "counters_base", ADDRESS_BITS)
    if base % 8:
        raise Problem(f"counters_base: 0x{base:03x} is not a multiple of 8")
    seen = set()
    for index, counter in enumerate(spec["counters"]):
        where = f"counters[{index}]"
        keys(counter, where, ("engine", "cause", "purpose"))
        for key in ("engine", "cause"):
            if not isinstance(counter[key], str) or not re.fullmatch(WORD, counter[key]):
                raise Problem(f"{where}: the {key} {counter[key]!r} is not of the form like_this")
        text(counter, where, "purpose")
        pair = f"{counter['engine']}.{counter['cause']}"
        if pair in seen:
            raise Problem(f"{where}: {pair} is given twice")
        seen.add(pair)
        counter["offset"] = number(base + 8 * index, f"{where} {pair} offset", ADDRESS_BITS)
        for offset in (counter["offset"], counter["offset"] + 4):
            if offset in taken:
                raise Problem(f"{where} {pair}: offset 0x{offset:03x} is already {taken[offset]}")


def all_uses(opcode):
    """The fields that an opcode uses, with whatever flags."""
    return [*opcode["uses"], *(use for uses in opcode["with"].values() for use in uses)]


def check_sharing(commands):
    """Refuses fields that share bits where a command may need both; tells each field's opcodes that
    is not alone in its bits, and None of the others."""
    users = {f["name"]: {o["name"] for o in commands["opcodes"] if f["name"] in all_uses(o)}
             for f in commands["fields"]}
    for field in commands["fields"]:
        field["opcodes"] = None
    for a, b in itertools.combinations(commands["fields"], 2):
        first, second = sorted((a, b), key=lambda field: field["lsb"])
        if a["word"] != b["word"] or first["lsb"] + first["width"] <= second["lsb"]:
            continue
        both = users[a["name"]] & users[b["name"]]
        if both or not users[a["name"]] or not users[b["name"]]:
            raise Problem(f"commands field {b['name']}: bit {second['lsb']} is already taken by {a['name']}"
                          + (f", which {min(both)} uses too" if both else ""))
        for field in (a, b):
            field["opcodes"] = [o["name"] for o in commands["opcodes"] if o["name"] in users[field["name"]]]


def check_memory(opcode, where, flags):
    """What the opcode reads or writes at ADDRESS, as fields that it uses."""
    memory = opcode.setdefault("memory", None)
    addressed = {"ADDRESS_LOW", "ADDRESS_HIGH"} <= set(opcode["uses"])
    if memory is None:
        if addressed:
            raise Problem(f"{where}: uses ADDRESS, but \"memory\" does not tell for what")
        return
    keys(memory, f"{where} memory", ("operand", "access"), (*WALK, "of", "tile", "with"))
    if not addressed:
        raise Problem(f"{where}: \"memory\" needs ADDRESS_LOW and ADDRESS_HIGH in \"uses\"")
    for key, names in (("operand", OPERANDS), ("access", ("read", "write")), ("tile", (*TILES, *opcode["uses"], None)),
                       ("with", (*flags, None)), *((part, (*opcode["uses"], None)) for part in (*WALK, "of"))):
        if memory.setdefault(key, None) not in names:
            allowed = ", ".join(name for name in names if name)
            raise Problem(f"{where} memory: the {key} {memory[key]!r} is none of {allowed}")
    if memory["run"] is None and memory["operand"] != "COUNTERS":
        raise Problem(f"{where} memory: \"run\" must name the field that tells how many words follow each other")
    if (memory["runs"] is None) != (memory["step"] is None):
        raise Problem(f"{where} memory: \"runs\" and \"step\" need each other")


def check_bounds(opcode, where, flags):
    """Reads "FIELD <= LIMIT with FLAG" into its parts."""
    bounds = []
    for line in opcode.get("bounds", []):
        match = re.fullmatch(BOUND, line) if isinstance(line, str) else None
        if not match:
            raise Problem(f"{where}: the bound {line!r} is not of the form \"ROWS <= 128 with WINDOW\"")
        bound = {**match.groupdict(), "text": line}
        used = opcode["uses"] + opcode["with"].get(bound["flag"], []) * (bound["when"] == "with")
        if bound["field"] not in used:
            raise Problem(f"{where}: the bound {line!r} is of a field that it does not use there")
        if bound["flag"] is not None and bound["flag"] not in flags:
            raise Problem(f"{where}: the bound {line!r} names no flag")
        limit = bound["limit"]
        if re.fullmatch(NAME, limit):
            if limit not in used and limit not in SIZES:
                raise Problem(f"{where}: the bound {line!r} ends neither with a number, a field that it uses nor one of "
                              f"{', '.join(SIZES)}")
            bound["number"] = None
        else:
            bound["number"] = int(limit)
        bounds.append(bound)
    signed = {b["field"] for b in bounds if b["number"] is not None and b["number"] < 0}
    for bound in bounds:
        bound["signed"] = bound["field"] in signed
    opcode["bounds"] = bounds


def check_commands(commands):
    keys(commands, "commands", ("bytes", "check", "fields", "opcodes", "flags", "result_formats"))
    size = commands["bytes"] = number(commands["bytes"], "commands bytes")
    if size == 0 or size % 4:
        raise Problem(f"commands bytes: {size} is not a multiple of 4")
    required = ("name", "word", "lsb", "width", "purpose")
    widths = {}
    for field, where in named(commands["fields"], "commands field", required):
        for key in ("word", "lsb", "width"):
            field[key] = number(field[key], f"{where} {key}")
        if field["word"] >= size // 4:
            raise Problem(f"{where}: word {field['word']} of a command of {size // 4} words")
        place({}, field["name"], field["lsb"], field["width"], 32, where)
        widths[field["name"]] = field["width"]
    check = commands["check"]
    keys(check, "commands check", ("word", "lsb", "width", "purpose"))
    for key in ("word", "lsb", "width"):
        check[key] = number(check[key], f"commands check {key}")
    for field in commands["fields"]:
        taken = {}
        place(taken, "CHECK", check["lsb"], check["width"], 32, "commands check")
        if field["word"] == check["word"]:
            place(taken, field["name"], field["lsb"], field["width"], 32, "commands check")
    if check["width"] not in (1, 2, 4, 8, 16) or check["lsb"] % check["width"]:
        raise Problem("commands check: its width must be a power of two, and its place a multiple of that")
    if "OPCODE" not in widths:
        raise Problem("commands fields: there is no OPCODE")
    values(commands["opcodes"], "opcodes", ("value", "purpose", "uses"), widths["OPCODE"],
           ("purpose", "with", "counts", "memory", "bounds"))
    used = {}
    for flag, where in named(commands["flags"], "flags", ("name", "bit", "purpose")):
        flag["bit"] = number(flag["bit"], f"{where} bit")
        place(used, flag["name"], flag["bit"], 1, widths.get("FLAGS", 0), where)
    flags = [flag["name"] for flag in commands["flags"]]
    for opcode in commands["opcodes"]:
        where = f"opcodes {opcode['name']}"
        more = opcode.setdefault("with", {})
        keys(more, f"{where} with", (), flags)
        for use in all_uses(opcode):
            if use not in widths:
                raise Problem(f"{where}: uses {use}, which is not a command field")
        check_memory(opcode, where, flags)
        check_bounds(opcode, where, flags)
    check_sharing(commands)
    if "FORMAT" not in widths:
        raise Problem("commands fields: there is no FORMAT")
    formats = commands["result_formats"]
    values(formats, "result_formats", ("value", "bytes", "signed", "purpose"), widths["FORMAT"])
    if not formats:
        raise Problem("result_formats: there is none")
    for entry in formats:
        where = f"result_formats {entry['name']}"
        if number(entry["bytes"], f"{where} bytes") not in (1, 2, 4):
            raise Problem(f"{where}: {entry['bytes']} bytes a value; it must be 1, 2 or 4")
        if not isinstance(entry["signed"], bool):
            raise Problem(f"{where}: signed is {entry['signed']!r}; it must be true or false")


def check_engines(spec):
    """Engines are numbered without a gap; what takes commands and reads through the data port says so."""
    engines, opcodes = spec["engines"], [o["name"] for o in spec["commands"]["opcodes"]]
    if sorted(e["value"] for e in engines) != list(range(len(engines))):
        raise Problem(f"engines: their values must be 0 to {len(engines) - 1}")
    ports = []
    for engine in engines:
        where = f"engines {engine['name']}"
        for name in engine.setdefault("commands", []):
            if name not in opcodes:
                raise Problem(f"{where}: {name} is not an opcode")
        port = engine.get("data_port")
        if port is not None:
            keys(port, f"{where} data_port", ("id", "turn"))
            for key, bits in (("id", DATA_ID_BITS), ("turn", DATA_ID_BITS)):
                port[key] = number(port[key], f"{where} data_port {key}", bits)
            ports.append(port)
        indices = [i for i, c in enumerate(spec["counters"]) if c["engine"].upper() == engine["name"]]
        if indices and indices[-1] - indices[0] + 1 != len(indices):
            raise Problem(f"{where}: its counters do not follow each other")
        engine["counters"] = indices
    pairs = [f"{c['engine']}.{c['cause']}" for c in spec["counters"]]
    for opcode in spec["commands"]["opcodes"]:
        where = f"opcodes {opcode['name']}"
        takers = [e["name"] for e in engines if opcode["name"] in e["commands"]]
        if len(takers) > 1:
            raise Problem(f"{where}: both {takers[0]} and {takers[1]} take it")
        opcode["engine"] = takers[0] if takers else None
        if opcode.setdefault("counts", None) is None:
            continue
        if opcode["counts"] not in pairs:
            raise Problem(f"{where}: counts {opcode['counts']!r}, which is no counter")
        if opcode["engine"] is None or opcode["counts"].split(".")[0].upper() != opcode["engine"]:
            raise Problem(f"{where}: {opcode['counts']} is not a counter of its engine")
    for key in ("id", "turn"):
        if sorted(p[key] for p in ports) != list(range(len(ports))):
            raise Problem(f"engines: each {key} of the data port from 0 to {len(ports) - 1} belongs to one engine")


def check_bridge(bridge):
    """Numbers follow each other, so that one that is lost in the line is told from a command by two bounds."""
    keys(bridge, "bridge", ("name", "baud", "block", "commands"))
    for key, bits in (("name", 24), ("baud", 32), ("block", 16)):
        bridge[key] = number(bridge[key], f"bridge {key}", bits)
    values(bridge["commands"], "bridge commands", ("value", "purpose"), 8)
    found = [command["value"] for command in bridge["commands"]]
    if not found or 0 in found or sorted(found) != list(range(min(found), max(found) + 1)):
        raise Problem("bridge commands: their values must follow each other, and none may be 0")


def load(root):
    """The whole description, with every number read and every rule kept."""
    try:
        with open(os.path.join(root, JSON), encoding="utf-8") as file:
            spec = json.load(file)
    except OSError as error:
        raise Problem(error.strerror) from error
    except ValueError as error:
        raise Problem(f"not valid JSON: {error}") from error
    keys(spec, "top level", ("version", "registers", "commands", "errors", "memories", "engines",
                             "counters_base", "counters", "bridge"))
    keys(spec["version"], "version", ("major", "minor"))
    for part in ("major", "minor"):
        spec["version"][part] = number(spec["version"][part], f"version {part}", 16)
    check_registers(spec)
    check_commands(spec["commands"])
    # Errors and engines are read from the fields of the ERROR register, and are as wide as those.
    widths = {f["name"]: f["width"] for r in spec["registers"] if r["name"] == "ERROR"
              for f in r["fields"]}
    for kind, field in (("errors", "CODE"), ("engines", "ENGINE")):
        if field not in widths:
            raise Problem(f"registers: there is no ERROR register with a field {field}")
        spec[kind + "_bits"] = widths[field]
        values(spec[kind], kind, ("value",) + (("purpose",) if kind == "errors" else ()),
               widths[field], ("commands", "data_port") if kind == "engines" else ("purpose",))
    values(spec["memories"], "memories", ("value", "purpose"), MEMORY_BITS)
    check_engines(spec)
    check_bridge(spec["bridge"])
    return spec


# --------------------------------------------------------------------------------- Verilog header

WARNING = f"Generated by scripts/codegen/generate.py from {JSON}; edit the JSON file."


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


# ------------------------------------------------------------------------------------- C++ header


def constant(*names):
    """kLikeThis from LIKE_THIS."""
    parts = [part for name in names for part in name.split("_")]
    return "k" + "".join(part.capitalize() for part in parts)


def doc(sentence, indent="", mark="///"):
    """A comment, wrapped at the line length of .clang-format."""
    lead = f"{indent}{mark} "
    behind = lead.replace("/*", "  ")  # of a comment that goes on
    return textwrap.wrap(sentence, 100, initial_indent=lead, subsequent_indent=behind,
                         break_long_words=False, break_on_hyphens=False)


def table(kind, name, comment, rows):
    """A constexpr array; clang-format keeps out, so that long sentences stay in one string."""
    return [*doc(comment), "// clang-format off",
            f"inline constexpr std::array<{kind}, {len(rows)}> {name}{{{{",
            *(f"    {{{', '.join(row)}}}," for row in rows), "}};", "// clang-format on", ""]


def quoted(value):
    return f'"{value}"'


def enum(name, comment, entries):
    lines = [*doc(comment), f"enum class {name} : std::uint32_t {{"]
    for entry in entries:
        if entry.get("purpose"):
            lines += doc(entry["purpose"], "  ")
        lines.append(f"  {constant(entry['name'])} = {entry['value']},")
    return [*lines, "};", ""]


def cpp_registers(spec):
    lines = ["/// Byte offsets of the registers.", "namespace reg {"]
    for register in spec["registers"]:
        lines += doc(register["purpose"])
        lines.append(f"inline constexpr std::uint32_t {constant(register['name'])} = "
                     f"0x{register['offset']:03x};")
    lines += ["}  // namespace reg", "",
              "/// Where a field lies in its register.", "struct Field {", "  unsigned lsb;",
              "  unsigned width;", "",
              "  /// The field's bits, moved to where they lie in the register.",
              "  constexpr std::uint32_t mask() const {"
              " return (0xffffffffu >> (32 - width)) << lsb; }",
              "  /// The field's value in `word`.",
              "  constexpr std::uint32_t get(std::uint32_t word) const {"
              " return (word & mask()) >> lsb; }",
              "  /// A register's word with `value` in this field and zero elsewhere.",
              "  constexpr std::uint32_t put(std::uint32_t value) const {"
              " return (value << lsb) & mask(); }",
              "};", "",
              "/// Fields, named after their register: field::kStatusBusy.get(word).",
              "namespace field {"]
    for register in spec["registers"]:
        for field in register["fields"]:
            lines += doc(field["purpose"])
            lines.append(f"inline constexpr Field {constant(register['name'], field['name'])}"
                         f"{{{field['lsb']}, {field['width']}}};")
    lines += ["}  // namespace field", "",
              "/// What a register does when it is read and written.", "enum class Access {"]
    width = max(len(name) for name, _ in ACCESS.values())  # clang-format aligns the comments
    lines += [f"  {name + ',':<{width + 1}}  // {meaning}" for name, meaning in ACCESS.values()]
    lines += ["};", "",
              "/// One register; `reset` holds only where `resets` (others depend on parameters or "
              "on", "/// what happened).", "struct Register {", "  const char* name;",
              "  std::uint32_t offset;", "  Access access;", "  bool resets;",
              "  std::uint32_t reset;", "  const char* purpose;", "};", ""]
    rows = [(quoted(r["name"]), f"0x{r['offset']:03x}", f"Access::{ACCESS[r['access']][0]}",
             "false" if r.get("reset") is None else "true", f"0x{r.get('reset') or 0:08x}",
             quoted(r["purpose"])) for r in spec["registers"]]
    return lines + table("Register", "kRegisters", "Every register but the counters.", rows)


def put_check(check):
    """Folds the exclusive or of a command's words to the width of its check, and puts it there: in C and C++."""
    half, lines = 16, []
    while half >= check["width"]:
        lines.append(f"together ^= together >> {half};")
        half //= 2
    mask = (1 << check["width"]) - 1
    return [*lines, f"words[{check['word']}] |= (together & {mask}u) << {check['lsb']};"]


def by_opcode(fields, line, condition, spelt):
    """The line of each field; of those that share bits, where the opcode uses them."""
    lines = []
    for opcodes, group in itertools.groupby(fields, lambda entry: entry[0]["opcodes"]):
        body = [line(*entry) for entry in group]
        if opcodes is None:
            lines += body
            continue
        either = " || ".join(condition + spelt(name) for name in opcodes)
        indent = re.match(" *", body[0])[0]
        lines += [f"{indent}if ({either}) {{", *("  " + part for part in body), f"{indent}}}"]
    return lines


def cpp_commands(spec):
    commands = spec["commands"]
    lines = enum("Opcode", "What a command does.", commands["opcodes"])
    lines += ["/// Bits of a command's flags.", "namespace flag {"]
    for flag in commands["flags"]:
        lines += doc(flag["purpose"])
        lines.append(f"inline constexpr std::uint32_t {constant(flag['name'])} = "
                     f"1u << {flag['bit']};")
    lines += ["}  // namespace flag", ""]
    lines += enum("ResultCode", "How results are written, as a command's FORMAT tells it.",
                  commands["result_formats"])
    lines += ["/// A format of results.", "struct ResultFormatEntry {", "  ResultCode code;",
              "  const char* name;", "  std::uint32_t bytes;  // of a value", "  bool is_signed;",
              "  const char* purpose;", "};", ""]
    lines += table("ResultFormatEntry", "kResultFormats", "Every format of results.", [
        (f"ResultCode::{constant(f['name'])}", quoted(f["name"]), str(f["bytes"]),
         str(f["signed"]).lower(), quoted(f["purpose"])) for f in commands["result_formats"]])
    lines += ["/// Bytes of a command in the ring.",
              f"inline constexpr std::size_t kCommandBytes = {commands['bytes']};", "",
              "/// One command, as the driver means it; what an opcode does not use stays zero.",
              "struct Command {"]
    fields = [(f, f["name"].lower()) for f in commands["fields"]]
    for field, member in fields:
        lines += doc(field["purpose"], "  ")
        kind = "Opcode opcode{}" if member == "opcode" else f"std::uint32_t {member} = 0"
        lines.append(f"  {kind};")
    names = {member for _, member in fields}
    for stem in sorted(n[:-4] for n in names if n.endswith("_low") and n[:-4] + "_high" in names):
        lines += ["", f"  /// Both halves of the {stem}.",
                  f"  constexpr std::uint64_t {stem}() const {{",
                  f"    return std::uint64_t{{{stem}_high}} << 32 | {stem}_low;", "  }",
                  f"  constexpr void set_{stem}(std::uint64_t value) {{",
                  f"    {stem}_low = static_cast<std::uint32_t>(value);",
                  f"    {stem}_high = static_cast<std::uint32_t>(value >> 32);", "  }"]
    lines += ["",
              "  /// Writes the command as it lies in memory: words of 32 bits, low byte first, all "
              "else zero.",
              "  /// Throws std::out_of_range if a value is wider than its field.",
              "  void encode(std::uint8_t* bytes) const {",
              f"    std::uint32_t words[kCommandBytes / 4] = {{}};"]
    def put(field, member):
        value = "static_cast<std::uint32_t>(opcode)" if member == "opcode" else member
        if field["width"] < 32:
            value = f"fit(\"{field['name']}\", {value}, {field['width']})"
        shift = f" << {field['lsb']}" if field["lsb"] else ""
        return f"    words[{field['word']}] |= {value}{shift};"
    lines += by_opcode(fields, put, "opcode == Opcode::", constant)
    lines += ["    std::uint32_t together = 0;", "    for (const std::uint32_t word : words) together ^= word;",
              *("    " + line for line in put_check(commands["check"]))]
    lines += ["    for (std::size_t i = 0; i < kCommandBytes; ++i) {",
              "      bytes[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));",
              "    }", "  }", "",
              "  /// The command that lies at `bytes`, as encode() writes it; any opcode is taken.",
              "  static Command decode(const std::uint8_t* bytes) {",
              "    std::uint32_t words[kCommandBytes / 4] = {};",
              "    for (std::size_t i = 0; i < kCommandBytes; ++i) {",
              "      words[i / 4] |= std::uint32_t{bytes[i]} << (8 * (i % 4));", "    }",
              "    Command command;"]
    def get(field, member):
        value = f"words[{field['word']}]"
        if field["width"] < 32:
            value = f"Field{{{field['lsb']}, {field['width']}}}.get({value})"
        if member == "opcode":
            value = f"static_cast<Opcode>({value})"
        return f"    command.{member} = {value};"
    lines += by_opcode(fields, get, "command.opcode == Opcode::", constant)
    lines += ["    return command;", "  }", "",
              "  friend constexpr bool operator==(const Command& a, const Command& b) {"]
    lines += joined("    return ", [f"a.{member} == b.{member}" for _, member in fields], " &&")
    lines += ["  }", "  friend constexpr bool operator!=(const Command& a, const Command& b) {"
              " return !(a == b); }", "", " private:",
              "  static std::uint32_t fit(const char* field, std::uint32_t value, unsigned width) {",
              "    if (value >> width == 0) return value;",
              "    throw std::out_of_range(std::string(\"command field \") + field + \": \" +"
              " std::to_string(value) +",
              "                            \" does not fit in \" + std::to_string(width) +"
              " \" bits\");", "  }", "};", ""]
    lines += ["/// An opcode with its name and what it does.", "struct OpcodeEntry {",
              "  Opcode value;", "  const char* name;", "  const char* purpose;", "};", ""]
    lines += table("OpcodeEntry", "kOpcodes", "Every opcode.", [
        (f"Opcode::{constant(o['name'])}", quoted(o["name"]), quoted(o["purpose"]))
        for o in commands["opcodes"]])
    lines += ["/// The command in words, with the fields that its opcode uses:",
              "/// \"STORE rows=64 count=1 address=4096 format=0\".",
              "inline std::string to_string(const Command& command) {", "  std::string words;",
              "  const auto add = [&words](const char* field, std::uint64_t value) {",
              "    words += field + std::to_string(value);", "  };",
              "  switch (command.opcode) {"]
    for opcode in commands["opcodes"]:
        lines += [f"    case Opcode::{constant(opcode['name'])}:",
                  f"      words = \"{opcode['name']}\";"]
        uses = [use.lower() for use in opcode["uses"]]
        for use in uses:
            shown, value = use, f"command.{use}"
            if use.endswith("_high") and use[:-5] + "_low" in uses:
                continue  # told together with the low half
            if use.endswith("_low") and use[:-4] + "_high" in uses:
                shown, value = use[:-4], f"command.{use[:-4]}()"
            lines.append(f"      add(\" {shown}=\", {value});")
        for flag, more in opcode["with"].items():
            lines += [f"      if ((command.flags & flag::{constant(flag)}) != 0) {{",
                      *(f"        add(\" {use.lower()}=\", command.{use.lower()});" for use in more),
                      "      }"]
        lines.append("      return words;")
    lines += ["  }", "  add(\"unknown opcode \","
              " static_cast<std::uint32_t>(command.opcode));", "  return words;", "}", ""]
    return lines


def joined(lead, parts, operator):
    """`lead a && b && c;` broken before column 100, as clang-format breaks it."""
    lines, line = [], lead + parts[0]
    for index, part in enumerate(parts[1:], 1):
        tail = 1 if index == len(parts) - 1 else len(operator)
        if len(line) + len(operator) + 1 + len(part) + tail > 100:
            lines.append(line + operator)
            line = " " * len(lead) + part
        else:
            line += f"{operator} {part}"
    return [*lines, line + ";"]


def cpp_reports(spec):
    lines = enum("ErrorCode", "Why the work stopped, as ERROR.CODE tells it.", spec["errors"])
    lines += enum("Engine", "Which part of the accelerator, as ERROR.ENGINE tells it.",
                  spec["engines"])
    lines += ["/// An error with its name and its text for people.", "struct ErrorEntry {",
              "  ErrorCode value;", "  const char* name;", "  const char* text;", "};", ""]
    lines += table("ErrorEntry", "kErrors", "Every error.", [
        (f"ErrorCode::{constant(e['name'])}", quoted(e["name"]), quoted(e["purpose"]))
        for e in spec["errors"]])
    lines += ["/// An engine with its name, as counters spell it.", "struct EngineEntry {",
              "  Engine value;", "  const char* name;", "};", ""]
    lines += table("EngineEntry", "kEngines", "Every engine.", [
        (f"Engine::{constant(e['name'])}", quoted(e["name"].lower())) for e in spec["engines"]])
    for kind, array, member in (("Opcode", "kOpcodes", "name"), ("ErrorCode", "kErrors", "name"),
                                ("ErrorCode", "kErrors", "text"), ("Engine", "kEngines", "name")):
        lines += [f"/// The {member} of `value`, or \"unknown\" where the table lacks it.",
                  f"constexpr const char* {member}({kind} value) {{",
                  f"  for (const auto& entry : {array}) {{",
                  f"    if (entry.value == value) return entry.{member};", "  }",
                  "  return \"unknown\";", "}", ""]
    lines += ["/// A counter of 64 bits: its low word at `offset`, its high word 4 bytes on.",
              "struct Counter {", "  const char* engine;", "  const char* cause;",
              "  std::uint32_t offset;", "  const char* purpose;", "};", ""]
    lines += table("Counter", "kCounters", "Every counter, in the order of their offsets.", [
        (quoted(c["engine"]), quoted(c["cause"]), f"0x{c['offset']:03x}", quoted(c["purpose"]))
        for c in spec["counters"]])
    lines += ["/// Indices of kCounters.", "namespace counter {"]
    for index, counter in enumerate(spec["counters"]):
        lines.append(f"inline constexpr std::size_t "
                     f"{constant(counter['engine'], counter['cause'])} = {index};")
    return [*lines, "}  // namespace counter", ""]


def cpp(spec):
    version = spec["version"]
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "#pragma once", "",
             "#include <array>", "#include <cstddef>", "#include <cstdint>",
             "#include <stdexcept>", "#include <string>", "", "namespace gemm64 {", "",
             "/// Version of registers and commands that this header was made for.",
             f"inline constexpr std::uint32_t kVersionMajor = {version['major']};",
             f"inline constexpr std::uint32_t kVersionMinor = {version['minor']};", ""]
    lines += cpp_registers(spec) + cpp_commands(spec) + cpp_reports(spec)
    seen, scope = set(), ""
    for line in lines:  # two names may meet only here: A_B and AB are both kAB-like
        scope = line.split()[1] if line.startswith("namespace ") else scope
        scope = "" if line.startswith("}") else scope
        if match := re.match(r"inline constexpr [\w:<>, ]+ (k\w+)", line):
            if (scope, match[1]) in seen:
                raise Problem(f"two things would both be called {scope}::{match[1]}; rename one")
            seen.add((scope, match[1]))
    return "\n".join([*lines, "}  // namespace gemm64", ""])


def signed_fields(commands):
    """Names of the fields that hold negative numbers, too."""
    return {b["field"] for o in commands["opcodes"] for b in o["bounds"] if b["signed"]}


def cpp_types(spec):
    """A struct for each opcode, with the fields that it uses and no other."""
    commands = spec["commands"]
    signed = signed_fields(commands)
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "#pragma once", "",
             "#include <cstdint>", "#include <stdexcept>", "#include <string>", "",
             "#include \"host/device/registers.hpp\"", "", "namespace gemm64 {", "",
             *doc("A struct for each opcode, with the fields that it uses, with whatever flags; `Command` has all. "
                  "Each is made from a Command of that opcode, and becomes one again.", mark="//"), "",
             "/// Throws std::invalid_argument if the command is another one.",
             "constexpr void require(const Command& command, Opcode opcode) {",
             "  if (command.opcode == opcode) return;",
             "  throw std::invalid_argument(to_string(command) + \" is not a \" + name(opcode));", "}", ""]
    def body(head, statements):
        if len(statements) == 1:
            return [f"{head} {{ {statements[0]} }}"]
        return [f"{head} {{", *("    " + statement for statement in statements), "  }"]
    for opcode in commands["opcodes"]:
        kind = constant(opcode["name"])[1:] + "Command"
        members, loads, stores = [], [], []
        uses = list(dict.fromkeys(all_uses(opcode)))
        for field in (f["name"] for f in commands["fields"] if f["name"] in uses):
            member = field.lower()
            if member.endswith("_high") and field[:-5] + "_LOW" in uses:
                continue  # together with the low half
            if member.endswith("_low") and field[:-4] + "_HIGH" in uses:
                member = member[:-4]
                members.append(("std::uint64_t", member))
                loads.append(f"{member} = command.{member}();")
                stores.append(f"command.set_{member}({member});")
                continue
            members.append(("std::int32_t" if field in signed else "std::uint32_t", member))
            loads.append(f"{member} = " + (f"static_cast<std::int32_t>(command.{member});" if field in signed else f"command.{member};"))
            stores.append(f"command.{member} = " + (f"static_cast<std::uint32_t>({member});" if field in signed else f"{member};"))
        lines += [f"/// {opcode['name']}", f"struct {kind} {{",
                  f"  static constexpr Opcode kOpcode = Opcode::{constant(opcode['name'])};", "",
                  *(f"  {type} {member} = 0;" for type, member in members), *([""] if members else []),
                  f"  {kind}() = default;",
                  "  /// Throws std::invalid_argument if it is another command.",
                  *body(f"  constexpr explicit {kind}(const Command& command)", ["require(command, kOpcode);", *loads]),
                  "  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)",
                  "    Command command;", "    command.opcode = kOpcode;",
                  *("    " + store for store in stores), "    return command;", "  }", "};", ""]
    return "\n".join([*lines, "}  // namespace gemm64", ""])


def cpp_facts(spec):
    """Fields and commands as tables, for what handles commands without knowing each."""
    commands = spec["commands"]
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "#pragma once", "",
             "#include \"host/device/command_fact.hpp\"", "", "namespace gemm64 {", ""]
    def member(name):
        return f"&Command::{name.lower()}" if name else "nullptr"
    def users(field):
        if field["name"] == "OPCODE":
            return sum(1 << o["value"] for o in commands["opcodes"])
        return sum(1 << o["value"] for o in commands["opcodes"] if field["name"] in all_uses(o))
    signed = signed_fields(commands)
    lines += table("CommandField", "kCommandFields", "Every field of a command.", [
        (quoted(f["name"]), str(f["word"]), str(f["lsb"]), str(f["width"]), f"0x{users(f):03x}",
         str(f["name"] in signed).lower(), "nullptr" if f["name"] == "OPCODE" else member(f["name"])) for f in commands["fields"]])
    relations = {">=": "kAtLeast", "<=": "kAtMost", "<": "kBelow"}
    def bound(b):
        limit = "" if b["number"] is not None else b["limit"]
        flag = f"flag::{constant(b['flag'])}" if b["flag"] else "0"
        return (quoted(b["field"]), member(b["field"]), str(b["signed"]).lower(), f"Relation::{relations[b['relation']]}",
                str(b["number"] or 0), quoted(limit) if limit else "nullptr",
                member(limit) if limit and limit not in SIZES else "nullptr",
                f"&Geometry::{limit.lower()}" if limit in SIZES else "nullptr",
                flag if b["when"] == "with" else "0", flag if b["when"] == "without" else "0")
    opcodes = commands["opcodes"]
    lines += table("Bound", "kBounds", "Bounds of fields, those of an opcode together.",
                   [bound(b) for o in opcodes for b in o["bounds"]])
    rows, first = [], 0
    for o in opcodes:
        memory = o["memory"] or {}
        tile = memory.get("tile")
        rows.append((
            f"Opcode::{constant(o['name'])}", f"Engine::{constant(o['engine'])}" if o["engine"] else "std::nullopt",
            f"counter::{constant(*o['counts'].upper().split('.'))}" if o["counts"] else "kNoCounter",
            f"Operand::{constant(memory['operand'])}" if memory else "Operand::kNone",
            str(memory.get("access") == "write").lower(),
            f"flag::{constant(memory['with'])}" if memory.get("with") else "0",
            *(member(memory.get(part)) for part in WALK), str(bool(memory.get("of"))).lower(),
            f"Tile::{constant(tile)}" if tile in TILES else "Tile::kRows" if tile else "Tile::kOne",
            str(first), str(len(o["bounds"]))))
        first += len(o["bounds"])
    lines += table("CommandFact", "kCommandFacts", "What holds for each opcode.", rows)
    return "\n".join([*lines, "}  // namespace gemm64", ""])


def cpp_bridge(bridge):
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "#pragma once", "",
             "#include <cstddef>", "#include <cstdint>", "", "namespace gemm64::bridge {", "",
             *doc("What the bridge of a board is asked: a byte, followed by an address and a value of four bytes each."),
             "enum class Command : std::uint8_t {"]
    for command in bridge["commands"]:
        lines += doc(command["purpose"], "  ")
        lines.append(f"  {constant(command['name'])} = 0x{command['value']:02x},")
    return "\n".join([*lines, "};", "", f"inline constexpr std::uint32_t kName = 0x{bridge['name']:06x};  // three bytes",
                      f"inline constexpr std::uint32_t kBaud = {bridge['baud']};",
                      f"inline constexpr std::size_t kBlock = {bridge['block']};  // bytes of a command, at most",
                      "", "}  // namespace gemm64::bridge", ""])


# --------------------------------------------------------------------------------------- C header


def c_text(function, prefix, entries, comment):
    """A function that gives a number's words; unused ones cost a program nothing."""
    lines = [*doc(comment, mark="/*")]
    lines[-1] += " */"
    lines += [f"static inline const char *{function}(uint32_t value) {{", "  switch (value) {"]
    for name, words in entries:
        lines += [f"    case {prefix}{name}:", f"      return {quoted(words)};"]
    return [*lines, "    default:", '      return "unknown";', "  }", "}", ""]


def c_header(spec):
    version, commands = spec["version"], spec["commands"]
    rows = [("VERSION_MAJOR", version["major"]), ("VERSION_MINOR", version["minor"])]
    for register in spec["registers"]:
        name = register["name"]
        rows.append((f"REG_{name}", f"0x{register['offset']:03x}"))
        if register.get("reset") is not None:
            rows.append((f"{name}_RESET_VALUE", f"0x{register['reset']:08x}"))
        for field in register["fields"]:
            mask = ((1 << field["width"]) - 1) << field["lsb"]
            rows.append((f"{name}_{field['name']}_SHIFT", field["lsb"]))
            rows.append((f"{name}_{field['name']}_MASK", f"0x{mask:08x}"))
    rows.append(("COMMAND_BYTES", commands["bytes"]))
    rows += [(f"OP_{o['name']}", o["value"]) for o in commands["opcodes"]]
    rows += [(f"FLAG_{f['name']}", 1 << f["bit"]) for f in commands["flags"]]
    for entry in commands["result_formats"]:
        rows.append((f"RESULT_{entry['name']}", entry["value"]))
        rows.append((f"RESULT_{entry['name']}_BYTES", entry["bytes"]))
    rows += [(f"ERROR_{e['name']}", e["value"]) for e in spec["errors"]]
    rows += [(f"ENGINE_{e['name']}", e["value"]) for e in spec["engines"]]
    rows += [(f"MEMORY_{m['name']}", m["value"]) for m in spec["memories"]]
    rows += [("COUNTERS_BASE", f"0x{spec['counters_base']:03x}"), ("COUNTERS", len(spec["counters"]))]
    rows += [(f"COUNTER_{c['engine']}_{c['cause']}".upper(), i)
             for i, c in enumerate(spec["counters"])]
    seen, lines = set(), [
        "// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "// clang-format off",
        "#ifndef GEMM64_REGISTERS_H", "#define GEMM64_REGISTERS_H", "", "#include <stdint.h>", ""]
    for name, value in rows:
        if name in seen:
            raise Problem(f"two things would both be called GEMM64_{name}; rename one of them")
        seen.add(name)
        lines.append(f"#define GEMM64_{name} {value}u")
    lines += ["", "/* The field's value in a register's word: GEMM64_GET(word, STATUS_BUSY). */",
              "#define GEMM64_GET(word, field) \\",
              "  (((uint32_t)(word) & GEMM64_##field##_MASK) >> GEMM64_##field##_SHIFT)", "",
              "/* One command; what an opcode does not use stays zero. */", "struct gemm64_command {"]
    for field in commands["fields"]:
        comment = doc(field["purpose"], "  ", "/*")
        comment[-1] += " */"
        lines += [*comment, f"  uint32_t {field['name'].lower()};"]
    lines += ["};", "",
              "/* Writes the command as it lies in the ring. Returns 0, or -1 where a value is wider than its",
              " * field. */",
              "static inline int gemm64_encode(const struct gemm64_command *command, uint8_t *bytes) {",
              f"  uint32_t words[GEMM64_COMMAND_BYTES / 4] = {{0}};", "  uint32_t i, together = 0;"]
    def put(field, member):
        shift = f" << {field['lsb']}" if field["lsb"] else ""
        return f"  words[{field['word']}] |= {member}{shift};"
    for field in commands["fields"]:
        if field["width"] < 32:
            lines.append(f"  if (command->{field['name'].lower()} >> {field['width']} != 0) return -1;")
    lines += by_opcode([(f, "command->" + f["name"].lower()) for f in commands["fields"]], put,
                       "command->opcode == GEMM64_OP_", str)
    lines += ["  for (i = 0; i < GEMM64_COMMAND_BYTES / 4; ++i) together ^= words[i];",
              *("  " + line for line in put_check(commands["check"]))]
    lines += ["  for (i = 0; i < GEMM64_COMMAND_BYTES; ++i) {",
              "    bytes[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));", "  }", "  return 0;", "}", ""]
    lines += c_text("gemm64_opcode_name", "GEMM64_OP_",
                    [(o["name"], o["name"]) for o in commands["opcodes"]], "An opcode's name.")
    lines += c_text("gemm64_error_name", "GEMM64_ERROR_",
                    [(e["name"], e["name"]) for e in spec["errors"]], "The name of an error's code.")
    lines += c_text("gemm64_error_text", "GEMM64_ERROR_",
                    [(e["name"], e["purpose"]) for e in spec["errors"]], "What an error's code means.")
    lines += c_text("gemm64_memory_name", "GEMM64_MEMORY_",
                    [(m["name"], m["purpose"]) for m in spec["memories"]], "What is in a memory of the device.")
    lines += c_text("gemm64_engine_name", "GEMM64_ENGINE_",
                    [(e["name"], e["name"].lower()) for e in spec["engines"]], "An engine's name.")
    return "\n".join([*lines, "#endif", ""])


# -------------------------------------------------------------------------------- reference tables


def markdown(header, rows):
    out = ["| " + " | ".join(header) + " |", "|" + "|".join("---" for _ in header) + "|"]
    return out + ["| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |" for row in rows]


def bits(lsb, width):
    return f"[{lsb}]" if width == 1 else f"[{lsb + width - 1}:{lsb}]"


def memory_words(memory):
    """What a command reads or writes, in words."""
    if memory is None:
        return "–"
    times = [f"`{memory[part]}`" for part in ("run", "runs", "passes", "blocks") if memory[part]]
    amount = " · ".join(times) + (" words" if not memory["of"] else f" rows in `{memory['of']}`") if times else "all counters"
    flag = f" with `{memory['with']}`" if memory["with"] else ""
    what = f" of {memory['operand'].lower()}" if times else ""
    return f"{memory['access']}s {amount}{what}{flag}"


def reference_tables(spec):
    rows = []
    for r in spec["registers"]:
        reset = "" if r.get("reset") is None else f"0x{r['reset']:x}" if r["reset"] else "0"
        rows.append((f"0x{r['offset']:03x}", f"`{r['name']}`", "", r["access"], reset, r["purpose"]))
        rows += [("", f"&nbsp;&nbsp;`{f['name']}`", bits(f["lsb"], f["width"]), "", "", f["purpose"])
                 for f in r["fields"]]
    last = spec["counters_base"] + 8 * len(spec["counters"]) - 1
    rows.append((f"0x{spec['counters_base']:03x}–0x{last:03x}", "counters", "", "ro", "0",
                 "Each of 64 bits, low word first."))
    access = "; ".join(f"{k}: {meaning}" for k, (_, meaning) in ACCESS.items())
    registers = markdown(("offset", "register", "bits", "access", "reset", "purpose"), rows)
    registers += ["", f"Access: {access}."]

    c = spec["commands"]
    commands = markdown(("word", "bits", "field", "purpose"), [
        (f["word"], bits(f["lsb"], f["width"]), f"`{f['name']}`", f["purpose"])
        for f in [*c["fields"], {"name": "CHECK", **c["check"]}]])
    commands += [""] + markdown(("opcode", "command", "does", "uses"), [
        (o["value"], f"`{o['name']}`", o["purpose"],
         "; ".join([" ".join(f"`{u}`" for u in o["uses"]) or "–"]
                   + [f"with `{flag}` also " + " ".join(f"`{u}`" for u in uses)
                      for flag, uses in o["with"].items()])) for o in c["opcodes"]])
    commands += [""] + markdown(("command", "engine", "memory", "counts", "refused unless"), [
        (f"`{o['name']}`", (o["engine"] or "–").lower(), memory_words(o["memory"]), f"`{o['counts']}`" if o["counts"] else "–",
         ", ".join(f"`{b['text']}`".replace(" with", "` with").rstrip("`") if b["flag"] else f"`{b['text']}`"
                   for b in o["bounds"]) or "–") for o in c["opcodes"]])
    commands += [""] + markdown(("flag", "bit", "meaning"), [
        (f"`{f['name']}`", f["bit"], f["purpose"]) for f in c["flags"]])
    commands += [""] + markdown(("format", "results", "bytes a value", "meaning"), [
        (f["value"], f"`{f['name']}`", f["bytes"], f["purpose"]) for f in c["result_formats"]])

    errors = markdown(("code", "error", "meaning"), [
        (e["value"], f"`{e['name']}`", e["purpose"]) for e in spec["errors"]])
    errors += [""] + markdown(("memory", "name", "what"), [
        (m["value"], f"`{m['name']}`", m["purpose"]) for m in spec["memories"]])
    errors += [""] + markdown(("engine", "name"), [
        (e["value"], f"`{e['name']}`") for e in spec["engines"]])

    counters = markdown(("offset", "engine", "cause", "counts"), [
        (f"0x{k['offset']:03x}", k["engine"], f"`{k['cause']}`", k["purpose"])
        for k in spec["counters"]])
    bridge = markdown(("number", "command", "does"), [
        (f"0x{k['value']:02x}", f"`{k['name']}`", k["purpose"]) for k in spec["bridge"]["commands"]])
    return {"registers": registers, "commands": commands, "errors": errors, "counters": counters, "bridge": bridge}


def reference(spec):
    """Returns the pages of the reference."""
    tables = reference_tables(spec)
    version = f"{spec['version']['major']}.{spec['version']['minor']}"
    made = f"Made by `scripts/codegen/generate.py` from `{JSON}`, version {version} of registers and commands."

    def page(title, *parts):
        return "\n".join([f"# {title}", "", made, *(line for part in parts for line in ("", *part)), ""])

    return {
        f"{REFERENCE}/registers.md": page(
            "Registers and commands", ["## Registers"], tables["registers"], ["## Commands"],
            [f"A command is {spec['commands']['bytes']} bytes in the ring, in words of 32 bits."], tables["commands"],
            ["## Errors"], tables["errors"], ["## Serial bridge of a board"],
            ["A command is a byte, an address and a value of four bytes each, low byte first, and the bytes it writes. The "
             "bridge ignores any other byte."], tables["bridge"]),
        f"{REFERENCE}/counters.md": page(
            "Counters", ["Each has 64 bits. The causes of an engine exclude each other: exactly one counts in each cycle "
                         "in which the accelerator is busy, so an engine's causes add up to `total.cycles`. "
                         "[How cycles are predicted](../explanations/clocks.md)."], tables["counters"]),
    }


# ------------------------------------------------------------------------------ words for GTKWave


def words(about, digits, entries):
    """A translate filter: the value as GTKWave shows it in hexadecimal, and the word in its place."""
    lines = ["# SPDX-License-Identifier: Apache-2.0", f"# {about}", f"# {WARNING}"]
    return "\n".join([*lines, *(f"{value:0{digits}X} {word}" for value, word in entries), ""])


def state_words(counters, engine):
    """The causes of an engine's cycles, one bit each, the first on the left: what a save file puts
    together from the engine's outputs. Work is green, waiting is red."""
    causes = [c["cause"] for c in counters if c["engine"] == engine]
    colour = {cause: "?firebrick?" if cause.startswith("wait_") else "" for cause in causes}
    colour[causes[0]] = "?darkgreen?"
    return words(f"What {engine} spends a cycle on.", (len(causes) + 3) // 4, [
        (1 << len(causes) - 1 - index, colour[cause] + cause)
        for index, cause in enumerate(causes)])


def filters(spec):
    commands = spec["commands"]
    flags = [(sum(1 << f["bit"] for f in chosen), "+".join(f["name"] for f in chosen) or "none")
             for count in range(len(commands["flags"]) + 1)
             for chosen in itertools.combinations(commands["flags"], count)]
    registers = [(r["offset"], r["name"]) for r in spec["registers"]]
    for counter in spec["counters"]:
        name = f"{counter['engine']}.{counter['cause']}"
        registers += [(counter["offset"], name), (counter["offset"] + 4, f"{name}, high word")]
    made = {
        "opcode": words("What a command does.", 2, [
            (o["value"], o["name"]) for o in commands["opcodes"]]),
        "flags": words("How a command varies.", 2, flags),
        "error": words("Why the work stopped.", 1, [
            (e["value"], e["name"] if e["value"] == 0 else f"?red?{e['name']}")
            for e in spec["errors"]]),
        "engine": words("Which engine found an error.", 1, [
            (e["value"], e["name"].lower()) for e in spec["engines"]]),
        "register": words("The register at an address.", 3, registers)}
    for engine in spec["engines"]:
        name = engine["name"].lower()
        made[f"state_{name}"] = state_words(spec["counters"], name)
    return {f"{FILTERS}/{name}.txt": content for name, content in made.items()}


# -------------------------------------------------------------------------------------------- main


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/codegen/generate.py", description=f"Makes {VERILOG}, {CPP}, {FACTS}, {TYPES}, {C}, {BOUNDS}, {BRIDGE_VERILOG}, {BRIDGE_CPP}, the pages in {REFERENCE} and most of "
        f"{FILTERS} from {JSON}, the one place where registers, commands, errors and counters are written.")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 where a file is not what the JSON gives")
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", ".."),
                        help="the project's folder (default: the one that this script lies in)")
    options = parser.parse_args()
    try:
        spec = load(options.root)
        made = {VERILOG: verilog(spec), CPP: cpp(spec), FACTS: cpp_facts(spec), TYPES: cpp_types(spec),
                C: c_header(spec), BOUNDS: verilog_bounds(spec), BRIDGE_VERILOG: verilog_bridge(spec["bridge"]), BRIDGE_CPP: cpp_bridge(spec["bridge"]),
                **reference(spec), **filters(spec)}
    except Problem as problem:
        print(f"generate: {JSON}: {problem}", file=sys.stderr)
        return 1
    failed = False
    for path, content in made.items():
        full = os.path.join(options.root, path)
        try:
            with open(full, encoding="utf-8") as file:
                same = file.read() == content
        except FileNotFoundError:
            same = False
        if same:
            continue  # its date stays too, so that nothing is built again for no reason
        if options.check:
            print(f"generate: {path} is not what {JSON} gives; run scripts/codegen/generate.py and commit "
                  "the result", file=sys.stderr)
            failed = True
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full + ".new", "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(full + ".new", full)
        print(f"generate: wrote {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
