# SPDX-License-Identifier: Apache-2.0
"""What is stale in a document is found, and blocks that are not run are reported."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from blocks import UnclearBlock, blocks

RUN = pathlib.Path(__file__).with_name("run.py")
F = "```"


class Documents(unittest.TestCase):
    def outcome(self, text, *options, updated=None):
        """Of the runner on a document of this text; its build folder has no program."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "build" / "tool"
            program.parent.mkdir()
            program.write_text('#!/bin/sh\necho "begin"; echo "cycles  1,234 in 5.6 s"; echo "end $*"\n'
                               '[ "$1" != fail ] || { echo FAILED; exit 1; }\n[ "$1" != usage ] || exit 2\n')
            program.chmod(0o755)
            (folder / "page.md").write_text(text, encoding="utf-8")
            result = subprocess.run([sys.executable, RUN, "--build", folder / "build", *options, folder / "page.md"],
                                    capture_output=True, text=True, check=False)
            if updated is not None:
                self.assertEqual((folder / "page.md").read_text(encoding="utf-8"), updated, result.stdout)
            return result.returncode, result.stdout + result.stderr

    def expect(self, code, word, text, *options):
        found, printed = self.outcome(text, *options)
        self.assertEqual(found, code, printed)
        self.assertIn(word, printed)

    def test_a_command_that_runs_holds(self):
        self.expect(0, "ok", f"{F}sh\nbuild/tool   # a remark\n{F}\n")

    def test_a_stale_option_is_found(self):
        self.expect(1, "exit code 2", f"{F}sh\nbuild/tool usage\n{F}\n")

    def test_a_command_that_is_gone_is_found(self):
        self.expect(1, "exit code 127", f"{F}sh\nbuild/gone\n{F}\n")

    def test_an_error_in_the_middle_of_a_block_is_found(self):
        self.expect(1, "exit code 2", f"{F}sh\nbuild/tool usage\nbuild/tool\n{F}\n")

    def test_a_stale_figure_is_found(self):
        good = f"{F}\n$ build/tool x\n...\ncycles 1,234 in 9 s\nend x\n{F}\n"
        self.expect(0, "ok", good)
        self.expect(1, "does not print: cycles 1,235", good.replace("1,234", "1,235"))
        self.expect(1, "does not print: end y", good.replace("end x", "end y"))

    def test_lines_must_follow_each_other(self):
        self.expect(1, "does not print: end", f"{F}\n$ build/tool\nbegin\nend\n{F}\n")
        self.expect(0, "ok", f"{F}\n$ build/tool\nbegin\n...\nend\n{F}\n")

    def test_output_belongs_to_the_blocks_before_it(self):
        self.expect(0, "page.md:5: ok", f"{F}sh\nbuild/tool a\n{F}\n\n{F}\nend a\n{F}\n")
        self.expect(1, "page.md:5: WRONG", f"{F}sh\nbuild/tool a\n{F}\n\n{F}\nend b\n{F}\n")

    def test_output_of_a_command_is_marked(self):
        self.expect(0, "page.md:2: ok", f"<!-- output of: build/tool z -->\n{F}\nend z\n{F}\n")

    def test_a_failure_that_is_shown_must_come(self):
        shown = f"{F}\n$ build/tool fail\n...\nend fail\nFAILED\n{F}\n"
        self.expect(0, "ok", shown)
        self.expect(1, "exit code 0", shown.replace("tool fail", "tool fine"))

    def test_values_behind_expressions_of_python_are_compared(self):
        self.expect(0, "ok", f"{F}python\nx = 20\nx + 1      # 21\nx  # words are none\n{F}\n")
        self.expect(1, "line 2: 21, shown as 22", f"{F}python\nx = 20\nx + 1   # 22\n{F}\n")
        self.expect(1, "NameError", f"{F}python\nunknown\n{F}\n")

    def test_a_file_is_written_for_its_command(self):
        self.expect(0, "ok", f"<!-- file: a.json; grep -q 7 a.json -->\n{F}json\n[7]\n{F}\n")
        self.expect(1, "WRONG", f"<!-- file: a.json; grep -q 8 a.json -->\n{F}json\n[7]\n{F}\n")

    def test_long_blocks_run_when_asked_for(self):
        page = f"<!-- long: for ever -->\n{F}sh\nbuild/tool usage\n{F}\n"
        self.expect(0, "", page)
        self.expect(1, "exit code 2", page, "--long")
        self.expect(0, "long: for ever", page, "--list")

    def test_update_writes_current_output(self):
        page = f"Text\n\n{F}\n$ build/tool x\n...\ncycles 1,235 in 9 s\nend y\n{F}\n\n{F}\nbegin\n...\nend of y\n{F}\n"
        new = page.replace("cycles 1,235 in 9 s", "cycles  1,234 in 5.6 s").replace("end y", "end x").replace("end of y", "end x")
        self.assertIn("updated", self.outcome(page, "--update", updated=new)[1])
        self.assertIn("ok", self.outcome(new, updated=new)[1])

    def test_update_keeps_lines_that_differ_in_time_only(self):
        page = f"{F}\n$ build/tool x\nbegin\ncycles 1,234 in 9 s\nend of x\n{F}\n"
        self.outcome(page, "--update", updated=page.replace("end of x", "end x"))

    def test_update_inserts_and_removes_lines(self):
        page = f"  {F}\n  begin\n  gone\n  end 7\n  {F}\n"
        new = f"  {F}\n  begin\n  cycles  1,234 in 5.6 s\n  end 7\n  {F}\n"
        mark = "<!-- output of: build/tool 7 -->\n"
        self.outcome(mark + page, "--update", updated=mark + new)

    def test_update_writes_values(self):
        page = f"{F}python\nx = 20\nx + 1   # 22\nx  # words\n{F}\n"
        self.outcome(page, "--update", updated=page.replace("22", "21"))

    def test_update_repairs_no_command(self):
        page = f"{F}sh\nbuild/tool usage\n{F}\n\n{F}\nsomething else\n{F}\n"
        self.assertEqual(self.outcome(page, "--update", updated=page)[0], 1)

    def test_what_is_unclear_is_an_error(self):
        for text in (f"{F}sql\nselect\n{F}\n", f"<!-- not run -->\n{F}sh\nx\n{F}\n", f"{F}sh\nx\n",
                     f"<!-- not run: lost -->\nwords\n\n{F}sh\nx\n{F}\n"):
            with self.assertRaises(UnclearBlock, msg=text):
                blocks("page.md", text)
        self.assertEqual(blocks("page.md", f"<!-- not run: slow -->\n{F}sql\nx\n{F}\n")[0].reason, "slow")
        self.assertEqual(blocks("page.md", f"{F}text\n+-+\n{F}\n")[0].action, "none")
