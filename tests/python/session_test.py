# SPDX-License-Identifier: Apache-2.0
"""Networks, compared with ONNX Runtime: the same names, the same results, the same refusals."""

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


def test_a_float_network_is_computed_in_float_unless_quantizing_is_asked_for(linear_network, random):
    x = random.standard_normal((5, 12)).astype(np.float32)
    for options in ({}, {"precision": "float32"}):
        mine, theirs = both(linear_network, **options)
        for found, wanted in zip(mine.run(None, {"x": x}), theirs.run(None, {"x": x})):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
        assert mine.report["layers"][0]["arithmetic"] == "float32 in slices"
    near, _ = both(linear_network, precision="int8")
    for found, wanted in zip(near.run(None, {"x": x}), theirs.run(None, {"x": x})):
        assert 1e-4 < np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()
    assert near.report["layers"][0]["arithmetic"] == "quantized on the way"


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


def test_a_size_of_minus_one_is_open(linear_network, tmp_path):
    model = onnx.load(linear_network)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = -1  # as PaddlePaddle writes it
    onnx.save(model, tmp_path / "open.onnx")
    mine, theirs = both(tmp_path / "open.onnx")
    assert mine.get_inputs()[0].shape == theirs.get_inputs()[0].shape == [None, 12]
    assert mine.run(["y"], {"x": np.zeros((3, 12), np.float32)})[0].shape == (3, 6)


def test_a_device_that_fails_ends_the_run_and_the_report_tells_of_it(linear_network):
    device = gemm64.Device("rtl", array=4)
    mine = gemm64.InferenceSession(linear_network, device=device)
    device.inject(f"slverr:weights@{device.cycles + 150}")
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
        device.inject(f"accumulator:0,0,1:20@{device.cycles + clock}")
        return mine, mine.run(None, x)

    def differs(clock):
        return any(not np.array_equal(*pair) for pair in zip(run("none", clock)[1], right))

    clock = next(clock for clock in range(100, 1500, 5) if differs(clock))
    mine, _ = run("none", clock)
    assert mine.report["check"] == "none" and not mine.report["verified"]
    assert mine.report["layers"][0]["mismatches"] is None
    with pytest.raises(gemm64.VerificationError, match="1 value differs|values differ"):
        run("layers", clock)
    with pytest.raises(gemm64.VerificationError, match="values? of the outputs differ"):
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


def of_one_operator(operator, domain=""):
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], domain=domain)], "operator",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ours", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def test_operators_that_only_onnx_runtime_has_run():
    mine, theirs = both_of(of_one_operator("Det"))
    x = {"x": np.array([[1, 2], [3, 5]], np.float32)}
    np.testing.assert_array_equal(mine.run(None, x)[0], theirs.run(None, x)[0])


def test_operators_that_are_not_supported_are_named():
    with pytest.raises(gemm64.UnsupportedOperator, match="Determine"):
        gemm64.InferenceSession(of_one_operator("Determine", "ours"))
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
    assert "verified" in mine.report._repr_html_() and "image" in mine._repr_html_()
    on_device = table[table["on"] == "device"]
    assert on_device["cycles"].sum() == mine.report["total"]["cycles"]
    assert on_device["bytes.weights"].sum() == mine.report["total"]["bytes"]["weights"]


