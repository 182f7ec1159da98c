# SPDX-License-Identifier: Apache-2.0
"""Networks, beside ONNX Runtime: the same names, the same results, the same refusals."""

import gemm64
import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import DATA
from onnx import TensorProto, helper


def both(path, **options):
    return both_of(str(path), **options)


def both_of(model, **options):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    theirs = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    return gemm64.InferenceSession(model, **{"device": "tlm", "array": 8, **options}), theirs


@pytest.fixture(scope="module")
def quantized(tmp_path_factory):
    """The trained network of tests/data, quantized by an array of images."""
    images = np.random.default_rng(3).random((8, 1, 28, 28), np.float32)
    path = tmp_path_factory.mktemp("quantized") / "q.onnx"
    nodes = gemm64.quantize(DATA / "fashion_cnn.onnx", path, images)
    assert nodes["quantized"]["Conv"] > 0 and not nodes["float"].get("Conv")
    return path


def test_inputs_and_outputs_are_described_as_onnx_runtime_does():
    mine, theirs = both(DATA / "fashion_cnn.onnx")
    for ours, other in ((mine.get_inputs(), theirs.get_inputs()),
                        (mine.get_outputs(), theirs.get_outputs())):
        assert [(v.name, v.type, v.shape) for v in ours] == [
            (v.name, v.type, v.shape) for v in other]


def test_open_sizes_have_names(linear_network):
    mine, theirs = both(linear_network)
    assert mine.get_inputs()[0].shape == theirs.get_inputs()[0].shape == ["rows", 12]
    assert [v.name for v in mine.get_outputs()] == [v.name for v in theirs.get_outputs()]


def test_a_quantized_network_gives_onnx_runtimes_bytes(quantized, random):
    mine, theirs = both(quantized)
    image = mine.get_inputs()[0]
    x = random.random((3, 1, 28, 28), np.float32)
    found, wanted = mine.run(None, {image.name: x})[0], theirs.run(None, {image.name: x})[0]
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if "vnni" in open("/proc/cpuinfo", encoding="ascii").read():
        assert found.tobytes() == wanted.tobytes()
    else:
        print("this processor has no VNNI: ONNX Runtime saturates, bytes are NOT COMPARED")
    assert mine.report["verified"] and mine.report["batch"] == 3
    assert mine.report["total"]["cycles"] == mine.report["total"]["predicted_cycles"] > 0


def test_the_rtl_runs_it_too(quantized, random):
    x = {"image": random.random((2, 1, 28, 28), np.float32)}
    sessions = {kind: gemm64.InferenceSession(quantized, device=kind, array=8)
                for kind in ("rtl", "tlm")}
    name = sessions["rtl"].get_inputs()[0].name
    found = {kind: it.run(None, {name: x["image"]}) for kind, it in sessions.items()}
    np.testing.assert_array_equal(found["rtl"][0], found["tlm"][0])
    layers = {kind: [layer.get("cycles") for layer in it.report["layers"]]
              for kind, it in sessions.items()}
    assert layers["rtl"] == layers["tlm"]


def test_a_float_network_is_near(linear_network, random):
    mine, theirs = both(linear_network)
    x = random.standard_normal((5, 12)).astype(np.float32)
    for found, wanted in zip(mine.run(None, {"x": x}), theirs.run(None, {"x": x})):
        assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()
    exact, _ = both(linear_network, precision="float32")
    for found, wanted in zip(exact.run(None, {"x": x}), theirs.run(None, {"x": x})):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_outputs_are_chosen_by_name_and_shapes_may_change(linear_network, random):
    mine, _ = both(linear_network)
    for rows in (1, 4, 4, 2):
        x = random.standard_normal((rows, 12)).astype(np.float32)
        both_outputs = mine.run(["positive", "y"], {"x": x})
        assert [output.shape for output in both_outputs] == [(rows, 10), (rows, 6)]
        np.testing.assert_array_equal(mine.run(["y"], {"x": x})[0], both_outputs[1])
        assert mine.report["batch"] == rows


