// SPDX-License-Identifier: Apache-2.0
// What a FENCE is for: activations that are the results of a product before, read when they are
// there and not sooner; weights that do not wait for it; counters of each part of a program.

#include "host/device/reference_device.hpp"
#include "tests/commands.hpp"
#include "tests/system/snapshots.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kMemoryBytes = 1 << 20, kClockLimit = 1'000'000;
constexpr std::uint64_t kWeights = 0x1000, kOtherWeights = 0x20000, kActivations = 0x40000,
                        kResults = 0x60000, kOtherResults = 0x80000, kSnapshot = 0xa0000;

/// Two products, one after the other: the bytes of the first one's sums are the second one's
/// activations. N columns of 4 bytes are 4 words a row.
class Chain {
 public:
  Chain(std::uint32_t n, std::uint32_t rows, std::uint32_t blocks)
      : n_(n), rows_(rows), blocks_(blocks), words_(4 * rows * blocks) {}

  /// With `fences` in front of the second product's activations, which are loaded all at once.
  std::vector<Command> program(const std::vector<Command>& fences) const {
    std::vector<Command> program = first();
    program.push_back(other_weights());
    program.insert(program.end(), fences.begin(), fences.end());
    program.push_back(load_activations(kResults, words_));
    append_second(program);
    return program;
  }

  /// The second product's first blocks are fenced only: they need all but the last STORE.
  std::vector<Command> program_in_two_parts() const {
    const std::uint32_t first_words = words_ - 4 * rows_;
    std::vector<Command> program = first();
    program.insert(program.end(),
                   {other_weights(), fence(1), load_activations(kResults, first_words), fence(),
                    load_activations(kResults + first_words * n_, 4 * rows_)});
    append_second(program);
    return program;
  }

 private:
  std::vector<Command> first() const {
    std::vector<Command> program{load_weights(kWeights, n_, blocks_),
                                 load_activations(kActivations, rows_ * blocks_),
                                 matmul(rows_, 1, 1, blocks_)};
    if (blocks_ > 1) program.push_back(store(kResults, rows_, blocks_ - 1));
    program.push_back(store(kResults + std::uint64_t{blocks_ - 1} * rows_ * 4 * n_, rows_));
    return program;
  }
  Command other_weights() const { return load_weights(kOtherWeights, n_, words_ / rows_); }
  void append_second(std::vector<Command>& program) const {
    program.insert(program.end(), {matmul(rows_, 1, 1, words_ / rows_),
                                   store(kOtherResults, rows_, words_ / rows_), finish()});
  }

  std::uint32_t n_, rows_, blocks_, words_;
};

/// The RTL and the reference, which executes one command after the other, with the same memory.
struct Pair {
  Pair(int n, double stalls, MemorySharing sharing = MemorySharing::kIndependent)
      : rig(options(n, stalls, sharing)),
        reference(rig.driver.geometry(), kMemoryBytes),
        reference_driver(reference) {}
  static RtlOptions options(int n, double stalls, MemorySharing sharing) {
    RtlOptions options = Rig::options(n, stalls, 7);
    options.memory_bytes = kMemoryBytes;
    options.memory.sharing = sharing;
    return options;
  }

  /// Runs a program on both, from the same random memory. Is memory the same afterwards, from the
  /// first results on?
  bool same_results(const std::vector<Command>& program, std::mt19937& random) {
    return same_results(program, program, random);
  }
  /// The same with another program on the reference.
  bool same_results(const std::vector<Command>& program,
                    const std::vector<Command>& reference_program, std::mt19937& random) {
    std::vector<std::uint8_t> bytes(kMemoryBytes);
    fill(random, bytes);
    rig.device->write_memory(0, bytes.data(), bytes.size());
    reference.write_memory(0, bytes.data(), bytes.size());
    rig.driver.run_program(0, program, kClockLimit);
    reference_driver.run_program(0, reference_program, kClockLimit);
    std::vector<std::uint8_t> found(kSnapshot - kResults), wanted(kSnapshot - kResults);
    rig.device->read_memory(kResults, found.data(), found.size());
    reference.read_memory(kResults, wanted.data(), wanted.size());
    return found == wanted;
  }

  Rig rig;
  ReferenceDevice reference;
  Driver reference_driver;
};

void expect_chains_exact(int n, double stalls, MemorySharing sharing, unsigned first_seed) {
  SCOPED_TRACE("N = " + std::to_string(n) + ", " + name(sharing));
  Pair pair(n, stalls, sharing);
  for_seeds(first_seed, 20, [&](std::mt19937& random) {
    pair.rig.set_latency(draw(random, 1, 120));
    const Chain chain(static_cast<std::uint32_t>(n), draw(random, 1, 20), draw(random, 2, 5));
    EXPECT_TRUE(pair.same_results(chain.program({fence()}), random));
    EXPECT_TRUE(pair.same_results(chain.program({fence(1), snapshot(kSnapshot)}), random));
    EXPECT_TRUE(pair.same_results(chain.program_in_two_parts(), random));
  });
}

