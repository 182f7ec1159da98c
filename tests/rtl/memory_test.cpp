// SPDX-License-Identifier: Apache-2.0
#include <Vmemory_n4.h>
#include <Vmemory_n8.h>

#include <optional>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kOkay = 0, kDecodeError = 3;

template <class Port, unsigned kWidth>
struct Size {
  using Model = Port;
  static constexpr unsigned kN = kWidth;
};

/// A burst in flight: where its next beat is, and how many are left.
struct Burst {
  std::uint32_t address = 0;
  unsigned beats = 0;
  unsigned id = 0;
  std::uint64_t accepted = 0;  // clock
  bool first = true;
};

template <class Size>
class BoardMemory : public testing::Test {
 protected:
  using Model = typename Size::Model;
  static constexpr unsigned kN = Size::kN;
  static constexpr unsigned kBytes = 1 << 13;

  BoardMemory() {
    bench_->byte_write_i = bench_->byte_read_i = 0;
    bench_->results_wvalid_i = bench_->results_awvalid_i = 0;
    bench_->weights_arvalid_i = bench_->data_arvalid_i = 0;
    bench_->results_bready_i = 1;
    bench_.reset();
  }

  void write_byte(unsigned address, unsigned value) {
    bench_->byte_write_i = 1;
    bench_->byte_address_i = static_cast<std::uint16_t>(address);
    bench_->byte_data_i = static_cast<std::uint8_t>(value);
    bench_.step();
    bench_->byte_write_i = 0;
    memory_[address] = static_cast<std::uint8_t>(value);
  }

  unsigned read_byte(unsigned address) {
    bench_->byte_read_i = 1;
    bench_->byte_address_i = static_cast<std::uint16_t>(address);
    for (bench_.settle(); !bench_->byte_ready_o; bench_.settle()) bench_.edge();
    bench_.edge();
    bench_->byte_read_i = 0;
    bench_.settle();
    return bench_->byte_data_o;
  }

  void fill() {
    std::mt19937 random(3);
    for (unsigned i = 0; i < kBytes; ++i) write_byte(i, random() & 0xff);
  }

  /// A burst that AXI allows, seldom beyond the memory.
  static Burst draw_burst(std::mt19937& random) {
    Burst burst;
    burst.beats = draw(random, 1, 64);
    const unsigned places = 4096 / kN - burst.beats;
    burst.address = draw(random, 0, places) * kN + 4096 * draw(random, 0, 1);
    if (random() % 8 == 0) burst.address += kBytes << (random() % 8);
    burst.id = random() & 3;
    return burst;
  }

  void check_beat(const char* port, Burst& burst, bool last, unsigned response,
                  const decltype(Model::data_rdata_o)& data) {
    const bool inside = burst.address < kBytes;
    EXPECT_EQ(response, inside ? kOkay : kDecodeError) << port << " " << burst.address;
    EXPECT_EQ(last, burst.beats == 1) << port;
    for (unsigned i = 0; inside && i < kN; ++i) {
      EXPECT_EQ((lane<std::uint8_t>(data, i)), memory_[burst.address + i]) << port;
    }
    burst.address += kN;
    --burst.beats;
  }

  Bench<Model> bench_{1000000};
  std::array<std::uint8_t, kBytes> memory_{};
};

using Sizes = testing::Types<Size<Vmemory_n4, 4>, Size<Vmemory_n8, 8>>;
TYPED_TEST_SUITE(BoardMemory, Sizes);

TYPED_TEST(BoardMemory, HoldsBytes) {
  this->fill();
  for (unsigned i = 0; i < this->kBytes; i += 13) EXPECT_EQ(this->read_byte(i), this->memory_[i]);
}

// Both readers at once, and bytes between; nothing is written meanwhile.
TYPED_TEST(BoardMemory, AnswersBurstsOfBothReadersByTurns) {
  auto& bench = this->bench_;
  this->fill();
  for_seeds(1, 20, [&](std::mt19937& random) {
    Gate ask[2] = {Gate::random(random), Gate::random(random)};
    Gate byte = Gate::random(random);
    std::array<std::optional<Burst>, 2> offered;
    std::deque<std::pair<unsigned, Burst>> accepted;  // port
    std::optional<unsigned> fetched;
    bool reads = false;
    unsigned done[2] = {0, 0};
    while ((done[0] < 20 || done[1] < 20) && !testing::Test::HasFailure()) {
      for (unsigned port = 0; port < 2; ++port) {
        if (!offered[port] && ask[port]()) offered[port] = this->draw_burst(random);
      }
      const auto show = [&](unsigned port, auto& valid, auto& address, auto& length) {
        valid = offered[port].has_value();
        if (!offered[port]) return;
        address = offered[port]->address;
        length = static_cast<std::uint8_t>(offered[port]->beats - 1);
      };
      show(0, bench->weights_arvalid_i, bench->weights_araddr_i, bench->weights_arlen_i);
      show(1, bench->data_arvalid_i, bench->data_araddr_i, bench->data_arlen_i);
      if (offered[0]) bench->weights_arid_i = offered[0]->id &= 1;
      if (offered[1]) bench->data_arid_i = static_cast<std::uint8_t>(offered[1]->id);
      if (!reads && !fetched) {
        reads = byte();
        bench->byte_address_i = static_cast<std::uint16_t>(random() % this->kBytes);
      }
      bench->byte_read_i = reads;
      bench.settle();
      if (fetched) {
        EXPECT_EQ(bench->byte_data_o, this->memory_[*fetched]);
        fetched.reset();
      }
      if (reads && bench->byte_ready_o) {
        fetched = bench->byte_address_i;
        reads = false;
      }
      const bool beat[2] = {bench->weights_rvalid_o != 0, bench->data_rvalid_o != 0};
      EXPECT_FALSE(beat[0] && beat[1]);
      if (beat[0] || beat[1]) {
        ASSERT_FALSE(accepted.empty());
        auto& [port, burst] = accepted.front();
        EXPECT_EQ(beat[1], port == 1);
        if (burst.first) EXPECT_EQ(bench.clock() - burst.accepted, 2u) << "documented latency";
        burst.first = false;
        if (port == 0) {
          EXPECT_EQ(bench->weights_rid_o, burst.id);
          this->check_beat("weights", burst, bench->weights_rlast_o, bench->weights_rresp_o,
                           bench->weights_rdata_o);
        } else {
          EXPECT_EQ(bench->data_rid_o, burst.id);
          this->check_beat("data", burst, bench->data_rlast_o, bench->data_rresp_o,
                           bench->data_rdata_o);
        }
        ++done[port];
        if (burst.beats != 0) {
          --done[port];
        } else {
          accepted.pop_front();
        }
      } else if (!accepted.empty()) {
        EXPECT_TRUE(accepted.front().second.first) << "a beat per cycle";
      }
      const bool taken[2] = {bench->weights_arready_o != 0, bench->data_arready_o != 0};
      EXPECT_FALSE(taken[0] && taken[1]);
      for (unsigned port = 0; port < 2; ++port) {
        if (!offered[port] || !taken[port]) continue;
        offered[port]->accepted = bench.clock();
        accepted.emplace_back(port, *offered[port]);
        offered[port].reset();
      }
      bench.edge();
    }
    bench->weights_arvalid_i = bench->data_arvalid_i = bench->byte_read_i = 0;
    for (int i = 0; i < 200; ++i) bench.step();
  });
}

