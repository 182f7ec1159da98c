# SPDX-License-Identifier: Apache-2.0
"""Dask, as far as it is used here."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

from .._errors import InvalidArgument
from ._stop import Stop, no_interrupts

#: How often a unit's worker may be lost before the unit is given up, of a cluster of our own.
LOSSES = 3


def _distributed() -> Any:
    """The package; what it gives has no types that mypy could know."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise InvalidArgument(
            "gemm64.cluster needs Dask's scheduler: pip install distributed, or gemm64 with its "
            "extra 'cluster' (pip install '.[cluster]')"
        ) from None


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _start_local(distributed: Any, workers: int, dashboard: str | None) -> Any:
    dask = importlib.import_module("dask")
    dask.config.set({
        # A worker has one unit at a time, so that a lost worker shows which unit did it.
        "distributed.scheduler.worker-saturation": 1.0,
        "distributed.scheduler.allowed-failures": LOSSES - 1,
        "distributed.scheduler.work-stealing": False,
        "distributed.worker.daemon": True,
        # On a busy machine a process takes long to start; who gives up would not start another one.
        "distributed.comm.timeouts.connect": "300s",
        "distributed.comm.timeouts.tcp": "300s",
    })
    warnings.filterwarnings("ignore", message="(?s)Port .* is already in use")
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,  # the host checks what a network needs before it runs
        dashboard_address=dashboard,
        silence_logs=logging.CRITICAL,
    )


@contextlib.contextmanager
def connect(scheduler: str | None, workers: int, dashboard: str | None) -> Iterator[Any]:
    """A client of the scheduler at that address, or else of a cluster of our own on this machine,
    with that many worker processes.

    Raises InvalidArgument where there is no such scheduler.
    """
    distributed = _distributed()
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            with no_interrupts():
                cluster = _start_local(distributed, workers, dashboard)
            stack.callback(_end, cluster)
            address = cluster
        else:
            address = scheduler
        try:
            client = distributed.Client(address, timeout=30, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InvalidArgument(
                f"--scheduler {scheduler}: no scheduler of Dask answers there ({error})"
            ) from None
        stack.callback(_close, client)
        yield client


def _close(client: Any) -> None:
    """What is to be said to the scheduler; a busy one may be late."""
    with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
        client.close(timeout=10)


def _end(cluster: Any) -> None:
    """Ends the worker processes; what they simulate needs no end in order."""
    for nanny in list(cluster.workers.values()):
        nanny.auto_restart = False
    with contextlib.suppress(TimeoutError, asyncio.TimeoutError):  # they end with this process
        cluster.close(timeout=30)


def has_no_worker_left(client: Any) -> bool:
    """Of a cluster of our own, whose workers start again by themselves; others may get new ones."""
    return client.cluster is not None and not client.nthreads()


def put(client: Any, function: Any, value: Any, key: str, stop: Stop) -> Any:
    """The future of function(value) on all workers that there are, handed on from one to another.

    Where workers are lost, Dask makes it again; those that come later take it from others.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        future = client.submit(function, value, key=key, pure=False)
    while not future.done():  # where there are no workers yet, it waits for them
        stop.check()
        time.sleep(0.05)
    if future.status == "finished":
        client.replicate([future])
    return future


def is_lost(error: BaseException | None) -> bool:
    """Does the error say that a task's workers were lost, again and again?"""
    return type(error).__name__ == "KilledWorker"
