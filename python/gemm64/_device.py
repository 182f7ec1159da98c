# SPDX-License-Identifier: Apache-2.0
"""One accelerator with its memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from operator import index
from types import TracebackType
from typing import Any, Literal, SupportsIndex, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _gemm64
from ._errors import InvalidArgument
from ._html import table
from ._report import Report

#: Of a board also "serial:PATH".
DeviceName = Union[Literal["rtl", "tlm", "reference"], str]
#: Of a DRAM channel also with parameters, "dram:lpddr4,clock=800".
Sharing = Union[
    Literal["independent", "shared", "exclusive", "dram:lpddr4", "dram:ddr4", "dram:lpddr5"], str
]
Place = Literal["device", "host"]

_NEVER = 2**64 - 1


def _integer(what: str, value: SupportsIndex, right: str) -> int:
    """Any integer, NumPy's too; neither a float nor a text is one."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(
            f"{what} is {value!r}, a {type(value).__name__}; it must be an int {right}"
        ) from None


def _whole(what: str, value: SupportsIndex, low: int, limit: int, right: str) -> int:
    """The integer low <= value < limit."""
    number = _integer(what, value, right)
    if not low <= number < limit:
        raise InvalidArgument(f"{what} is {number}; it must be {right}")
    return number


_WORD = "from 0 to 2**32 - 1"


class Registers(MutableMapping[str, int]):
    """The accelerator's registers by the names of docs/reference/registers.md: `registers["RING_TAIL"] = 3`.

    Words of 32 bits. An access takes two cycles of the RTL.
    """

    _OFFSETS = {name: offset for name, offset, _ in _gemm64.registers()}
    _PURPOSES = {name: purpose for name, _, purpose in _gemm64.registers()}

    def __init__(self, device: _gemm64.Device) -> None:
        self._device = device

    def _offset(self, name: str) -> int:
        if not isinstance(name, str):
            raise TypeError(f"a register has a name, such as 'RING_TAIL'; {name!r} is no str")
        if name not in self._OFFSETS:
            known = ", ".join(self._OFFSETS)
            raise KeyError(f"there is no register {name!r}; the registers are {known}")
        return self._OFFSETS[name]

    def __getitem__(self, name: str) -> int:
        return self._device.read_register(self._offset(name))

    def __setitem__(self, name: str, value: int) -> None:
        offset = self._offset(name)
        word = _whole(f"what is written to {name}", value, 0, 2**32, _WORD)
        self._device.write_register(offset, word)

    def __delitem__(self, name: str) -> None:
        raise TypeError("a register cannot be deleted")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._OFFSETS

    def __iter__(self) -> Iterator[str]:
        return iter(self._OFFSETS)

    def __len__(self) -> int:
        return len(self._OFFSETS)

    def __repr__(self) -> str:
        return f"Registers({', '.join(self._OFFSETS)})"

    def purpose(self, name: str) -> str:
        """What the register is for, in a sentence."""
        self._offset(name)
        return self._PURPOSES[name]


class Signal:
    """A signal of the RTL, read whenever it is asked for."""

    def __init__(self, device: _gemm64.Device, name: str) -> None:
        self._device = device
        self.name = name
        device.read_signal(name)  # raises for a name that is none

    @property
    def value(self) -> int | NDArray[Any]:
        """Its bits as an unsigned number, just after the last cycle's edge.

        An unpacked array is an array of NumPy's, a word an element, the lowest index first. View it
        as signed where it is: `signal.value.view(np.int8)`.
        """
        data, size, words = self._device.read_signal(self.name)
        if words == 0:
            return int.from_bytes(data, "little")
        if size in (1, 2, 4, 8):
            return np.frombuffer(data, dtype=f"<u{size}").copy()
        values = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
        return np.array(values, dtype=object)

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"Signal({self.name!r}, value={self.value!r})"


class Trace:
    """A waveform that is being written. Close it, or leave its `with`, to have the file."""

    def __init__(self, device: _gemm64.Device) -> None:
        self._device: _gemm64.Device | None = device

    def close(self) -> None:
        """Ends the waveform. Raises OutputError where it could not be written."""
        if self._device is not None:
            device, self._device = self._device, None
            device.end_trace()

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()


def _int8_matrix(what: str, shape: str, array: ArrayLike) -> NDArray[np.int8]:
    matrix = np.asarray(array)
    if matrix.dtype != np.int8 or matrix.ndim != 2:
        raise InvalidArgument(
            f"{what} is {matrix.dtype} of shape {list(matrix.shape)}; it must be int8 {shape}"
        )
    return matrix


