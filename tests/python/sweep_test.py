# SPDX-License-Identifier: Apache-2.0
"""Sweeps point by point."""

import json
import threading

import gemm64
import pytest
from conftest import DATA

SMALL = {"networks": ["20x30x40", "lenet"], "batches": [1, 2],
         "designs": {"array": [4, 8], "memory_latency": [9, 90]}}


def test_points_are_described_in_order():
    points = gemm64.sweep_points(json.dumps({**SMALL, "mode": "run", "device": "tlm"}))
    assert [point["point"] for point in points] == list(range(16))
    assert points[3] == {"point": 3, "mode": "run", "device": "tlm", "network": "20x30x40", "batch": 1,
                         "depthwise": "window", "array": 8, "scratchpad_words": 9216, "accumulator_rows": 128,
                         "tensor_words": 6144, "weight_tiles": 128, "parameter_sets": 16, "sram_kib": 100.125,
                         "memory": "independent", "memory_bytes_per_cycle": 0, "memory_latency": 90}
    assert points[8]["network"] == "lenet" and points[12]["batch"] == 2


def test_a_row_is_what_predict_says():
    text = json.dumps({"networks": "64x9216x4096", "designs": {"memory": "shared", "array": [32, 64]}})
    for index, array in enumerate((32, 64)):
        row = gemm64.sweep_row(text, index)
        found = gemm64.predict(64, 9216, 4096, array=array, memory="shared")
        for key in ("cycles", "utilization", "roofline_utilization", "macs", "tiles"):
            assert row[key] == found[key]
        for group in ("bytes", "cycle_breakdown", "published_cycles"):
            for key, value in found[group].items():
                assert row[f"{group}.{key}"] == value
        assert row["verified"] is None and row["predicted_cycles"] is None


def test_a_row_of_a_file_is_what_analyze_says():
    path = str(DATA / "alexnet.onnx")
    row = gemm64.sweep_row(json.dumps({"networks": path, "batches": 3}), 0)
    on_device = gemm64.analyze(path, batch=3)["array"]["on_device"]
    assert row["cycles"] == on_device["clocks"] and row["macs"] == on_device["macs"]
    assert row["all_macs"] == 3 * 714_188_480 and row["device_share"] == row["macs"] / row["all_macs"]


def test_a_run_counts_what_is_predicted():
    for index in range(16):
        run = gemm64.sweep_row(json.dumps({**SMALL, "mode": "run"}), index)
        predicted = gemm64.sweep_row(json.dumps(SMALL), index)
        assert run["verified"] is True and run["mismatches"] == 0 and run["error"] is None
        assert run["cycles"] == run["predicted_cycles"] == predicted["cycles"]
        assert run["bytes"] == predicted["bytes"]


def test_threads_get_the_same_rows():
    text = json.dumps(SMALL)
    single = [gemm64.sweep_row(text, index) for index in range(16)]
    rows = {}

    def work(first):
        for index in range(first, 16, 4):
            rows[index] = gemm64.sweep_row(text, index)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [rows[index] for index in range(16)] == single


def test_a_file_that_changed_is_read_again(linear_network, tmp_path):
    path = tmp_path / "net.onnx"
    text = json.dumps({"networks": str(path), "batches": 4, "designs": {"array": 4}})
    path.write_bytes(linear_network.read_bytes())
    assert gemm64.sweep_row(text, 0)["macs"] == 4 * (12 * 10 + 10 * 6)
    path.write_bytes((DATA / "alexnet.onnx").read_bytes())
    assert gemm64.sweep_row(text, 0)["all_macs"] == 4 * 714_188_480


@pytest.mark.parametrize("text, index, message", [
    ("{", 0, "no JSON"), ('{"networks": "x"}', 0, "networks is"),
    ('{"networks": "1x2x3"}', 1, "index is 1; the sweep has points 0 to 0"),
    ('{"networks": "1x2x3"}', -1, "index is -1"),
    ('{"mode": "run", "networks": "1x2x3", "designs": {"scratchpad_words": 500}}', 0, "point 0"),
    ('{"networks": "nowhere.onnx"}', 0, "nowhere.onnx"),
])
def test_what_cannot_be_is_refused(text, index, message):
    with pytest.raises(gemm64.InvalidArgument, match=message):
        gemm64.sweep_row(text, index)
