#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Prints cycles and DRAM bytes that Arm's Vela estimates of networks on an Ethos-U85, next to gemm64's predictions.

Vela and TensorFlow are no dependencies of gemm64. By hand, from the repository's root:

  python3 -m venv build/venv-vela
  build/venv-vela/bin/pip install ethos-u-vela==5.2.0 tensorflow-cpu
  build/venv-vela/bin/python tests/integrations/vela/compare.py
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

# Keras' name, and the same network without weights.
NETWORKS = {"MobileNetV2": "tests/data/mobilenet_v2_shape.onnx", "ResNet50": "tests/data/resnet50.onnx"}
SYSTEM = "Ethos_U85_SYS_DRAM_Mid"  # 12 GB/s of DRAM at 1 GHz
BYTES_PER_CYCLE = 12


def quantized(name, path):
    """The network with random weights, calibrated with random images, as an int8 TFLite file."""
    import numpy
    import tensorflow
    network = getattr(tensorflow.keras.applications, name)(weights=None)
    random = numpy.random.default_rng(1)
    converter = tensorflow.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([random.random((1, 224, 224, 3), "float32")] for _ in range(4))
    converter.target_spec.supported_ops = [tensorflow.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tensorflow.int8
    path.write_bytes(converter.convert())


def vela(path, accelerator, sram):
    """(cycles, bytes of DRAM) of an inference as Vela's summary has them."""
    vela_program = pathlib.Path(sys.executable).parent / "vela"
    subprocess.run([vela_program, path, "--accelerator-config", accelerator, "--config", "Arm/vela.ini", "--system-config", SYSTEM,
                    "--memory-mode", "Dedicated_Sram", "--arena-cache-size", str(sram), "--output-dir", path.parent],
                   check=True, stdout=subprocess.DEVNULL)
    with open(path.parent / f"{path.stem}_summary_{SYSTEM}.csv", newline="") as file:
        row = next(csv.DictReader(file))
    return round(float(row["cycles_total"])), round(float(row["dram_total_bytes"]))


def predicted(program, folder):
    """The same of all networks by gemm64, with one port for everything."""
    sweep = {"quantize": True, "networks": list(NETWORKS.values()), "batches": [1],
             "designs": {"memory": "shared", "memory_bytes_per_cycle": BYTES_PER_CYCLE}}
    (folder / "sweep.json").write_text(json.dumps(sweep))
    subprocess.run([program, "sweep", folder / "sweep.json", "--json", folder / "rows.json"], check=True, stdout=subprocess.DEVNULL)
    rows = json.loads((folder / "rows.json").read_text())["rows"]
    return [(row["cycles"], row["bytes"]) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accelerator", default="ethos-u85-2048", help="(default: %(default)s)")
    parser.add_argument("--sram", type=int, default=384 * 1024, help="bytes that Vela may use (default: %(default)s)")
    parser.add_argument("--program", default="build/gemm64", help="(default: %(default)s)")
    parser.add_argument("--folder", type=pathlib.Path, default="build/vela", help="for files (default: %(default)s)")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'batch 1':12} {options.accelerator:>26} {'gemm64, 64x64':>26}")
    for name, (cycles, moved) in zip(NETWORKS, predicted(options.program, options.folder)):
        path = options.folder / f"{name}.tflite"
        if not path.exists():
            quantized(name, path)
        theirs, their_bytes = vela(path, options.accelerator, options.sram)
        print(f"{name:12} {theirs:12,} {their_bytes / 1e6:8.1f} MB {cycles:15,} {moved / 1e6:8.1f} MB")


if __name__ == "__main__":
    main()
