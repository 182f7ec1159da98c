# SPDX-License-Identifier: Apache-2.0
"""Sessions of ONNX Runtime with the execution provider."""

import json
import os
import pathlib
import tempfile

import numpy
import onnxruntime

import harness

NAME = "Gemm64ExecutionProvider"


def devices():
    """The provider's devices; the first call registers its library."""
    found = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    if found:
        return found
    onnxruntime.register_execution_provider_library("gemm64", os.environ["GEMM64_EP"])
    return devices()


def options_of(entries=None, level=None):
    """ONNX Runtime's options: one thread, and int8 activations that stay so."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    if level is not None:
        options.graph_optimization_level = level
    for key, value in {"session.qdqisint8allowed": "1", **(entries or {})}.items():
        options.add_session_config_entry(key, value)
    return options


def cpu_session(model, **more):
    return harness.cpu_session(model, options_of(**more))


class Session:
    """One with the provider, whose report of the last run is `report`."""

    def __init__(self, model, own=None, entries=None, level=None, **more):
        file, name = tempfile.mkstemp(suffix=".json")
        os.close(file)
        self._report = pathlib.Path(name)
        options = options_of(entries, level)
        if harness.saturates():  # nodes of the host
            options.add_session_config_entry("session.x64quantprecision", "1")
            model = harness.unshared(model)
        for key, value in more.items():
            setattr(options, key, value)
        own = {"device": "reference", "array": "8", **(own or {}), "report": name}
        options.add_provider_for_devices(devices(), own)
        self.session = onnxruntime.InferenceSession(model, options)

    def __del__(self):
        self._report.unlink(missing_ok=True)

    def run(self, feeds):
        return self.session.run(None, feeds)

    @property
    def report(self):
        return json.loads(self._report.read_text())


def differences(names, found, wanted):
    """What differs, output by output."""
    wrong = []
    for name, one, other in zip(names, found, wanted):
        if one.dtype != other.dtype or one.shape != other.shape:
            wrong.append(f"{name}: {one.dtype} {one.shape}, wanted {other.dtype} {other.shape}")
        elif one.tobytes() != other.tobytes():
            differ = numpy.sum(one.ravel() != other.ravel())
            wrong.append(f"{name}: {differ} of {one.size} {one.dtype}")
    return wrong
