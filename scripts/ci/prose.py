#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts words, line lengths and test names that the style of this project replaces.

    scripts/ci/prose.py             compares the counts with scripts/ci/prose.json, which only shrinks
    scripts/ci/prose.py --list [COMMIT]   prints each occurrence that was added since COMMIT (default: since main)
    scripts/ci/prose.py --update    lowers the counts in scripts/ci/prose.json; refuses to raise one

Words of comments, documents and messages that engineers of this field do not use have a replacement in WORDS.
Exit: 0 no count has grown, 1 one has, 2 bad usage.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = ROOT / "scripts" / "ci" / "prose.json"
#: A word and its replacement.
WORDS = {
    "clocks": "cycles", "behind": "after, following", "beside": "next to, in addition to", "alone": "only",
    "lies": "is stored, is located", "tells": "reports, prints", "told": "reported, specified",
    "under way": "in flight, pending", "on its way": "in flight", "side by side": "in parallel, next to each other",
    "so many": "N", "nobody": "no one, none", "whoever": "users", "anew": "again", "mend": "fix", "mends": "fixes",
    "reckon": "compute", "reckons": "computes", "standstill": "hang",
}
WORD = re.compile(r"\b(" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE)
TEXTS = ("*.md", "*.cpp", "*.hpp", "*.c", "*.h", "*.v", "*.py", "*.js", "*.html")
#: The list of words itself, and texts of others.
EXEMPT = ("scripts/ci/prose.py", "tests/scripts/prose_test.py", "CHANGELOG.md")
TEST_NAME = re.compile(r"^(?:TEST|TEST_F|TEST_P)\((\w+), (\w+)\)", re.MULTILINE)
COLUMNS, NAME = 100, 45


def files():
    listed = subprocess.run(["git", "ls-files", "--", *TEXTS], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        sys.exit("prose: the list of files is git's; this is no clone: " + listed.stderr.strip())
    return [name for name in listed.stdout.split() if name not in EXEMPT]


def long_lines(text):
    """Lines of a document beyond COLUMNS, without tables and code blocks."""
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif len(line) > COLUMNS and not inside and not line.lstrip().startswith("|"):
            yield line


def counts():
    """Returns {directory: {word: count}}."""
    found = collections.defaultdict(collections.Counter)
    for name in files():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue  # removed, and not committed yet
        folder = found[name.split("/")[0] if "/" in name else "."]
        folder.update(match[1].lower() for match in WORD.finditer(text))
        if name.endswith(".md"):
            folder[f"lines over {COLUMNS} columns"] += sum(1 for _ in long_lines(text))
        folder[f"test names over {NAME} characters"] += sum(
            len(f"{suite}.{test}") > NAME for suite, test in TEST_NAME.findall(text))
    return {folder: {word: n for word, n in sorted(words.items()) if n} for folder, words in sorted(found.items())}


def growth(now, limits):
    """Returns (directory, word, count, limit) of each count that has grown."""
    return [(folder, word, n, limits.get(folder, {}).get(word, 0))
            for folder, words in now.items() for word, n in words.items()
            if n > limits.get(folder, {}).get(word, 0)]


def added(since):
    """Prints the words, long lines and test names that the working tree has added since a commit."""
    base = subprocess.run(["git", "merge-base", "HEAD", since], cwd=ROOT, capture_output=True, text=True, check=False)
    difference = subprocess.run(["git", "diff", "-U0", base.stdout.strip() or "HEAD", "--", *TEXTS], cwd=ROOT,
                                capture_output=True, text=True, check=True).stdout
    name, line = "", 0
    for text in difference.splitlines():
        if text.startswith("+++ "):
            name = text[len("+++ b/"):]
        elif text.startswith("@@"):
            line = int(re.search(r"\+(\d+)", text)[1])
        elif text.startswith("+"):
            for match in WORD.finditer(text) if name not in EXEMPT else ():
                print(f"{name}:{line}: {match[1]}: use {WORDS[match[1].lower()]}")
            test = TEST_NAME.match(text[1:])
            if test and len(f"{test[1]}.{test[2]}") > NAME:
                print(f"{name}:{line}: {test[1]}.{test[2]} has over {NAME} characters")
            if name.endswith(".md") and any(long_lines(text[1:])):
                print(f"{name}:{line}: a line over {COLUMNS} columns")
            line += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", nargs="?", const="main", metavar="COMMIT", help="print the occurrences that were added")
    parser.add_argument("--update", action="store_true", help="lower the counts in scripts/ci/prose.json")
    arguments = parser.parse_args()
    if arguments.list:
        added(arguments.list)
        return 0
    now = counts()
    limits = json.loads(LIMITS.read_text(encoding="utf-8")) if LIMITS.exists() else now
    grown = growth(now, limits)
    for folder, word, n, limit in grown:
        advice = f"use {WORDS[word]}" if word in WORDS else "shorten them"
        print(f"{folder}: {word}: {n}, at most {limit}: {advice}; scripts/ci/prose.py --list shows where")
    if arguments.update and not grown:
        LIMITS.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
