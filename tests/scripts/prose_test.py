# SPDX-License-Identifier: Apache-2.0
"""`scripts/ci/prose.py` fails when a count grows, and lowers its limits only."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def setUpModule():
    os.environ.pop("GIT_DIR", None)


class Prose(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "scripts/ci").mkdir(parents=True)
        (self.root / "docs").mkdir()
        shutil.copy(ROOT / "scripts" / "ci" / "prose.py", self.root / "scripts/ci")
        subprocess.run(["git", "init", "-q", "-b", "main", self.root], check=True)
        self.write("A product takes 9 clocks.\n")
        self.assertEqual(self.run_it("--update")[0], 0)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, text):
        (self.root / "docs" / "page.md").write_text(text, encoding="utf-8")
        subprocess.run(["git", "-C", self.root, "add", "-A"], check=True)

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, "-B", self.root / "scripts" / "ci" / "prose.py", *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def limits(self):
        return json.loads((self.root / "scripts" / "ci" / "prose.json").read_text(encoding="utf-8"))

    def test_counts_as_before_are_accepted(self):
        self.assertEqual(self.run_it(), (0, ""))

    def test_a_word_more_is_refused_with_its_replacement(self):
        self.write("A product takes 9 clocks, another 10 clocks.\n")
        code, text = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("docs: clocks: 2, at most 1: use cycles", text)

    def test_long_lines_and_test_names_are_counted(self):
        self.write("word " * 30 + "\n```\n" + "code " * 30 + "\n```\n")
        self.assertIn("docs: lines over 100 columns: 1, at most 0", self.run_it()[1])
        (self.root / "a_test.cpp").write_text(f"TEST(Suite, {'A' * 50}) {{}}\n", encoding="utf-8")
        subprocess.run(["git", "-C", self.root, "add", "-A"], check=True)
        self.assertIn("test names over 45 characters: 1", self.run_it()[1])

    def test_limits_shrink_and_do_not_grow(self):
        self.write("Two clocks and two clocks.\n")
        self.assertEqual(self.run_it("--update")[0], 1)
        self.assertEqual(self.limits()["docs"], {"clocks": 1})
        self.write("A product takes 9 cycles.\n")
        self.assertEqual(self.run_it("--update")[0], 0)
        self.assertEqual(self.limits()["docs"], {})

    def test_list_names_the_added_line(self):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", self.root, *author, "commit", "-qm", "Add"], check=True)
        self.write("A product takes 9 clocks.\nNobody waits.\n")
        self.assertEqual(self.run_it("--list")[1], "docs/page.md:2: Nobody: use no one, none\n")
