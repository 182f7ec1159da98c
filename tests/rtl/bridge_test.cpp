// SPDX-License-Identifier: Apache-2.0
#include "host/device/bridge.hpp"

#include <Vbridge_b17.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

using bridge::Command;
using Bytes = std::vector<std::uint8_t>;

/// A bridge among registers, a memory and a line, each of which takes and answers when its gate
/// says so.
class BridgeBench {
 public:
  explicit BridgeBench(Gate gate = Gate(), std::uint64_t limit = 100000)
      : bench_(limit), gate_(gate) {}

  /// Sends a command and what it writes; what comes until `answer` bytes came, and some cycles
  /// more.
  Bytes ask(Command command, std::uint32_t address, std::uint32_t value, std::size_t answer,
            const Bytes& written = {}) {
    Bytes bytes{static_cast<std::uint8_t>(command)};
    for (const std::uint32_t word : {address, value}) {
      for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }
    bytes.insert(bytes.end(), written.begin(), written.end());
    return send(bytes, answer);
  }

  Bytes send(const Bytes& bytes, std::size_t answer) {
    answer_.clear();
    for (const std::uint8_t byte : bytes) {
      step(&byte);
      do step(nullptr);
      while (!gate_());
    }
    while (answer_.size() < answer) step(nullptr);
    for (int i = 0; i < 20; ++i) step(nullptr);
    return answer_;
  }

  std::uint64_t clock() const { return bench_.clock(); }

  bool irq = false;
  unsigned response = 0;  // of registers
  std::map<unsigned, std::uint32_t> registers;
  std::map<unsigned, std::uint8_t> memory;
  unsigned reads = 0, writes = 0;  // of registers
  unsigned reset_cycles = 0;

 private:
  void step(const std::uint8_t* byte) {
    bench_->rx_valid_i = byte != nullptr;
    bench_->rx_data_i = byte != nullptr ? *byte : 0x5a;
    bench_->tx_ready_i = gate_();
    bench_->awready_i = gate_();
    bench_->wready_i = gate_();
    bench_->arready_i = gate_();
    bench_->byte_ready_i = gate_();
    bench_->irq_i = irq;
    bench_->bvalid_i = has_address_ && has_data_ && (bench_->bvalid_i || gate_());
    bench_->bresp_i = static_cast<std::uint8_t>(response);
    bench_->rvalid_i = reads_ && (bench_->rvalid_i || gate_());
    bench_->rresp_i = static_cast<std::uint8_t>(response);
    bench_->rdata_i = registers[read_address_];
    bench_.settle();
    tx_(bench_->tx_valid_o, bench_->tx_ready_i, bench_->tx_data_o);
    aw_(bench_->awvalid_o, bench_->awready_i, bench_->awaddr_o);
    w_(bench_->wvalid_o, bench_->wready_i, bench_->wdata_o);
    ar_(bench_->arvalid_o, bench_->arready_i, bench_->araddr_o);
    if (bench_->tx_valid_o && bench_->tx_ready_i) answer_.push_back(bench_->tx_data_o);
    if (bench_->bvalid_i && bench_->bready_o) {
      registers[write_address_] = write_data_;
      ++writes;
      has_address_ = has_data_ = false;
    }
    if (bench_->rvalid_i && bench_->rready_o) {
      ++reads;
      reads_ = false;
    }
    if (bench_->awvalid_o && bench_->awready_i) {
      EXPECT_FALSE(has_address_);
      has_address_ = true;
      write_address_ = bench_->awaddr_o;
    }
    if (bench_->wvalid_o && bench_->wready_i) {
      EXPECT_FALSE(has_data_);
      has_data_ = true;
      write_data_ = bench_->wdata_o;
    }
    if (bench_->arvalid_o && bench_->arready_i) {
      reads_ = true;
      read_address_ = bench_->araddr_o;
    }
    if (bench_->byte_write_o) memory[bench_->byte_address_o] = bench_->byte_data_o;
    const bool fetched = bench_->byte_read_o && bench_->byte_ready_i;
    const unsigned address = bench_->byte_address_o;
    if (bench_->reset_o) ++reset_cycles;
    bench_.edge();
    bench_->byte_data_i = fetched ? memory[address] : 0xee;  // for one cycle
  }

  Bench<Vbridge_b17> bench_;
  Gate gate_;
  StaysPut<unsigned> tx_{"tx"}, aw_{"aw"}, w_{"w"}, ar_{"ar"};
  Bytes answer_;
  bool has_address_ = false, has_data_ = false, reads_ = false;
  unsigned write_address_ = 0, read_address_ = 0;
  std::uint32_t write_data_ = 0;
};

