# SPDX-License-Identifier: Apache-2.0
"""Sweeps over designs, networks and batches, point by point."""

from __future__ import annotations

import json
import warnings
from typing import Any

from . import _gemm64
from ._errors import InvalidArgument


def sweep_points(text: str) -> list[dict[str, Any]]:
    """The points of a sweep, in the order of `gemm64 sweep`'s rows.

    text: what a file for `gemm64 sweep` holds (JSON). Relative paths in it start at the working
        directory.

    Each point has its number (`point`, from 0), `mode` ("predict" or "run"), `device` (None where
    nothing runs), `network`, `batch`, and the design: `array`, `scratchpad_words`,
    `accumulator_rows`, `tensor_words`, `weight_tiles`, `parameter_sets`, all memories' `sram_kib`,
    `memory`, `memory_bytes_per_cycle`, `memory_latency`.

    Raises InvalidArgument where the text is no sweep, or a device has no such design.
    """
    points: list[dict[str, Any]] = json.loads(_gemm64.sweep_points(text=text))
    return points


def sweep_row(text: str, index: int) -> dict[str, Any]:
    """One point of a sweep, predicted or run: the row that `gemm64 sweep --json` writes.

    index: of the point in sweep_points(text).

    In addition to what names the point: `cycles`, `predicted_cycles` (of a run), `utilization` (useful MACs /
    (array^2 x cycles)), `roofline_utilization`, `macs` (on the device) and `all_macs`,
    `device_share`, `bytes` and bytes by port (`bytes.weights`, ...), cycles of the array by cause
    (`cycle_breakdown.wait_weights`, ...) and the greatest loss (`main_wait`), `published_cycles.*` of
    other models. A figure that there is none of is None. `verified` is None of a prediction, and
    True only where all that a run gave was compared and was right; `error` is the device's message.

    The same row whenever and wherever it is asked for. Python's lock is released meanwhile.
    """
    if index < 0:
        raise InvalidArgument(f"index is {index}; it is at least 0")
    row: dict[str, Any] = json.loads(_gemm64.sweep_row(text=text, index=index))
    if row["warning"] is not None:
        warnings.warn(f"{row['network']}: {row['warning']}; \"quantize\": true quantizes float files",
                      stacklevel=2)
    return row
