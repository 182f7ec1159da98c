# SPDX-License-Identifier: Apache-2.0
"""The whole accelerator with the agent: registers, products, random programs, errors, resets, X; and that the agent notices."""

import os

import cocotb
from cocotb.triggers import ClockCycles

import programs
from gemm64_agent import REGISTERS, Agent, DeviceError, Product, Scoreboard


async def started(dut):
    agent = Agent(dut)
    await agent.start()
    return agent


async def run_product(agent, rows, tiles=1, seed=1):
    product = Product(agent.n, rows, tiles, seed)
    scoreboard = Scoreboard(agent, product.place(agent.memory.bytes))
    await agent.run(product.program)
    await scoreboard.check()


@cocotb.test()
async def registers_have_their_reset_values(dut):
    agent = await started(dut)
    for name, register in REGISTERS.items():
        value = await agent.read(name)
        if "reset" in register:
            assert value == register["reset"], f"{name} is {value:#x}"
    assert await agent.read("ARRAY") & 255 == agent.n
    agent.check()


# Bits that registers without fields keep: an address of 40 bits, 65,536 commands.
KEPT = {"WATCHDOG": 0xffffffff, "RING_BASE_LOW": 0xffffffff, "RING_BASE_HIGH": 0xff, "RING_MASK": 0xffff}


async def values(agent):
    return {name: await agent.read(name) for name in REGISTERS}


@cocotb.test()
async def registers_keep_their_access(dut):
    """Each bit of each register, by its access in rtl/gemm64.json; no write reaches another register."""
    agent = await started(dut)
    for name, register in REGISTERS.items():
        if name in ("RING_TAIL", "CONTROL"):
            continue  # these act; the other tests do so
        before = await values(agent)
        fields = sum((1 << field["width"]) - 1 << field["lsb"] for field in register["fields"])
        kept, last = 0, before[name]
        for bit in range(32):
            try:
                await agent.write(name, 1 << bit)
                refused = False
            except ValueError:
                refused = True
            value = await agent.read(name)
            if register["access"] == "ro":
                assert refused and value == before[name], f"{name} takes bit {bit}"
            elif register["access"] == "w1c":
                assert not refused and value == before[name], f"{name} takes bit {bit}"
            else:
                assert value in ((last,) if refused else (0, 1 << bit)), f"{name} is {value:#x} after bit {bit}"
                kept |= 0 if refused else value
            last = value
        if register["access"] == "rw":
            assert kept == (fields or KEPT[name]), f"{name} keeps {kept:#x}"
            await agent.write(name, before[name])
        assert await values(agent) == before, f"a write of {name} reaches another register"
    agent.check()


@cocotb.test()
async def products_are_exact(dut):
    agent = await started(dut)
    for rows, tiles in ((1, 1), (agent.n - 1, 1), (agent.n, 2), (2 * agent.n + 1, 3)):
        await run_product(agent, rows, tiles, seed=rows)


@cocotb.test()
async def products_are_exact_under_stalls(dut):
    agent = await started(dut)
    agent.stall(0.4)
    for seed in range(2):
        await run_product(agent, agent.n + 1 + seed, 2, seed)


@cocotb.test()
async def a_bus_error_halts_and_a_reset_recovers(dut):
    agent = await started(dut)
    product = Product(agent.n, agent.n)
    for failing, engine in ((Product.WEIGHTS, "WEIGHTS"), (Product.ACTIVATIONS, "ACTIVATIONS"), (Product.RESULTS, "RESULTS"), (0, "COMMANDS")):
        product.place(agent.memory.bytes)
        agent.memory.failing = range(failing, failing + 1)
        try:
            await agent.run(product.program)
            assert False, f"no error of {engine}"
        except DeviceError as error:
            assert (error.code, error.engine) == ("BUS_SLAVE", engine), str(error)
        agent.memory.failing = range(0)
    await run_product(agent, agent.n)


@cocotb.test()
async def a_reset_in_the_middle_leaves_a_clean_state(dut):
    agent = await started(dut)
    product = Product(agent.n, 2 * agent.n, 2)
    for cycles in (20, 45, 70, 110):
        for reset in (agent.soft_reset, agent.reset):
            product.place(agent.memory.bytes)
            await agent.submit(product.program)
            await ClockCycles(dut.clk, cycles)
            await reset()
            agent.check()
    await run_product(agent, agent.n)


@cocotb.test(skip="GEMM64_PROGRAMS" not in os.environ)
async def random_programs_do_what_they_do_on_the_reference(dut):
    agent = await started(dut)
    found = programs.load(os.environ["GEMM64_PROGRAMS"])
    assert found, "no programs"
    for number, program in enumerate(found):
        assert program.array == agent.n, f"{program.name} is for N = {program.array}"
        agent.stall(0.3 if number % 2 else 0, seed=program.seed)
        scoreboard = Scoreboard(agent, program.place(agent.memory.bytes), program.ignored)
        try:
            await agent.run(program.commands, cycles=2000000)
            await scoreboard.check(program.bytes)
        except Exception:
            dut._log.error("%s, seed %d:\n%s", program.name, program.seed, "\n".join(program.listing))  # pylint: disable=protected-access
            raise
    dut._log.info("%d programs", len(found))  # pylint: disable=protected-access


# What the agent has to notice.

@cocotb.test()
async def a_wrong_byte_is_reported(dut):
    agent = await started(dut)
    product = Product(agent.n, agent.n)
    expected = product.place(agent.memory.bytes)
    await agent.run(product.program)
    counters = await agent.counters()
    assert Scoreboard(agent, expected).differences(counters) == []
    expected[Product.RESULTS + 5] ^= 1
    found = Scoreboard(agent, expected).differences(counters)
    assert len(found) == 1 and found[0].startswith(f"memory at {Product.RESULTS + 5:#x}"), found
    expected[Product.RESULTS + 5] ^= 1
    agent.moved["weights"] += 1
    counters["compute.idle"] += 1
    found = Scoreboard(agent, expected).differences(counters)
    assert len(found) == 2 and "bytes.weights" in found[0] and "compute" in found[1], found


@cocotb.test()
async def an_unknown_weight_reaches_the_results_and_is_reported(dut):
    if int(dut.SELF_CHECK.value):
        return  # whose alarm is then unknown, and with it each handshake
    agent = await started(dut)
    product = Product(agent.n, agent.n)
    product.place(agent.memory.bytes)
    dut.unknown_i.value = 1
    agent.results.w_channel.pause = True  # the memory's model takes no X
    await agent.submit(product.program)
    await ClockCycles(dut.clk, 400)
    assert any(error.startswith("m_results_w: wdata unknown") for error in agent.errors), agent.errors


@cocotb.test()
async def a_withdrawn_offer_is_reported(dut):
    agent = await started(dut)
    monitor = agent.monitors["m_weights_ar"]
    monitor.valid, monitor.ready = dut.unknown_i, dut.irq
    dut.unknown_i.value = 1
    await ClockCycles(dut.clk, 3)
    dut.unknown_i.value = 0
    await ClockCycles(dut.clk, 3)
    assert any("VALID fell" in error for error in agent.errors), agent.errors
