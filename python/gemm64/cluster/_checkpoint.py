# SPDX-License-Identifier: Apache-2.0
"""Finished units in a folder, a file each, written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import tempfile
from typing import Any

from .._errors import InvalidArgument, OutputError
from ._work import Work, listed

_FORMAT = 1
_INSTEAD = "give another --checkpoint, or remove the folder"


class Checkpoint:
    """The units of one piece of work that are finished. Files of another one are refused."""

    def __init__(self, folder: str | os.PathLike[str], work: Work) -> None:
        """Finds what is there. Raises InvalidArgument, which names file and reason, where one of
        them does not belong to this work, and OutputError where none could be added.
        """
        self.folder = pathlib.Path(folder)
        self._work = work
        self._facts = work.facts()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for left in self.folder.glob("*.new"):  # by a run that was killed
                left.unlink()
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise InvalidArgument(f"--checkpoint {folder}: {error.strerror}") from None
        self.finished: set[int] = set()
        for file in sorted(self.folder.glob("unit-*.gemm64")):
            self.finished.add(self._check(file))

    def _file(self, unit: int) -> pathlib.Path:
        return self.folder / f"unit-{unit:07d}.gemm64"

    def _check(self, file: pathlib.Path) -> int:
        """Which unit the file holds."""
        header, _ = self._read(file)
        facts: dict[str, Any] = header["facts"]
        for name, value in self._facts.items():
            if facts.get(name) == value:
                continue
            if name == "build":
                raise InvalidArgument(f"{file}: was made by another build of gemm64; {_INSTEAD}")
            raise InvalidArgument(
                f"{file}: was made with {name} {facts.get(name)}; now it is {value}; {_INSTEAD}"
            )
        unit = int(header["unit"])
        if file != self._file(unit):
            raise InvalidArgument(f"{file}: is of unit {unit}, by another name; {_INSTEAD}")
        if unit >= self._work.count():
            raise InvalidArgument(
                f"{file}: is of unit {unit}; now there are {self._work.count()}; {_INSTEAD}"
            )
        if hashlib.sha256(self._work.input(unit)).hexdigest() != header["input"]:
            raise InvalidArgument(
                f"{file}: was made from other inputs ({listed(header['names'])}); now they are "
                f"{listed(self._work.named(unit))}, with other contents or in another order; "
                f"{_INSTEAD}"
            )
        return unit

    @staticmethod
    def _read(file: pathlib.Path) -> tuple[dict[str, Any], bytes]:
        try:
            line, _, result = file.read_bytes().partition(b"\n")
            header: dict[str, Any] = json.loads(line)
            whole = hashlib.sha256(result).hexdigest() == header["result"]
        except OSError as error:
            raise InvalidArgument(f"{file}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            whole = False
        if not whole or header.get("format") != _FORMAT:
            raise InvalidArgument(f"{file}: is damaged, or no unit of this version; remove it")
        return header, result

    def read(self, unit: int) -> bytes:
        """The result of a finished unit."""
        return self._read(self._file(unit))[1]

    def write(self, unit: int, given: bytes, result: bytes) -> None:
        """Keeps the result of a unit, made from `given`. Raises OutputError."""
        header = {
            "format": _FORMAT,
            "unit": unit,
            "names": self._work.named(unit),
            "input": hashlib.sha256(given).hexdigest(),
            "result": hashlib.sha256(result).hexdigest(),
            "facts": self._facts,
        }
        file = self._file(unit)
        temporary = file.with_suffix(f".{os.getpid()}.new")
        try:
            with open(temporary, "wb") as stream:
                stream.write(json.dumps(header).encode() + b"\n" + result)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, file)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise OutputError(f"{file}: {error.strerror}") from None
        self.finished.add(unit)
