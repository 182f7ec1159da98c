# SPDX-License-Identifier: Apache-2.0
"""A SoC for LiteX's simulator: a VexRiscv with caches, memory, a serial line, and the accelerator. Writes what Verilator compiles.

scripts/fpga/litex.py runs it, in an environment that has LiteX.
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(ROOT, "rtl/board"))

from gemm64_litex import Gemm64  # noqa: E402
from litex.build.generic_platform import Pins, Subsignal  # noqa: E402
from litex.build.sim import SimPlatform  # noqa: E402
from litex.build.sim.config import SimConfig  # noqa: E402
from litex.build.sim.platform import SimFinish  # noqa: E402
from litex.build.io import CRG  # noqa: E402
from litex.soc.cores.cpu.vexriscv import core as vexriscv  # noqa: E402
from litex.soc.integration import builder as builders  # noqa: E402
from litex.soc.integration.soc_core import SoCCore, get_mem_data  # noqa: E402
from migen import Display, Finish, If, Memory, Signal  # noqa: E402

PINS = [
    ("sys_clk", 0, Pins(1)),
    ("serial", 0,
     Subsignal("source_valid", Pins(1)), Subsignal("source_ready", Pins(1)), Subsignal("source_data", Pins(8)),
     Subsignal("sink_valid", Pins(1)), Subsignal("sink_ready", Pins(1)), Subsignal("sink_data", Pins(8))),
]
DRIVER = [os.path.join(ROOT, "host/driver", name) for name in ("gemm64_driver.c", "gemm64_matmul.c")]
FIRMWARE = [os.path.join(HERE, "firmware", "main.c"), *DRIVER]


class SimulatedSoC(SoCCore):
    def __init__(self, n, cycles, bus):
        platform = SimPlatform("SIM", PINS)
        self.crg = CRG(platform.request("sys_clk"))
        super().__init__(platform, clk_freq=int(1e6), cpu_type="vexriscv", cpu_variant="standard", bus_standard=bus, uart_name="sim",
                         integrated_rom_size=0x10000, integrated_sram_size=0x4000, integrated_main_ram_size=0x80000, timer_uptime=True)
        self.gemm64 = Gemm64(platform, n=n)
        self.gemm64.add_to(self)

        # The firmware ends the simulation, or the limit does. As a memory's contents, it is no part of what is compiled.
        self.sim_finish = SimFinish()
        count, limit = Signal(64), Memory(64, 2, init=[cycles, 0], name="limit")
        most = limit.get_port(async_read=True)
        self.specials += limit, most
        self.sync += [count.eq(count + 1), If(count == most.dat_r, Display("simulation: %d cycles are over", count), Finish())]
        self.comb += platform.trace.eq(0)

    def init_mems(self, **_):
        """LiteX calls it when the headers of registers and memories have been written."""
        self.init_rom("rom", get_mem_data(compile_firmware(self), data_width=self.bus.data_width, endianness="little"), auto_size=False)


def compile_firmware(soc):
    """Compiles the firmware with the SoC's own headers; the binary's path."""
    folder = os.path.join(soc.builder.output_dir, "firmware")
    os.makedirs(folder, exist_ok=True)
    processor = os.path.dirname(vexriscv.__file__)
    software = os.path.join(builders.soc_directory, "software")
    elf, binary = os.path.join(folder, "firmware.elf"), os.path.join(folder, "firmware.bin")
    # picolibc has its library under the name that LiteX's flags say in another way.
    subprocess.run(["riscv64-unknown-elf-gcc", "--specs=picolibc.specs", "-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-D__vexriscv__", "-O2", "-std=gnu99",
                    "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-nostartfiles", "-Wl,--gc-sections,--no-warn-rwx-segments",
                    "-I", ROOT, "-isystem", soc.builder.include_dir, "-isystem", processor, "-isystem", os.path.join(software, "include"),
                    "-isystem", os.path.join(software, "libbase"),
                    "-L", soc.builder.include_dir, "-T", os.path.join(HERE, "firmware", "firmware.ld"),
                    os.path.join(processor, "crt0.S"), *FIRMWARE, "-o", elf], check=True)
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf, binary], check=True)
    return binary


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, required=True, help="rows and columns of the array")
    parser.add_argument("--cycles", type=int, required=True, help="after which the simulation is ended")
    parser.add_argument("--bus", default="wishbone", help="the SoC's bus")
    parser.add_argument("--out", required=True, help="folder for all that is written")
    options = parser.parse_args()
    soc = SimulatedSoC(options.n, options.cycles, options.bus)
    simulator = SimConfig(default_clk="sys_clk")
    simulator.add_module("serial2console", "serial")
    builder = builders.Builder(soc, output_dir=options.out, compile_software=False, compile_gateware=False)
    builder.build(sim_config=simulator, opt_level="O3")
    with open(os.path.join(options.out, "sources.json"), "w", encoding="utf-8") as file:
        json.dump([source[0] for source in soc.platform.sources], file)


if __name__ == "__main__":
    main()