// Strobes, stalls, bytes that are written between beats, and answers that wait.
TYPED_TEST(BoardMemory, WritesWhatTheStrobesName) {
  auto& bench = this->bench_;
  this->fill();
  for_seeds(1, 20, [&](std::mt19937& random) {
    Gate come = Gate::random(random), take = Gate::random(random), byte = Gate::random(random);
    for (int i = 0; i < 10 && !testing::Test::HasFailure(); ++i) {
      Burst burst = this->draw_burst(random);
      bench->results_awvalid_i = 1;
      bench->results_awid_i = burst.id & 1;
      bench->results_awaddr_i = burst.address;
      bool open = false, answered = false, offers = false;
      const unsigned response = burst.address < this->kBytes ? kOkay : kDecodeError;
      std::uint64_t last = 0;
      while (!answered) {
        if (!offers && burst.beats != 0 && come()) {
          offers = true;
          set_noise(bench->results_wdata_i, random);
          bench->results_wstrb_i = static_cast<std::uint8_t>(random());
        }
        bench->results_wvalid_i = offers;
        bench->results_wlast_i = burst.beats == 1;
        bench->results_bready_i = take();
        bench->byte_write_i = byte() && random() % 2;
        if (bench->byte_write_i) {
          bench->byte_address_i = static_cast<std::uint16_t>(random() % this->kBytes);
          bench->byte_data_i = static_cast<std::uint8_t>(random());
        }
        bench.settle();
        if (bench->byte_write_i) {
          EXPECT_EQ(bench->results_wready_o, 0) << "bytes go first";
          this->memory_[bench->byte_address_i] = bench->byte_data_i;
        }
        if (bench->results_wready_o && offers) {
          EXPECT_TRUE(open);
          for (unsigned b = 0; b < this->kN && response == kOkay; ++b) {
            if ((bench->results_wstrb_i >> b & 1) == 0) continue;
            this->memory_[burst.address + b] = lane<std::uint8_t>(bench->results_wdata_i, b);
          }
          burst.address += this->kN;
          if (--burst.beats == 0) last = bench.clock();
          offers = false;
        }
        if (bench->results_awvalid_i && bench->results_awready_o) open = true;
        EXPECT_EQ(bench->results_bvalid_o, burst.beats == 0 && last != bench.clock());
        if (bench->results_bvalid_o) {
          EXPECT_EQ(bench->results_bresp_o, response);
          EXPECT_EQ(bench->results_bid_o, burst.id & 1);
          answered = bench->results_bready_i;
        }
        bench.edge();
        if (open) bench->results_awvalid_i = 0;
      }
    }
    bench->byte_write_i = 0;
  });
  for (unsigned i = 0; i < this->kBytes; ++i) {
    ASSERT_EQ(this->read_byte(i), this->memory_[i]) << "at " << i;
  }
}

TYPED_TEST(BoardMemory, AResetEndsBurstsAndKeepsBytes) {
  auto& bench = this->bench_;
  this->fill();
  bench->weights_arvalid_i = 1;
  bench->weights_araddr_i = 0;
  bench->weights_arlen_i = 63;
  bench->results_awvalid_i = 1;
  bench->results_awaddr_i = 0;
  for (int i = 0; i < 6; ++i) bench.step();
  bench.settle();
  EXPECT_EQ(bench->weights_rvalid_o, 1);
  EXPECT_EQ(bench->results_wready_o, 1);
  bench->weights_arvalid_i = bench->results_awvalid_i = 0;
  bench.reset();
  bench.settle();
  EXPECT_EQ(bench->weights_rvalid_o, 0);
  EXPECT_EQ(bench->results_wready_o, 0);
  EXPECT_EQ(bench->results_awready_o, 1);
  EXPECT_EQ(this->read_byte(77), this->memory_[77]);
}

}  // namespace
}  // namespace gemm64::rtl_test
