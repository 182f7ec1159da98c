// SPDX-License-Identifier: Apache-2.0
#include <Vcommand_queue_all.h>
#include <Vcommand_queue_some.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

struct Command {
  std::array<std::uint32_t, 16> words;
  unsigned tag;
};

template <class Queue, unsigned kWords, unsigned kOpcode>
struct Keeps {
  using Model = Queue;
  static constexpr unsigned kKept = kWords;
  static constexpr unsigned kOther = kOpcode;
};

template <class Keeps>
class CommandQueue : public testing::Test {
 protected:
  static Command draw_command(std::mt19937& random) {
    Command command{};
    for (std::uint32_t& word : command.words) word = static_cast<std::uint32_t>(random());
    if (random() % 2 != 0) command.words[0] = (command.words[0] & ~0xffu) | Keeps::kOther;
    command.tag = random() & 0xffffu;
    return command;
  }

  /// Sends `count` commands through; those that wait are seen in order, each with the words that it
  /// keeps.
  static void run(unsigned count, Gate push, Gate pop, std::mt19937& random) {
    Bench<typename Keeps::Model> bench;
    std::deque<Command> waiting;
    unsigned sent = 0;
    while ((sent < count || !waiting.empty()) && !testing::Test::HasFailure()) {
      const Command next = draw_command(random);
      bench->valid_i = sent < count && push();
      bench->ready_i = pop();
      bench->tag_i = static_cast<std::uint16_t>(next.tag);
      for (unsigned w = 0; w < 16; ++w) set_lane(bench->command_i, w, next.words[w]);
      bench.settle();
      ASSERT_EQ(bench->ready_o, waiting.size() < 2);
      ASSERT_EQ(bench->valid_o, !waiting.empty());
      if (!waiting.empty()) {
        const Command& oldest = waiting.front();
        EXPECT_EQ(bench->tag_o, oldest.tag);
        EXPECT_EQ(bench->other_o, (oldest.words[0] & 0xffu) == Keeps::kOther);
        for (unsigned w = 0; w < 16; ++w) {
          const bool kept = ((Keeps::kKept >> w) & 1u) != 0;
          EXPECT_EQ(lane<std::uint32_t>(bench->command_o, w), kept ? oldest.words[w] : 0u)
              << "word " << w;
        }
      }
      const bool in = bench->valid_i && bench->ready_o;
      if (bench->valid_o && bench->ready_i) waiting.pop_front();
      if (in) waiting.push_back(next);
      sent += in ? 1 : 0;
      bench.edge();
    }
  }
};

using Variants =
    testing::Types<Keeps<Vcommand_queue_all, 0xffff, 0>, Keeps<Vcommand_queue_some, 0x8052, 6>>;
TYPED_TEST_SUITE(CommandQueue, Variants);

TYPED_TEST(CommandQueue, ShowsTheOldestCommandsWordsWhateverThePatterns) {
  std::mt19937 random(1);
  for_all_patterns(4, [&](Gate push, Gate pop) { this->run(12, push, pop, random); });
}

TYPED_TEST(CommandQueue, ShowsTheOldestCommandsWordsAtRandom) {
  for_seeds(1, 20, [this](std::mt19937& random) {
    const Gate push = Gate::random(random), pop = Gate::random(random);
    this->run(100, push, pop, random);
  });
}

TYPED_TEST(CommandQueue, AResetEmptiesIt) {
  Bench<typename TypeParam::Model> bench;
  bench->valid_i = 1;
  bench->ready_i = 0;
  bench.step();
  bench.settle();
  EXPECT_EQ(bench->valid_o, 1);
  bench.reset();
  bench->valid_i = 0;
  bench.settle();
  EXPECT_EQ(bench->valid_o, 0);
}

}  // namespace
}  // namespace gemm64::rtl_test
