# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, each with the built-in exception that fits."""

from __future__ import annotations

import errno
import os

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


#: ONNX Runtime tells the two apart; here they are one.
InvalidProtobuf = InvalidGraph


class VerificationError(RuntimeError):
    """A value, a clock or a byte is not what it must be; the report says which."""


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
