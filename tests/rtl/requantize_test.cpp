// SPDX-License-Identifier: Apache-2.0
#include <Vrequantize_flips.h>
#include <Vrequantize_n4.h>
#include <Vrequantize_one.h>

#include <optional>

#include "host/util/float_bits.hpp"
#include "tests/rtl/flips.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kLatency = 9;

/// What belongs to a column, and the bounds that belong to its tile.
struct Parameters {
  std::int32_t bias = 0;
  float scale = 1;
  int zero = 0;
  int low = -128;
  int high = 127;
};

/// ONNX Runtime's arithmetic, by the processor's own floats.
int expected(std::int32_t sum, const Parameters& p) {
  const auto biased = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                                static_cast<std::uint32_t>(p.bias));
  const float scaled = static_cast<float>(biased) * p.scale;
  const float clamped = std::min(std::max(scaled, static_cast<float>(p.low - p.zero)),
                                 static_cast<float>(p.high - p.zero));
  return static_cast<int>(std::nearbyintf(clamped)) + p.zero;
}

/// Bounds as the ports take them: nine bits each.
template <class Model>
void set_bounds(Bench<Model>& bench, const Parameters& p) {
  bench->zero_i = static_cast<std::uint16_t>(p.zero & 0x1ff);
  bench->low_i = static_cast<std::uint16_t>(p.low & 0x1ff);
  bench->high_i = static_cast<std::uint16_t>(p.high & 0x1ff);
}

/// Sends sums through one column under one set of parameters, and checks every result.
class Unit {
 public:
  void check(const Parameters& parameters, const std::vector<std::int32_t>& sums) {
    bench_->bias_i = static_cast<std::uint32_t>(parameters.bias);
    bench_->scale_i = bits_of(parameters.scale);
    set_bounds(bench_, parameters);
    bench_->freeze_i = 0;
    bench_->beside_i = 1;
    bench_->ready_i = 1;
    for (std::size_t i = 0; i < sums.size() + kLatency; ++i) {
      bench_->valid_i = i < sums.size();
      bench_->sum_i = static_cast<std::uint32_t>(sums[std::min(i, sums.size() - 1)]);
      bench_.settle();
      ASSERT_EQ(bench_->valid_o, i >= kLatency);
      ASSERT_EQ(bench_->wrong_o, 0);
      if (i >= kLatency) {
        const std::int32_t sum = sums[i - kLatency];
        ASSERT_EQ(bench_->result_o, static_cast<std::uint8_t>(expected(sum, parameters)))
            << "sum " << sum << " bias " << parameters.bias << " scale " << parameters.scale
            << " (0x" << std::hex << bits_of(parameters.scale) << std::dec << ") zero "
            << parameters.zero << " from " << parameters.low << " to " << parameters.high;
      }
      bench_.edge();
    }
    bench_.settle();
    ASSERT_EQ(bench_->valid_o, 0);
    ASSERT_EQ(bench_->busy_o, 0);
  }

