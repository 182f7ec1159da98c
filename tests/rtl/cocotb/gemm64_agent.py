# SPDX-License-Identifier: Apache-2.0
"""An agent for the accelerator: register driver, memory for the three AXI4 ports, monitors and a scoreboard.

Names of registers, fields, commands and errors are those of rtl/gemm64.json. Signals have cocotbext-axi's names
(gemm64_bench.v).
"""

import collections
import json
import logging
import os
import pathlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiReadBus, AxiResp, AxiSlaveRead, AxiSlaveWrite, AxiWriteBus

ROOT = pathlib.Path(os.environ.get("GEMM64_ROOT", pathlib.Path(__file__).resolve().parents[3]))
DEFINITION = json.loads((ROOT / "rtl" / "gemm64.json").read_text(encoding="utf-8"))
REGISTERS = {register["name"]: register for register in DEFINITION["registers"]}
COMMANDS = DEFINITION["commands"]
OPCODES = {opcode["name"]: opcode["value"] for opcode in COMMANDS["opcodes"]}
FLAGS = {flag["name"]: 1 << flag["bit"] for flag in COMMANDS["flags"]}
ERRORS = {error["value"]: error["name"] for error in DEFINITION["errors"]}
ENGINES = {engine["value"]: engine["name"] for engine in DEFINITION["engines"]}
COUNTERS = [f"{counter['engine']}.{counter['cause']}" for counter in DEFINITION["counters"]]
TOTAL = COUNTERS[0]

READERS = {0: "commands", 1: "activations", 2: "parameters", 3: "operands"}  # IDs of the data port, as byte counters have them

# What goes with VALID on each channel that the accelerator drives, and on each that it accepts.
CHANNELS = {
    "s_axil_b": ["bresp"], "s_axil_r": ["rdata", "rresp"],
    "m_weights_ar": ["arid", "araddr", "arlen", "arsize", "arburst", "arprot", "arcache"], "m_weights_r": ["rid", "rdata", "rresp", "rlast"],
    "m_data_ar": ["arid", "araddr", "arlen", "arsize", "arburst", "arprot", "arcache"], "m_data_r": ["rid", "rdata", "rresp", "rlast"],
    "m_results_aw": ["awid", "awaddr", "awlen", "awsize", "awburst", "awprot", "awcache"], "m_results_w": ["wdata", "wstrb", "wlast"],
    "m_results_b": ["bid", "bresp"]}


class DeviceError(Exception):
    """The accelerator halted: `code`, `engine` and `command` as in register ERROR."""

    def __init__(self, value):
        self.code, self.engine, self.command = ERRORS[value & 15], ENGINES[value >> 4 & 15], value >> 16
        super().__init__(f"{self.code} of engine {self.engine}, command {self.command}")


