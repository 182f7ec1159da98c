# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, each with the built-in exception that fits."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, SupportsIndex

from ._gemm64 import (
    DeviceError,
    InvalidArgument,
    InvalidGraph,
    OutputError,
    UnsupportedOperator,
)

__all__ = [
    "DeviceError",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "NoSuchFile",
    "OutputError",
    "UnsupportedOperator",
    "VerificationError",
    "model_source",
]

for _error in (DeviceError, InvalidArgument, InvalidGraph, OutputError, UnsupportedOperator):
    _error.__module__ = "gemm64"

DeviceError.__doc__ = "The device failed: a bus error, a rejected command, a wait without end."
InvalidArgument.__doc__ = "An argument is at fault; the message names it and says what would be right."
InvalidGraph.__doc__ = "The file is no ONNX model, is cut off, or its graph is not valid."
OutputError.__doc__ = "A file could not be written: a full disk, for instance. What was computed holds."
UnsupportedOperator.__doc__ = "The network has operators that gemm64 does not compute."


class NoSuchFile(FileNotFoundError):
    """The model is not there."""


NoSuchFile.__module__ = "gemm64"

#: ONNX Runtime distinguishes the two; here they are one.
InvalidProtobuf = InvalidGraph


def _mismatch(layer: Mapping[str, Any]) -> str:
    first = layer.get("first_mismatch")
    count = layer["mismatches"]
    differ = "value differs" if count == 1 else "values differ"
    return f"{layer['name']}: {count:,} {differ}" + (
        f"; the first at row {first['row']}, column {first['column']}: "
        f"expected {first['expected']}, found {first['found']}"
        if first
        else ""
    )


def _wrong_counters(layer: Mapping[str, Any], exact: bool) -> list[str]:
    """Of those that are predicted: with a memory that stalls, bytes only."""
    return [
        f"{layer['name']}: counter {engine}.{cause} is {count:,}, predicted "
        f"{layer['predicted_counters'][engine][cause]:,}"
        for engine, causes in layer.get("counters", {}).items()
        for cause, count in causes.items()
        if count != layer["predicted_counters"][engine][cause] and (exact or engine == "bytes")
    ]


#: Places of a wrong value that have no cycle of their own.
_BEHIND_THE_ARRAY = {
    "requantized": "the result of 8 bits, whose sum was right",
    "memory": "the result in memory, which was right on the chip",
}


class VerificationError(RuntimeError):
    """A value, a cycle or a byte is not what it must be.

    The message names the first element that is wrong and, on the RTL, what the diagnosis found: the
    place and the cycle in which it was wrong for the first time, and the waveform around it.

    layer: the layer, or the product, that failed first.
    element: the first wrong one, {"row", "column", "expected", "found"}; None: all values are right.
    clock: in which a value in the array was wrong for the first time or, where all were right, in
        which the last sum of the element left it, as Device.cycles counts; None: nothing was found.
    waveform: the file of the cycles around it; None: there is none.
    """

    def __init__(self, report: Mapping[str, Any]) -> None:
        self.report = report  #: of the run
        layers = [layer for layer in report["layers"] if layer["on"] == "device"]
        failure = report.get("failure", {})
        wrong = [layer for layer in layers if layer["mismatches"]]
        self.layer: str | None = failure.get("product") or (wrong[0]["name"] if wrong else None)
        self.element: dict[str, int] | None = wrong[0].get("first_mismatch") if wrong else None
        self.clock: int | None = None
        self.waveform: str | None = failure.get("trace", {}).get("file") or None
        exact = report.get("predictions_exact", True)
        counters = [text for layer in layers for text in _wrong_counters(layer, exact)]
        outputs = report.get("outputs", {})
        lines = list(map(_mismatch, wrong)) or counters[:3]
        if outputs.get("mismatches"):
            differ = f"{outputs['mismatches']:,} of {outputs['values']:,} values of the outputs differ"
            lines.insert(0, differ)
        lines = lines or ["a cycle, a byte or an error is not as predicted"]
        first = failure.get("first_wrong", {"place": "none"})
        place = first["place"].replace("_", " ")
        if place in _BEHIND_THE_ARRAY:
            self.clock = failure["clock"]
            lines.append(
                f"first wrong: {_BEHIND_THE_ARRAY[place]}; its last sum left the array in cycle "
                f"{self.clock}"
            )
        elif first.get("clock"):
            self.clock = first["clock"]
            lines.append(
                f"first wrong in cycle {self.clock}: the {place} at row {first['row']}, column "
                f"{first['column']}, expected {first['expected']}, found {first['found']}"
            )
        if self.waveform is not None:
            trace = failure["trace"]
            lines.append(f"waveform: {self.waveform}, cycles {trace['begin']} to {trace['end'] - 1}")
        super().__init__("; ".join(lines) + ". The report has more.")

    def __reduce__(self) -> tuple[type[VerificationError], tuple[Mapping[str, Any]]]:
        return VerificationError, (self.report,)


def model_source(model: str | bytes | os.PathLike[str]) -> tuple[str, bytes | None]:
    """The file's name, or what stands for it, and its contents where they were given.

    Raises NoSuchFile where nothing is there.
    """
    if isinstance(model, bytes):
        return "the model", model
    path = os.fspath(model)
    if not os.path.exists(path):
        raise NoSuchFile(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return path, None


def sizes(shapes: Mapping[str, Sequence[SupportsIndex]] | None) -> dict[str, list[int]]:
    """Shapes of inputs by name as C++ takes them. Raises TypeError for what is none."""
    return {name: [index(size) for size in shape] for name, shape in (shapes or {}).items()}
