# SPDX-License-Identifier: Apache-2.0
"""What a cluster needs: computed from costs, and costs from what is measured."""

import dataclasses
import json
import subprocess
import sys

import pytest
from gemm64.cluster._estimate import Costs, estimate, seconds_text, table

COSTS = Costs(images=1, unit_seconds=2.0, units_measured=3, unit_bytes=100_000, result_bytes=20_000,
              model_bytes=10**9, start_seconds=3.0, prepare_seconds=1.0, client_seconds=0.001,
              task_seconds=0.002)


def test_few_cores_are_bound_by_their_own_work():
    few = estimate(COSTS, 50_000, 16, 1e9)
    assert few.units == 50_000
    assert few.compute == 3125 * 2.0
    assert few.hand_out == pytest.approx(150)
    assert few.transfer == pytest.approx(6)
    assert few.begin == pytest.approx(3 + 1 + 5)  # 17 processes hold the model after 5 doublings
    assert few.bound == "compute"
    assert few.total == few.begin + few.compute


def test_many_cores_are_bound_by_whoever_hands_out():
    many = estimate(COSTS, 50_000, 4096, 1e9)
    assert many.compute == 13 * 2.0  # the core that has most
    assert many.bound == "scheduler and client"
    larger = dataclasses.replace(COSTS, images=8, unit_seconds=16.0, unit_bytes=800_000)
    eight = estimate(larger, 50_000, 4096, 1e9)
    assert (eight.units, eight.compute) == (6250, 32.0)
    assert eight.bound == "compute"
    slow = estimate(larger, 50_000, 4096, 1e8)
    assert slow.bound == "client's link"


def test_the_table_has_a_row_for_each_cluster():
    lines = table(COSTS, 50_000, [16, 4096], 1e9).splitlines()
    assert [line.split("|")[1].strip() for line in lines if line.startswith("|")] == [
        "cores", "---", "16", "4,096"]
    assert "bound by" in lines[5]


@pytest.mark.parametrize("seconds, text", [
    (0.04, "0.0 s"), (9.94, "9.9 s"), (50, "50 s"), (300, "5.0 min"), (3000, "50 min"),
    (7200, "2.0 h")])
def test_times_are_readable(seconds, text):
    assert seconds_text(seconds) == text


def test_costs_are_measured(linear_network, tmp_path):
    file = tmp_path / "costs.json"
    result = subprocess.run(
        [sys.executable, "-m", "gemm64.cluster", "estimate", "--model", linear_network, "--array",
         "8", "--images", "1000", "--cores", "2,4", "--json", file], capture_output=True, text=True,
        check=False, timeout=150)
    assert result.returncode == 0, result.stderr
    measured = json.loads(file.read_text())
    costs = measured["costs"]
    assert costs["images"] == 1
    assert costs["unit_bytes"] > 12 * 4  # a row of floats, and what goes with it
    assert costs["model_bytes"] > linear_network.stat().st_size
    assert all(costs[name] > 0 for name in ("unit_seconds", "prepare_seconds", "start_seconds",
                                            "client_seconds", "task_seconds"))
    assert [row["cores"] for row in measured["estimates"]] == [2, 4]
    assert measured["estimates"][0]["units"] == 1000
    assert "| 4 |" in result.stdout
