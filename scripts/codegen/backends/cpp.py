# SPDX-License-Identifier: Apache-2.0
"""The headers in C++: registers, reports, commands and their facts, the bridge."""

import re
import textwrap

from problem import Problem
from .spec import ACCESS, TILES, WALK, WARNING, all_uses, constant


def doc(sentence, indent="", mark="///"):
    """A comment, wrapped at the line length of .clang-format."""
    lead = f"{indent}{mark} "
    indent = lead.replace("/*", "  ")  # of a comment that goes on
    return textwrap.wrap(sentence, 100, initial_indent=lead, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def table(kind, name, comment, rows):
    """A constexpr array; clang-format keeps out, so that long sentences stay in one string."""
    return [*doc(comment), "// clang-format off",
            f"inline constexpr std::array<{kind}, {len(rows)}> {name}{{{{",
            *(f"    {{{', '.join(row)}}}," for row in rows), "}};", "// clang-format on", ""]


def quoted(value):
    return f'"{value}"'


def enum(name, comment, entries):
    """Their purposes are in a table."""
    return [*doc(comment), f"enum class {name} : std::uint32_t {{",
            *(f"  {constant(entry['name'])} = {entry['value']}," for entry in entries), "};", ""]


def cpp_registers(spec):
    lines = ["/// Byte offsets of the registers, whose purposes are in kRegisters.", "namespace reg {"]
    for register in spec["registers"]:
        lines.append(f"inline constexpr std::uint32_t {constant(register['name'])} = "
                     f"0x{register['offset']:03x};")
    lines += ["}  // namespace reg", "",
              "/// The position of a field in its register.", "struct Field {", "  unsigned lsb;",
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
              *doc("Fields, named after their register: field::kStatusBusy.get(word). docs/reference/registers.md "
                   "explains them."),
              "namespace field {"]
    for register in spec["registers"]:
        for field in register["fields"]:
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


# What does not depend on the specification.
COMMAND_CODE = """\
inline void Command::encode(std::uint8_t* bytes) const {
  std::uint32_t words[kCommandBytes / 4] = {};
  for (const CommandField& field : kCommandFields) {
    if (field.shares && !field.used_by(opcode)) continue;
    const std::uint32_t value =
        field.member == nullptr ? static_cast<std::uint32_t>(opcode) : this->*field.member;
    if (field.width < 32 && value >> field.width != 0) {
      throw std::out_of_range(std::string("command field ") + field.name + ": " +
                              std::to_string(value) + " does not fit in " +
                              std::to_string(field.width) + " bits");
    }
    words[field.word] |= value << field.lsb;
  }
  std::uint32_t together = 0;
  for (const std::uint32_t word : words) together ^= word;
  CHECK
  for (std::size_t i = 0; i < kCommandBytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
  }
}

inline Command Command::decode(const std::uint8_t* bytes) {
  std::uint32_t words[kCommandBytes / 4] = {};
  for (std::size_t i = 0; i < kCommandBytes; ++i) {
    words[i / 4] |= std::uint32_t{bytes[i]} << (8 * (i % 4));
  }
  Command command;
  for (const CommandField& field : kCommandFields) {
    const std::uint32_t value = Field{field.lsb, field.width}.get(words[field.word]);
    if (field.member == nullptr) {
      command.opcode = static_cast<Opcode>(value);
    } else if (!field.shares || field.used_by(command.opcode)) {
      command.*field.member = value;
    }
  }
  return command;
}

inline bool operator==(const Command& a, const Command& b) {
  for (const CommandField& field : kCommandFields) {
    if (field.member != nullptr && a.*field.member != b.*field.member) return false;
  }
  return a.opcode == b.opcode;
}
inline bool operator!=(const Command& a, const Command& b) { return !(a == b); }

/// The command in words, with the fields that its opcode uses:
/// "STORE rows=64 count=1 address=4096 format=0".
inline std::string to_string(const Command& command) {
  std::string words;
  const auto add = [&](const std::string& names) {
    std::istringstream list(names);
    for (std::string name; list >> name;) {
      for (const CommandField& field : kCommandFields) {
        if (name != field.name || field.member == nullptr) continue;
        if (name == "ADDRESS_HIGH") continue;  // is in the other half
        const bool halves = name == "ADDRESS_LOW";
        for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
        const std::uint64_t value = halves ? command.address() : command.*field.member;
        words += " " + (halves ? "address" : name) + "=" + std::to_string(value);
        break;
      }
    }
  };
  for (const OpcodeEntry& entry : kOpcodes) {
    if (entry.value != command.opcode) continue;
    words = entry.name;
    add(entry.fields);
    if ((command.flags & entry.with) != 0) add(entry.more);
    return words;
  }
  return "unknown opcode " + std::to_string(static_cast<std::uint32_t>(command.opcode));
}
"""


def signed_fields(commands):
    """Names of the fields that hold negative numbers, too, whatever the command's FORMAT."""
    return {rule.names[0] for o in commands["opcodes"] for rule in o["bounds"]
            if rule.kind == "signed" and not any("=" in name for names in rule.given for name in names)}


def member_of(field):
    """A pointer to the field's member of Command; null for none, and for the opcode."""
    return f"&Command::{field.lower()}" if field and field != "OPCODE" else "nullptr"


def cpp_commands(spec):
    commands = spec["commands"]
    lines = enum("Opcode", "What a command does.", commands["opcodes"])
    lines += ["/// Bits of a command's flags.", "namespace flag {"]
    for flag in commands["flags"]:
        lines += doc(flag["purpose"])
        lines.append(f"inline constexpr std::uint32_t {constant(flag['name'])} = "
                     f"1u << {flag['bit']};")
    lines += ["}  // namespace flag", ""]
    lines += enum("ResultCode", "How results are written: a command's FORMAT.",
                  commands["result_formats"])
    lines += ["/// A format of results.", "struct ResultFormatEntry {", "  ResultCode code;",
              "  const char* name;", "  std::uint32_t bytes;  // of a value", "  bool is_signed;",
              "  const char* purpose;", "};", ""]
    lines += table("ResultFormatEntry", "kResultFormats", "Every format of results.", [
        (f"ResultCode::{constant(f['name'])}", quoted(f["name"]), str(f["bytes"]),
         str(f["signed"]).lower(), quoted(f["purpose"])) for f in commands["result_formats"]])
    lines += ["/// Bytes of a command in the ring.",
              f"inline constexpr std::size_t kCommandBytes = {commands['bytes']};", "",
              *doc("One command, as the driver means it; what an opcode does not use stays zero. Its fields are "
                   "explained in docs/reference/registers.md and in host/driver/gemm64_registers.h."),
              "struct Command {"]
    fields = [(f, f["name"].lower()) for f in commands["fields"]]
    lines += ["  Opcode opcode{};",
              *declared("std::uint32_t", [member for _, member in fields if member != "opcode"])]
    names = {member for _, member in fields}
    for stem in sorted(n[:-4] for n in names if n.endswith("_low") and n[:-4] + "_high" in names):
        lines += ["", f"  /// Both halves of the {stem}.",
                  f"  constexpr std::uint64_t {stem}() const {{",
                  f"    return std::uint64_t{{{stem}_high}} << 32 | {stem}_low;", "  }",
                  f"  constexpr void set_{stem}(std::uint64_t value) {{",
                  f"    {stem}_low = static_cast<std::uint32_t>(value);",
                  f"    {stem}_high = static_cast<std::uint32_t>(value >> 32);", "  }"]
    lines += ["", "  /// Writes the command as it is in memory: words of 32 bits, low byte first, all else zero.",
              "  /// Throws std::out_of_range if a value is wider than its field.",
              "  void encode(std::uint8_t* bytes) const;",
              "  /// Returns the command at `bytes`, as encode() writes it; accepts any opcode.",
              "  static Command decode(const std::uint8_t* bytes);", "};", "",
              "/// A field of a command.", "using CommandMember = std::uint32_t Command::*;", "",
              *doc("A field of a command: its place, and which opcodes use it (a bit for each, 1 << value)."),
              "struct CommandField {", "  const char* name;", "  std::uint32_t word, lsb, width;",
              "  std::uint32_t opcodes;", "  bool shares;  // its bits with fields of other opcodes", "  bool is_signed;",
              "  CommandMember member;  // null for the opcode", "",
              "  constexpr bool used_by(Opcode opcode) const {",
              "    return static_cast<std::uint32_t>(opcode) < 32 &&",
              "           (opcodes >> static_cast<std::uint32_t>(opcode) & 1) != 0;", "  }", "};", ""]
    signed = signed_fields(commands)
    def users(field):
        used = [o for o in commands["opcodes"] if field["name"] in ("OPCODE", *all_uses(o))]
        return sum(1 << o["value"] for o in used)
    lines += table("CommandField", "kCommandFields", "Every field of a command.", [
        (quoted(f["name"]), str(f["word"]), str(f["lsb"]), str(f["width"]), f"0x{users(f):03x}",
         str(f["opcodes"] is not None).lower(), str(f["name"] in signed).lower(), member_of(f["name"]))
        for f in commands["fields"]])
    lines += ["/// An opcode with its name, what it does, and the fields that it uses: always, and with a flag.",
              "struct OpcodeEntry {", "  Opcode value;", "  const char* name;", "  const char* purpose;",
              "  const char* fields;", "  std::uint32_t with;", "  const char* more;", "};", ""]
    rows = []
    for opcode in commands["opcodes"]:
        if len(opcode["with"]) > 1:
            raise Problem(f"opcode {opcode['name']}: one flag at most may add fields")
        flag, more = next(iter(opcode["with"].items()), (None, []))
        rows.append((f"Opcode::{constant(opcode['name'])}", quoted(opcode["name"]), quoted(opcode["purpose"]),
                     quoted(" ".join(opcode["uses"])), f"flag::{constant(flag)}" if flag else "0",
                     quoted(" ".join(more))))
    lines += table("OpcodeEntry", "kOpcodes", "Every opcode.", rows)
    return [*lines, *COMMAND_CODE[:-1].replace("CHECK", "\n  ".join(put_check(commands["check"]))).split("\n"), ""]


def cpp_reports(spec):
    lines = enum("ErrorCode", "Why the work stopped: ERROR.CODE.", spec["errors"])
    lines += enum("Engine", "Which part of the accelerator: ERROR.ENGINE.",
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
             "#include <array>", "#include <cctype>", "#include <cstddef>", "#include <cstdint>",
             "#include <sstream>", "#include <stdexcept>", "#include <string>", "", "namespace gemm64 {", "",
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


def declared(type, names):
    """Members that are zero, as many in a line of 100 columns as there is space for."""
    lines = []
    for name in names:
        if lines and len(lines[-1]) + len(f", {name} = 0") <= 100:
            lines[-1] = f"{lines[-1][:-1]}, {name} = 0;"
        else:
            lines.append(f"  {type} {name} = 0;")
    return lines


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
    lines += ["/// Copies an address, which has two halves in a Command.",
              "template <class Typed>", "constexpr void copy_address(const Command& from, Typed& to) {",
              "  to.address = from.address();", "}", "template <class Typed>",
              "constexpr void copy_address(const Typed& from, Command& to) {", "  to.set_address(from.address);", "}", "",
              "/// What the structs have in common.", "template <class Own, Opcode opcode>", "struct CommandOf {",
              "  static constexpr Opcode kOpcode = opcode;",
              "  constexpr operator Command() const {  // NOLINT(google-explicit-constructor)",
              "    Command command;", "    command.opcode = kOpcode;",
              "    Own::copy(static_cast<const Own&>(*this), command);", "    return command;", "  }", "",
              " protected:", "  constexpr void take(const Command& command) {", "    require(command, kOpcode);",
              "    Own::copy(command, static_cast<Own&>(*this));", "  }", "};", ""]
    for opcode in commands["opcodes"]:
        kind = constant(opcode["name"])[1:] + "Command"
        uses = [f["name"].lower() for f in commands["fields"] if f["name"] in all_uses(opcode)]
        members, copies = {"std::uint32_t": [], "std::int32_t": [], "std::uint64_t": []}, []
        for member in uses:
            if member == "address_low":
                members["std::uint64_t"].append("address")
                copies.append("copy_address(from, to);")
            elif member != "address_high":
                members["std::int32_t" if member.upper() in signed else "std::uint32_t"].append(member)
                copies.append(f"to.{member} = from.{member};")
        unnamed = not copies  # parameters that nothing reads
        lines += [f"/// {opcode['name']}",
                  f"struct {kind} : CommandOf<{kind}, Opcode::{constant(opcode['name'])}> {{",
                  *(line for type, names in members.items() if names for line in declared(type, names)),
                  *([] if unnamed else [""]), f"  {kind}() = default;",
                  "  /// Throws std::invalid_argument if it is another command.",
                  f"  constexpr explicit {kind}(const Command& command) {{ take(command); }}",
                  "  template <class From, class To>",
                  "  static constexpr void copy(const From&, To&) {}" if unnamed else
                  "  static constexpr void copy(const From& from, To& to) {",
                  *("    " + copy for copy in copies), *([] if unnamed else ["  }"]), "};", ""]
    return "\n".join([*lines, "}  // namespace gemm64", ""])


def cpp_facts(spec):
    """Fields and commands as tables, for what handles commands without knowing each."""
    commands = spec["commands"]
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "#pragma once", "",
             "#include \"host/device/command_fact.hpp\"", "", "namespace gemm64 {", ""]
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
            *(member_of(memory.get(part)) for part in WALK), str(bool(memory.get("of"))).lower(),
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
        *("    {" + ", ".join(row[:-1]) + ",\n     " + row[-1] + "}," for row in rows), "  };", "  return rules;", "}",
        "// clang-format on", "", "}  // namespace gemm64", ""])


def cpp_energy(energy):
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// {WARNING}", "#pragma once", "", "namespace gemm64::energy {", ""]
    for entry in energy:
        lines += [*doc(entry["source"] + "."), f"inline constexpr double {constant(entry['name'])} = {entry['value']};"]
    return "\n".join([*lines, "", "}  // namespace gemm64::energy", ""])


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