TEST(Fences, ResultsAreActivationsOfTheNextProduct) {
  for (const int n : {2, 4, 8}) {
    for (const MemorySharing sharing :
         {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
      expect_chains_exact(n, 0, sharing, 1000);
    }
  }
}

TEST(Fences, ResultsAreActivationsUnderStalls) {
  for (const int n : {2, 4, 8}) expect_chains_exact(n, 0.4, MemorySharing::kIndependent, 1030);
}

// What the fences are good for: without them, or with one that leaves too much, the second product
// reads what was in memory before. It need not in every chain, so no fresh seed draws these.
TEST(Fences, WithoutThemResultsAreReadTooEarly) {
  for (const int n : {2, 4, 8}) {
    for (unsigned seed = 1060; seed < 1060 + seeds_to_run(5); ++seed) {
      std::mt19937 random(seed);
      Pair pair(n, 0);
      pair.rig.set_latency(draw(random, 1, 120));
      const Chain chain(static_cast<std::uint32_t>(n), draw(random, 1, 20), draw(random, 2, 5));
      const std::vector<Command> right = chain.program({fence()});
      EXPECT_FALSE(pair.same_results(chain.program({}), right, random));
      EXPECT_FALSE(pair.same_results(chain.program({fence(1)}), right, random));
      EXPECT_FALSE(pair.same_results(chain.program({fence(2)}), right, random));
    }
  }
}

// A block of one row needs 4 tiles of weights, which come while the FENCE waits for the answer.
TEST(Fences, WeightsBeforeThemDoNotWait) {
  for (const int n : {2, 4, 8}) {
    std::mt19937 random(1070);
    Pair pair(n, 0);
    pair.rig.set_latency(200);
    EXPECT_TRUE(pair.same_results(
        Chain(static_cast<std::uint32_t>(n), 1, 1).program({snapshot(kSnapshot)}), random));
    const Counters at = read_snapshot(*pair.rig.device, kSnapshot);
    const auto tile = static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n);
    EXPECT_EQ(at[counter::kBytesWeights], 5 * tile);
    EXPECT_EQ(at[counter::kBytesResults], static_cast<std::uint64_t>(n) * 4);
    EXPECT_EQ(at[counter::kComputeCompute], 1u);
    expect_causes_add_up(at);
  }
}

// Snapshots are parts of one count: what is between two of them was counted between two FENCEs, the
// bytes of the first one included.
TEST(Fences, ASnapshotCountsWhatTheOneBeforeWrote) {
  Rig rig(8);
  rig.driver.run_program(0, {snapshot(0x2000), snapshot(0x3000), finish()}, kClockLimit);
  const Counters first = read_snapshot(*rig.device, 0x2000);
  const Counters second = read_snapshot(*rig.device, 0x3000);
  const Counters last = rig.driver.read_counters();
  constexpr std::uint64_t kBytes = kSnapshotBytes;
  EXPECT_EQ(first[counter::kBytesResults], 0u);
  EXPECT_EQ(second[counter::kBytesResults], kBytes);
  EXPECT_EQ(last[counter::kBytesResults], 2 * kBytes);
  // Nothing but the snapshot: two cycles to its first beat, and the FENCE in the cycle after the
  // last of 28.
  EXPECT_EQ(second[counter::kTotalClocks] - first[counter::kTotalClocks], 3 + kBytes / 8);
  EXPECT_EQ(second[counter::kResultsTransfer], kBytes / 8);
  EXPECT_EQ(second[counter::kCommandsDispatch], first[counter::kCommandsDispatch] + 1);
}

TEST(Fences, LeaveWhatIsPaddedOfASnapshotZero) {
  std::mt19937 random(1080);
  ReferenceDevice reference;  // of N = 64: 320 bytes are five beats
  Driver driver(reference);
  std::vector<std::uint8_t> bytes(512, 0xa5);
  reference.write_memory(0x2000, bytes.data(), bytes.size());
  driver.run_program(0, {snapshot(0x2000), finish()}, kClockLimit);
  reference.read_memory(0x2000, bytes.data(), bytes.size());
  for (std::size_t i = kSnapshotBytes; i < 320; ++i) EXPECT_EQ(bytes[i], 0) << i;
  EXPECT_EQ(bytes[320], 0xa5);
}

}  // namespace
}  // namespace gemm64::system_test
