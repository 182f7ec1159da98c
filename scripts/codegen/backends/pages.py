# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reference."""

from .spec import ACCESS, JSON, REFERENCE


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
         ", ".join(f"`{rule.text}`".replace("|", "\\|") for rule in o["bounds"]) or "–") for o in c["opcodes"]])
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
                         "in which the accelerator is busy, so an engine's causes add up to `total.clocks`. "
                         "[How cycles are predicted](../explanations/cycles.md)."], tables["counters"]),
    }
