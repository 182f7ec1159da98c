# SPDX-License-Identifier: Apache-2.0
"""Random legal programs, as gemm64_random_programs (random_programs.cpp) writes them."""

import json
import pathlib


class Program:
    """Memory before and after, and the bytes that the reference device moves."""

    def __init__(self, file):
        facts = json.loads(file.read_text(encoding="utf-8"))
        self.name, self.array, self.seed, self.listing = file.stem, facts["array"], facts["seed"], facts["commands"]
        self.commands = [bytes.fromhex(command) for command in facts["program"]]
        self.bytes, self.ignored = facts["bytes"], range(*facts["ignored"])
        self.before, self.after = (file.with_suffix(suffix).read_bytes() for suffix in (".before", ".after"))

    def place(self, memory):
        """Writes the memory before; returns all of memory as it must be afterwards."""
        memory[:] = self.before + bytes(len(memory) - len(self.before))
        return self.after + bytes(len(memory) - len(self.after))


def load(folder):
    """Those in a folder, in order of their names."""
    return [Program(file) for file in sorted(pathlib.Path(folder).glob("*.json"))]
