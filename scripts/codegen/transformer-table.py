#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures which transformers give ONNX Runtime's bytes on the device, and what share of their MACs runs there.

Seven kinds (tests/python/transformers.py) or, with --minilm, the trained all-MiniLM-L6-v2, in four quantized forms,
with sequences of 1, 16, 128 and 512 and batches of 1 and 8; MiniLM also as the float file that it is, on the host.
Runs in the environment of scripts/setup/venv.sh, with the Python module on PYTHONPATH:

    PYTHONPATH=build/python build/venv/bin/python scripts/codegen/transformer-table.py --json build/transformers.json

Exit: 0 all equal, cycles as predicted and integers on the device, 1 not, or MiniLM could not be fetched, 2 bad usage.
"""
import argparse
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
FORMS = ("QDQ", "QOperator", "dynamic", "every product")  # the last: dynamic, attention's products as well
LENGTHS, BATCHES = (1, 16, 128, 512), (1, 8)
LEAST = 0.99  # of the MACs that a file does not compute in float


class Seeded:
    """A seeded network of a kind."""

    forms = FORMS

    def __init__(self, transformers, kind):
        self.transformers, self.kind = transformers, kind

    def model(self):
        return self.transformers.make(self.kind)

    def feeds(self, batch, length, seed=1):
        return self.transformers.feeds(self.kind, self.transformers.Sizes(batch, length, 3 if length < 512 else 0), seed)


class MiniLm:
    """The trained file, fetched into build/minilm."""

    kind, forms = "minilm", ("float", *FORMS)

    def __init__(self):
        subprocess.run([ROOT / "scripts/models/minilm.sh", "--fetch"], check=True)
        self.path = ROOT / "build/minilm/model.onnx"

    def model(self):
        """With its weights as they are multiplied, which quantizers need."""
        import onnx
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        with tempfile.TemporaryDirectory() as folder:
            options.optimized_model_filepath = f"{folder}/folded.onnx"
            onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
            return onnx.load(options.optimized_model_filepath)

    def feeds(self, batch, length, seed=1):
        import numpy

        mask = numpy.ones((batch, length), numpy.int64)
        mask[1:, length - length // 4:] = 0
        return {"input_ids": numpy.random.default_rng(seed).integers(1000, 30000, (batch, length)),
                "attention_mask": mask, "token_type_ids": numpy.zeros((batch, length), numpy.int64)}


def quantize(network, form, folder):
    """The file's bytes."""
    import onnx
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                          quantize_static)

    class Inputs(CalibrationDataReader):
        def __init__(self):
            self.left = [network.feeds(2, 16, seed) for seed in (5, 6)]

        def get_next(self):
            return self.left.pop() if self.left else None

    names = folder / "float.onnx", folder / "quantized.onnx"
    onnx.save(network.model(), names[0])
    if form in ("dynamic", "every product"):
        quantize_dynamic(*names, weight_type=QuantType.QInt8, extra_options={"MatMulConstBOnly": form == "dynamic"})
    else:
        quantize_static(*names, Inputs(), quant_format=getattr(QuantFormat, form), activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8)
    return names[1].read_bytes()


def measure(gemm64, transformers, model, feeds, is_float, device):
    """A run on the device, and ONNX Runtime's."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    wanted = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)
    session = gemm64.InferenceSession(model, device="reference" if is_float else device,
                                      precision="float32" if is_float else "file")
    found = session.run(None, feeds)
    total = session.report["total"]
    return {"equal": all(a.tobytes() == b.tobytes() for a, b in zip(wanted, found, strict=True)),
            "cycles": None if is_float else total["cycles"],  # of float files, which run on the host
            "predicted_cycles": None if is_float else total["predicted_cycles"],
            "device_share": 0.0 if is_float else total["device_share"],
            "device_share_of_integers": None if is_float else transformers.share_of_integers(session.report, model)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("rtl", "tlm"), default="rtl", help="(default rtl)")
    parser.add_argument("--kind", action="append", help="only this kind; may be given again")
    parser.add_argument("--minilm", action="store_true", help="MiniLM instead, fetched (22 MB) at the first time")
    parser.add_argument("--json", metavar="FILE", help="writes every run to this file")
    options = parser.parse_args()
    try:
        import gemm64
        import transformers
    except ImportError as error:
        print(f"transformer-table: {error}: see --help", file=sys.stderr)
        return 2
    unknown = set(options.kind or ()) - set(transformers.KINDS)
    if unknown:
        print(f"transformer-table: --kind {unknown.pop()}: there are {', '.join(transformers.KINDS)}", file=sys.stderr)
        return 2
    try:
        networks = ([MiniLm()] if options.minilm else
                    [Seeded(transformers, kind) for kind in options.kind or transformers.KINDS])
    except subprocess.CalledProcessError:  # which said why
        return 1
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # the quantizer's

    runs = []
    print(f"{'kind':8} {'form':13} {'equal':>7} {'as predicted':>13}   MACs on the device, by length (batch 1)")
    for network in networks:
        for form in network.forms:
            is_float = form == "float"
            with tempfile.TemporaryDirectory() as folder:
                model = (network.path.read_bytes() if is_float else
                         quantize(network, form, pathlib.Path(folder)))
            row = [{"kind": network.kind, "form": form, "length": length, "batch": batch,
                    **measure(gemm64, transformers, model, network.feeds(batch, length), is_float, options.device)}
                   for batch in BATCHES for length in LENGTHS]
            runs += row
            shares = "  ".join(f"{run['length']}: {100 * run['device_share']:.1f} %" for run in row if run["batch"] == 1)
            right = sum(run["cycles"] == run["predicted_cycles"] for run in row)
            predicted = "on the host" if is_float else f"{right} / {len(row)}"
            print(f"{network.kind:8} {form:13} {sum(run['equal'] for run in row):3} / {len(row)} {predicted:>13}   "
                  f"{shares}", flush=True)
    bad = [run for run in runs if not run["equal"] or run["cycles"] != run["predicted_cycles"]]
    quantized = [run["device_share_of_integers"] for run in runs if run["form"] != "float"]
    short = sum(share < LEAST for share in quantized)
    print(f"{len(runs) - len(bad)} of {len(runs)} runs have ONNX Runtime's bytes, and on the device the predicted cycles")
    print(f"{len(quantized) - short} of {len(quantized)} have at least {100 * LEAST:.0f} % of the MACs on the device that "
          f"their files do not compute in float; least: {100 * min(quantized):.1f} %")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(runs, indent=2) + "\n")
    return 1 if bad or short else 0


if __name__ == "__main__":
    sys.exit(main())
