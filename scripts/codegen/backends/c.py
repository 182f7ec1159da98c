# SPDX-License-Identifier: Apache-2.0
"""The driver's header in C."""

import itertools
import re
import textwrap

from problem import Problem
from .cpp import doc, put_check, quoted
from .spec import WARNING


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


def c_text(function, prefix, entries, comment):
    """A function that gives a number's words; unused ones cost a program nothing."""
    lines = [*doc(comment, mark="/*")]
    lines[-1] += " */"
    lines += [f"static inline const char *{function}(uint32_t value) {{", "  switch (value) {"]
    for name, words in entries:
        lines.append(f"    case {prefix}{name}: return {quoted(words)};")
    return [*lines, '    default: return "unknown";', "  }", "}", ""]


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
              "/* Writes the command as it is in the ring. Returns 0, or -1 where a value is wider than its",
              " * field. */",
              "static inline int gemm64_encode(const struct gemm64_command *command, uint8_t *bytes) {",
              f"  uint32_t words[GEMM64_COMMAND_BYTES / 4] = {{0}};", "  uint32_t i, together = 0;"]
    def put(field, member):
        shift = f" << {field['lsb']}" if field["lsb"] else ""
        return f"  words[{field['word']}] |= {member}{shift};"
    beyond = " | ".join(f"command->{f['name'].lower()}~>>~{f['width']}" for f in commands["fields"] if f["width"] < 32)
    lines += [line.replace("~", " ") for line in textwrap.wrap(
        f"if (({beyond}) != 0) return -1;", 100, initial_indent="  ", subsequent_indent="       ", break_long_words=False)]
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
