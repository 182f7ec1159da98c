# SPDX-License-Identifier: Apache-2.0
"""Every target of the Makefile: its recipe is correct shell, the scripts that it calls are there and parse, and `make help` names it."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those that need no line of their own in `make help`, and why.
NOT_IN_HELP = {"build": "is `make`", "help": "prints the list", "web-check": "is on the line of `make web`"}


def targets() -> "list[str]":
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert found is not None
    return found.group(1).split()


def make(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", "SETUP=true", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


class Make(unittest.TestCase):
    def test_recipes_are_correct_shell(self) -> None:
        for target in targets():
            with self.subTest(target):
                recipe = make("-n", target)
                self.assertEqual(recipe.returncode, 0, recipe.stderr)
                parsed = subprocess.run(
                    ["sh", "-n"], input=recipe.stdout, capture_output=True, text=True, timeout=60, check=False
                )
                self.assertEqual(parsed.stderr, "")

    def test_scripts_that_they_call_are_there_and_parse(self) -> None:
        called = set()
        for target in targets():
            called |= set(re.findall(r"(?<![\w/.-])((?:scripts|tests)/[\w/.-]+)", make("-n", target).stdout))
        self.assertIn("scripts/setup/web.py", called)
        for name in sorted(called):
            with self.subTest(name):
                path = ROOT / name
                self.assertTrue(path.exists(), name)
                if not path.is_file():
                    continue
                first, _, _ = path.read_bytes().partition(b"\n")
                if b"bash" in first:
                    parsed = subprocess.run(
                        ["bash", "-n", path], capture_output=True, text=True, timeout=60, check=False
                    )
                    self.assertEqual(parsed.stderr, "")
                elif b"python" in first:
                    compile(path.read_text(encoding="utf-8"), name, "exec")

    def test_help_names_each_target(self) -> None:
        lines = re.findall(r"^make ?([\w-]*)", make("help").stdout, re.MULTILINE)
        for target in targets():
            if target not in NOT_IN_HELP:
                self.assertIn(target, lines)
        for name in lines:
            self.assertIn(name or "build", targets())


if __name__ == "__main__":
    unittest.main()
