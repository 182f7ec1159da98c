# SPDX-License-Identifier: Apache-2.0
"""Quantized networks, compared with ONNX Runtime in every tensor."""

import numpy
import onnx
from onnxruntime import quantization

from harness import ProgramTest, infer


class Reader(quantization.CalibrationDataReader):
    def __init__(self, name, batches):
        self.feeds = iter([{name: batch} for batch in batches])

    def get_next(self):
        return next(self.feeds, None)


def draw_inputs(model, count):
    """Inputs of a network, drawn with the seeds 0 to count - 1, and the input's name."""
    value = model.graph.input[0]
    shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    return value.name, [numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32) for seed in range(count)]


def quantize(model, folder, types, per_channel=False, **options):
    """Quantizes a network by ONNX Runtime with three inputs; the file, and another input by name."""
    source, target = folder / "float.onnx", folder / "quantized.onnx"
    onnx.save(model, source)
    name, batches = draw_inputs(model, 4)
    quantization.quantize_static(source, target, Reader(name, batches[:3]), per_channel=per_channel,
                                 activation_type=types[0], weight_type=types[1], **options)
    return target, {name: batches[3]}


def quantize_dynamically(model, folder):
    """The same by its quantizer of weights only."""
    source, target = folder / "float.onnx", folder / "dynamic.onnx"
    onnx.save(model, source)
    quantization.quantize_dynamic(source, target, weight_type=quantization.QuantType.QUInt8)
    name, batches = draw_inputs(model, 3)
    return target, {name: batches[2]}


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
        expected = infer(str(self.folder / "all.onnx"), {name: x}, config=options or {})
        names = [value.name for value in model.graph.output]
        wrong = []
        for value, wanted in zip(names, expected):
            found = numpy.load(found_folder / (value.replace("/", "_") + ".npy"))
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
        report = self.read_json("rtl.json")
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