def test_layers_are_in_the_networks_order_and_counts_are_integers(tmp_path):
    """Two Linear layers on the device with products of two computed tensors, the host's, between."""
    def value(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    weights = [helper.make_tensor(name, TensorProto.FLOAT, [4, 4], np.eye(4, dtype=np.float32).ravel())
               for name in ("w1", "w2")]
    graph = helper.make_graph(
        [helper.make_node("ConvTranspose", ["x", "k"], ["a"], name="z_first"),
         helper.make_node("Reshape", ["a", "shape"], ["b"], name="reshape"),
         helper.make_node("MatMul", ["b", "w1"], ["c"], name="m_second"),
         helper.make_node("Reshape", ["c", "back"], ["d"], name="reshape_back"),
         helper.make_node("ConvTranspose", ["d", "k"], ["e"], name="a_third"),
         helper.make_node("Reshape", ["e", "shape"], ["f"], name="reshape_again"),
         helper.make_node("MatMul", ["f", "w2"], ["y"], name="b_last")],
        "order", [value("x", 1, 1, 4, 4)], [value("y", 4, 4)],
        [*weights, helper.make_tensor("k", TensorProto.FLOAT, [1, 1, 1, 1], [1.0]),
         helper.make_tensor("shape", TensorProto.INT64, [2], [4, 4]),
         helper.make_tensor("back", TensorProto.INT64, [4], [1, 1, 4, 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    mine = gemm64.InferenceSession(model.SerializeToString(), device="tlm", array=4)
    mine.run(None, {"x": np.ones((1, 1, 4, 4), np.float32)})
    table = mine.report.to_pandas()
    assert list(table.index) == ["z_first", "m_second", "a_third", "b_last"]
    assert list(table["on"]) == ["host", "device"] * 2
    assert str(table["cycles"].dtype) == "Int64" and str(table["macs"].dtype) == "int64"
    assert table["cycles"].isna().tolist() == [True, False] * 2
    assert str(table["bytes.weights"].dtype) == "Int64" and str(table["utilization"].dtype) == "float64"
    assert table["cycles"].sum() == mine.report["total"]["cycles"]


def test_a_fault_in_a_network_is_told_by_layer_clock_and_waveform(linear_network, tmp_path):
    device = gemm64.Device("rtl", array=4, trace_mismatch=tmp_path / "wrong.fst")
    mine = gemm64.InferenceSession(linear_network, device=device, precision="int8")
    device.inject(f"result:2:3@{device.cycles + 150}")
    with pytest.raises(gemm64.VerificationError, match="first: 1 value differs; the first at row") as raised:
        mine.run(None, {"x": np.ones((2, 12), np.float32)})
    assert raised.value.layer == "first" and raised.value.clock > 0
    assert raised.value.waveform == str(tmp_path / "wrong.fst")


def test_a_counter_that_differs_is_named_where_every_value_is_right():
    layer = {"name": "fc", "on": "device", "mismatches": 0,
             "counters": {"total": {"clocks": 1200}, "bytes": {"weights": 64}},
             "predicted_counters": {"total": {"clocks": 1199}, "bytes": {"weights": 64}}}
    with pytest.raises(gemm64.VerificationError,
                       match="fc: counter total.clocks is 1,200, predicted 1,199") as raised:
        gemm64.Report(verified=False, layers=[layer]).require_verified()
    assert raised.value.element is None and raised.value.waveform is None


def test_what_a_script_gives_onnx_runtime_is_taken(linear_network, recwarn):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    mine = gemm64.InferenceSession(
        str(linear_network), options, ["CPUExecutionProvider"], [{"use_arena": "1"}],
        device="tlm", array=4, disabled_optimizers=["ConstantFolding"], enable_fallback=False)
    assert mine.get_session_options() is options
    assert mine.get_provider_options() == {"Gemm64ExecutionProvider": {}}
    assert mine.get_overridable_initializers() == []
    mine.set_providers(["Gemm64ExecutionProvider"])
    mine.disable_fallback()
    mine.enable_fallback()
    settings = onnxruntime.RunOptions()
    settings.log_verbosity_level = 1
    assert len(mine.run(None, {"x": np.ones((1, 12), np.float32)}, settings)) == 2
    assert not recwarn.list
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        gemm64.InferenceSession(linear_network, device="tlm", array=4,
                                providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"])


def test_values_that_are_no_numbers_are_told_of(quantized, tmp_path):
    session = gemm64.InferenceSession(quantized, device="tlm", array=8)
    name = session.get_inputs()[0].name
    x = np.zeros((2, 1, 28, 28), np.float32)
    x[0, 0, 5, 6] = x[1, 0, 2, 0] = np.nan
    with pytest.warns(UserWarning, match=rf"'{name}': 2 of 1,568 values are NaN, the first at \[0, 0, 5, 6\]"):
        session.run(None, {name: x})
    assert "NaN" in session.report["warnings"][0]
    np.save(tmp_path / "x.npy", x)
    for calibration, named in ((x, f"input '{name}'"), (tmp_path / "x.npy", "x.npy")):
        with pytest.raises(gemm64.InvalidArgument, match=f"{named}: 2 of 1,568 values are NaN"):
            gemm64.quantize(DATA / "fashion_cnn.onnx", tmp_path / "q.onnx", calibration)


def test_a_session_says_what_it_is(linear_network):
    session = gemm64.InferenceSession(linear_network, device="tlm", array=4)
    assert repr(session).startswith("<gemm64.InferenceSession x -> ")
    assert gemm64.NoSuchFile.__module__ == "gemm64"


def test_the_file_tells_of_itself_as_in_onnx_runtime(linear_network):
    model = onnx.load(linear_network)
    model.producer_name, model.domain, model.model_version = "somebody", "here", 7
    model.doc_string, model.graph.doc_string = "a model", "a graph"
    helper.set_model_props(model, {"author": "me", "tags": "a,b"})
    mine, theirs = both_of(model.SerializeToString())
    found, wanted = mine.get_modelmeta(), theirs.get_modelmeta()
    for name in ("producer_name", "graph_name", "domain", "description", "graph_description", "version",
                 "custom_metadata_map"):
        assert getattr(found, name) == getattr(wanted, name), name


def profiled():
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    return options


@pytest.mark.parametrize("arguments, kind, text", [
    ({"sess_options": {}}, ValueError, "sess_options is {}.*SessionOptions"),
    ({"sess_options": profiled()}, ValueError, "sess_options.enable_profiling"),
    ({"providers": ["CUDAExecutionProvider"]}, ValueError, "CUDAExecutionProvider"),
    ({"providers": "CPUExecutionProvider"}, ValueError, "must be a list"),
    ({"providers": [3]}, ValueError, "providers has"),
    ({"providers": [("Gemm64ExecutionProvider", {"array": 4})]}, ValueError, "no option 'array'"),
    ({"providers": ["CPUExecutionProvider"], "provider_options": []}, ValueError, "provider_options has 0"),
    ({"read_config_from_model": 1}, TypeError, "'read_config_from_model'"),
])
def test_settings_of_onnx_runtimes_that_cannot_be_are_refused_by_name(linear_network, arguments, kind, text):
    with pytest.raises(kind, match=text):
        gemm64.InferenceSession(linear_network, device="tlm", array=4, **arguments)


def test_what_a_session_lacks_of_onnx_runtimes_is_named(linear_network):
    mine, theirs = both(linear_network)
    x = {"x": np.ones((1, 12), np.float32)}
    public = {name for name in dir(theirs) if not name.startswith("_")}
    for name in public - set(dir(mine)):
        with pytest.raises(AttributeError, match=f"no '{name}': .*"):
            getattr(mine, name)
    with pytest.raises(AttributeError, match=r"no 'io_binding': run\(\) takes"):
        mine.io_binding()
    stop = onnxruntime.RunOptions()
    stop.terminate = True
    with pytest.raises(gemm64.InvalidArgument, match="run_options.terminate"):
        mine.run(None, x, stop)
    with pytest.raises(gemm64.InvalidArgument, match="run_options is 3"):
        mine.run(None, x, 3)
    with pytest.raises(gemm64.InvalidArgument, match="list of names"):
        mine.run("y", x)
    with pytest.raises(gemm64.InvalidArgument, match="input_feed is a list"):
        mine.run(None, [x["x"]])


def test_a_wrong_name_of_an_input_is_told_with_the_right_ones(linear_network):
    mine, _ = both(linear_network)
    x = np.ones((1, 12), np.float32)
    for feed, text in (({"image": x}, r"no input 'image'; the inputs are \['x'\]"),
                       ({"x": x, "z": x}, r"no input 'z'; the inputs are \['x'\]"),
                       ({}, r"inputs \['x'\] are missing")):
        with pytest.raises(gemm64.InvalidArgument, match=text):
            mine.run(None, feed)


def test_a_report_that_did_not_hold_raises():
    report = gemm64.Report(verified=False, layers=[
        {"name": "fc", "on": "device", "mismatches": 3}, {"name": "conv", "on": "host"}])
    with pytest.raises(gemm64.VerificationError, match="fc: 3 values differ"):
        report.require_verified()
    gemm64.Report(verified=False, layers=[{"name": "conv", "on": "host"}]).require_verified()


def test_a_crash_of_onnx_runtime_is_an_exception(tmp_path):
    """It divides the lowest int64 by -1: while it folds constants, and while the network runs."""
    lowest = onnx.numpy_helper.from_array(np.array([-2**63], np.int64), "lowest")
    for constant in (True, False):
        nodes = [helper.make_node("Cast", ["x"], ["d"], to=TensorProto.INT64),
                 helper.make_node("Div", ["lowest", "minus" if constant else "d"], ["q"]),
                 helper.make_node("Add", ["q", "d"], ["y"])]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                                  [helper.make_tensor_value_info("y", TensorProto.INT64, [1])],
                                  [lowest, onnx.numpy_helper.from_array(np.array([-1], np.int64), "minus")])
        path = tmp_path / "div.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
        for _ in range(2):  # nothing of the first is in the way of the second
            with pytest.raises(gemm64.InvalidArgument, match="a quotient of integers overflows"):
                gemm64.InferenceSession(path, device="tlm", array=8).run(None, {"x": -np.ones(1, np.float32)})
