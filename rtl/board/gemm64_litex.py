# SPDX-License-Identifier: Apache-2.0
"""The accelerator as a LiteX module: registers as a slave of the SoC's bus, its three memory ports as masters, its interrupt.

    self.gemm64 = Gemm64(platform, n=8)
    self.gemm64.add_to(self)
"""

import glob
import os

from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi, wishbone
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal

RTL = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
WINDOW_BYTES = 0x1000  # of registers
# LiteX's buses have 32 to 512 bits, and a beat has N bytes.
SIZES = (4, 8, 16, 32, 64)


class Gemm64(LiteXModule):
    """`registers` is AXI4-Lite; `weights`, `data` (both read) and `results` (written) are AXI4, N bytes wide.

    Further parameters are those of rtl/gemm64.v, by their names: Gemm64(platform, n=8, SCRATCHPAD_WORDS=1023). Event `done` is
    the interrupt's level: what clears it is the accelerator's register INTERRUPT, as its driver does.
    """

    def __init__(self, platform, n=8, address_width=32, **parameters):
        if n not in SIZES:
            raise ValueError(f"Gemm64: n is {n!r}; with LiteX it is one of {', '.join(map(str, SIZES))}")
        self.n = n
        self.registers = axi.AXILiteInterface(data_width=32, address_width=32)
        self.weights = axi.AXIInterface(data_width=8 * n, address_width=address_width, id_width=1)
        self.data = axi.AXIInterface(data_width=8 * n, address_width=address_width, id_width=2)
        self.results = axi.AXIInterface(data_width=8 * n, address_width=address_width, id_width=1)
        self.ev = EventManager()
        self.ev.done = EventSourceLevel(description="A FINISH was reached, or the accelerator stopped with an error.")
        self.ev.finalize()

        ports = {"i_clk_i": ClockSignal(), "i_rst_ni": ~ResetSignal(), "o_irq_o": self.ev.done.trigger}
        for prefix, bus, channels in (("m_weights", self.weights, "ar r"), ("m_data", self.data, "ar r"), ("m_results", self.results, "aw w b")):
            for channel in channels.split():
                ports.update(channel_ports(prefix, channel, getattr(bus, channel)))
        for channel in "aw w b ar r".split():
            ports.update(channel_ports("s_axil", channel, getattr(self.registers, channel)))
        self.specials += Instance("gemm64", p_N=n, p_ADDRESS_WIDTH=address_width, **{f"p_{name}": value for name, value in parameters.items()}, **ports)
        self.add_sources(platform)

    @staticmethod
    def add_sources(platform):
        for path in sorted(glob.glob(f"{RTL}/*.v")):
            platform.add_source(path)
        platform.add_verilog_include_path(RTL)

    def add_to(self, soc, name="gemm64", origin=None):
        """Connects it to a SoC, which has it as its attribute `name`: a window of registers (at `origin`, or where LiteX finds
        room that no cache keeps), three masters, and an interrupt where the SoC has such.

        LiteX's bridge takes bursts apart before its converter changes the width. The other way round, LiteX 2024.12 makes
        bursts of N = 32 longer than AXI can say; and its AXI interconnect keeps one bit of an ID, where `data` has two.
        """
        if getattr(soc, name, None) is not self:
            raise ValueError(f"Gemm64: the SoC's attribute {name!r} is another one; LiteX finds the interrupt by that name")
        soc.bus.add_slave(name, self.registers, SoCRegion(origin=origin, size=WINDOW_BYTES, cached=False))
        for port in ("weights", "data", "results"):
            source = getattr(self, port)
            bridged = wishbone.Interface(data_width=source.data_width, address_width=source.address_width, addressing="word")
            self.add_module(name=f"{port}_bridge", module=axi.AXI2Wishbone(source, bridged))
            soc.bus.add_master(f"{name}_{port}", bridged)
        if soc.irq.enabled:
            soc.irq.add(name, use_loc_if_exists=True)


# Of each channel: who drives `valid` and the payload, and the signals that the accelerator has.
MASTER = {"aw": "addr len size burst prot cache id", "ar": "addr len size burst prot cache id", "w": "data strb last", "r": "data resp last id", "b": "resp id"}
SLAVE = {"aw": "addr prot", "ar": "addr prot", "w": "data strb", "r": "data resp", "b": "resp"}


def channel_ports(prefix, channel, stream):
    """Connections of an Instance for one channel of a port of rtl/gemm64.v."""
    master = prefix.startswith("m_")
    driven = (channel in ("aw", "ar", "w")) == master  # by the accelerator
    forth, back = ("o", "i") if driven else ("i", "o")
    ports = {f"{forth}_{prefix}_{channel}valid_{forth}": stream.valid, f"{back}_{prefix}_{channel}ready_{back}": stream.ready}
    for name in (MASTER if master else SLAVE)[channel].split():
        signal = getattr(stream, name)
        if not master and name == "addr":
            signal = signal[:WINDOW_BYTES.bit_length() - 1]  # its place within the window
        ports[f"{forth}_{prefix}_{channel}{name}_{forth}"] = signal
    return ports
