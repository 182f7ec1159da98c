# SPDX-License-Identifier: Apache-2.0
"""TorchScript files where ONNX files go, by a plug-in without LibTorch: what it does is in the file's name."""

import pathlib

import gemm64
import numpy as np
import pytest

BUILD = pathlib.Path(gemm64.__file__).resolve().parents[2]


@pytest.fixture
def network(linear_network, tmp_path, monkeypatch):
    """The network of conftest as a .pt file: the plug-in takes 4 bytes off."""
    monkeypatch.setenv("GEMM64_TORCHSCRIPT",
                       str(BUILD / "tests" / "unit" / "torchscript" / "gemm64_fake_torchscript.so"))
    path = tmp_path / "net.pt"
    path.write_bytes(b"PK\3\4" + linear_network.read_bytes())
    (tmp_path / "tell.pt").write_bytes(b"PK\3\4")  # refused, with what was asked for
    return path


def test_a_file_is_analyzed(network, linear_network):
    found = gemm64.analyze(network, input_shapes={"x": (1, 12)})
    assert found["total"]["macs"] == gemm64.analyze(linear_network)["total"]["macs"]
    with pytest.raises(gemm64.InvalidArgument, match=r"tell.pt: \[x\] 1 12, without weights"):
        gemm64.analyze(network.with_name("tell.pt"), input_shapes={"x": (1, 12)})


def test_a_file_runs(network, linear_network, random):
    x = {"x": random.standard_normal((1, 12)).astype(np.float32)}
    mine = gemm64.InferenceSession(network, device="tlm", array=4, input_shapes={"x": (1, 12)})
    wanted = gemm64.InferenceSession(linear_network, device="tlm", array=4).run(None, x)
    for found, right in zip(mine.run(None, x), wanted):
        np.testing.assert_array_equal(found, right)
    with pytest.raises(gemm64.InvalidArgument, match="input_shapes is for TorchScript"):
        gemm64.InferenceSession(linear_network, device="tlm", input_shapes={"x": (1, 12)})
    with pytest.raises(gemm64.InvalidArgument, match=r"tell.pt: \[x\] 1 12, with weights"):
        gemm64.InferenceSession(network.with_name("tell.pt"), input_shapes={"x": (1, 12)})


def test_a_file_is_quantized_by_the_shape_of_its_array(network, linear_network, random, tmp_path):
    x = random.standard_normal((5, 12)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    gemm64.quantize(linear_network, tmp_path / "wanted.onnx", x)
    for calibrate in (x, {"x": x}, tmp_path / "x.npy"):
        gemm64.quantize(network, tmp_path / "q.onnx", calibrate)
        assert (tmp_path / "q.onnx").read_bytes() == (tmp_path / "wanted.onnx").read_bytes()
    for calibrate, text in ((x, r"\[\] 1 12"), ({"y": x}, r"\[y\] 1 12"), (tmp_path / "x.npy", r"\[\] 1 12")):
        with pytest.raises(gemm64.InvalidArgument, match=text + ", with weights"):
            gemm64.quantize(network.with_name("tell.pt"), tmp_path / "q.onnx", calibrate)


def test_a_plug_in_that_is_not_there_is_named(network, monkeypatch, tmp_path):
    monkeypatch.setenv("GEMM64_TORCHSCRIPT", str(tmp_path / "none.so"))
    with pytest.raises(gemm64.InvalidArgument, match="none.so: cannot be loaded"):
        gemm64.analyze(network, input_shapes={"x": (1, 12)})