def command(opcode, flags=(), address=0, **fields):
    """Returns the 64 bytes of a command; `fields` by their names, all others 0."""
    words = [0] * (COMMANDS["bytes"] // 4)
    values = {"OPCODE": OPCODES[opcode], "FLAGS": sum(FLAGS[flag] for flag in flags), "ADDRESS_LOW": address & 0xffffffff,
              "ADDRESS_HIGH": address >> 32, **fields}
    places = {field["name"]: field for field in COMMANDS["fields"]}
    for name, value in values.items():
        place = places[name]
        words[place["word"]] |= (value & (1 << place["width"]) - 1) << place["lsb"]
    check = COMMANDS["check"]  # makes the exclusive or of all nibbles 0
    nibbles = 0
    for word in words:
        for shift in range(0, 32, 4):
            nibbles ^= word >> shift & 15
    words[check["word"]] |= nibbles << check["lsb"]
    return b"".join(word.to_bytes(4, "little") for word in words)


class Memory:
    """Bytes for all three ports. Accesses beyond the end, or to an address in `failing`, are answered with SLVERR."""

    def __init__(self, size):
        self.bytes = bytearray(size)
        self.failing = range(0)

    def _check(self, address, length):
        if address + length > len(self.bytes) or any(at in self.failing for at in (address, address + length - 1)):
            raise ValueError(f"no memory at {address:#x}")

    async def read(self, address, length):
        self._check(address, length)
        return self.bytes[address:address + length]

    async def write(self, address, data):
        self._check(address, len(data))
        self.bytes[address:address + len(data)] = data


class Monitor:
    """Watches one channel in each cycle: no X in a handshake, nor in what goes with VALID; an offer stays until it is accepted.

    Calls each of `listeners` with {signal: value} at a transfer, appends what is broken to `errors`.
    """

    def __init__(self, dut, channel, errors):
        letters = channel.rsplit("_", 1)[1]
        port = channel[:-len(letters)]
        self.channel, self.errors, self.listeners, self.transfers = channel, errors, [], 0
        self.clock, self.reset = dut.clk, dut.rst_n
        self.valid, self.ready = (getattr(dut, f"{port}{letters}{end}") for end in ("valid", "ready"))
        self.payload = {name: getattr(dut, f"{port}{name}") for name in CHANNELS[channel]}

    def _known(self, values):
        """The values without the bytes that no strobe names."""
        if "wstrb" not in values or not set(values["wstrb"]) <= set("01"):
            return values
        lanes = values["wstrb"]
        data = values["wdata"]
        kept = "".join(data[8 * i:8 * i + 8] if lane == "1" else "0" * 8 for i, lane in enumerate(lanes))
        return {**values, "wdata": kept}

    async def run(self):
        offered, cycles_in_reset = None, 0
        while True:
            await RisingEdge(self.clock)
            if str(self.reset.value) != "1":
                offered, cycles_in_reset = None, cycles_in_reset + 1
                if cycles_in_reset < 2:
                    continue
            valid, ready = str(self.valid.value), str(self.ready.value)
            if valid not in "01" or ready not in "01":
                self.errors.append(f"{self.channel}: VALID is {valid}, READY is {ready}")
                continue
            if valid == "0":
                if offered is not None:
                    self.errors.append(f"{self.channel}: VALID fell before READY")
                offered = None
                continue
            values = self._known({name: str(signal.value) for name, signal in self.payload.items()})
            unknown = [name for name, value in values.items() if not set(value) <= set("01")]
            if unknown:
                self.errors.append(f"{self.channel}: {', '.join(unknown)} unknown while VALID is 1")
            if offered is not None and offered != values:
                self.errors.append(f"{self.channel}: an offer changed before READY")
            offered = None if ready == "1" else values
            if ready == "1" and not unknown:
                self.transfers += 1
                for listener in self.listeners:
                    listener({name: int(value, 2) for name, value in values.items()})


class Agent:
    """Drives one accelerator. `memory`: serves its three ports, with read() and write() as those of Memory."""

    def __init__(self, dut, memory=None, period=10):
        logging.getLogger(f"cocotb.{dut._name}").setLevel(logging.WARNING)  # cocotbext-axi reports each burst
        logging.getLogger("py.warnings").setLevel(logging.ERROR)  # and calls what cocotb 2 deprecates
        self.dut, self.period, self.memory, self.errors = dut, period, memory or Memory(1 << 22), []
        self.n = len(dut.m_results_wstrb)
        ports = {"clock": dut.clk, "reset": dut.rst_n, "reset_active_level": False}
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **ports)
        self.weights, self.data = (AxiSlaveRead(AxiReadBus.from_prefix(dut, f"m_{name}"), target=self.memory, **ports)
                                   for name in ("weights", "data"))
        self.results = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, "m_results"), target=self.memory, **ports)
        self.monitors = {channel: Monitor(dut, channel, self.errors) for channel in CHANNELS}
        self.moved = collections.Counter()  # bytes since the last program began, by the names of the byte counters
        self.monitors["m_weights_r"].listeners.append(lambda _: self._count("weights"))
        self.monitors["m_data_r"].listeners.append(lambda beat: self._count(READERS[beat["rid"]]))
        self.monitors["m_results_w"].listeners.append(lambda _: self._count("results"))
        dut.unknown_i.value = 0

    def _count(self, cause):
        self.moved[cause] += self.n

    async def start(self):
        """Starts clock and monitors, and resets."""
        cocotb.start_soon(Clock(self.dut.clk, self.period, "ns").start())
        for monitor in self.monitors.values():
            cocotb.start_soon(monitor.run())
        await self.reset()

    async def reset(self, cycles=4):
        self.dut.rst_n.value = 0
        await ClockCycles(self.dut.clk, cycles)
        self.dut.rst_n.value = 1
        await ClockCycles(self.dut.clk, 1)

    def stall(self, probability, seed=1):
        """Lets each channel hold back at random; 0 ends that."""
        def pauses(number):
            draws = random.Random(f"{seed} {number}")
            while True:
                yield draws.random() < probability

        channels = [self.weights.ar_channel, self.weights.r_channel, self.data.ar_channel, self.data.r_channel, self.results.aw_channel,
                    self.results.w_channel, self.results.b_channel, self.registers.read_if.r_channel, self.registers.write_if.b_channel]
        for number, channel in enumerate(channels):
            channel.set_pause_generator(pauses(number) if probability else None)
            channel.pause = False

    async def read(self, name, offset=0):
        """Returns a register's value. Throws ValueError if the port answers with an error."""
        answer = await self.registers.read(int(REGISTERS[name]["offset"], 16) + offset, 4)
        if answer.resp != AxiResp.OKAY:
            raise ValueError(f"{name} answers {answer.resp.name}")
        return int.from_bytes(answer.data, "little")

    async def write(self, name, value):
        answer = await self.registers.write(int(REGISTERS[name]["offset"], 16), value.to_bytes(4, "little"))
        if answer.resp != AxiResp.OKAY:
            raise ValueError(f"{name} answers {answer.resp.name}")

    async def soft_reset(self, cycles=1000):
        """Waits for its end. Throws TimeoutError."""
        await self.write("CONTROL", 1)
        for _ in range(cycles):
            if not await self.read("STATUS") & 4:
                return
        raise TimeoutError("the soft reset does not end")

    async def counters(self):
        base, values = int(DEFINITION["counters_base"], 16), {}
        for number, name in enumerate(COUNTERS):
            answer = await self.registers.read(base + 8 * number, 8)
            values[name] = int.from_bytes(answer.data, "little")
        return values

    async def submit(self, program, ring=0):
        """Writes commands (bytes each) to a ring at `ring`, and starts them."""
        self.memory.bytes[ring:ring + COMMANDS["bytes"] * len(program)] = b"".join(program)
        places = 1
        while places <= len(program):
            places *= 2
        await self.soft_reset()
        self.moved.clear()
        await self.write("CONTROL", 2)
        await self.write("RING_BASE_LOW", ring)
        await self.write("RING_MASK", places - 1)
        await self.write("RING_TAIL", len(program))

    async def finish(self, cycles=200000):
        """Waits for the interrupt. Throws DeviceError, or TimeoutError after `cycles`."""
        for _ in range(cycles):
            if str(self.dut.irq.value) == "1":
                break
            await RisingEdge(self.dut.clk)
        else:
            raise TimeoutError(f"no interrupt within {cycles} cycles")
        await self.write("INTERRUPT", await self.read("INTERRUPT"))
        error = await self.read("ERROR")
        if error:
            raise DeviceError(error)

    async def run(self, program, ring=0, cycles=200000):
        await self.submit(program, ring)
        await self.finish(cycles)

    def check(self):
        """Throws AssertionError with what the monitors found."""
        found, self.errors[:] = list(self.errors), []
        assert not found, "\n".join(found[:10])


