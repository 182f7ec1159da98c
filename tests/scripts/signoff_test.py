# SPDX-License-Identifier: Apache-2.0
"""`scripts/ci/signoff.py` joins what the checks wrote, and says nothing is met that is not."""
import os
import subprocess
import tempfile
import textwrap
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# In place of make -C FOLDER TARGET: "$3" is the target; the last word of ARGS= is the file of its summary.
MAKE = """\
#!/bin/bash
summary=${4##* }
case $3 in
  synth) echo '{"rows": [{"what": "worst path", "figure": "5.7 ns", "goal": "5.8 ns", "met": true, "cause": ""}]}' >"$summary" ;;
  energy) echo '{"rows": [{"what": "a MAC", "figure": "20 pJ", "goal": "", "met": null, "cause": ""}]}' >"$summary" ;;
  formal) echo '{"rows": [{"what": "time", "figure": "25 min", "goal": "20 min", "met": false, "cause": "a slow solver"}]}' >"$summary"; exit 1 ;;
  fpga) echo "no yosys" >&2; exit 2 ;;
  mutants) echo '{"rows": [{"what": "killed", "figure": "99 %", "goal": "98 %", "met": true, "cause": ""}]}' >"$summary"; exit 2 ;;
  coverage) echo '{"rows": [{"what": "lines", "met": true}]}' >"$summary" ;;
esac
"""


class SignOff(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.make = os.path.join(self.folder, "make")
        with open(self.make, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(MAKE))
        os.chmod(self.make, 0o755)

    def signoff(self, *arguments):
        done = subprocess.run([os.path.join(ROOT, "scripts", "ci", "signoff.py"), "--build", self.folder, "--make", self.make, *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_goals_met(self):
        code, text = self.signoff("--only", "timing,energy")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"timing +worst path +5\.7 ns +5\.8 ns +met")
        self.assertRegex(text, r"energy +a MAC +20 pJ\n")
        self.assertIn("1 goals met, 0 missed", text)

    def test_a_missed_goal_is_told_with_its_cause(self):
        code, text = self.signoff("--only", "timing,proofs")
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"proofs +time +25 min +20 min +missed\n +a slow solver\n")
        self.assertIn("1 goals met, 1 missed", text)

    def test_a_check_without_a_summary_is_missed(self):
        code, text = self.signoff("--only", "fpga")
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"fpga ran to its end +no +yes +missed\n +it wrote no summary; exit 2")
        with open(os.path.join(self.folder, "signoff", "fpga.log"), encoding="utf-8") as log:
            self.assertIn("no yosys", log.read())

    def test_a_summary_of_an_earlier_run_is_not_taken(self):
        os.mkdir(os.path.join(self.folder, "signoff"))
        old = os.path.join(self.folder, "signoff", "fpga.json")
        with open(old, "w", encoding="utf-8") as file:
            file.write('{"rows": [{"what": "LUTs", "figure": "1", "goal": "2", "met": true, "cause": ""}]}')
        os.utime(old, (1, 1))
        code, text = self.signoff("--only", "fpga")
        self.assertEqual(code, 1, text)
        self.assertNotIn("LUTs", text)

    def test_a_check_that_fails_with_its_goals_met_is_missed(self):
        code, text = self.signoff("--only", "mutants")
        self.assertEqual(code, 1, text)
        self.assertIn("1 goals met, 1 missed", text)

    def test_a_row_that_lacks_something_is_refused(self):
        code, text = self.signoff("--only", "coverage")
        self.assertEqual(code, 1, text)
        self.assertIn("its summary has a row", text)

    def test_an_unknown_check_is_named(self):
        code, text = self.signoff("--only", "timing,speed")
        self.assertEqual(code, 2, text)
        self.assertIn("no check is called 'speed'; there are timing, netlist, energy", text)
