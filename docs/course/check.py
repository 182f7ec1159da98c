#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is that the answer? docs/course/check.py EXERCISE ANSWER, as in: docs/course/check.py 1.1 18,496

Numbers may have separators and a unit; a share may be 84 %, 84 or 0.84.

Exit: 0 it is, 1 it is not (yet), 2 there is no such exercise.
"""

import hashlib
import json
import pathlib
import re
import sys

# Of the answers only the hashes, so that no one reads them by accident.
ANSWERS = pathlib.Path(__file__).with_name("answers.json")


def digest(exercise, answer):
    return hashlib.sha256(f"{exercise}:{answer}".encode()).hexdigest()[:16]


def number(answer):
    """Returns the number of "18,496", "84 %" or "2.23 mJ", or None of a word."""
    found = re.fullmatch(r"([-−+]?[\d, ]*\.?\d+)\s*(%|[a-zµ/]*)", answer.strip().lower())
    return None if found is None else float(re.sub(r"[, +]", "", found[1]).replace("−", "-"))


def forms(answer):
    """The forms of an answer that mean the same: digits grouped or not, a unit or none, 84 %, 84 and 0.84."""
    yield answer.replace(",", "").replace(" ", "").lower()
    value = number(answer)
    if value is not None:
        yield f"{value:g}" if abs(value) < 1e5 else f"{value:.0f}"
        if 0 < value < 1:
            yield f"{100 * value:g}"


def rounded(answer):
    """A number with fewer digits after the point."""
    value = number(answer)
    return () if value is None else [f"{round(value, digits):g}" for digits in (2, 1, 0) if round(value, digits) != value]


def main():
    answers = json.loads(ANSWERS.read_text(encoding="utf-8"))
    if len(sys.argv) != 3 or sys.argv[1] not in answers:
        print(f"Usage: docs/course/check.py EXERCISE ANSWER\nExercises: {', '.join(answers)}", file=sys.stderr)
        return 2
    exercise, answer = sys.argv[1:]

    def is_right(form):
        return digest(exercise, form) == answers[exercise]

    if any(is_right(form) for form in forms(answer)):
        print(f"{exercise}: right")
        return 0
    near = next((form for form in rounded(answer) if is_right(form)), None)
    print(f"{exercise}: not yet" + (f": {answer} is right once it is rounded to {near}" if near else ""))
    return 1


if __name__ == "__main__":
    sys.exit(main())
