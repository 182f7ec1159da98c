// SPDX-License-Identifier: Apache-2.0
// The platform's modules by themselves, each between sockets of a test.
#include <tlm_utils/simple_initiator_socket.h>

#include "sim/integrations/systemc/bus.hpp"
#include "sim/integrations/systemc/kernel.hpp"
#include "sim/integrations/systemc/peripherals.hpp"
#include "sim/integrations/systemc/ram.hpp"
#include "tests/test.hpp"

namespace gemm64::platform {
namespace {

struct Initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
  explicit Initiator(sc_core::sc_module_name name) : sc_core::sc_module(name) {}

  tlm::tlm_response_status access(bool write, std::uint64_t address, void* data, unsigned bytes,
                                  const std::vector<std::uint8_t>& enables = {}) {
    tlm::tlm_generic_payload transaction;
    transaction.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    transaction.set_address(address);
    transaction.set_data_ptr(static_cast<unsigned char*>(data));
    transaction.set_data_length(bytes);
    transaction.set_streaming_width(bytes);
    transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (!enables.empty()) {
      transaction.set_byte_enable_ptr(const_cast<unsigned char*>(enables.data()));
      transaction.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    }
    delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(transaction, delay);
    EXPECT_EQ(transaction.get_address(), address) << "the address comes back as it was";
    return transaction.get_response_status();
  }
  std::uint32_t read(std::uint64_t address) {
    std::uint32_t value = 0;
    EXPECT_EQ(access(false, address, &value, 4), tlm::TLM_OK_RESPONSE);
    return value;
  }
  void write(std::uint64_t address, std::uint32_t value) {
    EXPECT_EQ(access(true, address, &value, 4), tlm::TLM_OK_RESPONSE);
  }

  sc_core::sc_time delay;
};

struct Bench {
  Kernel kernel;
  Kernel::Use use{kernel};
  sc_core::sc_time clock{1, sc_core::SC_NS};
};

TEST(Bus, SendsTransactionToItsTarget) {
  Bench bench;
  Bus bus("bus", {{"low", 0x0, 0x1000}, {"high", 0x1000, 0x1000}});
  Ram low("low", 0x1000, 7 * bench.clock), high("high", 0x1000, 9 * bench.clock);
  bus.target("low").bind(low.socket);
  bus.target("high").bind(high.socket);
  EXPECT_THROW(bus.target("middle"), std::out_of_range);
  Initiator cpu("cpu");
  cpu.socket.bind(bus.initiators);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  cpu.write(0x1004, 0x12345678);
  EXPECT_EQ(cpu.delay, 9 * bench.clock);
  EXPECT_EQ(cpu.read(0x1004), 0x12345678u);
  EXPECT_EQ(cpu.read(0x4), 0u);
  EXPECT_EQ(cpu.delay, 7 * bench.clock);
  std::uint8_t bytes[8];
  EXPECT_EQ(cpu.access(false, 0xffc, bytes, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(cpu.access(false, 0x2000, bytes, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);

  tlm::tlm_generic_payload transaction;
  transaction.set_read();
  transaction.set_address(0x1800);
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(cpu.socket->get_direct_mem_ptr(transaction, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0x1000u);
  EXPECT_EQ(dmi.get_end_address(), 0x1fffu);
  std::uint32_t word;
  std::memcpy(&word, dmi.get_dmi_ptr() + 4, 4);
  EXPECT_EQ(word, 0x12345678u);
}

TEST(Bus, RefusesRangesThatOverlap) {
  Bench bench;
  EXPECT_THROW(Bus("bus", {{"low", 0x0, 0x1000}, {"high", 0xfff, 2}}), std::invalid_argument);
}

TEST(Ram, WritesOnlyTheBytesThatAreEnabled) {
  Bench bench;
  Ram ram("ram", 0x1000, bench.clock);
  Initiator cpu("cpu");
  cpu.socket.bind(ram.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::uint8_t bytes[4] = {1, 2, 3, 4};
  EXPECT_EQ(cpu.access(true, 0, bytes, 4, {0xff, 0}), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu.read(0), 0x00030001u);
}

TEST(Timer, RaisesItsLineInCycleOfCompare) {
  Bench bench;
  Timer timer("timer", bench.clock, bench.clock);
  sc_core::sc_signal<bool> line;
  timer.output(line);
  Initiator cpu("cpu");
  cpu.socket.bind(timer.socket);
  sc_core::sc_start(10 * bench.clock);
  EXPECT_FALSE(line.read());
  EXPECT_EQ(cpu.read(TIMER_NOW), 10u);
  cpu.write(TIMER_COMPARE + 4, 0);
  cpu.write(TIMER_COMPARE, 25);
  sc_core::sc_start(14 * bench.clock);
  EXPECT_FALSE(line.read());
  sc_core::sc_start(bench.clock);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  EXPECT_TRUE(line.read());
  cpu.write(TIMER_COMPARE, 1000);
  sc_core::sc_start(2 * bench.clock);
  EXPECT_FALSE(line.read());
}

TEST(InterruptController, PassesEnabledLineOn) {
  Bench bench;
  InterruptController interrupts("interrupts", bench.clock);
  sc_core::sc_signal<bool> in, out;
  interrupts.accelerator(in);
  interrupts.output(out);
  Initiator cpu("cpu");
  cpu.socket.bind(interrupts.socket);
  sc_core::sc_start(bench.clock);
  in.write(true);
  sc_core::sc_start(bench.clock);
  EXPECT_FALSE(out.read());
  EXPECT_EQ(cpu.read(INTERRUPTS_PENDING), 1u);
  cpu.write(INTERRUPTS_ENABLE, 1);
  sc_core::sc_start(bench.clock);
  EXPECT_TRUE(out.read());
  in.write(false);
  sc_core::sc_start(bench.clock);
  EXPECT_FALSE(out.read());
}

TEST(Peripherals, RefuseWhatIsNoRegister) {
  Bench bench;
  std::string printed;
  Uart uart("uart", bench.clock, [&](char byte) { printed += byte; });
  Initiator cpu("cpu");
  cpu.socket.bind(uart.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  cpu.write(UART_DATA, 'x');
  EXPECT_EQ(cpu.read(UART_STATUS), 1u);
  std::uint32_t value = 0;
  EXPECT_EQ(cpu.access(true, 0x40, &value, 4), tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(cpu.access(true, UART_DATA, &value, 1), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(printed, "x");
}

}  // namespace
}  // namespace gemm64::platform
