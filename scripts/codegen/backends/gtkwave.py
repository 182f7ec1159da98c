# SPDX-License-Identifier: Apache-2.0
"""GTKWave's words for values."""

import itertools

from .spec import FILTERS, WARNING


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
