# SPDX-License-Identifier: Apache-2.0
"""docs/course/check.py accepts an answer in each form that means the same, and no other answer."""

import pathlib
import subprocess
import sys
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "docs" / "course" / "check.py"


def check(*arguments):
    done = subprocess.run([sys.executable, "-B", CHECK, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


class Course(unittest.TestCase):
    def test_forms_of_a_number(self):
        for exercise, answer in (("1.1", "18,496"), ("1.1", "18496"), ("1.1", "18 496"), ("1.1", "18496.0"),
                                 ("1.2", "3612672"), ("6.2", "-64"), ("6.2", "−64"), ("8.2", "2.23 mJ"), ("5.3", "Results")):
            self.assertEqual(check(exercise, answer), (0, f"{exercise}: right"), answer)

    def test_forms_of_a_share(self):
        for answer in ("84", "84%", "84 %", "0.84", "84.0 %"):
            self.assertEqual(check("3.2", answer)[0], 0, answer)
        self.assertEqual(check("2.4", "1.3 %")[0], 0)
        self.assertEqual(check("2.4", "0.013")[0], 0)

    def test_a_number_that_is_not_rounded_gets_a_hint(self):
        self.assertEqual(check("3.2", "84.4"), (1, "3.2: not yet: 84.4 is right once it is rounded to 84"))

    def test_other_answers_are_not_right(self):
        for exercise, answer in (("3.2", "83"), ("3.2", "8.4"), ("1.1", "18,497"), ("6.2", "64"), ("5.3", "result"), ("3.1", "")):
            self.assertEqual(check(exercise, answer), (1, f"{exercise}: not yet"), answer)
        self.assertEqual(check("0.1", "1")[0], 2)
