# SPDX-License-Identifier: Apache-2.0
"""The agent in a pyuvm environment: sequences of products, a driver, monitors that send to a scoreboard."""

import cocotb
import pyuvm
from pyuvm import (ConfigDB, uvm_analysis_port, uvm_component, uvm_driver, uvm_env, uvm_scoreboard, uvm_sequence, uvm_sequence_item, uvm_sequencer,
                   uvm_test, uvm_tlm_analysis_fifo)

from gemm64_agent import Agent, Product


class ProductItem(uvm_sequence_item):
    """One product of random operands."""

    def __init__(self, name, rows, tiles, seed):
        super().__init__(name)
        self.rows, self.tiles, self.seed = rows, tiles, seed


class ProductSequence(uvm_sequence):
    """Shapes around N."""

    async def body(self):
        n = ConfigDB().get(None, "", "AGENT").n
        for seed, rows in enumerate((1, n - 1, n, n + 1)):
            item = ProductItem("product", rows, 1 + seed % 2, seed)
            await self.start_item(item)
            await self.finish_item(item)


class ProductDriver(uvm_driver):
    """Runs each item, and sends what must lie in memory afterwards."""

    def build_phase(self):
        self.expected_port = uvm_analysis_port("expected_port", self)

    async def run_phase(self):
        agent = ConfigDB().get(self, "", "AGENT")
        await agent.start()
        while True:
            item = await self.seq_item_port.get_next_item()
            product = Product(agent.n, item.rows, item.tiles, item.seed)
            product.place(agent.memory.bytes)
            self.expected_port.write((Product.RESULTS, product.results))
            await agent.run(product.program)
            self.seq_item_port.item_done()


class ResultMonitor(uvm_component):
    """Sends (address, bytes) for each burst of results."""

    def build_phase(self):
        self.port = uvm_analysis_port("port", self)
        self.addresses, self.beats = [], []

    def start_of_simulation_phase(self):
        agent = ConfigDB().get(self, "", "AGENT")
        self.n = agent.n
        agent.monitors["m_results_aw"].listeners.append(lambda burst: self.addresses.append(burst["awaddr"]))
        agent.monitors["m_results_w"].listeners.append(self._beat)

    def _beat(self, beat):
        self.beats.append(beat["wdata"].to_bytes(self.n, "little"))
        if beat["wlast"]:
            self.port.write((self.addresses.pop(0), b"".join(self.beats)))
            self.beats = []


class ProductScoreboard(uvm_scoreboard):
    """Compares bursts with results."""

    def build_phase(self):
        self.expected = uvm_tlm_analysis_fifo("expected", self)
        self.bursts = uvm_tlm_analysis_fifo("bursts", self)

    def check_phase(self):
        products = 0
        while True:
            there, expected = self.expected.try_get()
            if not there:
                break
            address, results = expected
            got = b""
            while len(got) < len(results):
                there, burst = self.bursts.try_get()
                assert there, f"product {products}: {len(got)} of {len(results)} bytes were written"
                assert burst[0] == address + len(got), f"product {products}: a burst at {burst[0]:#x}"
                got += burst[1]
            assert got == results, f"product {products}: other results"
            products += 1
        assert products == 4 and not self.bursts.try_get()[0], f"{products} products, or bursts that are left"


class ProductEnv(uvm_env):
    """Sequencer, driver, monitor, scoreboard."""

    def build_phase(self):
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver = ProductDriver("driver", self)
        self.monitor = ResultMonitor("monitor", self)
        self.scoreboard = ProductScoreboard("scoreboard", self)

    def connect_phase(self):
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        self.driver.expected_port.connect(self.scoreboard.expected.analysis_export)
        self.monitor.port.connect(self.scoreboard.bursts.analysis_export)


@pyuvm.test()
class ProductTest(uvm_test):
    """Products of shapes around N."""

    def build_phase(self):
        self.agent = Agent(cocotb.top)
        ConfigDB().set(None, "*", "AGENT", self.agent)
        self.env = ProductEnv("env", self)

    async def run_phase(self):
        self.raise_objection()
        await ProductSequence("sequence").start(self.env.sequencer)
        self.drop_objection()

    def check_phase(self):
        self.agent.check()
