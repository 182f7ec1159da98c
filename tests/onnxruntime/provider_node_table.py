# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own tests of single operators (onnx.backend.test) in ONNX Runtime with the execution provider and without
it, and prints a table of what came of them: the result must be the same in every test.

Usage: GEMM64_EP=build/libgemm64_ep.so provider_node_table.py [--every N] [--first N] [--list] [--least N] [--device NAME]

Outcomes: equal bytes, not run by either (with the same error), different. Exits with 1 where one is different, or fewer
than --least are equal."""

import argparse
import collections
import os
import pathlib
import sys
import warnings

import numpy
import onnx
from onnx.backend.test.loader import load_model_tests

# As in gemm64's own sessions: else ONNX Runtime refuses opsets that are newer than its own whole.
os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")

import provider  # pylint: disable=wrong-import-position


def cases():
    """Name, model and inputs of each test."""
    for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            model, data = case.model, case.data_sets
            if model is None:
                try:
                    model = onnx.load(f"{case.model_dir}/model.onnx")
                except (OSError, ValueError):
                    continue
                data = list(data_sets(case.model_dir, model))
            for inputs, _ in data or []:
                yield case.name, model, [array_of(value) for value in inputs]
                break


def array_of(value):
    """A value of a test, which may be a NumPy scalar or a message, as an array or a list of arrays."""
    if isinstance(value, list):
        return [array_of(one) for one in value]
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return numpy.asarray(value) if isinstance(value, numpy.generic) else value


def data_sets(folder, model):
    """Inputs of each set of data below a folder."""
    for path in sorted(pathlib.Path(folder).glob("test_data_set_*")):
        inputs = []
        for i, value in enumerate(model.graph.input):
            file = path / f"input_{i}.pb"
            if not file.exists():
                break
            tensor = onnx.TensorProto.FromString(file.read_bytes())
            inputs.append(onnx.numpy_helper.to_array(tensor))
        yield inputs, None


def outcome(make, feeds):
    """Outputs, or the error without what names a provider."""
    try:
        return make().run(None, feeds)
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}"


def as_bytes(value):
    if isinstance(value, (list, tuple)):
        return [as_bytes(one) for one in value]
    if isinstance(value, dict):
        return {key: as_bytes(one) for key, one in value.items()}
    if isinstance(value, numpy.ndarray):
        return str(value.dtype), value.shape, value.tobytes() if value.dtype != object else value.tolist()
    return repr(value)


def run(name, model, inputs, own, random):
    names = [value.name for value in model.graph.input]
    constants = {tensor.name for tensor in model.graph.initializer}
    feeds = dict(zip([name for name in names if name not in constants] if len(inputs) != len(names) else names, inputs))
    source = model.SerializeToString()
    without = outcome(lambda: provider.cpu_session(source), feeds)
    kept = []

    def make():
        session = provider.Session(source, own)
        kept.append(session)
        return session.session

    found = outcome(make, feeds)
    if isinstance(without, str) or isinstance(found, str):
        return ("not run by either" if found == without else "different"), 0
    claimed = len(kept[0].report["layers"])
    if as_bytes(found) == as_bytes(without):
        return "equal", claimed
    # Random numbers differ from run to run.
    return ("random" if random else "different"), claimed


RANDOM = ("bernoulli", "dropout", "random", "training")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--device", default="reference")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, claimed, bad = collections.Counter(), 0, []
    for i, (name, model, inputs) in enumerate(cases()):
        if i % options.every != options.first % options.every:
            continue
        result, layers = run(name, model, inputs, {"device": options.device, "array": "8"},
                             any(word in name for word in RANDOM))
        counts[result] += 1
        claimed += layers != 0
        if result == "different":
            bad.append(name)
        if options.list:
            print(f"{name}: {result}" + (f", {layers} layers on the device" if layers else ""))
    for result, count in sorted(counts.items()):
        print(f"{count:6} {result}")
    print(f"{claimed:6} have layers on the device")
    for name in bad:
        print(f"different: {name}")
    return 1 if bad or counts["equal"] < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
