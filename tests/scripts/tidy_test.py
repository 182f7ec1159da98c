# SPDX-License-Identifier: Apache-2.0
"""`scripts/ci/tidy.py` checks each source file, and again only what has changed."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# In place of clang-tidy: BAD is a finding in a file, or in the header that it includes.
CLANG_TIDY = """\
#!/bin/bash
[[ $1 == --version ]] && { echo 14; exit 0; }
file=${!#}
grep -q CRASH "$file" && { echo "broken" >&2; exit 1; }
for each in "$file" host/shared.hpp; do
  if grep -q BAD "$each"; then echo "$PWD/${each#"$PWD"/}:1:2: error: it is bad [bugprone-bad]"; bad=1; fi
done
exit ${bad:-0}
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        self.root = os.path.realpath(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("bin", "scripts/ci", "build/Unity"):
            os.makedirs(os.path.join(self.root, name))
        shutil.copy(os.path.join(ROOT, "scripts", "ci", "tidy.py"), os.path.join(self.root, "scripts/ci"))
        self.write(".clang-tidy", "Checks: bugprone-*\n")
        self.write("bin/clang-tidy", CLANG_TIDY)
        self.write("host/shared.hpp", "int x;\n")
        self.write("host/single.cpp", '#include "host/shared.hpp"\n')
        self.write("host/joined.cpp", "int y;\n")
        self.write("tests/no.cpp", "BAD\n")  # of no folder that is checked
        unit = self.write("build/Unity/unity_0.cxx", f'#include "{self.root}/host/joined.cpp"\n')
        commands = [{"directory": self.root, "file": path, "command": f"/usr/bin/ccache clang++ -c {path}"}
                    for path in (os.path.join(self.root, "host/single.cpp"), unit, os.path.join(self.root, "tests/no.cpp"))]
        self.write("bin/ninja", f"#!/bin/bash\ncat <<'END'\n{json.dumps(commands)}\nEND\n")
        for tool in ("clang-tidy", "ninja"):
            os.chmod(os.path.join(self.root, "bin", tool), 0o755)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def tidy(self, *arguments):
        path = os.path.join(self.root, "bin") + os.pathsep + os.environ["PATH"]
        done = subprocess.run([os.path.join(self.root, "scripts", "ci", "tidy.py"), "--clang-tidy", os.path.join(self.root, "bin", "clang-tidy"), *arguments], cwd=self.root,
                              env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_clean_files_are_checked_once(self):
        code, text = self.tidy()
        self.assertEqual(code, 0, text)
        self.assertIn("2 files, 0 findings, 2 checked now", text)
        self.assertIn("0 checked now", self.tidy()[1])

    def test_a_changed_header_counts_for_those_that_include_it(self):
        self.tidy()
        self.write("host/shared.hpp", "int z;\n")
        self.assertIn("1 checked now", self.tidy()[1])

    def test_changed_checks_count_for_all(self):
        self.tidy()
        self.write(".clang-tidy", "Checks: performance-*\n")
        self.assertIn("2 checked now", self.tidy()[1])

    def test_findings_are_told_once_and_stay(self):
        self.write("host/joined.cpp", "BAD\n")
        for _ in range(2):
            code, text = self.tidy("--summary", os.path.join(self.root, "tidy.json"))
            self.assertEqual(code, 1, text)
            self.assertIn("host/joined.cpp:1: it is bad [bugprone-bad]", text)
        with open(os.path.join(self.root, "tidy.json"), encoding="utf-8") as file:
            [row] = json.load(file)["rows"]
        self.assertEqual((row["figure"], row["goal"], row["met"]), ("1", "0", False))

    def test_a_tool_that_fails_is_no_clean_file(self):
        self.write("host/single.cpp", "CRASH\n")
        code, text = self.tidy()
        self.assertEqual(code, 2, text)
        self.assertIn("host/single.cpp: clang-tidy failed: broken", text)
        self.assertIn("1 checked now", self.tidy()[1])

    def test_a_file_that_is_not_compiled_is_named(self):
        code, text = self.tidy("host/none.cpp")
        self.assertEqual(code, 2, text)
        self.assertIn("host/none.cpp is no source file", text)
