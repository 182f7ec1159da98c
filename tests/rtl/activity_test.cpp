// SPDX-License-Identifier: Apache-2.0
// What moves in the array at batch 1, where a row of activations comes once in N cycles and a
// column of weights in every cycle: with enables, and without.
#include <Varray_n8r4.h>
#include <Varray_n8r4___024root.h>
#include <Varray_n8r4_simulated.h>
#include <Varray_n8r4_simulated___024root.h>

#include <bitset>
#include <cstdio>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kN = 8;
constexpr unsigned kStageRows = 4;
constexpr unsigned kStages = kN / kStageRows;
constexpr unsigned kTiles = 100;
constexpr std::uint64_t kWarmUp = 10;  // tiles
constexpr std::uint64_t kCycles = kTiles * kN;

/// Bits of registers.
struct Activity {
  std::uint64_t activations = 0;
  std::uint64_t sums = 0;
  std::uint64_t weights = 0;  // on their way to their column
};

#define STAGE(root, g, name) \
  (root).gemm64_array__DOT__stage__BRA__##g##__KET____DOT__u_stage__DOT__##name
#define SUMS(root, g) \
  (root).gemm64_array__DOT____Vcellout__stage__BRA__##g##__KET____DOT__u_stage__sum_o
#define LANE(root, skew) (root).gemm64_array__DOT__##skew##__DOT__step__BRA__1__KET____DOT__word_q

/// Counts what differs from the cycle before.
class Toggles {
 public:
  template <class Root>
  void look(const Root& root) {
    now_ = 0;
    activity.activations += changed(STAGE(root, 0, activation_q)) +
                            changed(STAGE(root, 1, activation_q)) +
                            changed(LANE(root, u_activation_skew));
    activity.sums += changed(SUMS(root, 0)) + changed(SUMS(root, 1));
    activity.weights += changed(LANE(root, u_weight_skew));
  }

  Activity activity;

 private:
  template <class Register>
  std::uint64_t changed(const Register& value) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < sizeof value; ++i, ++now_) {
      if (before_.size() == now_) before_.push_back(bytes[i]);
      count += std::bitset<8>(static_cast<unsigned>(before_[now_] ^ bytes[i])).count();
      before_[now_] = bytes[i];
    }
    return count;
  }

  std::vector<std::uint8_t> before_;
  std::size_t now_ = 0;
};

/// Bits whose enable is on.
Activity enabled(const Varray_n8r4___024root& root, bool activation_valid, bool weight_valid) {
  constexpr unsigned kLane = 8 * kStageRows;
  const std::bitset<kN + 1> steps[kStages]{STAGE(root, 0, step), STAGE(root, 1, step)};
  const std::bitset<kN> valid[kStages]{STAGE(root, 0, enables__DOT__valid_q),
                                       STAGE(root, 1, enables__DOT__valid_q)};
  Activity on;
  on.activations = kLane * (steps[0].count() + steps[1].count() + activation_valid);
  on.sums = (16 + 3) * (valid[0].count() + valid[1].count());
  on.weights = kLane * weight_valid;
  return on;
}

/// Drives a model as the scratchpad and the weight buffer do, whose outputs hold between reads.
template <class Model, class Each>
Activity toggles_at_batch_1(Each each) {
  Bench<Model> bench;
  std::mt19937 random(1);
  Toggles toggles;
  for (std::uint64_t t = 0; t < kWarmUp * kN + kCycles; ++t) {
    if (t == kWarmUp * kN) toggles.activity = {};
    bench->activation_valid_i = t % kN == 0;
    if (bench->activation_valid_i) set_noise(bench->activation_i, random);
    bench->weight_valid_i = 1;
    bench->weight_column_i = t % kN;
    set_noise(bench->weight_i, random);
    bench.settle();
    if (t >= kWarmUp * kN) each(*bench);
    bench.edge();
    toggles.look(*bench->rootp);
  }
  return toggles.activity;
}

TEST(Activity, AtBatchOneRegistersLoadOnceForARow) {
  Activity on;
  const Activity with = toggles_at_batch_1<Varray_n8r4>([&on](Varray_n8r4& array) {
    const Activity now =
        enabled(*array.rootp, array.activation_valid_i != 0, array.weight_valid_i != 0);
    on.activations += now.activations;
    on.sums += now.sums;
    on.weights += now.weights;
  });
  const Activity without = toggles_at_batch_1<Varray_n8r4_simulated>([](auto&) {});

  constexpr std::uint64_t kActivationBits =
      8 * kStageRows * (kStages * (kN + 1) + 1);  // of stages, and of the skew's one register
  constexpr std::uint64_t kSumBits = (16 + 3) * kStages * kN;
  EXPECT_EQ(on.activations, kTiles * kActivationBits);
  EXPECT_EQ(on.sums, kTiles * kSumBits);
  EXPECT_EQ(on.weights, kCycles * 8 * kStageRows);   // they never rest
  EXPECT_EQ(with.activations, without.activations);  // the same rows pass
  EXPECT_LT(with.sums, without.sums);  // of a row that waits and the next tile's weights, none
  const auto tell = [](const char* what, std::uint64_t before, std::uint64_t after) {
    std::printf("%s, bits a tile: %.0f without enables, %.0f with\n", what,
                static_cast<double>(before) / kTiles, static_cast<double>(after) / kTiles);
  };
  tell("activations clocked", kCycles * kActivationBits, on.activations);
  tell("sums clocked", kCycles * kSumBits, on.sums);
  tell("activations toggled", without.activations, with.activations);
  tell("sums toggled", without.sums, with.sums);
}

}  // namespace
}  // namespace gemm64::rtl_test
