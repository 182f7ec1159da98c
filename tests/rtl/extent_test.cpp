// SPDX-License-Identifier: Apache-2.0
#include <Vextent_n2.h>
#include <Vextent_n64.h>
#include <Vextent_n8.h>
#include <Vextent_tensor.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

__extension__ typedef unsigned __int128 Wide;  // what no product here can leave

struct Walk {
  bool valid = false;
  std::uint64_t address = 0;
  std::uint32_t run = 1, blocks = 1, count = 1;
  std::uint64_t stride = 0;
  unsigned tag = 0;
};

Wide words(const Walk& walk) {
  return (Wide{walk.blocks} - 1) * walk.run + (Wide{walk.count} - 1) * walk.stride + walk.run;
}

template <class Model, unsigned kN, unsigned kAddressWidth>
class Trial {
 public:
  /// Gives a walk, or none, in this cycle; checks what came two cycles before.
  void clock(const Walk& walk) {
    bench_->look_i = walk.valid || walk.tag % 2 != 0;  // looked at, and perhaps given later
    bench_->valid_i = walk.valid;
    bench_->address_i = walk.address;
    bench_->run_i = walk.run;
    bench_->blocks_i = walk.blocks;
    bench_->count_i = walk.count;
    bench_->stride_i = walk.stride;
    bench_->tag_i = static_cast<std::uint16_t>(walk.tag);
    bench_.settle();
    const Walk known = given_.front();
    given_.pop_front();
    given_.push_back(walk);
    const Wide end = Wide{known.address} + words(known) * kN;
    const bool passes = known.valid && end > Wide{1} << kAddressWidth;
    ASSERT_EQ(bench_->error_o, passes)
        << known.address << " + " << known.blocks << " * " << known.run << " + (" << known.count
        << " - 1) * " << known.stride;
    if (passes) {
      ASSERT_EQ(bench_->error_tag_o, known.tag);
    }
    errors += passes;
    bench_.edge();
  }

  /// Walks that end just before, at and after the end, and any others.
  void run(std::mt19937& random) {
    const auto wide = [&random] { return std::uint64_t{random()} << 32 | random(); };
    const std::uint64_t mask = (std::uint64_t{1} << kAddressWidth) - kN;
    for (unsigned i = 0; i < 2000; ++i) {
      Walk walk;
      walk.valid = draw(random, 0, 3) != 0;
      walk.tag = draw(random, 0, 0xffff);
      const auto number = [&random] {
        return static_cast<std::uint32_t>(random() >> draw(random, 0, 31)) | 1;
      };
      walk.run = number();
      walk.blocks = random() % 2 == 0 ? 1 : number();
      walk.count = random() % 2 == 0 ? 1 : number();
      walk.stride = random() % 3 == 0 ? 0 : std::uint64_t{number()} << (random() % 2 * 2);
      const Wide bytes = words(walk) * kN;
      walk.address = wide() & mask;
      if (bytes <= Wide{mask} && draw(random, 0, 2) != 0) {
        walk.address = mask + kN - static_cast<std::uint64_t>(bytes);
        if (draw(random, 0, 1) != 0 && walk.address != mask) walk.address += kN;
        if (draw(random, 0, 3) == 0 && walk.address != 0) walk.address -= kN;
        walk.address &= mask;
      }
      clock(walk);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  unsigned errors = 0;

 private:
  Bench<Model> bench_;
  std::deque<Walk> given_ = std::deque<Walk>(2);
};

TEST(Extent, FindsExactlyTheWalksThatPassTheEnd) {
  for_seeds(1, 20, [](std::mt19937& random) {
    Trial<Vextent_n8, 8, 40> n8;
    n8.run(random);
    EXPECT_GT(n8.errors, 300u);
    Trial<Vextent_n2, 2, 24>().run(random);
    Trial<Vextent_n64, 64, 63>().run(random);
  });
}

TEST(Extent, CountsTheLargestWalksInFull) {
  Trial<Vextent_n8, 8, 40> trial;
  const std::uint64_t most = 4 * 0xffffffffull;  // of four words a row
  unsigned tag = 0;
  // Modulo 2^64 the first two of these have no bytes or one run of them, and modulo 2^32 the third
  // has eight.
  trial.clock({true, 0, 0x80000000, 0x40000000, 1, 0, ++tag});
  trial.clock({true, 0, 1, 1, 0x80000001, std::uint64_t{1} << 33, ++tag});
  trial.clock({true, 0, 0x80000001, 1, 1, 0, ++tag});
  trial.clock({true, 0, 0xffffffff, 0xffffffff, 1, 0, ++tag});
  trial.clock({true, 0, 1, 1, 0xffffffff, most, ++tag});
  trial.clock({true, 0, 0xffffffff, 0xffffffff, 0xffffffff, most, ++tag});
  trial.clock({true, (1ull << 40) - 8, 1, 1, 1, most, ++tag});
  trial.clock({true, (1ull << 40) - 8, 2, 1, 1, 0, ++tag});
  trial.clock({true, (1ull << 40) - 8, 1, 2, 1, 0, ++tag});
  trial.clock({true, (1ull << 40) - 8, 1, 1, 2, 1, ++tag});
  trial.clock({true, (1ull << 40) - 8, 1, 1, 2, 0, ++tag});  // both in one place
  trial.clock({});
  trial.clock({});
  EXPECT_EQ(trial.errors, 8u);
}

TEST(Extent, ResetOfOneCycleDropsPendingWalks) {
  for (unsigned cycles = 0; cycles < 2; ++cycles) {
    Bench<Vextent_n8> bench;
    bench->valid_i = 1;
    bench->address_i = (1ull << 40) - 8;
    bench->run_i = 2;
    bench->blocks_i = bench->count_i = 1;
    bench->stride_i = 0;
    bench.step();
    bench->valid_i = 0;
    for (unsigned t = 0; t < cycles; ++t) bench.step();
    bench->rst_ni = 0;
    bench.step();
    bench->rst_ni = 1;
    for (unsigned t = 0; t < 3; ++t) {
      bench.settle();
      EXPECT_EQ(bench->error_o, 0) << cycles << ", " << t;
      bench.edge();
    }
  }
}

// While there is a tensor memory each half of the address space has an end of its own.
TEST(ExtentWithTensorMemory, EachHalfHasItsEnd) {
  constexpr std::uint64_t kN = 8, kHalf = std::uint64_t{1} << 39, kWords = 600;
  struct Case {
    bool tensor;
    std::uint64_t address;
    std::uint32_t words;
    bool error;
  };
  const Case cases[] = {{true, kHalf, 600, false},
                        {true, kHalf, 601, true},
                        {true, kHalf + 599 * kN, 1, false},
                        {true, kHalf + 599 * kN, 2, true},
                        {true, kHalf - 3 * kN, 3, false},
                        {true, kHalf - 3 * kN, 4, true},
                        {false, kHalf - 3 * kN, 4, false},
                        {false, kHalf, 601, false},
                        {false, 2 * kHalf - kWords * kN, 600, false},
                        {false, 2 * kHalf - kWords * kN, 601, true}};
  for (const Case& one : cases) {
    Bench<Vextent_tensor> bench;
    bench->tensor_i = one.tensor;
    bench->look_i = bench->valid_i = 1;
    bench->address_i = one.address;
    bench->run_i = one.words;
    bench->blocks_i = bench->count_i = 1;
    bench->stride_i = 0;
    bench.step();
    bench->look_i = bench->valid_i = 0;
    bench.step();
    bench.settle();
    EXPECT_EQ(bench->error_o, one.error) << one.address << ", " << one.words;
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
