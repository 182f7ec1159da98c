// SPDX-License-Identifier: Apache-2.0
// What the tests of single RTL modules share: a cycle with a limit, on/off patterns, seeds, the
// lanes of wide ports, and two rules that hold everywhere: an offer stays put, and a burst is one
// that AXI allows.
#pragma once

#include <gtest/gtest.h>
#include <verilated.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/random.hpp"

namespace gemm64::rtl_test {

template <class Model, class = void>
struct HasReset : std::false_type {};
template <class Model>
struct HasReset<Model, std::void_t<decltype(std::declval<Model&>().rst_ni)>> : std::true_type {};

/// One Verilated module, out of reset. A cycle is settle(), where outputs answer this cycle's
/// inputs, then edge(). Throws std::runtime_error past `limit` cycles or where an assertion of the
/// RTL fails.
template <class Model>
class Bench {
 public:
  explicit Bench(std::uint64_t limit = 100000, int seed = 1) : limit_(limit) {
    context_->fatalOnError(false);
    context_->randReset(2);  // registers that nothing resets start with noise
    context_->randSeed(seed);
    model_ = std::make_unique<Model>(context_.get(), "dut");
    reset();
  }
  ~Bench() { model_->final(); }

  Model* operator->() { return model_.get(); }
  Model& operator*() { return *model_; }
  VerilatedContext& context() { return *context_; }
  /// Cycles since the last reset.
  std::uint64_t clock() const { return clock_; }

  void settle() {
    model_->clk_i = 0;
    model_->eval();
  }
  void edge() {
    model_->clk_i = 1;
    model_->eval();
    if (context_->gotError()) throw std::runtime_error("an assertion of the RTL failed");
    if (++clock_ > limit_) {
      throw std::runtime_error("not done within " + std::to_string(limit_) + " cycles");
    }
  }
  void step() {
    settle();
    edge();
  }
  /// Two cycles with rst_ni low, with the inputs as they are.
  void reset() {
    if constexpr (HasReset<Model>::value) {
      model_->rst_ni = 0;
      step();
      step();
      model_->rst_ni = 1;
    }
    clock_ = 0;
  }

 private:
  std::uint64_t limit_;
  std::uint64_t clock_ = 0;
  std::unique_ptr<VerilatedContext> context_ = std::make_unique<VerilatedContext>();
  std::unique_ptr<Model> model_;
};

/// Whether something may happen in a cycle: always, by a pattern that repeats, or at random.
class Gate {
 public:
  Gate() = default;
  /// Bit i of `pattern` is for clock i of every `length` cycles.
  Gate(unsigned pattern, unsigned length) : pattern_(pattern), length_(length) {}
  /// Open with a probability that is itself drawn: seldom, half the time, mostly or always.
  static Gate random(std::mt19937& seeds) {
    static constexpr unsigned kPercent[] = {10, 50, 90, 100};
    Gate gate;
    gate.percent_ = kPercent[seeds() % 4];
    gate.random_.seed(static_cast<std::uint32_t>(seeds()));
    return gate;
  }
  /// Draws the next cycle's value.
  bool operator()() {
    if (percent_ != 0) return random_() % 100 < percent_;
    const bool open = ((pattern_ >> place_) & 1u) != 0;
    place_ = (place_ + 1) % length_;
    return open;
  }

 private:
  unsigned pattern_ = 1;
  unsigned length_ = 1;
  unsigned place_ = 0;
  unsigned percent_ = 0;
  std::mt19937 random_;
};

/// Calls run(first, second) with every pair of repeating patterns of `length` cycles, all-closed
/// apart; ends at the first failure.
template <class Run>
void for_all_patterns(unsigned length, Run run) {
  for (unsigned first = 1; first < 1u << length; ++first) {
    for (unsigned second = 1; second < 1u << length; ++second) {
      SCOPED_TRACE("patterns " + std::to_string(first) + " and " + std::to_string(second) + " of " +
                   std::to_string(length) + " cycles");
      run(Gate(first, length), Gate(second, length));
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Lane `index` of a port; lanes are as wide as `Lane`, and fill the port without a rest.
template <class Lane, class Port>
Lane lane(const Port& port, std::size_t index) {
  Lane value;
  std::memcpy(&value, reinterpret_cast<const char*>(&port) + index * sizeof(Lane), sizeof(Lane));
  return value;
}
template <class Lane, class Port>
void set_lane(Port& port, std::size_t index, Lane value) {
  std::memcpy(reinterpret_cast<char*>(&port) + index * sizeof(Lane), &value, sizeof(Lane));
}
template <class Port>
void set_noise(Port& port, std::mt19937& random) {
  for (std::size_t i = 0; i < sizeof(port); ++i) {
    set_lane(port, i, static_cast<std::uint8_t>(random()));
  }
}

/// What a test's memory holds at an address: a hash, so that a word from a wrong place is seen.
inline std::uint8_t memory_byte(std::uint64_t address) {
  return static_cast<std::uint8_t>((address * 0x9e3779b97f4a7c15u) >> 56);
}
template <class Port>
void set_memory_word(Port& port, std::uint64_t address) {
  for (std::size_t i = 0; i < sizeof(port); ++i) set_lane(port, i, memory_byte(address + i));
}
template <class Port>
bool is_memory_word(const Port& port, std::uint64_t address) {
  for (std::size_t i = 0; i < sizeof(port); ++i) {
    if (lane<std::uint8_t>(port, i) != memory_byte(address + i)) return false;
  }
  return true;
}

/// The rule of every valid/ready channel: what was offered and not taken is offered again,
/// unchanged.
template <class Payload>
class StaysPut {
 public:
  explicit StaysPut(std::string channel) : channel_(std::move(channel)) {}
  void operator()(bool valid, bool ready, const Payload& payload) {
    if (waits_) {
      EXPECT_TRUE(valid) << channel_ << " withdrew its offer";
      EXPECT_TRUE(!valid || payload == payload_) << channel_ << " changed its offer";
    }
    waits_ = valid && !ready;
    payload_ = payload;
  }

 private:
  std::string channel_;
  bool waits_ = false;
  Payload payload_{};
};

/// The rule of every burst: whole beats of `width` bytes, INCR, at most 64, within 4 KiB.
inline void check_burst(std::uint64_t address, unsigned length, unsigned size, unsigned burst,
                        unsigned width) {
  EXPECT_EQ(1u << size, width);
  EXPECT_EQ(burst, 1u) << "INCR";
  EXPECT_EQ(address % width, 0u);
  EXPECT_LE(length + 1, 64u);
  EXPECT_LE(address % 4096 + (length + 1) * width, 4096u) << "crosses 4 KiB from " << address;
}

}  // namespace gemm64::rtl_test