def test_a_session_can_be_made_of_bytes_and_on_a_device_of_ones_own(linear_network, random):
    device = gemm64.Device("rtl", array=4, memory_latency=5)
    mine = gemm64.InferenceSession(linear_network.read_bytes(), None, ["CPUExecutionProvider"],
                                   device=device)
    assert mine.device is device and mine.get_providers() == ["Gemm64ExecutionProvider"]
    mine.run(None, {"x": random.standard_normal((2, 12)).astype(np.float32)})
    assert mine.report["memory"]["latency"] == 5
    assert device.counters["total.clocks"] > 0


def test_numbers_in_lists_are_taken_as_onnx_runtime_does(linear_network):
    mine, theirs = both(linear_network, precision="float32")
    feed = {"x": [[0.5] * 12, [-1.0] * 12]}
    np.testing.assert_allclose(mine.run(["y"], feed)[0], theirs.run(["y"], feed)[0], rtol=1e-5)


@pytest.mark.parametrize("names, feed", [
    (["z"], {"x": np.zeros((1, 12), np.float32)}),
    (None, {}),
    (None, {"y": np.zeros((1, 12), np.float32)}),
    (None, {"x": np.zeros((1, 12), np.float32), "more": np.zeros(1, np.float32)}),
    (None, {"x": np.zeros((1, 12), np.float64)}),
    (None, {"x": np.zeros(12, np.float32)}),
    (None, {"x": np.zeros((1, 13), np.float32)}),
    (None, {"x": [["zero"] * 12]}),
])
def test_what_onnx_runtime_refuses_is_refused(linear_network, names, feed):
    mine, theirs = both(linear_network)
    with pytest.raises(Exception):
        theirs.run(names, feed)
    with pytest.raises(gemm64.InvalidArgument):
        mine.run(names, feed)


def test_sizes_that_the_file_fixes_stay(linear_network, tmp_path):
    model = onnx.load(linear_network)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, tmp_path / "one.onnx")
    mine, theirs = both(tmp_path / "one.onnx")
    two = {"x": np.zeros((2, 12), np.float32)}
    with pytest.raises(Exception):
        theirs.run(None, two)
    with pytest.raises(gemm64.InvalidArgument, match="size 0 must be 1"):
        mine.run(None, two)
    assert mine.run(["y"], {"x": two["x"][:1]})[0].shape == (1, 6)


def test_a_device_that_fails_ends_the_run_and_the_report_tells_of_it(linear_network):
    device = gemm64.Device("rtl", array=4)
    mine = gemm64.InferenceSession(linear_network, device=device)
    device.inject(f"slverr:weights@{device.clocks + 150}")
    x = {"x": np.ones((1, 12), np.float32)}
    with pytest.raises(gemm64.DeviceError, match="weights"):
        mine.run(None, x)
    assert "weights" in mine.report["error"] and not mine.report["verified"]
    mine.run(None, x)
    assert mine.report["verified"]


def test_what_the_device_wrote_is_what_run_returns(linear_network):
    x = {"x": np.ones((1, 12), np.float32)}
    right = gemm64.InferenceSession(linear_network, device="rtl", array=4, check="outputs").run(None, x)

    def run(check, clock):
        device = gemm64.Device("rtl", array=4)
        mine = gemm64.InferenceSession(linear_network, device=device, check=check)
        device.inject(f"accumulator:0,0,1:20@{device.clocks + clock}")
        return mine, mine.run(None, x)

    def differs(clock):
        return any(not np.array_equal(*pair) for pair in zip(run("none", clock)[1], right))

    clock = next(clock for clock in range(100, 1500, 5) if differs(clock))
    mine, _ = run("none", clock)
    assert mine.report["check"] == "none" and not mine.report["verified"]
    assert mine.report["layers"][0]["mismatches"] is None
    with pytest.raises(gemm64.VerificationError, match="values differ"):
        run("layers", clock)
    with pytest.raises(gemm64.VerificationError, match="values of the outputs differ"):
        run("outputs", clock)
    with pytest.raises(gemm64.InvalidArgument, match="'layers', 'outputs' or 'none'"):
        gemm64.InferenceSession(linear_network, check=True)


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int8", "int16", "int32", "int64",
                                  "uint8", "uint16", "uint32", "uint64", "bool"])
