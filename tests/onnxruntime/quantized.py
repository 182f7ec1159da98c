# SPDX-License-Identifier: Apache-2.0
"""Quantized networks, compared with ONNX Runtime in every tensor."""

import json

import numpy
import onnx
import onnxruntime
from onnxruntime import quantization

from harness import ProgramTest


class Reader(quantization.CalibrationDataReader):
    def __init__(self, name, batches):
        self.feeds = iter([{name: batch} for batch in batches])

    def get_next(self):
        return next(self.feeds, None)


class QuantizedTest(ProgramTest):
    def compare(self, path, name, x, values, options=None):
        """The bytes of `values`, made outputs of the file, and of its own outputs."""
        model = onnx.load(path)
        known = {value.name for value in model.graph.output}
        model.graph.output.extend(
            onnx.ValueInfoProto(name=value) for value in values(model) if value not in known)
        onnx.save(model, self.folder / "all.onnx")
        numpy.save(self.folder / "x.npy", x)
        found_folder = self.folder / "found"
        self.succeed("run", "--model", "all.onnx", "--input", "x.npy", "--device", "reference",
                     "--allow-host-only", "--output", f"{found_folder}/")
        session_options = onnxruntime.SessionOptions()
        session_options.log_severity_level = 3
        session_options.intra_op_num_threads = 1
        for key, value in (options or {}).items():
            session_options.add_session_config_entry(key, value)
        session = onnxruntime.InferenceSession(str(self.folder / "all.onnx"), session_options,
                                               providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_outputs()]
        # ONNX Runtime computes these floats by polynomials, which are off in the last bits.
        approximate = {node.output[0] for node in model.graph.node
                       if node.op_type in ("Tanh", "Softmax")}
        wrong = []
        for value, wanted in zip(names, session.run(None, {name: x})):
            found = numpy.load(found_folder / (value.replace("/", "_") + ".npy"))
            if value in approximate and numpy.allclose(found, wanted, rtol=0, atol=1e-6):
                continue
            if found.dtype != wanted.dtype or found.tobytes() != wanted.tobytes():
                differ = numpy.sum(found.ravel() != wanted.ravel())
                wrong.append(f"{value}: {differ} of {wanted.size} {wanted.dtype}")
        self.assertFalse(wrong, f"{len(wrong)} of {len(names)} tensors: {wrong}")
        return len(names)

    def run_on_rtl(self, path, x, array=8, share=1):
        """All layers of a file on the RTL, each value compared there with the host's; the report."""
        numpy.save(self.folder / "x.npy", x)
        self.succeed("run", "--model", path, "--input", "x.npy", "--array", array, "--json",
                     "rtl.json")
        report = json.loads((self.folder / "rtl.json").read_text())
        self.assertTrue(report["verified"])
        self.assertGreaterEqual(report["total"]["device_share"], share)
        return report

    @staticmethod
    def all_values(model):
        return [name for node in model.graph.node for name in node.output
                if name and node.op_type != "Constant"]

    @staticmethod
    def quantized_values(model):
        return [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
