# SPDX-License-Identifier: Apache-2.0
"""Products on devices of every kind, and what can be seen of them."""

import pickle
import threading

import gemm64
import numpy as np
import pytest


def exact(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


@pytest.mark.parametrize("kind", ["rtl", "tlm", "reference"])
@pytest.mark.parametrize("array", [2, 4, 8, 64])
def test_sums_are_numpys(kind, array, int8):
    a, b = int8(5, 70), int8(70, 67)
    device = gemm64.Device(kind, array=array)
    sums = device.matmul(a, b)
    assert sums.dtype == np.int32 and sums.flags["C_CONTIGUOUS"]
    np.testing.assert_array_equal(sums, exact(a, b))
    assert device.report["verified"] and device.report["device"] == kind


def test_views_and_transposes_are_taken(int8):
    a, b = int8(9, 14)[::2, 1::3], int8(5, 7)[:, ::2]
    device = gemm64.Device("rtl", array=4)
    np.testing.assert_array_equal(device.matmul(a, b), exact(a, b))
    np.testing.assert_array_equal(device.matmul(b.T, a.T), exact(b.T, a.T))


def test_a_linear_layers_weights_are_given_transposed(int8):
    a, square, w = int8(3, 6), int8(6, 6), int8(9, 6)
    device = gemm64.Device("tlm", array=4)
    np.testing.assert_array_equal(device.matmul(a, w, transposed=True), exact(a, w.T))
    np.testing.assert_array_equal(device.matmul(a, square), exact(a, square))
    np.testing.assert_array_equal(device.matmul(a, square, transposed=True), exact(a, square.T))
    with pytest.raises(gemm64.InvalidArgument, match=r"b is \[K, N\], or \[N, K\] with transposed"):
        device.matmul(a, w)
    with pytest.raises(gemm64.InvalidArgument, match=r"\[3, 6\] and b is \[6, 9\].*transposed b is"):
        device.matmul(a, w.T, transposed=True)


def test_a_device_is_closed_by_its_with(int8):
    a, b = int8(2, 3), int8(3, 4)
    with gemm64.Device("rtl", array=4) as device:
        np.testing.assert_array_equal(device.matmul(a, b), exact(a, b))
        assert "clocks" in device._repr_html_() and "matmul" in device._repr_html_()
    assert device.report["verified"] and "closed" in repr(device) and "closed" in device._repr_html_()
    for use in (lambda: device.matmul(a, b), device.step, lambda: device.registers["ID"],
                device.__enter__, lambda: device.clocks):
        with pytest.raises(gemm64.InvalidArgument, match="closed"):
            use()
    device.close()


@pytest.mark.parametrize("use, text", [
    (lambda device: device.step("3"), "clocks is '3', a str"),
    (lambda device: device.step(1.0), "clocks is 1.0, a float"),
    (lambda device: device.wait_interrupt(None), "max_clocks is None"),
    (lambda device: device.read("0", 1), "address is '0'"),
    (lambda device: device.read(0, 1.5), "size is 1.5"),
    (lambda device: device.write(0.0, b"1"), "address is 0.0"),
    (lambda device: gemm64.Device("rtl", array="4"), "array is '4'"),
    (lambda device: gemm64.Device("rtl", array=4, memory_latency=1e2), "memory_latency is 100.0"),
    (lambda device: gemm64.Device(4), "device is 4"),
])
def test_numbers_of_other_types_are_refused_by_name(use, text):
    with pytest.raises(TypeError, match=text):
        use(gemm64.Device("reference", array=4))


def test_partial_sums_can_be_added_on_the_host(int8):
    a, b = int8(3, 30), int8(30, 9)
    device = gemm64.Device("rtl", array=4)
    np.testing.assert_array_equal(device.matmul(a, b, accumulate="host"), exact(a, b))
    assert device.report["accumulate"] == "host"
    on_host = device.report["total"]["bytes"]["results"]
    device.matmul(a, b)
    assert on_host == 8 * device.report["total"]["bytes"]["results"]


@pytest.mark.parametrize("a, b", [
    (np.zeros((2, 3)), np.zeros((3, 4), np.int8)),  # float64
    (np.zeros((2, 3), np.int8), np.zeros((3, 4), np.uint8)),
    (np.zeros(3, np.int8), np.zeros((3, 4), np.int8)),
    (np.zeros((2, 3), np.int8), np.zeros((4, 3), np.int8)),  # w in place of b
    (np.zeros((0, 3), np.int8), np.zeros((3, 4), np.int8)),
])
def test_operands_that_do_not_fit_are_refused(a, b):
    with pytest.raises(gemm64.InvalidArgument):
        gemm64.Device("reference", array=4).matmul(a, b)


@pytest.mark.parametrize("arguments, text", [
    ({"device": "fpga"}, "no device called 'fpga'"),
    ({"device": "rtl", "array": 5}, "array of 5x5"),
    ({"device": "rtl", "array": 4, "memory_latency": 0}, "memory_latency is 0"),
    ({"device": "rtl", "array": 4, "memory_latency": -1}, "memory_latency is -1"),
    ({"device": "rtl", "array": 4, "memory": "fast"}, "'independent', 'shared', 'exclusive', 'dram:lpddr4'"),
    ({"device": "rtl", "array": 4, "memory": "dram:lpddr9"}, "use one of dram:lpddr4, dram:ddr4, dram:lpddr5"),
    ({"device": "rtl", "array": 4, "memory_stalls": 1.5}, "memory_stalls is 1.5"),
    ({"device": "tlm", "array": 4, "debug": True}, "debug=True"),
])
def test_devices_that_do_not_exist_are_refused(arguments, text):
    with pytest.raises(gemm64.InvalidArgument, match=text):
        gemm64.Device(**arguments)


@pytest.mark.parametrize("memory", [
    {}, {"memory_latency": 7}, {"memory": "shared"},
    {"memory": "exclusive", "memory_bytes_per_cycle": 2}, {"memory": "dram:lpddr4,clock=800"},
])
def test_the_rtl_counts_what_is_predicted(memory, int8):
    device = gemm64.Device("rtl", array=4, **memory)
    device.matmul(int8(6, 33), int8(33, 18))
    predicted = gemm64.predict(6, 33, 18, array=4, **memory)
    layer, = device.report["layers"]
    for key in ("cycles", "bytes", "counters", "utilization", "cycle_breakdown"):
        assert layer[key] == predicted[key], key
    assert device.counters["total.clocks"] == predicted["cycles"]
    assert device.counters["bytes.weights"] == predicted["bytes"]["weights"]


def test_the_64_by_64_array_takes_the_cycles_that_it_always_took(int8):
    device = gemm64.Device("rtl")
    device.matmul(int8(64, 128), int8(128, 128))
    assert device.report["total"]["cycles"] == gemm64.predict(64, 128, 128)["cycles"] == 1094


def test_memory_holds_what_was_written():
    device = gemm64.Device("rtl", array=4)
    words = np.arange(6, dtype=np.int32).reshape(2, 3)
    device.write(100, words)
    np.testing.assert_array_equal(device.read(100, 24).view(np.int32), words.ravel())
    device.write(100, b"\x09")
    assert device.read(99, 3).tolist() == [0, 9, 0]
    assert device.read(0, 0).size == 0
    for address, size in ((-1, 1), (device.memory_bytes, 1), (0, -1)):
        with pytest.raises(IndexError):
            device.read(address, size)
    with pytest.raises(IndexError):
        device.write(device.memory_bytes - 1, b"12")


def test_a_device_serves_one_thread_at_a_time_and_holds_no_lock():
    device = gemm64.Device("rtl", array=8)
    count = 0
    thread = threading.Thread(target=device.step, args=(30_000,))
    refused = None
    thread.start()
    while thread.is_alive():
        count += 1  # while the other thread simulates
        if refused is None:
            try:
                device.step(1)
            except RuntimeError as error:
                refused = str(error)
    thread.join()
    assert count > 1
    assert refused is not None and "another thread" in refused


def test_products_in_threads_do_not_disturb_each_other(int8):
    operands = [(int8(5, 40), int8(40, 30)) for _ in range(4)]
    found = [None] * 4

    def run(index):
        found[index] = gemm64.Device("rtl", array=4).matmul(*operands[index])

    threads = [threading.Thread(target=run, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (a, b), sums in zip(operands, found):
        np.testing.assert_array_equal(sums, exact(a, b))


def test_a_fault_is_found_and_reported(int8, tmp_path):
    a, b = int8(4, 8), int8(8, 4)
    device = gemm64.Device("rtl", array=4, trace_mismatch="")
    device.matmul(a, b)
    begin = device.clocks
    device.inject(f"result:2:3@{begin + 200}")  # bit 3 of byte 2 of the next beat of results
    with pytest.raises(gemm64.VerificationError, match="matmul: 1 value differs") as raised:
        device.matmul(a, b)
    layer, = device.report["layers"]
    assert layer["mismatches"] == 1 and not device.report["verified"]
    assert abs(layer["first_mismatch"]["found"] - layer["first_mismatch"]["expected"]) % 2**16 == 0
    assert raised.value.element == layer["first_mismatch"] and raised.value.waveform is None
    assert raised.value.clock > begin and "in memory, which was right on the chip" in str(raised.value)
    np.testing.assert_array_equal(device.matmul(a, b), exact(a, b))


def test_a_second_look_tells_the_clock_and_writes_the_waveform(int8, tmp_path):
    a, b = int8(4, 8), int8(8, 4)
    wave = tmp_path / "wrong.fst"
    device = gemm64.Device("rtl", array=4, memory_latency=10, trace_mismatch=wave)
    device.matmul(a, b)
    spent = device.clocks
    for clock in range(20, 200):  # until it hits a sum in flight
        device.inject(f"accumulator:0,2,3:20@{device.cycles + clock}")
        try:
            device.matmul(a, b)
        except gemm64.VerificationError as raised:
            error = raised
            break
    else:
        pytest.fail("no fault was noticed")
    text = str(error)
    assert error.layer == "matmul" and error.element["row"] == 2 and error.element["column"] == 3
    assert error.clock > spent and f"in cycle {error.clock}" in text and "accumulator" in text
    assert f"row 2, column 3: expected {exact(a, b)[2, 3]}" in text
    assert error.waveform == str(wave) and str(wave) in text and wave.stat().st_size > 1000
    assert error.report is device.report
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == text and copied.clock == error.clock


def test_a_waveform_that_cannot_be_written_does_not_hide_the_failure(int8, tmp_path):
    device = gemm64.Device("rtl", array=4, trace_mismatch=tmp_path / "none" / "wrong.fst")
    device.inject(f"result:2:3@{device.cycles + 200}")
    with pytest.raises(gemm64.VerificationError, match="1 value differs") as raised:
        device.matmul(int8(4, 8), int8(8, 4))
    assert raised.value.waveform is None


def test_a_fault_that_stops_the_device_is_its_error(int8):
    a, b = int8(4, 8), int8(8, 4)
    device = gemm64.Device("rtl", array=4, trace_mismatch="")
    device.inject(f"slverr:weights@{device.cycles + 150}")
    with pytest.raises(gemm64.DeviceError, match="weights"):
        device.matmul(a, b)
    np.testing.assert_array_equal(device.matmul(a, b), exact(a, b))


@pytest.mark.parametrize("device, fault, text", [
    ({"array": 4}, "weight:9,0:0@99", "row"), ({"array": 4}, "nonsense", "nonsense"),
    ({"array": 4}, "weight:1,1:0@0", "at cycle"), ({"array": 64}, "weight:1,1:0@99", "debug=True"),
    ({"device": "tlm"}, "weight:1,1:0@99", "rtl"),
])
def test_faults_that_cannot_be_are_refused(device, fault, text):
    with pytest.raises(gemm64.InvalidArgument, match=text):
        gemm64.Device(**device).inject(fault)
