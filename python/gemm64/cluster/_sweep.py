# SPDX-License-Identifier: Apache-2.0
"""A sweep on a cluster: a unit is one row."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .. import _gemm64
from .._errors import InvalidArgument, OutputError
from .._gemm64 import VERSION
from .._sweep import sweep_points
from . import _worker
from ._work import build_sha256

#: The figures of a row that tell whether it held: null where it was predicted.
_VERIFIED = "verified"


def _write(path: str, text: str) -> None:
    """The whole file, or none."""
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise OutputError(f"{path}: {error.strerror}") from None


class SweepWork:
    """A sweep of `gemm64 sweep`. Its ONNX files must be there for the workers, under their names."""

    def __init__(self, file: str, csv: str | None, json_file: str | None, plot: str | None) -> None:
        """Raises InvalidArgument where the file is no sweep, or an output is there already."""
        self.model: _worker.Model | None = None
        self._file = file
        self._outputs = {"csv": csv, "json": json_file, "plot": plot}
        if plot is not None:
            _gemm64.need_charts("--plot", plot)
        try:
            self._text = pathlib.Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise InvalidArgument(f"{file}: cannot be read: {error}") from None
        for option, path in self._outputs.items():
            if path is not None and os.path.isfile(path) and os.path.getsize(path):
                raise InvalidArgument(
                    f"--{option} {path}: the file is there already; remove it, or name another"
                )
        self._points = sweep_points(self._text)
        self._rows: list[str] = []

    def count(self) -> int:
        return len(self._points)

    def weights(self) -> list[float]:
        return _gemm64.sweep_costs(self._text)

    def facts(self) -> dict[str, Any]:
        facts = {"gemm64": VERSION, "build": build_sha256(),
                 "sweep's sha256": hashlib.sha256(self._text.encode()).hexdigest()}
        for name in sorted({str(point["network"]) for point in self._points}):
            if os.path.isfile(name):
                contents = pathlib.Path(name).read_bytes()
                facts[f"{name}, whose sha256 is"] = hashlib.sha256(contents).hexdigest()
        return facts

    def input(self, unit: int) -> bytes:
        return json.dumps(unit).encode()

    def named(self, unit: int) -> list[str]:
        point = self._points[unit]
        return [f"{name} {value}" for name, value in point.items() if value is not None]

    def call(self, unit: bytes) -> tuple[Callable[..., _worker.Outcome], tuple[Any, ...]]:
        return _worker.run_row, (self._text, json.loads(unit))

    def add(self, unit: int, result: bytes) -> str:
        self._rows.append(result.decode())
        row: dict[str, Any] = json.loads(result)
        return "" if row[_VERIFIED] is not False else str(row["error"] or "did not hold")

    def _as_text(self, kind: str, width: int = 0) -> str:
        return _gemm64.sweep_text(kind, self._rows, self._file, width)

    def finish(self) -> int:
        lost: Iterable[str] = []
        for kind, path in self._outputs.items():
            if path is None:
                continue
            try:
                _write(path, self._as_text(kind))
            except OutputError as error:
                lost = [*lost, str(error)]
        if self._outputs["csv"] is None:
            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
            sys.stdout.write(self._as_text("table", width))
        print(self._as_text("verdict"), flush=True)
        if lost:
            raise OutputError("; ".join(lost))
        return 1 if any(json.loads(row)[_VERIFIED] is False for row in self._rows) else 0
