# SPDX-License-Identifier: Apache-2.0
"""Every target of the makefiles: its recipe is correct shell, the scripts that it calls exist and parse, and `make help` names it."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = sorted(
    str(path.parent.relative_to(ROOT))
    for top in ["scripts", "sim", "tests"]
    for path in (ROOT / top).glob("**/Makefile")
    if "common.mk" in path.read_text(encoding="utf-8")
)


def targets() -> "list[tuple[str, str]]":
    """Folder and name."""
    found = []
    for folder in [".", *FOLDERS]:
        text = (ROOT / folder / "Makefile").read_text(encoding="utf-8")
        phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
        assert phony is not None
        found += [(folder, name) for name in phony.group(1).split()]
    return found


def make(folder: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", "--no-print-directory", "-C", ROOT / folder, "SETUP=true", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class Make(unittest.TestCase):
    def test_recipes_are_correct_shell(self) -> None:
        for folder, target in targets():
            with self.subTest(folder=folder, target=target):
                recipe = make(folder, "-n", target)
                self.assertEqual(recipe.returncode, 0, recipe.stderr)
                parsed = subprocess.run(
                    ["sh", "-n"], input=recipe.stdout, capture_output=True, text=True, timeout=60, check=False
                )
                self.assertEqual(parsed.stderr, "")

    def test_scripts_that_they_call_are_there_and_parse(self) -> None:
        called = set()
        for folder, target in targets():
            called |= set(re.findall(r"(?<![\w/.-])((?:scripts|tests)/[\w/.-]+)", make(folder, "-n", target).stdout))
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
        for folder in [".", *FOLDERS]:
            lines = re.findall(r"^(?:make )?([a-z][\w-]*)  ", make(folder, "help").stdout, re.MULTILINE)
            self.assertEqual(lines, [name for where, name in targets() if where == folder])

    def test_help_of_the_root_names_targets_of_folders(self) -> None:
        lines = dict(re.findall(r"^make -C (\S+) +(.*)$", make(".", "help").stdout, re.MULTILINE))
        self.assertEqual(sorted(lines), FOLDERS)
        for folder, names in lines.items():
            self.assertEqual(names.split(", "), [name for where, name in targets() if where == folder])
