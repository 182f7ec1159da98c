# SPDX-License-Identifier: Apache-2.0
"""Predictions, analyses and quantized networks."""

import gemm64
import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import DATA


def test_alexnets_layers_are_predicted():
    """The cycles that README.md promises of three separate products at batch 64."""
    cycles = [gemm64.predict(64, k, n)["cycles"] for k, n in ((9216, 4096), (4096, 4096), (4096, 1000))]
    assert cycles == [590_534, 262_854, 66_246] and sum(cycles) == 919_634


def test_a_prediction_tells_of_the_design():
    found = gemm64.predict(10, 20, 30, array=8, memory_latency=7, memory="shared")
    assert (found["m"], found["k"], found["n"], found["array"]) == (10, 20, 30, 8)
    assert found["memory"]["latency"] == 7 and found["memory"]["sharing"] == "shared"
    assert found["padded"] == [10, 24, 32] and found["tiles"] == 12
    assert found["utilization"] == 6000 / (64 * found["cycles"])
    assert "mismatches" not in found
    smaller = gemm64.predict(64, 512, 512, scratchpad_words=256, accumulator_rows=64)
    assert smaller["bytes"]["activations"] > gemm64.predict(64, 512, 512)["bytes"]["activations"]


@pytest.mark.parametrize("arguments, text", [
    ({"m": 0}, "m is 0"), ({"k": 2**40}, "k is"), ({"array": 7}, "7x7"),
    ({"memory_latency": 0}, "memory_latency"), ({"accumulator_rows": 100}, "power of two"),
    ({"scratchpad_words": 190}, "at least 191"),
    ({"memory": "none"}, "memory is"), ({"accumulate": "nowhere"}, "accumulate is"),
])
def test_designs_that_cannot_be_are_refused(arguments, text):
    with pytest.raises(gemm64.InvalidArgument, match=text):
        gemm64.predict(**{"m": 1, "k": 1, "n": 1, **arguments})


def test_alexnet_is_analyzed():
    found = gemm64.analyze(DATA / "alexnet.onnx")
    assert found["total"]["macs"] == 714_188_480
    assert found["total"]["parameters"] == 61_100_840
    assert gemm64.analyze(DATA / "alexnet.onnx", batch=2)["total"]["macs"] == 2 * 714_188_480


def test_a_network_is_analyzed_with_a_dram_channel():
    ideal = gemm64.analyze(DATA / "alexnet.onnx")["array"]
    dram = gemm64.analyze(DATA / "alexnet.onnx", memory="dram:lpddr4")["array"]
    assert dram["memory"] == "dram:lpddr4" and ideal["memory"] == "independent"
    assert 3 * ideal["clocks"] < dram["clocks"] < 7 * ideal["clocks"]  # 64 bytes a port, 12.8 in all
    with pytest.raises(gemm64.InvalidArgument, match="dram:lpddr4, dram:ddr4, dram:lpddr5"):
        gemm64.analyze(DATA / "alexnet.onnx", memory="dram:hbm")


def test_open_sizes_are_told(linear_network):
    found = gemm64.analyze(linear_network, input_shapes={"x": (5, 12)})
    assert found["total"]["macs"] == 5 * (12 * 10 + 10 * 6)
    with pytest.raises(gemm64.InvalidArgument, match="z"):
        gemm64.analyze(linear_network, input_shapes={"z": (5, 12)})


