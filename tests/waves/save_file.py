# SPDX-License-Identifier: Apache-2.0
"""Reads GTKWave's save files: which traces they show, of which signals, through which filters."""

import re
from dataclasses import dataclass, field

GROUP_BEGIN, GROUP_END = 1 << 23, 1 << 24


@dataclass
class Item:
    """A line that GTKWave shows: a trace, a comment, or a group's begin or end."""
    label: str
    group: str
    flags: int
    signals: list = field(default_factory=list)  # as the file names them; "(3)name[7:0]" is a bit
    filter: str = ""
    made: bool = False  # a vector that is put together from the signals, the first on the left


def read(path):
    """The items of a save file in their order."""
    items, groups, flags, filter_file = [], [], 0, ""
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if not line or line[0] in "[*":
                continue
            if line[0] == "@":
                flags = int(line[1:], 16)
            elif line[0] == "^":
                filter_file = line.split(" ", 1)[1]
            elif line[0] == "-":
                if flags & GROUP_BEGIN:
                    groups.append(line[1:])
                items.append(Item(line[1:], ".".join(groups), flags))
                if flags & GROUP_END:
                    assert groups and groups.pop() == line[1:], f"{path}: {line} ends no group"
            else:
                match = re.fullmatch(r"(?:([+#])\{([^}]*)\} )?(.*)", line)
                items.append(Item(match[2] or match[3], ".".join(groups), flags, match[3].split(),
                                  filter_file, match[1] == "#"))
                filter_file = ""
    assert not groups, f"{path}: the group {groups} does not end"
    return items


def range_of(signal):
    """The left index of a signal's range, 0 where it has none."""
    match = re.search(r"\[(\d+):0\]$", signal)
    return int(match[1]) if match else 0


def missing(items, names):
    """What the items name and the waveform lacks, as text."""
    found = []
    for item in items:
        for signal in item.signals:
            match = re.fullmatch(r"\((\d+)\)(.*)", signal)
            name = match[2] if match else signal
            if name not in names:
                found.append(f"{item.group}: {item.label}: {name}")
            elif match and int(match[1]) > range_of(name):
                found.append(f"{item.group}: {item.label}: {signal}, a bit that it does not have")
    return found


def width(item):
    """Bits of a trace."""
    return len(item.signals) if item.made else range_of(item.signals[0]) + 1


def words(path):
    """A translate filter: word by value, the colour left out."""
    with open(path, encoding="utf-8") as file:
        pairs = [line.split(" ", 1) for line in file.read().splitlines() if line[0] != "#"]
    return {value: re.sub(r"^\?.*\?", "", word) for value, word in pairs}
