# SPDX-License-Identifier: Apache-2.0
"""What notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    cells = "".join(f"<th>{escape(text)}</th>" for text in head)
    lines = [f"<thead><tr>{cells}</tr></thead>"]
    for row in rows:
        cells = "".join(f"<td>{escape(text)}</td>" for text in row)
        lines.append(f"<tr>{cells}</tr>")
    return "<table>" + "".join(lines) + "</table>"