def test_a_first_size_that_cannot_be_one_stays_open(tmp_path):
    text = """<ir_version: 8, opset_import: ["" : 13]> g (float[N,2] x) => (float[2,3,2] y)
              <int64[3] s = {2, 3, 2}> {a = Reshape(x, s) y = Relu(a)}"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "open.onnx")
    assert gemm64.analyze(tmp_path / "open.onnx")["layers"][-1]["outputs"] == ["2x3x2"]
    with pytest.raises(gemm64.InvalidGraph):
        gemm64.analyze(tmp_path / "open.onnx", batch=2)


def test_scales_come_from_arrays_by_name_and_from_files(linear_network, random, tmp_path):
    x = random.standard_normal((40, 12)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    for number, calibrate in enumerate((x, {"x": x}, tmp_path / "x.npy", [f"x={tmp_path}/x.npy"])):
        nodes = gemm64.quantize(linear_network, tmp_path / f"{number}.onnx", calibrate)
        assert nodes["quantized"]["Gemm"] == 2
        onnx.checker.check_model(onnx.load(tmp_path / f"{number}.onnx"), full_check=True)
    contents = {(tmp_path / f"{number}.onnx").read_bytes() for number in range(4)}
    assert len(contents) == 1
    gemm64.quantize(linear_network, tmp_path / "three.onnx", tmp_path / "x.npy", images=3)
    gemm64.quantize(linear_network, tmp_path / "first.onnx", x[:3])
    assert (tmp_path / "three.onnx").read_bytes() == (tmp_path / "first.onnx").read_bytes()
    gemm64.quantize(linear_network.read_bytes(), tmp_path / "bytes.onnx", x)
    first = gemm64.InferenceSession(tmp_path / "bytes.onnx", device="reference", array=4)
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI, sums saturate else
    theirs = onnxruntime.InferenceSession(str(tmp_path / "0.onnx"), options)
    np.testing.assert_allclose(first.run(["y"], {"x": x})[0], theirs.run(["y"], {"x": x})[0],
                               rtol=0, atol=1e-5)


def test_nodes_and_ranges_are_chosen(linear_network, random, tmp_path):
    x = random.standard_normal((400, 12)).astype(np.float32)
    x[0, 0] = 30
    names = [node.name or node.output[0] for node in onnx.load(linear_network).graph.node if node.op_type == "Gemm"]

    def scale(**options):
        found = gemm64.quantize(linear_network, tmp_path / "q.onnx", x, **options)
        constants = {tensor.name: tensor for tensor in onnx.load(tmp_path / "q.onnx").graph.initializer}
        return found, float(onnx.numpy_helper.to_array(constants["x_scale"]))

    found, whole = scale(nodes_to_exclude=names[1:])
    assert found["quantized"]["Gemm"] == 1 and found["why_float"]["Gemm"] == {"excluded": 1}
    assert scale(op_types_to_quantize=["Gemm"])[0]["quantized"]["Gemm"] == 2
    assert scale(calibrate_method="percentile", percentile=99)[1] < whole / 3
    assert scale(calibrate_method="entropy", bins=2048)[1] < whole / 2
    assert scale(calibrate_method="entropy")[1] == pytest.approx(whole)
    with pytest.raises(gemm64.InvalidArgument, match="nothing in it can be quantized: 2 Gemm: excluded"):
        scale(nodes_to_exclude=names)


def test_calibrations_that_cannot_be_are_refused(linear_network, tmp_path):
    x = np.zeros((2, 12), np.float32)
    out = tmp_path / "out.onnx"
    for arguments, text in (
        ({"calibrate": {}}, "empty"), ({"calibrate": {"z": x}}, "z"),
        ({"calibrate": tmp_path / "none.npy"}, "none.npy"),
        ({"calibrate": x, "preprocess": "caffe"}, "preprocess"),
        ({"calibrate": x, "calibrate_method": "kl"}, "calibrate_method is 'kl'"),
        ({"calibrate": x, "percentile": 101}, "percentile is 101"), ({"calibrate": x, "bins": 7}, "bins is 7"),
        ({"calibrate": x[:, :3]}, "x"),
        ({"calibrate": x, "output": tmp_path / "no" / "out.onnx"}, "out.onnx"),
        ({"calibrate": x, "output": linear_network}, "linear.onnx"),
    ):
        with pytest.raises(gemm64.InvalidArgument, match=text):
            gemm64.quantize(linear_network, **{"output": out, **arguments})
        assert not out.exists()
