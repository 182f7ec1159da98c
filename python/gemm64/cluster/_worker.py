# SPDX-License-Identifier: Apache-2.0
"""What runs in the workers' processes."""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass

from .. import _gemm64
from .._errors import InvalidArgument


@dataclass(frozen=True)
class Model:
    """A network with its weights, as it travels."""

    sha256: str
    data: bytes

    @classmethod
    def of(cls, data: bytes) -> Model:
        """The model of these bytes."""
        return cls(hashlib.sha256(data).hexdigest(), data)


@dataclass(frozen=True)
class Outcome:
    """What came of a unit: bytes for the report, or why it cannot run."""

    result: bytes = b""
    refused: str = ""  #: an input is at fault; empty: it ran
    seconds: float = 0.0  #: of the unit itself
    prepared: float = 0.0  #: seconds that the session took to prepare; 0: it was there


@dataclass
class _Session:
    key: tuple[str, tuple[str, ...]]
    worker: _gemm64.UnitWorker


_kept = threading.local()  # a device belongs to one thread

#: How many sessions this process has prepared.
prepared_sessions = 0


def session_of(model: Model, arguments: tuple[str, ...]) -> tuple[_gemm64.UnitWorker, float]:
    """The network on a device, prepared once by each thread of a process, and seconds that this took
    now.
    """
    global prepared_sessions
    key = (model.sha256, arguments)
    session: _Session | None = getattr(_kept, "session", None)
    if session is not None and session.key == key:
        return session.worker, 0.0
    _kept.session = None  # not two of them at a time
    begin = time.perf_counter()
    session = _Session(key, _gemm64.UnitWorker(list(arguments), model.data))
    _kept.session = session
    prepared_sessions += 1
    return session.worker, time.perf_counter() - begin


def run_pass(model: Model, arguments: tuple[str, ...], unit: bytes) -> Outcome:
    """Runs one pass of images through a network."""
    try:
        worker, prepared = session_of(model, arguments)
        begin = time.perf_counter()
        result = worker.run(unit)
    except InvalidArgument as error:
        return Outcome(refused=str(error))
    return Outcome(result, seconds=time.perf_counter() - begin, prepared=prepared)


def run_row(text: str, index: int) -> Outcome:
    """Predicts or runs a point of a sweep."""
    begin = time.perf_counter()
    try:
        row = _gemm64.sweep_row(text, index)
    except InvalidArgument as error:
        return Outcome(refused=str(error))
    return Outcome(row.encode(), seconds=time.perf_counter() - begin)


def keep(model: Model) -> Model:
    """A task whose result is the model: workers hand it on among themselves, each keeps it."""
    return model


def carry(_unit: bytes, result_bytes: int) -> Outcome:
    """A task that costs nothing but its way, there and back."""
    return Outcome(bytes(result_bytes))