def test_every_type_of_numpys_passes_through_a_network_of_the_host_alone(name):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(name))
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Identity", ["s"], ["z"])], "same",
        [helper.make_tensor_value_info("x", kind, [None, 3]), helper.make_tensor_value_info("s", kind, [])],
        [helper.make_tensor_value_info("y", kind, [None, 3]), helper.make_tensor_value_info("z", kind, [])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    mine, theirs = both_of(model.SerializeToString())
    x = np.arange(12).reshape(3, 4).T.astype(name)  # its rows are not contiguous
    for feed in ({"x": x[:, :3], "s": np.array(1, name)}, {"x": x[:0, :3], "s": np.ones((), name)}):
        for found, wanted in zip(mine.run(None, feed), theirs.run(None, feed)):
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            np.testing.assert_array_equal(found, wanted)
    assert mine.report["layers"] == [] and mine.get_inputs()[1].shape == theirs.get_inputs()[1].shape == []


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(gemm64.NoSuchFile):
        gemm64.InferenceSession(tmp_path / "none.onnx")
    with pytest.raises(FileNotFoundError):
        gemm64.analyze(tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_text("this is no model")
    with pytest.raises(gemm64.InvalidGraph, match="text.onnx"):
        gemm64.InferenceSession(tmp_path / "text.onnx")
    with pytest.raises(gemm64.InvalidProtobuf):
        gemm64.InferenceSession(b"neither is this")
    with pytest.raises(ValueError):
        gemm64.InferenceSession(b"")


def test_operators_that_are_not_supported_are_named():
    graph = helper.make_graph(
        [helper.make_node("NonMaxSuppression", ["boxes", "scores"], ["chosen"])], "nms",
        [helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 2, 4]),
         helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 1, 2])],
        [helper.make_tensor_value_info("chosen", TensorProto.INT64, [None, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(gemm64.UnsupportedOperator, match="NonMaxSuppression"):
        gemm64.InferenceSession(model.SerializeToString())
    assert issubclass(gemm64.UnsupportedOperator, NotImplementedError)


def test_settings_that_do_not_fit_together_are_refused(linear_network):
    with pytest.raises(gemm64.InvalidArgument, match="accumulate='host'"):
        gemm64.InferenceSession(linear_network, device="tlm", accumulate="host", results="int8")
    with pytest.raises(gemm64.InvalidArgument, match="precision"):
        gemm64.InferenceSession(linear_network, device="tlm", precision="int4")
    with pytest.raises(gemm64.InvalidArgument, match="no report"):
        gemm64.InferenceSession(linear_network, device="tlm").report


def test_the_report_is_a_table_of_layers(quantized, random):
    mine = gemm64.InferenceSession(quantized, device="tlm", array=8)
    mine.run(None, {mine.get_inputs()[0].name: random.random((1, 1, 28, 28), np.float32)})
    table = mine.report.to_pandas()
    assert list(table.index) == [layer["name"] for layer in mine.report["layers"]]
    on_device = table[table["on"] == "device"]
    assert on_device["cycles"].sum() == mine.report["total"]["cycles"]
    assert on_device["bytes.weights"].sum() == mine.report["total"]["bytes"]["weights"]


def test_a_report_that_did_not_hold_raises():
    report = gemm64.Report(verified=False, layers=[
        {"name": "fc", "on": "device", "mismatches": 3}, {"name": "conv", "on": "host"}])
    with pytest.raises(gemm64.VerificationError, match="fc: 3 values differ"):
        report.require_verified()
    gemm64.Report(verified=False, layers=[{"name": "conv", "on": "host"}]).require_verified()