class Scoreboard:
    """Compares the last program's memory, bytes moved and counters with those expected.

    `expected`: all of memory. `ignored`: addresses that are not compared.
    """

    def __init__(self, agent, expected, ignored=range(0)):
        self.agent, self.expected, self.ignored = agent, expected, ignored

    def differences(self, counters, reference_bytes=None):
        """Returns what differs, in words. `reference_bytes`: bytes by port that another model counts."""
        found = []
        got = self.agent.memory.bytes
        for part in (slice(0, self.ignored.start), slice(self.ignored.stop, len(got))):
            if got[part] != self.expected[part]:
                at = next(at for at in range(part.start, part.stop) if got[at] != self.expected[at])
                found.append(f"memory at {at:#x} is {got[at]:#04x}, expected {self.expected[at]:#04x}")
        for cause in ("weights", "results", *READERS.values()):
            seen = self.agent.moved[cause]
            if counters[f"bytes.{cause}"] != seen:
                found.append(f"bytes.{cause} is {counters[f'bytes.{cause}']}, {seen} crossed the port")
            if reference_bytes is not None and reference_bytes[cause] != seen:
                found.append(f"{seen} bytes of {cause} crossed the port, the reference moves {reference_bytes[cause]}")
        causes = collections.Counter()
        for name, value in counters.items():
            causes[name.split(".")[0]] += value
        for engine, total in causes.items():
            if engine not in ("total", "bytes") and total != counters[TOTAL]:
                found.append(f"causes of {engine} add up to {total}, the total is {counters[TOTAL]}")
        return found

    async def check(self, reference_bytes=None):
        """Throws AssertionError where anything differs or a monitor found something."""
        found = self.differences(await self.agent.counters(), reference_bytes)
        self.agent.check()
        assert not found, "\n".join(found)