class Device:
    """An accelerator with a memory of its own.

    device: "rtl", the Verilated accelerator, exact to the clock; "tlm", the same results in the
        predicted cycles, fast; "reference", the results only.
    array: rows and columns of the array. "rtl" has 2, 4, 8 and 64, the others 16 and 32 too.
    memory_latency: cycles from a request to its answer.
    memory_bytes_per_cycle: bytes that memory carries in a cycle on each port, or on all of them
        together where they share it; 0: as wide as the port.
    memory: "independent" ports, "shared": one memory serves all in order, "exclusive": one port at
        a time; "dram:lpddr4", "dram:ddr4", "dram:lpddr5": one DRAM channel, LPDDR4-3200, DDR4-2400
        or LPDDR5-6400, serves all, at an accelerator of 1 GHz ("dram:lpddr4,clock=800": 800 MHz,
        "dram:lpddr4,width=16": 16 pins).
    memory_stalls: probability that a channel stalls in any one cycle; `seed` is theirs.
    debug: with array=64, the slower build whose inside can be looked into. Small arrays always can.
    trace_mismatch: where the waveform of the first wrong value of a run goes ("rtl"); "": nowhere.

    A device belongs to one thread at a time; others may run other devices meanwhile, since nothing
    holds Python's lock while it simulates. Ctrl-C ends whatever runs.

        with gemm64.Device("rtl", array=4) as device:
            sums = device.matmul(a, b)

    The memory and the simulation are given back at the end of the `with`, by close(), or with the
    last reference to the device.
    """

    def __init__(
        self,
        device: DeviceName = "rtl",
        array: int = 64,
        memory_latency: int = 100,
        *,
        memory_bytes_per_cycle: int = 0,
        memory: Sharing = "independent",
        memory_stalls: float = 0.0,
        seed: int = 1,
        debug: bool = False,
        trace_mismatch: str | os.PathLike[str] = "failure.fst",
    ) -> None:
        if not isinstance(device, str):
            raise TypeError(f"device is {device!r}; it must be 'rtl', 'tlm', 'reference' or 'serial:PATH'")
        self._open: _gemm64.Device | None = _gemm64.Device(
            device=device,
            array=_whole("array", array, 1, 2**31, "2, 4, 8, 16, 32 or 64"),
            memory_latency=_whole("memory_latency", memory_latency, 0, 2**32, _WORD),
            memory_bytes_per_cycle=_whole(
                "memory_bytes_per_cycle", memory_bytes_per_cycle, 0, 2**32, _WORD
            ),
            memory=memory,
            memory_stalls=memory_stalls,
            seed=_whole("seed", seed, 0, 2**32, _WORD),
            debug=debug,
            trace_mismatch=os.fspath(trace_mismatch),
        )
        self.name: str = device
        self.array = array
        self.report: Report | None = None  #: of the last matmul()

    @property
    def _device(self) -> _gemm64.Device:
        if self._open is None:
            raise InvalidArgument("the device is closed; make another one")
        return self._open

    def __enter__(self) -> Device:
        _ = self._device  # a closed one cannot be entered
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the simulation and its memory back; `report` stays. A waveform in progress ends."""
        self._open = None

    @property
    def registers(self) -> Registers:
        """The registers by name: `device.registers["RING_TAIL"] = 3`."""
        return Registers(self._device)

    def __repr__(self) -> str:
        closed = ", closed" if self._open is None else ""
        return f"<gemm64.Device {self.name!r}, array {self.array}x{self.array}{closed}>"

    def _repr_html_(self) -> str:
        """For notebooks: what it is, and what its last product took."""
        facts = [["device", self.name], ["array", f"{self.array}x{self.array}"]]
        if self._open is None:
            facts.append(["state", "closed"])
        else:
            facts.append(["cycles since it was made", f"{self.cycles:,}"])
        report = "" if self.report is None else self.report._repr_html_()
        return table(["gemm64.Device", ""], facts) + report

    def matmul(
        self,
        a: ArrayLike,
        b: ArrayLike,
        *,
        transposed: bool = False,
        accumulate: Place = "device",
        check: bool = True,
    ) -> NDArray[np.int32]:
        """a @ b on the device: int32 [M, N] from int8 `a` [M, K] and `b` [K, N].

        transposed: `b` is given as [N, K], as a Linear layer stores its weights: a row for each
            output. The product is then a @ b.T.
        accumulate: where partial sums of tiles are added; with "host" every tile is read back.
        check: raises VerificationError where a sum is not NumPy's, or a counter of cycles or bytes
            is not as predicted. Otherwise see `report["verified"]`.

        The device is reset first, its memory written from address 0 on. `report` then has the cycles
        and bytes, in one layer.

        Operands reach C++ without a copy where the rows of `a`, and of the transposed `b`, are
        contiguous in memory (otherwise they are copied first); the host then takes one copy of
        each. The result is the host's own memory.
        """
        left = _int8_matrix("a", "[M, K]", a)
        right = _int8_matrix("b", "[N, K]" if transposed else "[K, N]", b)
        weights = right if transposed else right.T
        if left.shape[1] != weights.shape[1]:
            raise InvalidArgument(
                f"a is {list(left.shape)} and b is {list(right.shape)}: K differs; "
                + (
                    "a transposed b is [N, K]"
                    if transposed
                    else "b is [K, N], or [N, K] with transposed=True"
                )
            )
        sums, report = self._device.matmul(
            np.ascontiguousarray(left), np.ascontiguousarray(weights), accumulate
        )
        self.report = Report.from_json(report)
        if check:
            self.report.require_verified()
        return np.asarray(sums)

    @property
    def memory_bytes(self) -> int:
        """Bytes of the device's memory; addresses run from 0. What is not used takes none of ours."""
        return self._device.memory_bytes()

    def read(self, address: int, size: int) -> NDArray[np.uint8]:
        """`size` bytes of the device's memory from `address` on; takes no cycles."""
        address, size = _integer("address", address, "of a byte"), _integer("size", size, "of bytes")
        if address < 0 or size < 0 or address + size > self.memory_bytes:
            raise IndexError(f"{size} bytes at {address:#x}; the memory has {self.memory_bytes:#x}")
        data = np.empty(size, np.uint8)
        if size:
            self._device.read_memory(address, data)
        return data

    def write(self, address: int, data: ArrayLike | bytes | bytearray | memoryview) -> None:
        """Writes an array's bytes (in C order), or bytes, from `address` on; takes no cycles."""
        if isinstance(data, (bytes, bytearray, memoryview)):
            values = np.frombuffer(data, np.uint8)
        else:
            array = np.ascontiguousarray(data)
            if array.dtype.kind not in "biuf":
                raise InvalidArgument(f"data is {array.dtype}; give bytes, or an array of numbers")
            values = array.reshape(-1).view(np.uint8)
        address = _integer("address", address, "of a byte")
        if address < 0 or address + values.size > self.memory_bytes:
            raise IndexError(
                f"{values.size} bytes at {address:#x}; the memory has {self.memory_bytes:#x}"
            )
        if values.size:
            self._device.write_memory(address, values)

    @property
    def counters(self) -> dict[str, int]:
        """All counters of cycles and bytes, by "engine.cause": "total.clocks", "bytes.weights".

        They are read from their registers, which takes some 200 cycles of the RTL.
        """
        return dict(zip(_gemm64.counter_names(), self._device.counters()))

    @property
    def cycles(self) -> int:
        """Cycles since the device was made; 0 for "reference", which has no notion of time."""
        return self._device.clocks()

    @property
    def clocks(self) -> int:
        """`cycles`, by its name before 1.0."""
        return self.cycles

    def step(self, clocks: int = 1) -> None:
        """Simulates that many cycles."""
        self._device.step(_whole("clocks", clocks, 0, 2**63, "at least 0: time only passes"))

    def wait_interrupt(self, max_clocks: int) -> bool:
        """Runs until the interrupt line is high (True), at most `max_cycles` (False)."""
        return self._device.wait_interrupt(_whole("max_clocks", max_clocks, 0, 2**63, "at least 0"))

    @property
    def interrupt(self) -> bool:
        """The interrupt line as it is now."""
        return self._device.interrupt()

    def reset(self) -> None:
        """Hard reset for 8 cycles; memory keeps its contents."""
        self._device.reset()

    def signals(self) -> list[str]:
        """The signals that signal() knows: every port, and inside a small array (or with debug=True)
        the array's registers, partial sums, the accumulator, and the registers that the host sets.
        """
        return self._device.signal_names()

    def signal(self, name: str) -> Signal:
        """A signal by its name below the RTL's top module: "irq_o", "u_registers.ring_tail_o",
        "u_array.stage[0].u_stage.weight_q". Needs "rtl".
        """
        return Signal(self._device, name)

    def inject(self, fault: str) -> None:
        """Flips a bit inside, or upsets a bus, in a cycle to come, counted as `cycles` does.

        fault: as `gemm64 gemm --inject` takes it: "accumulator:0,2,3:20@400" is bit 20 of row 2,
            column 3 of bank 0 in cycle 400. A reset, with which matmul() begins, forgets those that
            wait in a bus. Needs "rtl"; with array=64, debug=True.
        """
        self._device.inject(fault)

    def trace(self, file: str | os.PathLike[str], window: tuple[int, int] | None = None) -> Trace:
        """Begins a waveform (FST, for GTKWave) of all signals.

        window: the cycles begin <= clock < end, counted as `cycles` does; without it, all from now
            until the trace is closed. Needs "rtl"; with array=64, debug=True.

            with device.trace("product.fst"):
                device.matmul(a, w)
        """
        begin, end = window if window is not None else (self.cycles, _NEVER)
        begin, end = (_integer("window", clock, "of cycles") for clock in (begin, end))
        if not 0 <= begin < end:
            raise InvalidArgument(f"window is {begin}:{end}; its end must be after its begin")
        self._device.start_trace(os.fspath(file), begin, end)
        return Trace(self._device)
