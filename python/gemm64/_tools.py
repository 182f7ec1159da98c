# SPDX-License-Identifier: Apache-2.0
"""Predictions, analyses and quantized networks, without a device."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _gemm64
from ._device import Place, Sharing
from ._errors import InvalidArgument, model_source, sizes
from ._report import warn


def predict(
    m: int,
    k: int,
    n: int,
    *,
    array: int = 64,
    scratchpad_words: int = 9216,
    accumulator_rows: int = 128,
    memory_latency: int = 100,
    memory_bytes_per_cycle: int = 0,
    memory: Sharing = "independent",
    accumulate: Place = "device",
) -> dict[str, Any]:
    """What a product [M, K] x [K, N] with int32 results takes, without simulating it.

    array: rows and columns: 2, 4, 8, 16, 32 or 64.
    scratchpad_words: words of `array` activations that the scratchpad holds.
    accumulator_rows: rows in each of two banks of sums, a power of two.
    memory_latency, memory_bytes_per_cycle, memory: as Device has them.

    Names are those of a layer of a report: `cycles`, `bytes` (by port), `utilization` (useful MACs /
    (array^2 x cycles)), `roofline_utilization`, `counters` (cycles by engine and cause), and
    `published_cycles` of other models. A Device("rtl") counts exactly the same.
    """
    for name, value in (("m", m), ("k", k), ("n", n)):
        if not 1 <= value <= 2**31:
            raise InvalidArgument(f"{name} is {value}; it is from 1 to 2**31")
    result: dict[str, Any] = json.loads(
        _gemm64.predict(
            m=m,
            k=k,
            n=n,
            array=array,
            scratchpad_words=scratchpad_words,
            accumulator_rows=accumulator_rows,
            memory_latency=memory_latency,
            memory_bytes_per_cycle=memory_bytes_per_cycle,
            memory=memory,
            accumulate=accumulate,
        )
    )
    return result


def analyze(
    path: str | os.PathLike[str],
    *,
    batch: int = 0,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    array: int = 64,
    memory_latency: int = 100,
    memory: Sharing = "independent",
) -> dict[str, Any]:
    """A network's parameters, memory, MACs, traffic and cost on the array, by layer.

    What `gemm64 analyze --json` writes. The file's weights may be missing. A TorchScript file needs
    `input_shapes`.

    batch: size of the inputs' first dimension; 0: the file's, or 1 where it leaves it open.
    input_shapes: shapes of inputs by name, which win over the file's and over `batch`.
    memory_latency, memory: as Device has them.
    """
    file, _ = model_source(os.fspath(path))
    result: dict[str, Any] = json.loads(
        _gemm64.analyze(
            file=file,
            batch=batch,
            input_shapes=sizes(input_shapes),
            array=array,
            memory_latency=memory_latency,
            memory=memory,
        )
    )
    warn(result)
    return result


def quantize(
    model: str | bytes | os.PathLike[str],
    output: str | os.PathLike[str],
    calibrate: (
        NDArray[Any]
        | Mapping[str, NDArray[Any]]
        | str
        | os.PathLike[str]
        | Sequence[str | os.PathLike[str]]
    ),
    *,
    images: int = 0,
    preprocess: str = "",
    calibrate_method: Literal["minmax", "percentile", "entropy"] = "minmax",
    percentile: float = 99.999,
    bins: int = 0,
    op_types_to_quantize: Sequence[str] = (),
    nodes_to_quantize: Sequence[str] = (),
    nodes_to_exclude: Sequence[str] = (),
) -> dict[str, dict[str, Any]]:
    """Writes a float network as a QDQ file: int8 weights by output channel, uint8 activations.

    model: the ONNX file, or its contents; or a TorchScript file, whose inputs take the shapes of the
        arrays, one row of them.
    calibrate: what the scales come from: an array for the first input, arrays by input, or files
        (.npy, idx, PNG, JPEG, a folder of images; "NAME=FILE" for another input than the first).
    images: takes only that many of the files' images, the first ones.
    preprocess: of image files: "imagenet", "mnist", "unit" or "raw"; "": by their colours.
    calibrate_method: which range a value gets: "minmax" (all numbers), "percentile" or "entropy" (without
        rare ones); `percentile` of the numbers' magnitudes, in a histogram of `bins` (0: 2,048 for
        percentiles, 128 for entropy, as ONNX Runtime has them).
    op_types_to_quantize, nodes_to_quantize: these only; empty: all that can be. nodes_to_exclude: not these.
        A node without a name goes by its first output.

    Returns how many nodes of each operator are computed on integers ("quantized") or in "float", and why
    ("why_float", by operator and reason). Raises InvalidArgument where nothing can be quantized.
    """
    name, contents = model_source(model)
    arrays: dict[str, object] = {}
    files: list[str] = []
    if isinstance(calibrate, np.ndarray):
        arrays = {"": np.ascontiguousarray(calibrate)}
    elif isinstance(calibrate, Mapping):
        arrays = {key: np.ascontiguousarray(value) for key, value in calibrate.items()}
    elif isinstance(calibrate, (str, os.PathLike)):
        files = [os.fspath(calibrate)]
    else:
        files = [os.fspath(file) for file in calibrate]
    if not arrays and not files:
        raise InvalidArgument("calibrate is empty; give arrays or files")
    if preprocess not in ("", "imagenet", "mnist", "unit", "raw"):
        raise InvalidArgument(
            f"preprocess is {preprocess!r}; it is 'imagenet', 'mnist', 'unit' or 'raw'"
        )
    if calibrate_method not in ("minmax", "percentile", "entropy"):
        raise InvalidArgument(
            f"calibrate_method is {calibrate_method!r}; it is 'minmax', 'percentile' or 'entropy'"
        )
    if not 0 <= percentile <= 100:
        raise InvalidArgument(f"percentile is {percentile}; it is from 0 to 100")
    if bins != 0 and not 128 <= bins <= 2**20:
        raise InvalidArgument(f"bins is {bins}; it is 0, or from 128 to 2**20")
    result: dict[str, dict[str, Any]] = json.loads(
        _gemm64.quantize(
            name=name,
            contents=contents,
            output=os.fspath(output),
            arrays=arrays,
            files=files,
            images=images,
            preprocessing=preprocess,
            method=calibrate_method,
            percentile=percentile,
            bins=bins,
            operators=list(op_types_to_quantize),
            nodes=list(nodes_to_quantize),
            excluded=list(nodes_to_exclude),
        )
    )
    return result
