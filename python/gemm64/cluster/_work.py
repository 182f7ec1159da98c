# SPDX-License-Identifier: Apache-2.0
"""What there is to do: units that do not depend on each other, and what becomes of their results."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Callable
from typing import Any, Protocol

from .. import _gemm64
from .._gemm64 import VERSION
from . import _worker

#: Of 16 MB of Python module: the build, and so the RTL and the host.
_module_sha256: list[str] = []


def build_sha256() -> str:
    """The build of gemm64 that this process uses."""
    if not _module_sha256:
        contents = pathlib.Path(str(_gemm64.__file__)).read_bytes()
        _module_sha256.append(hashlib.sha256(contents).hexdigest())
    return _module_sha256[0]


class Work(Protocol):
    """Units by their numbers, from 0; results are taken in that order."""

    #: What each unit's function takes first, put on every worker once.
    model: _worker.Model | None

    def count(self) -> int:
        """How many units there are."""

    def weights(self) -> list[float]:
        """About what each unit takes, in any unit."""

    def facts(self) -> dict[str, Any]:
        """What, in addition to a unit's own input, decides what comes of it; by names for messages."""

    def input(self, unit: int) -> bytes:
        """A unit's input."""

    def named(self, unit: int) -> list[str]:
        """What a unit works on: the names of its images."""

    def call(self, unit: bytes) -> tuple[Callable[..., _worker.Outcome], tuple[Any, ...]]:
        """The function that runs a unit, and its arguments after the model."""

    def add(self, unit: int, result: bytes) -> str:
        """Takes the result of the next unit; returns what was wrong with it, or nothing."""

    def finish(self) -> int:
        """Reports; returns the exit code."""


class NetworkWork:
    """A network on images: a unit is one pass of them."""

    def __init__(self, arguments: list[str]) -> None:
        """arguments: those of `gemm64 run`."""
        self.arguments = tuple(arguments)
        self.units = _gemm64.NetworkUnits(arguments)
        self.model: _worker.Model | None = _worker.Model.of(self.units.model())

    def count(self) -> int:
        return self.units.count()

    def weights(self) -> list[float]:
        return [float(len(self.named(unit))) for unit in range(self.count())]

    def facts(self) -> dict[str, Any]:
        assert self.model is not None
        known = {"gemm64": VERSION, "build": build_sha256(), "model": self.units.model_name(),
                 "model's sha256": self.model.sha256}
        settings: dict[str, Any] = json.loads(self.units.settings())
        return {**known, **{f"--{name}": value for name, value in settings.items()}}

    def input(self, unit: int) -> bytes:
        return self.units.unit(unit)

    def named(self, unit: int) -> list[str]:
        return self.units.images_of(unit)

    def call(self, unit: bytes) -> tuple[Callable[..., _worker.Outcome], tuple[Any, ...]]:
        return _worker.run_pass, (self.arguments, unit)

    def add(self, unit: int, result: bytes) -> str:
        return self.units.add(result)

    def finish(self) -> int:
        return self.units.finish()


def listed(names: list[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    text = ", ".join(names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"
