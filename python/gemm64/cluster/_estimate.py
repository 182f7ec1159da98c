# SPDX-License-Identifier: Apache-2.0
"""What a cluster of some size needs for some images, from what is measured here."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .._errors import InvalidArgument, OutputError
from . import _dask
from ._stop import Stop
from ._work import NetworkWork
from ._worker import Model, carry, keep, run_pass, session_of

_TASKS = 300  # whose cost to the scheduler is measured
_FEWEST_SECONDS = 4.0  # of units; then no more of them run


@dataclass(frozen=True)
class Costs:
    """What was measured: seconds and bytes of a unit, of a worker, and of a task's way."""

    images: int  #: of a unit
    unit_seconds: float  #: of processor time, as a core of its own gives it, mean
    units_measured: int
    unit_bytes: int  #: to the worker, mean
    result_bytes: int  #: back, mean
    model_bytes: int
    start_seconds: float  #: until a worker's process is there
    prepare_seconds: float  #: of processor time, until it has the network on its device
    client_seconds: float  #: of processor time, for a unit: its input read, its result joined to the report
    task_seconds: float  #: of processor time, of client and scheduler, for a task's way


@dataclass(frozen=True)
class Estimate:
    """What `cores` cores need, in seconds."""

    cores: int
    units: int
    begin: float  #: workers start, and the model goes from one to the next
    compute: float  #: of the core that has most units
    hand_out: float  #: client and scheduler, one after the other for each task
    transfer: float  #: all units and results through the client's link

    @property
    def bound(self) -> str:
        """What takes longest, once workers have begun."""
        parts = {
            "compute": self.compute,
            "scheduler and client": self.hand_out,
            "client's link": self.transfer,
        }
        return max(parts, key=lambda name: parts[name])

    @property
    def total(self) -> float:
        """All of it: the three run concurrently."""
        return self.begin + max(self.compute, self.hand_out, self.transfer)


def estimate(costs: Costs, images: int, cores: int, link: float) -> Estimate:
    """What `cores` cores need for `images` images, the client's link carrying `link` bytes a second.

    The model goes from worker to worker: their number doubles with each step.
    """
    units = math.ceil(images / costs.images)
    return Estimate(
        cores=cores,
        units=units,
        begin=costs.start_seconds + costs.prepare_seconds
        + math.ceil(math.log2(cores + 1)) * costs.model_bytes / link,
        compute=math.ceil(units / cores) * costs.unit_seconds,
        hand_out=units * (costs.task_seconds + costs.client_seconds),
        transfer=units * (costs.unit_bytes + costs.result_bytes) / link,
    )


def measure(work: NetworkWork, stop: Stop) -> Costs:
    """Runs a few units here, and tasks that do nothing on a cluster of one worker."""
    assert work.model is not None
    given: list[bytes] = []
    results: list[int] = []
    seconds = client = 0.0
    begin = time.process_time()
    try:
        session_of(work.model, work.arguments)
    except InvalidArgument as error:  # as the workers would say it
        raise InvalidArgument(f"the model does not run on a worker: {error}") from None
    prepare = time.process_time() - begin
    while len(given) < work.count() and (seconds < _FEWEST_SECONDS or len(given) < 2):
        stop.check()
        begin = time.process_time()
        given.append(work.input(len(given)))
        read = time.process_time()
        outcome = run_pass(work.model, *work.call(given[-1])[1])
        ran = time.process_time()
        if outcome.refused:
            raise InvalidArgument(outcome.refused)
        results.append(len(outcome.result))
        work.add(len(given) - 1, outcome.result)
        client += read - begin + time.process_time() - ran
        seconds += ran - read
    count = len(given)
    start, task = _measure_tasks(work.model, given[0], sum(results) // count, stop)
    return Costs(
        images=len(work.named(0)),
        unit_seconds=seconds / count,
        units_measured=count,
        unit_bytes=sum(map(len, given)) // count,
        result_bytes=sum(results) // count,
        model_bytes=len(work.model.data),
        start_seconds=start,
        prepare_seconds=prepare,
        client_seconds=client / count,
        task_seconds=task,
    )


def _measure_tasks(model: Model, given: bytes, result_bytes: int,
                   stop: Stop) -> tuple[float, float]:
    """Seconds until there is a worker, and of processor time for a task's way to it and back.

    Client and scheduler share this process, which has nothing else to do meanwhile.
    """
    begin = time.perf_counter()
    with _dask.connect(None, 1, None) as client:
        start = time.perf_counter() - begin
        _dask.put(client, keep, model, "gemm64-model-to-measure", stop)
        client.submit(carry, given, result_bytes, pure=False).result()
        spent = time.process_time()
        futures = [
            client.submit(carry, given, result_bytes, key=f"gemm64-carry-{i}", pure=False)
            for i in range(_TASKS)
        ]
        for future in futures:
            stop.check()
            future.result()
        return start, (time.process_time() - spent) / _TASKS


def seconds_text(seconds: float) -> str:
    """ "3.5 s", "12 min", "13.9 h"."""
    if seconds < 99.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min" if seconds >= 599.5 else f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def _facts(costs: Costs, link: float) -> list[str]:
    return [
        f"A unit is {costs.images} image{'s' if costs.images != 1 else ''}: "
        f"{costs.unit_seconds:.3f} s of a core (mean of {costs.units_measured}), "
        f"{costs.unit_bytes:,} bytes to its worker, {costs.result_bytes:,} back.",
        f"Client and scheduler: {1000 * costs.task_seconds:.2f} ms of processor time a task, and "
        f"{1000 * costs.client_seconds:.2f} ms to read a unit and join its result.",
        f"A worker: {costs.start_seconds:.1f} s until it is there, {costs.prepare_seconds:.1f} s "
        f"until it has the network; {costs.model_bytes:,} bytes of model, once.",
        f"The client's link is taken to carry {link / 1e9:g} GB/s (--link).",
    ]


def table(costs: Costs, images: int, cores: Sequence[int], link: float) -> str:
    """The estimate of each number of cores, as a table of Markdown."""
    one = images / costs.images * costs.unit_seconds
    lines = [
        f"| cores | begin | compute, {images:,} images | scheduler and client | client's link "
        "| in all | bound by | cores used |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for number in cores:
        it = estimate(costs, images, number, link)
        parts = [f"{number:,}", *map(seconds_text, (it.begin, it.compute, it.hand_out, it.transfer)),
                 f"**{seconds_text(it.total)}**", it.bound, f"{100 * one / number / it.total:.0f} %"]
        lines.append("| " + " | ".join(parts) + " |")
    return "\n".join([*_facts(costs, link), "", *lines])


def run_estimate(work: NetworkWork, images: int, cores: Sequence[int], link: float,
                 file: str | None, stop: Stop) -> int:
    """Measures, prints the table, and writes all figures to `file` where there is one."""
    costs = measure(work, stop)
    print(table(costs, images, cores, link), flush=True)
    if file is None:
        return 0
    rows = [{**asdict(it), "total": it.total, "bound": it.bound}
            for it in (estimate(costs, images, number, link) for number in cores)]
    try:
        with open(file, "w", encoding="utf-8") as stream:
            json.dump({"costs": asdict(costs), "images": images, "link": link, "estimates": rows},
                      stream, indent=2)
            stream.write("\n")
    except OSError as error:
        raise OutputError(f"{file}: {error.strerror}") from None
    return 0
