// SPDX-License-Identifier: Apache-2.0
// An engine that loads words by way of the data port, between a memory that answers in order and
// what uses the words.
#pragma once

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {

/// At most kBursts bursts of words of kN bytes are outstanding.
template <class Model, unsigned kN, unsigned kBursts>
class LoadTrial {
 public:
  explicit LoadTrial(unsigned latency) : latency_(latency) { bench->stop_i = bench->beat_i = 0; }
  virtual ~LoadTrial() = default;

  void clock() {
    drive();
    bench.settle();
    check_memory();
    check();
    waits_ = bench->command_valid_i && !bench->command_ready_o;
    taken_ = bench->command_valid_i && !waits_;
    account_memory();
    account();
    sent_ += taken_;
    bench.edge();
  }

  Bench<Model> bench{400000};
  std::size_t asked = 0;  // words
  std::size_t error_beat = ~std::size_t{0};
  std::vector<unsigned> errors;         // tags
  std::vector<unsigned> beats;          // of each burst
  std::vector<std::uint64_t> asked_at;  // cycles of bursts

 protected:
  /// Sets inputs; compares outputs; notes what happens at the end of the cycle.
  virtual void drive() = 0;
  virtual void check() = 0;
  virtual void account() = 0;

  /// Offers the next of `count` commands; returns if it does.
  bool drive_command(std::size_t count, Gate& gate, std::size_t first_tag = 40) {
    bench->command_valid_i = sent_ < count && (waits_ || gate());
    bench->command_tag_i = static_cast<std::uint16_t>(first_tag + sent_);
    return bench->command_valid_i;
  }
  void set_address(std::uint64_t address) {
    bench->command_i[4] = static_cast<std::uint32_t>(address);
    bench->command_i[5] = static_cast<std::uint32_t>(address >> 32);
  }
  void drive_memory(Gate& request, Gate& data) {
    bench->request_ready_i = request();
    bench->beat_i = !memory_.empty() && memory_.front().due <= bench.clock() && data();
    set_memory_word(bench->beat_data_i, bench->beat_i ? memory_.front().address : bench.clock());
    bench->beat_last_i = !memory_.empty() && memory_.front().beats == 1;
    bench->beat_error_i = bench->beat_i && arrived_ == error_beat;
  }

  std::size_t sent_ = 0;                    // commands
  std::size_t promised_ = 0, arrived_ = 0;  // words
  bool taken_ = false;                      // a command, in this cycle

 private:
  struct Burst {
    std::uint64_t address, due;
    unsigned beats;
  };

  void check_memory() {
    if (bench->request_valid_o) {
      check_burst(bench->request_address_o, bench->request_beats_o - 1, kN == 2 ? 1 : 2, 1, kN);
      EXPECT_LT(memory_.size(), kBursts);
    }
    stays_(bench->request_valid_o && !bench->stop_i, bench->request_ready_i,
           {bench->request_address_o, bench->request_beats_o});
    unsigned causes = 0;
    for (unsigned i = 0; i < 4; ++i) causes += bench->causes_o >> i & 1;
    EXPECT_EQ(causes, 1u);
    EXPECT_EQ((bench->causes_o >> 0 & 1), bench->beat_i);
    EXPECT_EQ((bench->causes_o >> 1 & 1), !memory_.empty() && !bench->beat_i);
    EXPECT_EQ(bench->quiet_o, memory_.empty());
    EXPECT_EQ(bench->error_o, bench->beat_error_i);
    if (bench->error_o) errors.push_back(bench->error_tag_o);
  }

  void account_memory() {
    if (bench->beat_i) {
      ++arrived_;
      memory_.front().address += kN;
      if (--memory_.front().beats == 0) memory_.pop_front();
    }
    if (bench->request_valid_o && bench->request_ready_i) {
      memory_.push_back(
          {bench->request_address_o, bench.clock() + latency_, bench->request_beats_o});
      asked += bench->request_beats_o;
      beats.push_back(bench->request_beats_o);
      asked_at.push_back(bench.clock());
    }
  }

  unsigned latency_;
  std::deque<Burst> memory_;
  bool waits_ = false;  // a command
  StaysPut<std::tuple<std::uint64_t, unsigned>> stays_{"request"};
};

}  // namespace gemm64::rtl_test
