# SPDX-License-Identifier: Apache-2.0
"""The headers in C++: registers, reports, commands and their facts, the bridge."""

import itertools
import re
import textwrap

from problem import Problem
from .spec import ACCESS, TILES, WALK, WARNING, all_uses, constant


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
    """Names of the fields that hold negative numbers, too, whatever the command's FORMAT."""
    return {rule.names[0] for o in commands["opcodes"] for rule in o["bounds"]
            if rule.kind == "signed" and not any("=" in name for names in rule.given for name in names)}


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
    opcodes = commands["opcodes"]
    rows = []
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
            f"Tile::{constant(tile)}" if tile in TILES else "Tile::kRows" if tile else "Tile::kOne"))
    lines += table("CommandFact", "kCommandFacts", "What holds for each opcode.", rows)
    return "\n".join([*lines, "}  // namespace gemm64", ""])


def cpp_rules(spec):
    """The rules of commands as functions, with the words for what breaks them."""
    rows = [rule.cpp() for o in spec["commands"]["opcodes"] for rule in o["bounds"]]
    return "\n".join([
        "// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", '#include "host/device/command_rules.hpp"',
        '#include "host/device/command_values.hpp"', "", "namespace gemm64 {", "", "// clang-format off",
        "const std::vector<CommandRule>& command_rules() {", "  static const std::vector<CommandRule> rules{",
        *("    {" + ",\n     ".join([", ".join(row[:8]), *row[8:]]) + "}," for row in rows), "  };", "  return rules;", "}",
        "// clang-format on", "", "}  // namespace gemm64", ""])


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
