# SPDX-License-Identifier: Apache-2.0
"""Networks, with ONNX Runtime's names and behaviour."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _gemm64
from ._device import Device, DeviceName, Place
from ._errors import DeviceError, InvalidArgument, model_source
from ._report import Report, warn

Shape = list[int | str | None]

#: NumPy's types by ONNX Runtime's names.
_TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int8)": "int8",
    "tensor(int16)": "int16",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(uint8)": "uint8",
    "tensor(uint16)": "uint16",
    "tensor(uint32)": "uint32",
    "tensor(uint64)": "uint64",
    "tensor(bool)": "bool",
}


@dataclass(frozen=True)
class NodeArg:
    """An input or an output of a network."""

    name: str
    type: str  #: "tensor(float)"
    shape: Shape  #: sizes; a name or None where the file leaves one open


def _as_array(expected: NodeArg, value: object) -> NDArray[Any]:
    """An array as it is; numbers in lists take the type that the network asks for."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    try:
        return np.asarray(value, dtype=_TYPES.get(expected.type))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"input {expected.name!r} is no array of NumPy's: {error}") from None


def _check_input(expected: NodeArg, array: NDArray[Any]) -> None:
    known = _TYPES.get(expected.type)
    if known is None or array.dtype != np.dtype(known):
        raise InvalidArgument(
            f"input {expected.name!r} is an array of {array.dtype}; the network takes "
            f"{expected.type}" + (f", NumPy's {known}" if known else ", which NumPy does not have")
        )
    if array.ndim != len(expected.shape):
        raise InvalidArgument(
            f"input {expected.name!r} has rank {array.ndim}, shape {list(array.shape)}; the network "
            f"takes rank {len(expected.shape)}, shape {expected.shape}"
        )
    for axis, (size, wanted) in enumerate(zip(array.shape, expected.shape)):
        if isinstance(wanted, int) and size != wanted:
            raise InvalidArgument(
                f"input {expected.name!r} has shape {list(array.shape)}; the network takes "
                f"{expected.shape}: size {axis} must be {wanted}"
            )


class InferenceSession:
    """A network on a device: Linear layers on the accelerator, all else on the host.

    path_or_bytes: an ONNX file, or its contents.
    sess_options, providers, provider_options: of ONNX Runtime; they have no effect here.
    device: "rtl", "tlm" or "reference", as Device has them, or a Device of your own; `array` and
        `memory_latency` are for the one that is made.
    precision: "int8": a float network's Linear layers are quantized by their inputs (quantize() a
        network first for exactly what ONNX Runtime gives); "float32": by four slices of 7 bits.
    accumulate: where partial sums are added; "host" reads each tile back.
    results: of quantized layers, "int8" values (the default, bias and scale on the device, layers
        chained) or "int32" sums.
    check: what run() compares; it raises VerificationError where a value, a clock or a byte is not what
        it must be. "layers": each layer's results, with exact arithmetic on the inputs that the device
        had; "outputs": the network's, with a run on the host; "none": nothing, for speed. What the
        device wrote goes on, and is what run() returns, in any case.
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike[str],
        sess_options: object = None,
        providers: Sequence[object] | None = None,
        provider_options: Sequence[object] | None = None,
        *,
        device: DeviceName | Device = "rtl",
        array: int = 64,
        memory_latency: int = 100,
        precision: Literal["int8", "float32"] = "int8",
        accumulate: Place = "device",
        results: Literal["int8", "int32"] | None = None,
        check: Literal["layers", "outputs", "none"] = "layers",
    ) -> None:
        if check not in ("layers", "outputs", "none"):
            raise InvalidArgument(f"check is {check!r}; it is 'layers', 'outputs' or 'none'")
        name, contents = model_source(path_or_bytes)
        self._device = device if isinstance(device, Device) else Device(device, array, memory_latency)
        self._check = check
        self._report: Report | None = None
        self._network = _gemm64.Network(
            name=name,
            contents=contents,
            precision=precision,
            accumulate=accumulate,
            results=results,
            check=check,
        )
        self._inputs = [NodeArg(**value) for value in json.loads(self._network.inputs())]
        self._outputs = [NodeArg(**value) for value in json.loads(self._network.outputs())]

    @property
    def device(self) -> Device:
        """The accelerator, with what the last run left in it."""
        return self._device

    @property
    def report(self) -> Report:
        """Of the last run(): its layers, their clocks and bytes."""
        if self._report is None:
            raise InvalidArgument("there is no report before the first run()")
        return self._report

    def get_inputs(self) -> list[NodeArg]:
        """The network's inputs in the file's order, weights left out."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The network's outputs in the file's order."""
        return list(self._outputs)

    def get_providers(self) -> list[str]:
        """What runs the network, in ONNX Runtime's manner."""
        return ["Gemm64ExecutionProvider"]

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, NDArray[Any]],
        run_options: object = None,
    ) -> list[NDArray[Any]]:
        """The outputs of these names, or all of them in the file's order (None).

        input_feed: an array for each input, of its type and shape; sizes that the file leaves open
            may be any. The network is prepared anew when they are others than in the last run.
        """
        known = [output.name for output in self._outputs]
        wanted = list(output_names) if output_names else known
        for name in wanted:
            if name not in known:
                raise InvalidArgument(f"there is no output {name!r}; the outputs are {known}")
        arrays = self._arrays(input_feed)
        outputs, report = self._network.run(self._device._device, arrays)
        self._report = Report.from_json(report)
        if "error" in self._report:
            raise DeviceError(self._report["error"])
        if self._check != "none":
            self._report.require_verified()
        warn(self._report)
        return [np.asarray(outputs[name]) for name in wanted]

    def _arrays(self, feed: Mapping[str, Any]) -> dict[str, object]:
        expected = {value.name: value for value in self._inputs}
        missing = [name for name in expected if name not in feed]
        if missing:
            raise InvalidArgument(f"inputs {missing} are missing from the feed, {list(feed)}")
        arrays: dict[str, object] = {}
        for name, value in feed.items():
            if name not in expected:
                raise InvalidArgument(f"there is no input {name!r}; the inputs are {list(expected)}")
            array = _as_array(expected[name], value)
            _check_input(expected[name], array)
            # NumPy makes an array of one dimension of a scalar.
            arrays[name] = array if array.ndim == 0 else np.ascontiguousarray(array)
        return arrays

