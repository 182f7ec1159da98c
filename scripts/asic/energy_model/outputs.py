# SPDX-License-Identifier: Apache-2.0
"""Tables for a person, and files for programs."""

import json
import os


class OutputLost(Exception):
    """A file that could not be written."""


def write_json(path, content):
    """Writes a file whole or not at all."""
    text = json.dumps(content, indent=1) + "\n"
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.remove(part)
        raise OutputLost(f"{path}: {error.strerror}") from error


def summary(part, command, seconds, rows):
    """What a sign-off says of a command. rows: (what, figure, goal, met, cause)"""
    return {"part": part, "command": command, "seconds": round(seconds),
            "rows": [dict(zip(("what", "figure", "goal", "met", "cause"), row)) for row in rows]}


def table(header, rows):
    """Text in columns: the first to the left, figures to the right."""
    cells = [list(header)] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
                     for row in cells)
