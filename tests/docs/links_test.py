# SPDX-License-Identifier: Apache-2.0
"""A link that leads nowhere is found, and no other."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

LINKS = pathlib.Path(__file__).with_name("links.py")


class Links(unittest.TestCase):
    def expect(self, code, word, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"README": "# Start\n", **pages}.items():
                path = pathlib.Path(folder, name.replace("__", "/") + ".md")
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, LINKS, folder], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            self.assertIn(word, result.stdout)

    def test_files_and_headings_are_followed(self):
        self.expect(0, "leads somewhere", README="[a](a.md) [b](a.md#two-words-1) [c](https://x.y) [d](#top)\n\n# Top\n",
                    a="## Two words\n\n## `Two` words!\n")

    def test_a_file_that_is_gone_is_found(self):
        self.expect(1, "README.md:3: gone.md: no such file", README="# Start\n\n[a](gone.md)\n")
        self.expect(1, "gone.png", README='<img src="gone.png">\n')

    def test_a_heading_that_is_gone_is_found(self):
        self.expect(1, "a.md has no such heading", README="[a](a.md#gone)\n", a="# Here\n```sh\n# gone\n```\n")

    def test_code_has_no_links(self):
        self.expect(0, "", README="`[a](gone.md)`\n```sh\n[a](gone.md)\n```\n")

    def test_a_long_readme_is_found(self):
        self.expect(1, "201 lines", README="x\n" * 201)

    def test_a_page_that_no_page_leads_to_is_found(self):
        self.expect(1, "docs/lost.md: no page leads to it", docs__README="[a](a.md)\n", docs__a="\n", docs__lost="\n")
        self.expect(0, "", docs__README="[a](a.md)\n", docs__a="[b](b.md)\n", docs__b="\n")
