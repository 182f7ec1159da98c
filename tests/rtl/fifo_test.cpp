// SPDX-License-Identifier: Apache-2.0
#include <Vfifo_d2.h>
#include <Vfifo_d2_head.h>
#include <Vfifo_d8.h>
#include <Vfifo_d8_head.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

template <class Model, unsigned kEntries>
struct Depth {
  using Type = Model;
  static constexpr unsigned kDepth = kEntries;
};

template <class Depth>
class Fifo : public testing::Test {
 protected:
  /// Sends `words` numbers through; in each cycle both sides must look as a queue of kDepth would.
  static std::uint64_t run(unsigned words, Gate push, Gate pop) {
    Bench<typename Depth::Type> bench;
    StaysPut<unsigned> stays("output");
    std::deque<unsigned> queue;
    unsigned sent = 0, received = 0;
    while (received < words && !testing::Test::HasFailure()) {
      bench->valid_i = sent < words && push();
      bench->data_i = static_cast<std::uint16_t>(bench->valid_i ? 1000 + sent : 7);
      bench->ready_i = pop();
      bench.settle();
      EXPECT_EQ(bench->valid_o, !queue.empty()) << "a word shows a cycle after it was pushed";
      EXPECT_EQ(bench->ready_o, queue.size() < Depth::kDepth) << "whether or not one leaves";
      if (bench->valid_o) {
        EXPECT_EQ(bench->data_o, queue.front());
      }
      stays(bench->valid_o, bench->ready_i, bench->data_o);
      if (bench->valid_o && bench->ready_i) {
        queue.pop_front();
        ++received;
      }
      if (bench->valid_i && bench->ready_o) queue.push_back(1000 + sent++);
      bench.edge();
    }
    return bench.clock();
  }
};

using Depths = testing::Types<Depth<Vfifo_d2, 2>, Depth<Vfifo_d8, 8>, Depth<Vfifo_d2_head, 2>,
                              Depth<Vfifo_d8_head, 8>>;
TYPED_TEST_SUITE(Fifo, Depths);

TYPED_TEST(Fifo, KeepsTheOrderWhateverThePatterns) {
  for_all_patterns(6, [this](Gate push, Gate pop) { this->run(30, push, pop); });
}

TYPED_TEST(Fifo, PassesAWordAClock) { EXPECT_EQ(this->run(100, Gate(), Gate()), 101u); }

TYPED_TEST(Fifo, KeepsTheOrderAtRandom) {
  for_seeds(1, 50, [this](std::mt19937& random) {
    this->run(200, Gate::random(random), Gate::random(random));
  });
}

TYPED_TEST(Fifo, HoldsAsManyWordsAsTheParameterSaysAndResetEmptiesIt) {
  Bench<typename TypeParam::Type> bench;
  bench->ready_i = 0;
  bench->valid_i = 1;
  for (unsigned i = 0; i < TypeParam::kDepth; ++i) {
    bench.settle();
    EXPECT_EQ(bench->ready_o, 1) << i;
    bench.edge();
  }
  bench.settle();
  EXPECT_EQ(bench->ready_o, 0);
  bench.reset();
  bench->valid_i = 0;
  bench.settle();
  EXPECT_EQ(bench->ready_o, 1);
  EXPECT_EQ(bench->valid_o, 0);
}

}  // namespace
}  // namespace gemm64::rtl_test