class Product:
    """C = A * W, rows x (tiles * N) times (tiles * N) x N, int32 results: a program, its memory and its results, in plain Python."""

    WEIGHTS, ACTIVATIONS, RESULTS = 0x1000, 0x4000, 0x8000

    def __init__(self, n, rows, tiles=1, seed=1):
        draws = random.Random(seed)
        depth = tiles * n
        a = [[draws.randrange(-128, 128) for _ in range(depth)] for _ in range(rows)]
        w = [[draws.randrange(-128, 128) for _ in range(n)] for _ in range(depth)]
        self.weights = bytes(w[tile * n + k][column] & 255 for tile in range(tiles) for column in range(n) for k in range(n))
        self.activations = bytes(a[row][tile * n + k] & 255 for tile in range(tiles) for row in range(rows) for k in range(n))
        self.results = b"".join((sum(a[row][k] * w[k][column] for k in range(depth)) & 0xffffffff).to_bytes(4, "little")
                                for row in range(rows) for column in range(n))
        self.program = [
            command("LOAD_WEIGHTS", address=self.WEIGHTS, COUNT=tiles * n, PASSES=1),
            command("LOAD_ACTIVATIONS", address=self.ACTIVATIONS, ROWS=rows, COUNT=tiles, PASSES=1, BLOCKS=1, STRIDE=rows),
            command("MATMUL", ["ACCUMULATE"], ROWS=rows, COUNT=tiles, PASSES=1, BLOCKS=1),
            command("STORE", address=self.RESULTS, ROWS=rows, COUNT=1, BLOCKS=1, STRIDE=rows),
            command("FINISH")]

    def place(self, memory):
        """Writes the operands; returns all of memory as it must be afterwards."""
        for address, data in ((self.WEIGHTS, self.weights), (self.ACTIVATIONS, self.activations), (0, b"".join(self.program))):
            memory[address:address + len(data)] = data
        expected = bytearray(memory)
        expected[self.RESULTS:self.RESULTS + len(self.results)] = self.results
        return expected