TEST(Bridge, TellsItsNameAndTheMemorysSize) {
  BridgeBench bridge;
  EXPECT_EQ(bridge.ask(Command::kPing, 0, 0, 5), (Bytes{0, 'g', '6', '4', 17}));
}

TEST(Bridge, ReadsAndWritesRegisters) {
  for_seeds(1, 30, [](std::mt19937& random) {
    BridgeBench bridge(Gate::random(random));
    for (int i = 0; i < 20; ++i) {
      const unsigned offset = draw(random, 0, 1023) * 4;
      const auto value = static_cast<std::uint32_t>(random());
      bridge.response = draw(random, 0, 3);
      const auto response = static_cast<std::uint8_t>(bridge.response);
      EXPECT_EQ(bridge.ask(Command::kWriteRegister, offset, value, 1), Bytes{response});
      EXPECT_EQ(bridge.registers[offset], value);
      const Bytes wanted{
          response, static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
      EXPECT_EQ(bridge.ask(Command::kReadRegister, offset, 0, 5), wanted);
    }
    EXPECT_EQ(bridge.reads, 20u);
    EXPECT_EQ(bridge.writes, 20u);
  });
}

TEST(Bridge, ReadsAndWritesMemory) {
  for_seeds(1, 30, [](std::mt19937& random) {
    BridgeBench bridge(Gate::random(random));
    for (int i = 0; i < 10; ++i) {
      const unsigned address = draw(random, 0, 131000);
      Bytes bytes(draw(random, 0, 40));
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
      const auto count = static_cast<std::uint32_t>(bytes.size());
      bridge.memory.clear();
      EXPECT_EQ(bridge.ask(Command::kWriteMemory, address, count, 1, bytes), Bytes{0});
      EXPECT_EQ(bridge.memory.size(), bytes.size());
      Bytes wanted = bytes;
      wanted.insert(wanted.begin(), 0);
      EXPECT_EQ(bridge.ask(Command::kReadMemory, address, count, 1 + count), wanted);
    }
  });
}

TEST(Bridge, WaitsForTheInterruptAndNoLonger) {
  BridgeBench bridge;
  std::uint64_t begin = bridge.clock();
  EXPECT_EQ(bridge.ask(Command::kWait, 0, 1000, 1), Bytes{0});
  EXPECT_NEAR(static_cast<double>(bridge.clock() - begin), 1000 + 18 + 20, 5);
  bridge.irq = true;
  begin = bridge.clock();
  EXPECT_EQ(bridge.ask(Command::kWait, 0, 0xffffffff, 1), Bytes{1});
  EXPECT_LT(bridge.clock() - begin, 50u);
}

TEST(Bridge, ResetsForEightCycles) {
  BridgeBench bridge;
  EXPECT_EQ(bridge.ask(Command::kReset, 0, 0, 1), Bytes{0});
  EXPECT_EQ(bridge.reset_cycles, 8u);
}

// Any byte that is no command: it is passed over, and the next command is taken.
TEST(Bridge, PassesOverWhatIsNoCommand) {
  BridgeBench bridge;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (byte >= 0xa1 && byte <= 0xa7) continue;
    EXPECT_EQ(bridge.send({static_cast<std::uint8_t>(byte)}, 0), Bytes{});
  }
  EXPECT_EQ(bridge.ask(Command::kPing, 0, 0, 5).size(), 5u);
  EXPECT_TRUE(bridge.memory.empty());
  EXPECT_EQ(bridge.reads + bridge.writes + bridge.reset_cycles, 0u);
}

// Whatever a host left half sent, as many zeros as the longest command has bytes end it.
TEST(Bridge, ZerosEndWhatWasBegun) {
  for (unsigned first = 0xa1; first <= 0xa7; ++first) {
    for (unsigned sent = 1; sent < 12; ++sent) {
      BridgeBench bridge(Gate(), 1000000);
      Bytes begun{static_cast<std::uint8_t>(first), 0, 0, 0, 0, 0, 4, 0, 0, 1, 2, 3};  // a block
      begun.resize(sent);
      bridge.send(begun, 0);
      bridge.send(Bytes(9 + bridge::kBlock), 0);
      for (int i = 0; i < 1000; ++i) bridge.send({}, 0);  // what it answers ends
      EXPECT_EQ(bridge.ask(Command::kPing, 0, 0, 5), (Bytes{0, 'g', '6', '4', 17}))
          << "command " << first << ", " << sent << " bytes";
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