 private:
  Bench<Vrequantize_one> bench_{1'000'000'000};
};

Parameters random_bounds(std::mt19937& random) {
  Parameters p;
  const bool is_signed = random() % 2 == 0;
  const int least = is_signed ? -128 : 0;
  p.zero = least + static_cast<int>(random() % 256);
  p.low = least;
  p.high = least + 255;
  if (random() % 3 == 0) p.low = p.zero;  // ReLU
  if (random() % 4 == 0) p.high = p.low + static_cast<int>(random()) % (p.high - p.low + 1);
  p.high = std::max(p.high, p.low);
  return p;
}

/// Sums whose results lie around the bounds and between them, and any.
std::vector<std::int32_t> random_sums(std::mt19937& random, const Parameters& p,
                                      std::size_t count) {
  const double unit = p.scale > 0 ? 300.0 / p.scale : 1e9;
  const double range = std::min(unit, 2147483647.0);
  std::vector<std::int32_t> sums;
  for (std::size_t i = 0; i < count; ++i) {
    const auto any = static_cast<std::int32_t>(random());
    const double part = std::uniform_real_distribution<double>(-range, range)(random);
    sums.push_back(i % 4 == 0 ? any >> (random() % 32) : static_cast<std::int32_t>(part));
  }
  return sums;
}

TEST(Requantize, RoundsTiesToEvenInBothRoundings) {
  Unit unit;
  for (const float scale : {0.5F, 0.25F, 0.125F, 1.0F, 0.1F, 0.3F, 1.5F}) {
    std::vector<std::int32_t> sums;
    for (std::int32_t sum = -1200; sum <= 1200; ++sum) sums.push_back(sum);
    Parameters p;
    p.scale = scale;
    for (const int zero : {0, 1, -3}) {
      p.zero = zero;
      unit.check(p, sums);
    }
  }
  // Sums beyond 24 bits are rounded when they become float32, and the bits cut off may all count.
  Parameters p;
  for (int bits = 24; bits <= 31; ++bits) {
    p.scale = std::ldexp(1.0F, -(bits - 6));
    std::vector<std::int32_t> sums;
    for (std::int64_t base = std::int64_t{1} << (bits - 1); base < std::int64_t{1} << bits;
         base += std::int64_t{1} << (bits - 6)) {
      for (std::int64_t near = -5; near <= 5; ++near) {
        for (const std::int64_t half : {std::int64_t{0}, std::int64_t{1} << (bits - 7)}) {
          const std::int64_t sum = base + half + near;
          if (sum > std::numeric_limits<std::int32_t>::max()) continue;
          sums.push_back(static_cast<std::int32_t>(sum));
          sums.push_back(static_cast<std::int32_t>(-sum));
        }
      }
    }
    unit.check(p, sums);
  }
}

TEST(Requantize, HoldsAtTheExtremes) {
  Unit unit;
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> sums{kLeast, kLeast + 1, kLeast + 64, kLeast + 65, -1,   0,
                                       1,      kMost - 64, kMost - 63,  kMost - 1,   kMost};
  for (const float scale :
       {0.0F, from_bits(1), from_bits(0x007fffff), std::numeric_limits<float>::min(), 1e-30F,
        from_bits(0x2effffff), from_bits(0x2f000000), from_bits(0x2f000001), 1e-9F, 1.0F, 3e38F,
        std::numeric_limits<float>::max()}) {
    for (const std::int32_t bias : {0, 1, -1, kLeast, kMost}) {
      Parameters p;
      p.scale = scale;
      p.bias = bias;
      unit.check(p, sums);
      p.zero = 255;
      p.low = 0;
      p.high = 255;
      unit.check(p, sums);
    }
  }
}

// No scale should be negative, infinite or NaN; what then comes is defined all the same.
TEST(Requantize, AcceptsFiniteScalesFromZero) {
  constexpr std::uint32_t kSign = 0x80000000u;
  for (const std::uint32_t scale : {0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    for (const std::uint32_t sign : {0u, kSign}) {
      Bench<Vrequantize_one> bench;
      Parameters p;
      p.zero = 3;
      set_bounds(bench, p);
      bench->bias_i = 0;
      bench->scale_i = scale | sign;
      bench->freeze_i = 0;
      bench->beside_i = 1;
      bench->ready_i = bench->valid_i = 1;
      for (const std::int32_t sum : {-1, 0, 1}) {
        bench->sum_i = static_cast<std::uint32_t>(sum);
        for (unsigned t = 0; t <= kLatency; ++t) bench.step();
        bench.settle();
        EXPECT_EQ(static_cast<std::int8_t>(bench->result_o), sum < 0   ? p.low
                                                             : sum > 0 ? p.high
                                                                       : 3)
            << std::hex << bench->scale_i;
      }
    }
  }
  Bench<Vrequantize_one> bench;
  set_bounds(bench, Parameters());
  bench->bias_i = 0;
  bench->scale_i = bits_of(-0.5F);
  bench->freeze_i = 0;
  bench->beside_i = 1;
  bench->ready_i = bench->valid_i = 1;
  bench->sum_i = 6;
  for (unsigned t = 0; t <= kLatency; ++t) bench.step();
  bench.settle();
  EXPECT_EQ(bench->result_o, 3);
}

/// a * b = product, both of 24 bits; nothing where no small divisor gives such a pair.
std::optional<std::pair<std::uint32_t, std::uint32_t>> factors_of(std::uint64_t product) {
  constexpr std::uint64_t kLeast = 1u << 23;
  unsigned twos = 0;
  while ((product >> twos) % 2 == 0) ++twos;
  const std::uint64_t odd = product >> twos;
  for (std::uint64_t divisor = 1; divisor < 4096; divisor += 2) {
    if (odd % divisor != 0) continue;
    std::uint64_t a = divisor;
    std::uint64_t b = odd / divisor;
    unsigned left = twos;
    for (; left != 0 && a < kLeast; --left) a *= 2;
    b <<= left;
    if (a >= kLeast && b >= kLeast && b < 2 * kLeast) {
      return std::pair(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    }
  }
  return std::nullopt;
}

/// The product is rounded twice, to 24 bits and to an integer. Only products around a half of both
/// tell whether each rounding sees every bit; hardly any random product is one.
TEST(Requantize, RoundsTiesOfBothRoundings) {
  Unit unit;
  unsigned tried = 0;
  for (std::uint64_t whole = 0; whole < 256; ++whole) {
    for (const unsigned bits : {47u, 48u}) {
      // The 24 bits of whole + 1/2, the numbers next to them, and all ones, which carry.
      const std::uint64_t tie_bits = 2 * whole + 1;
      unsigned shift = 0;  // bits after the point, with one of them the half
      while ((tie_bits << shift) < 1u << 23) ++shift;
      const std::uint64_t tie = tie_bits << shift;
      for (const std::uint64_t kept : {tie - 1, tie, tie + 1, std::uint64_t{0xffffff}}) {
        if (kept < 1u << 23) continue;
        const unsigned low = bits - 24;
        const std::uint64_t half = std::uint64_t{1} << (low - 1);
        for (const std::uint64_t rest : {half, half + half / 2, half - half / 2, half / 2}) {
          const auto factors = factors_of((kept << low) + rest);
          if (!factors) continue;
          Parameters p;
          p.scale =
              std::ldexp(static_cast<float>(factors->second), -static_cast<int>(low + shift + 1));
          const auto sum = static_cast<std::int32_t>(factors->first);
          unit.check(p, {sum, -sum});
          p.low = 0;
          p.high = 255;
          unit.check(p, {sum, -sum});
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 1000u);
}

TEST(Requantize, MatchesOnnxRuntimeTenMillionTimes) {
  Unit unit;
  std::mt19937 random(12);
  for (std::size_t done = 0; done < 10'000'000; done += 256) {
    Parameters p = random_bounds(random);
    switch (random() % 4) {
      case 0:  // as networks have them
        p.scale = std::exp(std::uniform_real_distribution<float>(-14.0F, 0.0F)(random));
        break;
      case 1:  // any float that is not negative, denormals among them
        p.scale = from_bits(random() % 0x7f800000u);
        break;
      case 2:  // few bits, so that ties abound
        p.scale =
            std::ldexp(static_cast<float>(1 + random() % 64), -static_cast<int>(random() % 34));
        break;
      default:
        p.scale = std::ldexp(1.0F + static_cast<float>(random() % 1000) / 1000,
                             -static_cast<int>(random() % 36));
    }
    p.bias = static_cast<std::int32_t>(random()) >> (random() % 32);
    unit.check(p, random_sums(random, p, 256));
    if (testing::Test::HasFatalFailure()) return;
  }
}

constexpr unsigned kColumns = 4;

/// Rows of tile after tile, each tile with parameters of its own; the scales come from a memory
/// that shows the next tile's on request.
class Tiles {
 public:
  Tiles(std::mt19937& random, unsigned tiles) {
    for (unsigned t = 0; t < tiles; ++t) {
      std::vector<Parameters> columns(kColumns, random_bounds(random));
      for (Parameters& p : columns) {
        p.scale = std::ldexp(1.0F + static_cast<float>(random() % 1000) / 1000,
                             -static_cast<int>(random() % 12));
        p.bias = static_cast<std::int32_t>(random() % 2000) - 1000;
      }
      tiles_.push_back(columns);
      const unsigned rows = draw(random, 1, 4);
      for (unsigned r = 0; r < rows; ++r) {
        Row row{t, r == 0, random() % 2 == 0, {}};
        for (std::int32_t& sum : row.sums) sum = static_cast<std::int32_t>(random() % 4000) - 2000;
        rows_.push_back(row);
      }
    }
  }

  void run(Gate offer, Gate take, std::mt19937& random) {
    bool waits = false;
    while (taken < rows_.size()) {
      const bool offering = given_ < rows_.size() && (waits || offer());
      const Row& row = rows_[offering ? given_ : 0];
      bench->valid_i = offering;
      bench->beside_i = 1;
      bench->freeze_i = freezes && random() % 3 == 0;
      bench->ready_i = take();
      // With the row that was given last
      bench->operand_i = static_cast<std::uint32_t>(0x9e3779b9u * given_);
      bench->first_i = offering ? row.first : random() % 2;
      bench->last_i = row.last;
      set_bounds(bench, offering ? tiles_[row.tile][0] : random_bounds(random));
      for (unsigned c = 0; c < kColumns; ++c) {
        set_lane(bench->sum_i, c, offering ? row.sums[c] : static_cast<std::int32_t>(random()));
        set_lane(bench->bias_i, c, tiles_[row.tile][c].bias);
        // Before the first tile's are read, and where the sign is, there is noise.
        const std::uint32_t noise = scales_ == 0 ? static_cast<std::uint32_t>(random()) : 0;
        const float scale = scales_ == 0 ? 0 : tiles_[scales_ - 1][c].scale;
        const auto sign = static_cast<std::uint32_t>(random() % 2 << 31);
        set_lane(bench->scale_i, c, bits_of(scale) ^ noise ^ sign);
      }
      bench.settle();
      check();
      if (testing::Test::HasFailure()) return;
      waits = offering && !bench->ready_o;
      given_ += offering && bench->ready_o;
      taken += bench->valid_o && bench->ready_i && bench->freeze_i == 0;
      scales_ += bench->scale_read_o;
      if (offering && bench->ready_o) given_at.push_back(bench.clock());
      if (bench->valid_o && bench->ready_i && bench->freeze_i == 0)
        taken_at.push_back(bench.clock());
      bench.edge();
    }
    EXPECT_EQ(scales_, tiles_.size());
  }

  Bench<Vrequantize_n4> bench;
  bool freezes = false;                           // now and then
  std::size_t taken = 0;                          // rows of results
  std::vector<std::uint64_t> given_at, taken_at;  // cycles of rows

 private:
  struct Row {
    unsigned tile;
    bool first, last;
    std::array<std::int32_t, kColumns> sums;
  };

  void check() {
    EXPECT_EQ(bench->busy_o, taken < given_);
    stays_(bench->valid_o, bench->ready_i && bench->freeze_i == 0,
           {bench->last_o, lane<std::uint32_t>(bench->result_o, 0)});
    if (!bench->valid_o) return;
    ASSERT_LT(taken, given_);
    const Row& row = rows_[taken];
    EXPECT_EQ(bench->last_o, row.last);
    EXPECT_EQ(bench->operand_o, static_cast<std::uint32_t>(0x9e3779b9u * (taken + 1)));
    for (unsigned c = 0; c < kColumns; ++c) {
      ASSERT_EQ(lane<std::uint8_t>(bench->result_o, c),
                static_cast<std::uint8_t>(expected(row.sums[c], tiles_[row.tile][c])))
          << "row " << taken << " of tile " << row.tile << ", column " << c;
    }
  }

  std::vector<std::vector<Parameters>> tiles_;
  std::vector<Row> rows_;
  std::size_t given_ = 0;
  std::size_t scales_ = 0;  // tiles whose scales have been read
  StaysPut<std::tuple<unsigned, std::uint32_t>> stays_{"results"};
};

TEST(Requantize, TilesFollowNineCyclesLater) {
  std::mt19937 random(5);
  Tiles tiles(random, 50);
  tiles.run(Gate(), Gate(), random);
  ASSERT_EQ(tiles.given_at.size(), tiles.taken_at.size());
  for (std::size_t i = 0; i < tiles.given_at.size(); ++i) {
    EXPECT_EQ(tiles.given_at[i], i);
    EXPECT_EQ(tiles.taken_at[i], i + kLatency);
  }
}

TEST(Requantize, RowsKeepParametersUnderStalls) {
  std::mt19937 random(6);
  for_all_patterns(4, [&](Gate offer, Gate take) { Tiles(random, 12).run(offer, take, random); });
  for_seeds(1, 40, [](std::mt19937& seeded) {
    Tiles tiles(seeded, 60);
    tiles.freezes = draw(seeded, 0, 1) != 0;
    tiles.run(Gate::random(seeded), Gate::random(seeded), seeded);
  });
}

/// Rows, of which a register's bit is flipped in one cycle. Returns whether the device reported it;
/// what it gave before must be right.
bool reports(std::size_t bit, std::mt19937& random) {
  constexpr std::size_t kRows = 24;
  Bench<Vrequantize_flips> bench(10'000);
  Flips flips(bench.context());
  Parameters p = random_bounds(random);
  p.scale = std::ldexp(1.0F + static_cast<float>(random() % 1000) / 1000, -3);
  p.bias = static_cast<std::int32_t>(random() % 200) - 100;
  std::vector<std::array<std::int32_t, kColumns>> rows(kRows);
  for (auto& row : rows)
    for (std::int32_t& sum : row) sum = static_cast<std::int32_t>(random() % 1600) - 800;
  const std::uint64_t when = draw(random, 1, kRows);
  std::size_t given = 0, taken = 0;
  bool owed = false;  // a wrong row has left
  bench->freeze_i = 0;
  bench->beside_i = 1;
  set_bounds(bench, p);
  for (unsigned c = 0; c < kColumns; ++c) {
    set_lane(bench->bias_i, c, p.bias);
    set_lane(bench->scale_i, c, bits_of(p.scale));
  }
  while (taken < kRows) {
    if (bench.clock() == when) flips.flip(bit);
    bench->valid_i = given < kRows && random() % 8 != 0;
    bench->first_i = given == 0;
    bench->last_i = 0;
    bench->ready_i = random() % 8 != 0;
    bench->operand_i = static_cast<std::uint32_t>(0x9e3779b9u * given);
    for (unsigned c = 0; c < kColumns; ++c)
      set_lane(bench->sum_i, c, rows[std::min(given, kRows - 1)][c]);
    bench.settle();
    if (bench->wrong_o) {
      EXPECT_GT(bench.clock(), when) << "nothing is wrong";
      bench->valid_i = 0;
      for (unsigned clock = 0; clock < 3; ++clock) bench.step();
      EXPECT_TRUE(bench->wrong_o) << "until the reset";
      bench.reset();
      bench.settle();
      EXPECT_FALSE(bench->wrong_o) << "after it";
      return true;
    }
    EXPECT_FALSE(owed) << "flip at cycle " << when << " of " << flips.in_words(bit);
    if (owed) return false;
    if (bench->valid_o && bench->ready_i) {
      ++taken;
      owed = bench->operand_o != static_cast<std::uint32_t>(0x9e3779b9u * taken);
      for (unsigned c = 0; c < kColumns; ++c) {
        const int right = expected(rows[taken - 1][c], p);
        owed = owed || lane<std::uint8_t>(bench->result_o, c) != static_cast<std::uint8_t>(right);
      }
    }
    given += bench->valid_i && bench->ready_o;
    bench.edge();
  }
  bench->valid_i = 0;
  bench.settle();
  EXPECT_TRUE(bench->wrong_o || !owed) << "flip at cycle " << when << " of " << flips.in_words(bit);
  return bench->wrong_o != 0;
}

TEST(Requantize, TellsOfEachFlipThatChangesARow) {
  const std::size_t bits = Flips(Bench<Vrequantize_flips>().context()).bits();
  ASSERT_GT(bits, kColumns * 330u);
  std::size_t reported = 0;
  for_seeds(1, 3, [&](std::mt19937& random) {
    for (std::size_t bit = 0; bit < bits && !testing::Test::HasFailure(); ++bit)
      reported += reports(bit, random);
  });
  EXPECT_GT(reported, bits) << "of " << 3 * bits << " flips";
}

}  // namespace
}  // namespace gemm64::rtl_test
