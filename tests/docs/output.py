# SPDX-License-Identifier: Apache-2.0
"""Compares output that a document shows with output that a command prints, and brings it up to date."""

import re

#: Differs from run to run, and from machine to machine.
MASKS = [
    (re.compile(r"\b[\d,]+(\.\d+)? (ms|s|min|h)\b"), "# s"),  # wall and processor time
    (re.compile(r"\b[\d,.]+ [kM]/s"), "# /s"),
    (re.compile(r"-{3,}"), "---"),  # under a heading, as long as the column is wide
]
#: Stands for any lines.
GAP = re.compile(r"(?m)^\.\.\.$\n?")
SKIPPED = 0.3  # cost of a line of either side without a counterpart
LIKE = 0.4  # lines with a smaller share of common words are not versions of each other


def masked(line):
    for pattern, text in MASKS:
        line = pattern.sub(text, line)
    return " ".join(line.split())


def missing(shown, printed):
    """Returns the first line that is shown and not printed in its position, or None.

    A shown "..." stands for any lines, as do the ends: a document shows a part.
    """
    have = [masked(line) for line in printed.splitlines()]
    at = 0
    for part in GAP.split(shown):
        want = [masked(line) for line in part.strip("\n").splitlines()]
        if not want:
            continue
        place = next((i for i in range(at, len(have) - len(want) + 1)
                      if have[i:i + len(want)] == want), None)
        if place is None:
            starts = [i for i in range(at, len(have)) if have[i] == want[0]]
            best = max((sum(1 for _ in _same(have[i:], want)) for i in starts), default=0)
            return part.strip("\n").splitlines()[best]
        at = place + len(want)
    return None


def _same(have, want):
    for one, other in zip(have, want):
        if one != other:
            return
        yield one


def _words(line):
    """Of a line, its words and the form of its numbers: versions of a line share most of them."""
    words = re.findall(r"[A-Za-z_]+|[\d,.]*\d|[^\w\s]", line)
    return set(words) | {"#" for word in words if word[-1].isdigit()}


def _likeness(one, other):
    """Returns 2 for equal lines, the share of common words (Dice) of versions of a line, None for different ones."""
    if one[0] == other[0]:
        return 2.0
    total = len(one[1]) + len(other[1])
    share = 2 * len(one[1] & other[1]) / total if total else 0.0
    return share if share >= LIKE else None


def _aligned(parts, have):
    """Returns for each line of `parts`, in order, the index of its counterpart in `have`, or None.

    The best order-preserving alignment (Needleman-Wunsch); lines printed between two parts cost nothing.
    """
    want = [line for part in parts for line in part]
    first = {sum(len(part) for part in parts[:k]) for k in range(len(parts) + 1)}
    rows, columns = len(want) + 1, len(have) + 1
    scores = [[0.0] * columns for _ in range(rows)]
    moves = [["printed"] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            options = []
            if i and j:
                likeness = _likeness(want[i - 1], have[j - 1])
                if likeness is not None:
                    options.append((scores[i - 1][j - 1] + likeness, "both"))
            if i:
                options.append((scores[i - 1][j] - SKIPPED, "shown"))
            if j:
                options.append((scores[i][j - 1] - (0 if i in first else SKIPPED), "printed"))
            if options:
                scores[i][j], moves[i][j] = max(options, key=lambda option: option[0])
    counterparts = [None] * len(want)
    i, j = len(want), len(have)
    while i:
        move = moves[i][j]
        if move == "both":
            counterparts[i - 1] = j - 1
        i, j = i - (move != "printed"), j - (move != "shown")
    return counterparts


def updated(shown, printed):
    """Returns `shown` with its lines as they are printed now, or None if a part of it has no counterpart.

    Lines that differ only in what is masked stay; so do the gaps "...".
    """
    lines = printed.splitlines()
    have = [(masked(line), _words(masked(line))) for line in lines]
    parts = [part.strip("\n").splitlines() for part in GAP.split(shown)]
    counterparts = iter(_aligned([[(masked(line), _words(masked(line))) for line in part] for part in parts], have))
    result = []
    for part in parts:
        of_part = [next(counterparts) for _ in part]
        matched = [index for index in of_part if index is not None]
        if part and not matched:
            return None
        kept = {index: line for line, index in zip(part, of_part) if index is not None and masked(line) == have[index][0]}
        new = [kept.get(index, lines[index]) for index in range(matched[0], matched[-1] + 1)] if part else []
        result.append("\n".join(new))
    lines = result[:1] + [line for part in result[1:] for line in ("...", part)]
    return "\n".join(line for line in lines if line)
