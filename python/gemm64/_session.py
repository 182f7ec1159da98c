# SPDX-License-Identifier: Apache-2.0
"""Networks, with ONNX Runtime's names and behaviour."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _gemm64
from ._device import Device, DeviceName, Place
from ._errors import DeviceError, InvalidArgument, model_source, sizes
from ._html import table
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


@dataclass(frozen=True)
class ModelMetadata:
    """What the file says of itself, under ONNX Runtime's names."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]


_PROVIDER = "Gemm64ExecutionProvider"
#: This one, and the one that every script for ONNX Runtime names as its last resort.
_HERE = (_PROVIDER, "CPUExecutionProvider")

#: Methods of ONNX Runtime's session that this one lacks, and what there is instead.
_INSTEAD = {
    "create_ortvalue_from_shape_and_type": "run() takes and gives arrays of NumPy's",
    "get_provider_graph_assignment_info": "`report` says where each layer ran, and why",
    "io_binding": "run() takes and gives arrays of NumPy's",
    "run_with_iobinding": "run() takes and gives arrays of NumPy's",
    "run_with_ort_values": "run() takes and gives arrays of NumPy's",
    "run_with_ortvaluevector": "run() takes and gives arrays of NumPy's",
    "run_async": "run() in a thread of your own does not hold Python's lock",
    "end_profiling": "`report` has the cycles of every layer",
    "get_profiling_start_time_ns": "`report` has the cycles of every layer",
    "get_tuning_results": "nothing is tuned here",
    "set_tuning_results": "nothing is tuned here",
    "release_captured_graph": "no graph is captured",
    "set_ep_dynamic_options": f"{_PROVIDER} has no options",
    "get_input_epdevices": f"all that the accelerator does not run is on the host: {_PROVIDER}",
    "get_input_memory_infos": "inputs and outputs are in the host's memory",
    "get_output_memory_infos": "inputs and outputs are in the host's memory",
}


def _check_providers(providers: Sequence[object] | None, options: Sequence[object] | None) -> None:
    """Those that are somewhere else are passed over with a warning, as ONNX Runtime does."""
    if isinstance(providers, str):
        raise InvalidArgument(f"providers is {providers!r}; it must be a list, [{providers!r}]")
    given = [one if isinstance(one, tuple) else (one, {}) for one in providers or ()]
    if options is not None:
        if len(options) != len(given):
            raise InvalidArgument(
                f"provider_options has {len(options)} entries; providers has {len(given)}"
            )
        given = [(*one[:1], more) for one, more in zip(given, options)]
    elsewhere = []
    for one in given:
        if len(one) != 2 or not isinstance(one[0], str) or not isinstance(one[1], Mapping):
            raise InvalidArgument(
                f"providers has {one!r}; a provider is its name, or (name, dictionary of options)"
            )
        if one[0] not in _HERE:
            elsewhere.append(one[0])
        elif one[1] and one[0] == _PROVIDER:
            raise InvalidArgument(
                f"{_PROVIDER} has no option {next(iter(one[1]))!r}; InferenceSession takes device, "
                "array, memory_latency and the like as arguments"
            )
    if given and len(elsewhere) == len(given):
        raise InvalidArgument(f"providers is {elsewhere}; there is only {_PROVIDER!r}")
    if elsewhere:
        warnings.warn(f"providers {elsewhere} are not here; {_PROVIDER} runs all", stacklevel=3)


def _refuse(what: str, options: object, refused: Mapping[str, str]) -> None:
    """Options of ONNX Runtime's that ask for what does not exist here; others change no result."""
    for name, instead in refused.items():
        if getattr(options, name, None):
            raise InvalidArgument(f"{what}.{name} is not supported: {instead}")


def _check_session_options(options: object) -> None:
    if options is not None and not hasattr(options, "graph_optimization_level"):
        raise InvalidArgument(f"sess_options is {options!r}; it must be ONNX Runtime's SessionOptions")
    _refuse("sess_options", options, {
        "enable_profiling": "`report` has the cycles of every layer",
        "optimized_model_filepath": "gemm64.quantize() writes a model; nothing else does",
    })


