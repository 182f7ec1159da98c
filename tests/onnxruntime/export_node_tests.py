# SPDX-License-Identifier: Apache-2.0
"""Writes the onnx package's own tests of operators as files, which the C++ tests read:
FOLDER/KIND/NAME/model.onnx, and next to it input_I.pb and output_I.pb in a folder for each data set.

Usage: export_node_tests.py FOLDER"""

import pathlib
import shutil
import sys
import warnings

import numpy
import onnx
import onnx.numpy_helper
from onnx.backend.test import loader

KINDS = ("node", "pytorch-converted", "pytorch-operator", "simple")


def write_values(folder, what, values):
    for index, value in enumerate(values):
        # Sequences and optional values are no tensors; what asks for them is refused.
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            value = onnx.numpy_helper.from_array(numpy.asarray(value))
        if isinstance(value, onnx.TensorProto):
            (folder / f"{what}_{index}.pb").write_bytes(value.SerializeToString())


def write_case(case, folder):
    if case.model is None:  # on disk already
        shutil.copytree(case.model_dir, folder)
        return
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for index, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{index}"
        data.mkdir()
        write_values(data, "input", inputs)
        write_values(data, "output", outputs)


def main():
    folder = pathlib.Path(sys.argv[1])
    stamp = folder / "version"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return
    shutil.rmtree(folder, ignore_errors=True)
    warnings.simplefilter("ignore")  # the cases divide by zero on purpose
    count = 0
    for kind in KINDS:
        for case in loader.load_model_tests(kind=kind):
            write_case(case, folder / kind / case.name)
            count += 1
    stamp.write_text(onnx.__version__)
    print(f"{count} tests of onnx {onnx.__version__} in {folder}")


if __name__ == "__main__":
    main()
