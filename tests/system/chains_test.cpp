// SPDX-License-Identifier: Apache-2.0
// Quantized layers of which each takes the results of the one before where they lie: every value of
// every layer, and every counter of each, with any memory.
#include "tests/unit/runtime/chains.hpp"

#include "host/device/snapshot.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

struct Setting {
  int n;
  MemorySharing sharing;
  unsigned bytes_per_cycle;
  double stalls;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << "N" << setting.n << '_' << name(setting.sharing) << "_Bytes" << setting.bytes_per_cycle
       << "_Stalls" << static_cast<int>(setting.stalls * 100);
}

class Chains : public testing::TestWithParam<Setting> {
 protected:
  static Rig rig() {
    const Setting& setting = GetParam();
    RtlOptions options = Rig::options(setting.n, setting.stalls, 3, setting.bytes_per_cycle);
    options.memory.sharing = setting.sharing;
    return Rig(options);
  }
};

void expect_chain_exact(Rig& rig, const MatrixI8& x, const std::vector<TestLayer>& layers) {
  const auto chain = run_chain(rig.driver, rig.memory, x, layers);
  Counters sum{};
  for (std::size_t i = 0; i < chain.size(); ++i) {
    SCOPED_TRACE("layer " + std::to_string(i));
    const ChainedLayer& layer = chain[i];
    EXPECT_EQ(layer.mismatches.count, 0u);
    expect_causes_add_up(layer.counters);
    if (rig.memory.predictable()) {
      EXPECT_TRUE(layer.counters == layer.predicted) << difference(layer.predicted, layer.counters);
    }
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += layer.counters[c];
  }
  EXPECT_EQ(sum, rig.driver.read_counters());
}

TEST_P(Chains, AreExactLayerByLayer) {
  Rig rig = this->rig();
  const auto n = static_cast<unsigned>(GetParam().n);
  for_seeds(2000, 12, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    std::vector<std::uint64_t> columns(draw(random, 2, 5));
    for (std::uint64_t& size : columns) size = draw(random, 1, 6 * n);
    // One block of M in most, so that there are overlaps.
    const std::uint64_t m = draw(random, 0, 3) == 0 ? draw(random, 129, 300) : draw(random, 1, 40);
    expect_chain_exact(rig, random_activations(random, m, columns[0]),
                       random_chain(random, columns));
  });
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const int n : {2, 4, 8}) {
      all.push_back({n, sharing, 0, 0});
      all.push_back({n, sharing, static_cast<unsigned>(n) - 1, 0});
    }
  }
  all.push_back({8, MemorySharing::kIndependent, 0, 0.4});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, Chains, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

// A fence for all but the last tile hides the way of the results through memory.
TEST(ChainsSeam, SavesTheRoundTripThroughMemory) {
  Rig rig(8);
  rig.set_latency(40);  // the last tile takes 64 tiles of K, 512 cycles
  std::mt19937 random(2100);
  const auto layers = random_chain(random, {512, 256, 256});
  const JobProgram list = make_chain(8, layers, rig.driver.geometry());
  // The same with plain fences: what follows the fence for all but the last tile waits for all.
  std::vector<Command> plain = list.program;
  for (Command& command : plain) {
    if (command.opcode == Opcode::kFence) command.count = 0;
  }
  const auto cycles = [&](const std::vector<Command>& program) {
    rig.driver.run_program(0, program, 1'000'000);
    const Counters found = rig.driver.read_counters();
    EXPECT_EQ(found, predict_counters(program, rig.driver.geometry(), rig.memory));
    return found[counter::kTotalClocks];
  };
  EXPECT_GT(cycles(plain), cycles(list.program) + 2 * 40);
}

}  // namespace
}  // namespace gemm64::system_test
