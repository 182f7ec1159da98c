#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the documents' links to files and headings of the repository.

    tests/docs/links.py [FOLDER]

Also: README.md has at most 90 lines, and each page of docs/ is linked from docs/README.md or a page that is.
Exit: 0 all lead somewhere, 1 one does not.
"""

import pathlib
import re
import subprocess
import sys

MOST_LINES = 90  # of README.md
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^ *```")


def documents(root):
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [root / name for name in listed.stdout.split() if (root / name).is_file()]
    return sorted(path for path in root.rglob("*.md") if not str(path.relative_to(root)).startswith(("build", ".")))


def prose(text):
    """(number, line) outside of code."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, re.sub(r"`[^`]*`", lambda code: "`" + "x" * (len(code[0]) - 2) + "`", line)


def anchor(heading):
    """As GitHub makes it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(text):
    found, inside = set(), False
    for line in text.splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside and (heading := re.match(r"#+ (.*)", line)):
            name, times = anchor(heading[1]), 0
            while name + (f"-{times}" if times else "") in found:
                times += 1
            found.add(name + (f"-{times}" if times else ""))
    return found


def links(path):
    for number, line in prose(path.read_text(encoding="utf-8")):
        for target in LINK.findall(line):
            yield number, target[0] or target[1]


def wrong_links(root, path):
    for number, link in links(path):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        place = f"{path.relative_to(root)}:{number}"
        if not target.exists():
            yield f"{place}: {link}: no such file"
        elif heading and target.suffix == ".md" and heading not in anchors(target.read_text(encoding="utf-8")):
            yield f"{place}: {link}: {target.name} has no such heading"


def unlinked_pages(root):
    start = root / "docs" / "README.md"
    if not start.is_file():
        return
    seen, open_pages = {start}, [start]
    while open_pages:
        page = open_pages.pop()
        for _, link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file() and target not in seen and root / "docs" in target.parents:
                seen.add(target)
                open_pages.append(target)
    for page in sorted((root / "docs").rglob("*.md")):
        if page not in seen:
            yield f"{page.relative_to(root)}: no page leads to it from docs/README.md"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    problems = [problem for path in documents(root) for problem in wrong_links(root, path)]
    problems += unlinked_pages(root)
    lines = len((root / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES:
        problems.append(f"README.md: {lines} lines; at most {MOST_LINES}: what is longer goes into docs/")
    print("\n".join(problems) if problems else "every link leads somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
