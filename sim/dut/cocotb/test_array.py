# SPDX-License-Identifier: Apache-2.0
"""A weight-stationary array with the ports of `gemm64 dut`, driven by cocotbext-axi."""

import os

import cocotb
import numpy
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

N = int(os.environ.get("ARRAY_SIZE", "4"))


def frame(values):
    """A tile: its rows one after the other, a byte for each value."""
    return AxiStreamFrame(values.astype(numpy.int8).tobytes())


@cocotb.test()
async def tile_equals_numpy(dut):
    cocotb.start_soon(Clock(dut.aclk, 10, "ns").start())
    source = {name: AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s_axis_{name}"), dut.aclk, dut.aresetn,
                                    reset_active_level=False) for name in ("weights", "activations")}
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_results"), dut.aclk, dut.aresetn,
                         reset_active_level=False)
    dut.aresetn.value = 0
    await ClockCycles(dut.aclk, 8)
    dut.aresetn.value = 1
    random = numpy.random.default_rng(1)
    for rows in (1, N, 3 * N + 1):
        weights = random.integers(-128, 128, (N, N))
        activations = random.integers(-128, 128, (rows, N))
        await source["weights"].send(frame(weights))
        await source["activations"].send(frame(activations))
        results = numpy.frombuffer(bytes((await sink.recv()).tdata), numpy.int32).reshape(rows, N)
        assert (results == activations @ weights).all(), f"{rows} rows"
