# SPDX-License-Identifier: Apache-2.0
"""A small array driven by its registers and watched by its signals, as in cocotb."""

import gemm64
import numpy as np
import pytest


@pytest.fixture
def device():
    return gemm64.Device("rtl", array=4, memory_latency=10)


def test_registers_are_read_and_written_by_name(device):
    registers = device.registers
    assert registers["ID"] == 0x67363463
    assert registers["ARRAY"] & 0xFF == 4
    registers["RING_MASK"] = 7
    assert registers["RING_MASK"] == 7
    assert set(registers) == set(dict(registers)) and len(registers) == len(list(registers))
    assert "interrupt" in registers.purpose("INTERRUPT").lower()
    with pytest.raises(KeyError, match="RING_TAIL"):
        registers["RINGTAIL"]
    for value in (2**32, -1):
        with pytest.raises(gemm64.InvalidArgument, match=f"to RING_TAIL is {value}.*2\\*\\*32 - 1"):
            registers["RING_TAIL"] = value
    for value, text in (("3", "'3', a str"), (3.0, "3.0, a float"), (None, "None")):
        with pytest.raises(TypeError, match=f"to RING_TAIL is {text}"):
            registers["RING_TAIL"] = value
    for name in (0x10, None, ["RING_TAIL"]):
        with pytest.raises(TypeError, match="'RING_TAIL'"):
            registers[name]
        assert name not in registers
    registers["RING_TAIL"] = np.uint8(0)
    with pytest.raises(TypeError):
        del registers["ID"]


def test_signals_follow_the_registers(device):
    mask = device.signal("u_registers.ring_mask_o")
    assert int(mask) == 63
    device.registers["RING_MASK"] = 3
    assert mask.value == 3
    assert "ring_mask_o" in repr(mask)


def test_time_passes_by_single_cycles(device):
    before = device.clocks
    device.step()
    device.step(9)
    assert device.clocks == before + 10
    assert not device.wait_interrupt(5)
    assert device.clocks == before + 15
    device.reset()
    assert device.clocks == before + 23
    with pytest.raises(gemm64.InvalidArgument):
        device.step(-1)


def test_a_finish_command_raises_the_interrupt(device):
    """By hand, what a driver does: a command into the ring, the tail moved, the line awaited."""
    irq, fetch = device.signal("irq_o"), device.signal("m_data_arvalid_o")
    device.write(0, bytes([5]) + bytes(63))  # FINISH, and nothing else
    assert not device.interrupt and int(irq) == 0
    device.registers["RING_TAIL"] = 1
    requests = 0
    while not device.interrupt:
        requests += int(fetch)
        device.step()
        assert device.clocks < 200
    assert requests == 1 and int(irq) == 1
    assert device.registers["RING_HEAD"] == 1
    assert device.registers["INTERRUPT"] == 1
    device.registers["INTERRUPT"] = 1
    assert int(irq) == 0


def test_the_weights_of_a_tile_are_in_the_array(device, int8):
    a, w = int8(4, 4), int8(4, 4)
    device.matmul(a, w, transposed=True)
    stage = device.signal("u_array.stage[0].u_stage.weight_q")
    # A word a column (an output), a byte a row (of K).
    np.testing.assert_array_equal(stage.value.view(np.int8).reshape(4, 4), w)
    banks = [device.signal(f"u_accumulator.column[1].u_column.sums_{bank}_q").value[:4].view(np.int32)
             for bank in (0, 1)]
    expected = a.astype(np.int32) @ w[1].astype(np.int32)
    assert any(np.array_equal(bank, expected) for bank in banks)


def test_every_signal_that_is_listed_can_be_read(device):
    names = device.signals()
    assert len(names) == len(set(names)) > 90
    for name in names:
        assert device.signal(name).value is not None
    with pytest.raises(gemm64.InvalidArgument, match="no signal 'irq'"):
        device.signal("irq")


def test_only_the_rtl_has_signals_and_waveforms(tmp_path):
    for kind in ("tlm", "reference"):
        device = gemm64.Device(kind, array=4)
        with pytest.raises(gemm64.InvalidArgument, match="rtl"):
            device.signal("irq_o")
        with pytest.raises(gemm64.InvalidArgument, match="rtl"):
            device.trace(tmp_path / "wave.fst")
    with pytest.raises(gemm64.InvalidArgument, match="no notion of time"):
        gemm64.Device("reference", array=4).step()


def test_a_waveform_is_written_for_a_product(device, int8, tmp_path):
    for name in ("first.fst", "second.fst"):
        with device.trace(tmp_path / name):
            device.matmul(int8(4, 8), int8(8, 8))
            assert not (tmp_path / name).exists()  # whole or not at all
        assert (tmp_path / name).stat().st_size > 1000


def test_a_window_of_cycles_is_traced(device, tmp_path):
    end = device.clocks + 30
    trace = device.trace(tmp_path / "window.fst", (device.clocks + 10, end))
    device.step(29)
    assert not (tmp_path / "window.fst").exists()
    device.step(2)
    assert (tmp_path / "window.fst").exists()
    trace.close()
    with pytest.raises(gemm64.InvalidArgument, match="after its begin"):
        device.trace(tmp_path / "never.fst", (9, 9))
    with pytest.raises(gemm64.InvalidArgument, match="nowhere"):
        device.trace(tmp_path / "nowhere" / "never.fst")


def test_the_fast_array_has_ports_but_no_waveforms(tmp_path):
    device = gemm64.Device("rtl")
    assert int(device.signal("irq_o")) == 0
    assert "events" not in device.signals()
    with pytest.raises(gemm64.InvalidArgument, match="debug=True"):
        device.trace(tmp_path / "wave.fst")
