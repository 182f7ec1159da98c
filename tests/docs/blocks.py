# SPDX-License-Identifier: Apache-2.0
"""The code blocks of a document, each with what is to be done with it."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^ *```(\w*)\s*$")
#: The line before a block: <!-- long --> and the like; see README.md.
MARK = re.compile(r"^ *<!-- (not run|long|output of|file)(?:: (.*?))? -->\s*$")
RUN = ("sh", "python")
#: Text that is no output of anything.
DRAWN = ("text",)


class UnclearBlock(Exception):
    """A block without a mark."""


@dataclass
class Block:
    document: str
    line: int
    language: str
    text: str
    action: str  # "sh", "python", "output", "console", "file" or "none"
    command: str = ""  # of "output" and "file"; "": what the blocks before have printed
    name: str = ""  # of "file"
    long: bool = False
    reason: str = ""  # why it does not run, or only in the long form

    def __str__(self):
        return f"{self.document}:{self.line}"


def _decide(document, line, language, text, marks):
    block = Block(document, line, language, text, "none")
    for kind, words in marks:
        if kind in ("not run", "long") and not words:
            raise UnclearBlock(f"{block}: '{kind}' needs a reason: <!-- {kind}: REASON -->")
        if kind == "not run":
            block.reason = words
            return block
        if kind == "long":
            block.long, block.reason = True, words
        elif kind == "output of":
            block.action, block.command = "output", words
        elif kind == "file":
            block.action = "file"
            block.name, _, block.command = words.partition("; ")
    if block.action != "none":
        return block
    if language in RUN:
        block.action = language
    elif language == "" and text.startswith("$ "):
        block.action = "console"
    elif language == "":
        block.action = "output"
    elif language in DRAWN:
        block.reason = "a drawing"
    else:
        raise UnclearBlock(
            f"{block}: a block of {language} cannot be run; put <!-- not run: REASON --> before it")
    return block


def blocks(document, text):
    """All blocks in order. Raises UnclearBlock."""
    found, marks, begin = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if begin is not None:
            if fence and not fence[1]:
                first, language, inside = begin
                found.append(_decide(document, first, language, "\n".join(inside), marks))
                begin, marks = None, []
            else:
                begin[2].append(line)
        elif fence:
            begin = (number, fence[1], [])
        elif mark := MARK.match(line):
            marks.append((mark[1], mark[2]))
        elif line.strip():
            if marks:
                raise UnclearBlock(f"{document}:{number}: no block follows the mark before it")
    if begin is not None:
        raise UnclearBlock(f"{document}:{begin[0]}: the block has no end")
    return found