def _check_run_options(options: object) -> None:
    if options is not None and not hasattr(options, "only_execute_path_to_fetches"):
        raise InvalidArgument(f"run_options is {options!r}; it must be ONNX Runtime's RunOptions")
    _refuse("run_options", options, {
        "terminate": "a run ends by Ctrl-C, or with the network",
        "training_mode": "networks run here, and are trained elsewhere",
    })


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

    path_or_bytes: an ONNX file, or its contents; or a TorchScript file, with `input_shapes`.
    sess_options: ONNX Runtime's; refused where it asks for a profile or an optimized file, otherwise
        without effect, as are disabled_optimizers and enable_fallback.
    providers, provider_options: ONNX Runtime's. "Gemm64ExecutionProvider" and "CPUExecutionProvider"
        are the session's own; others next to them are passed over with a warning, and refused without others.
    device: "rtl", "tlm" or "reference", as Device has them, or a Device of your own; `array` and
        `memory_latency` are for the one that is made.
    precision: what a Linear layer of float32 becomes; those of 8 bits are computed as they are. "file":
        float32, of a float file on the device by four slices of 7 bits, of a quantized one on the
        host; "float32": by slices in any file; "int8": quantized on the way by its own input, which is
        another arithmetic than the file's.
    accumulate: where partial sums are added; "host" reads each tile back.
    results: of quantized layers, "int8" values (the default, bias and scale on the device, layers
        chained) or "int32" sums.
    check: what run() compares; it raises VerificationError where a value, a cycle or a byte is not what
        it must be. "layers": each layer's results, with exact arithmetic on the inputs that the device
        had; "outputs": the network's, with a run on the host; "none": nothing, for speed. What the
        device wrote goes on, and is what run() returns, in any case.
    input_shapes: of a TorchScript file's inputs by name, {"x": (1, 3, 224, 224)}; it keeps none.
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
        precision: Literal["file", "int8", "float32"] = "file",
        accumulate: Place = "device",
        results: Literal["int8", "int32"] | None = None,
        check: Literal["layers", "outputs", "none"] = "layers",
        input_shapes: Mapping[str, Sequence[int]] | None = None,
        disabled_optimizers: object = None,
        enable_fallback: object = None,
    ) -> None:
        _check_session_options(sess_options)
        _check_providers(providers, provider_options)
        if check not in ("layers", "outputs", "none"):
            raise InvalidArgument(f"check is {check!r}; it is 'layers', 'outputs' or 'none'")
        name, contents = model_source(path_or_bytes)
        self._session_options = sess_options
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
            input_shapes=sizes(input_shapes),
        )
        self._inputs = [NodeArg(**value) for value in json.loads(self._network.inputs())]
        self._outputs = [NodeArg(**value) for value in json.loads(self._network.outputs())]

    @property
    def device(self) -> Device:
        """The accelerator, with what the last run left in it."""
        return self._device

    @property
    def report(self) -> Report:
        """Of the last run(): its layers, their cycles and bytes."""
        if self._report is None:
            raise InvalidArgument("there is no report before the first run()")
        return self._report

    def get_inputs(self) -> list[NodeArg]:
        """The network's inputs in the file's order, weights left out."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """The network's outputs in the file's order."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """None: weights are those of the file."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """What the file says of itself."""
        return ModelMetadata(**json.loads(self._network.metadata()))

    def get_providers(self) -> list[str]:
        """What runs the network, in ONNX Runtime's manner."""
        return [_PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """It has none."""
        return {_PROVIDER: {}}

    def set_providers(
        self,
        providers: Sequence[object] | None = None,
        provider_options: Sequence[object] | None = None,
    ) -> None:
        """Takes what the constructor takes, and changes nothing."""
        _check_providers(providers, provider_options)

    def get_session_options(self) -> object:
        """Those that the session was made with."""
        return self._session_options

    def enable_fallback(self) -> None:
        """Changes nothing: there is one provider."""

    def disable_fallback(self) -> None:
        """Changes nothing: there is one provider."""

    if not TYPE_CHECKING:  # for which nothing else would be unknown

        def __getattr__(self, name: str) -> object:
            instead = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
            text = f"gemm64.InferenceSession has no {name!r}{instead}"
            raise AttributeError(text, name=name, obj=self)

    def __repr__(self) -> str:
        takes = ", ".join(value.name for value in self._inputs)
        gives = ", ".join(value.name for value in self._outputs)
        return f"<gemm64.InferenceSession {takes} -> {gives}, on {self._device!r}>"

    def _repr_html_(self) -> str:
        """For notebooks: inputs, outputs, and the last run."""
        rows = [
            [kind, value.name, value.type, str(value.shape)]
            for kind, values in (("input", self._inputs), ("output", self._outputs))
            for value in values
        ]
        report = "" if self._report is None else self._report._repr_html_()
        return table(["", "name", "type", "shape"], rows) + report

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, NDArray[Any]],
        run_options: object = None,
    ) -> list[NDArray[Any]]:
        """The outputs of these names, or all of them in the file's order (None).

        input_feed: an array for each input, of its type and shape; sizes that the file leaves open
            may be any. The network is prepared again when they are others than in the last run.
        """
        _check_run_options(run_options)
        known = [output.name for output in self._outputs]
        if isinstance(output_names, str):
            raise InvalidArgument(f"output_names is {output_names!r}; it must be a list of names")
        wanted = list(output_names) if output_names else known
        for name in wanted:
            if name not in known:
                raise InvalidArgument(f"there is no output {name!r}; the outputs are {known}")
        arrays = self._arrays(input_feed)
        outputs, report = self._network.run(self._device._device, arrays)
        self._report = Report.from_json(report)
        if "error" in self._report:
            raise DeviceError(self._report["error"])
        warn(self._report)
        if self._check != "none":
            self._report.require_verified()
        return [np.asarray(outputs[name]) for name in wanted]

    def _arrays(self, feed: Mapping[str, Any]) -> dict[str, object]:
        expected = {value.name: value for value in self._inputs}
        if not isinstance(feed, Mapping):
            raise InvalidArgument(
                f"input_feed is a {type(feed).__name__}; it must be a dictionary of {list(expected)}"
            )
        for name in feed:
            if name not in expected:
                raise InvalidArgument(f"there is no input {name!r}; the inputs are {list(expected)}")
        missing = [name for name in expected if name not in feed]
        if missing:
            raise InvalidArgument(
                f"inputs {missing} are missing from the feed, {list(feed)}; the inputs are "
                f"{list(expected)}"
            )
        arrays: dict[str, object] = {}
        for name, value in feed.items():
            array = _as_array(expected[name], value)
            _check_input(expected[name], array)
            # NumPy makes an array of one dimension of a scalar.
            arrays[name] = array if array.ndim == 0 else np.ascontiguousarray(array)
        return arrays
