#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the documents show, and compares what they say is printed.

    tests/docs/run.py --build build [--long] [--list] [--update] [--without FOLDER]... [DOCUMENT...]

Each document's blocks run in its order in a folder of its own that holds what a reader has after a
clone and a build. README.md specifies the marks. --update writes what is printed now, and values of
expressions, into the documents; a command that fails is not repaired. Exit: 0
all is as shown or was updated, 1 something is not, 2 bad usage.
"""

import argparse
import ast
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from blocks import UnclearBlock, blocks
from output import missing, updated
from scratch import furnish

ROOT = pathlib.Path(__file__).resolve().parents[2]
VALUE = "value of line "  # precedes a line and its new value in the output of a program that is updated
def documents():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.split()
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md")
                  if not str(path.relative_to(ROOT)).startswith(("build", ".")))


class Session:
    """A document's commands, one after the other in one folder."""

    def __init__(self, folder, build, update):
        self.folder = folder
        self.update = update
        self.changes = {}  # line of a block -> its new text
        self.environment = {
            **os.environ,
            "PATH": f"{folder}/bin:{build}/venv/bin:{os.environ['PATH']}",
            "PYTHONPATH": f"{build}/python",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "0",
        }
        self.printed = ""  # by all blocks so far

    def execute(self, command, text=None):
        result = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, input=text or "",
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.printed += result.stdout
        return result

    def shell(self, text, fails=False):
        """What went wrong, and what was printed."""
        result = self.execute(["bash", "-euo", "pipefail", "-c", text])
        if result.returncode != (1 if fails else 0):
            last = result.stdout.strip().splitlines()[-3:]
            return f"ended with exit code {result.returncode}: " + " / ".join(last), result.stdout
        return None, result.stdout

    def python(self, block):
        result = self.execute([sys.executable, "-c", program(block.text, self.update)])
        if result.returncode != 0:
            return result.stdout.strip().splitlines()[-1]
        for line, value in re.findall(rf"(?m)^{VALUE}(\d+) (.*)$", result.stdout) if self.update else ():
            text = self.changes.get(block.line, block.text).splitlines()
            text[int(line) - 1] = re.sub(r"# (?!.*# ).*$", lambda _, value=value: f"# {value}", text[int(line) - 1])
            self.changes[block.line] = "\n".join(text)
        return None

    def compare(self, block, shown, printed):
        line = missing(shown, printed)
        if line is None:
            return None
        new = updated(shown, printed) if self.update else None
        if new is None:
            return f"does not print: {line.strip()}"
        command = block.text[:-len(shown)] if block.action == "console" else ""
        self.changes[block.line] = command + new
        return None

    def run(self, block):
        """What is not as the document shows; None: nothing."""
        if block.action == "sh":
            return self.shell(block.text)[0]
        if block.action == "python":
            return self.python(block)
        if block.action == "file":
            (self.folder / block.name).write_text(block.text + "\n", encoding="utf-8")
            return self.shell(block.command)[0]
        command, shown = block.command, block.text
        if block.action == "console":
            first, _, shown = block.text.partition("\n")
            command = first.removeprefix("$ ")
        if not command:
            return self.compare(block, shown, self.printed)
        wrong, printed = self.shell(command, fails="FAILED" in shown)
        return wrong or self.compare(block, shown, printed)


def program(text, update):
    """Returns the program, which ends if an expression's value is not that of the comment that follows it.

    With `update` it prints the lines and values that differ.
    """
    lines = text.splitlines()
    statements = []
    for statement in ast.parse(text).body:
        source = "\n".join(lines[statement.lineno - 1:statement.end_lineno])
        statements.append(source)
        comment = lines[statement.end_lineno - 1][statement.end_col_offset:].strip()
        if not isinstance(statement, ast.Expr) or not comment.startswith("#"):
            continue
        try:
            value = ast.literal_eval(comment.lstrip("# "))
        except (SyntaxError, ValueError):
            continue  # words
        statements[-1] = f"_value = {ast.unparse(statement.value)}\n" + (
            f"if _value != {value!r}: print('{VALUE}{statement.end_lineno}', repr(_value))" if update else
            f"assert _value == {value!r}, f'line {statement.lineno}: {{_value!r}}, shown as {value!r}'")
    return "\n".join(statements)


def rewrite(path, changes):
    """Writes the new texts of blocks, by the line of their opening fence."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for line in sorted(changes, reverse=True):
        indent = " " * (len(lines[line - 1]) - len(lines[line - 1].lstrip()))
        end = next(k for k in range(line, len(lines)) if lines[k].strip() == "```")
        lines[line:end] = [indent + text if text and not text.startswith(indent or "\0") else text
                           for text in changes[line].splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_document(path, found, arguments):
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="readme") as folder:
        folder = pathlib.Path(folder)
        furnish(folder, ROOT, arguments.build)
        session = Session(folder, arguments.build, arguments.update)
        for block in found:
            if block.action == "none" or (block.long and not arguments.long):
                continue
            before = processor_time()
            problem = session.run(block)
            print(f"{block}: {'WRONG: ' + problem if problem else 'updated' if block.line in session.changes else 'ok'} "
                  f"({processor_time() - before:.1f} s of processor time)", flush=True)
            wrong += problem is not None
    if session.changes:
        rewrite(path, session.changes)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--long", action="store_true", help="also what takes minutes")
    parser.add_argument("--list", action="store_true", help="what does not run, and why; runs nothing")
    parser.add_argument("--update", action="store_true", help="rewrite shown output that differs from what is printed")
    parser.add_argument("--without", action="append", default=[], metavar="FOLDER", help="leaves out its documents")
    parser.add_argument("document", nargs="*", help="all of the repository where none is named")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    wrong = 0
    for name in arguments.document or documents():
        if name.startswith(tuple(f"{folder}/" for folder in arguments.without)):
            continue
        path = pathlib.Path(name) if arguments.document else ROOT / name
        try:
            found = blocks(name, path.read_text(encoding="utf-8"))
        except UnclearBlock as error:
            print(error)
            wrong += 1
            continue
        if arguments.list:
            for block in found:
                if block.reason:
                    print(f"{block}: {'long' if block.long else 'not run'}: {block.reason}")
        elif any(block.action != "none" for block in found):
            wrong += run_document(path, found, arguments)
    if not arguments.list:
        print(f"{processor_time():.0f} s of processor time in all")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
