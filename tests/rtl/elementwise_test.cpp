// SPDX-License-Identifier: Apache-2.0
// Against ONNX Runtime's arithmetic in the processor's own floats: every pair of bytes under each
// setting.
#include <Velementwise_flips.h>
#include <Velementwise_n2.h>
#include <Velementwise_n4.h>

#include "host/util/float_bits.hpp"
#include "tests/rtl/flips.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kLatency = 11;

enum class Function { kNone, kAdd, kMultiply };

struct Settings {
  Function function = Function::kNone;
  bool is_signed = true, table = false, swap = false, operand_moved = false, result_moved = false;
  float result_scale = 1, operand_scale = 1, offset = 0;
  int result_zero = 0, operand_zero = 0, low = -128, high = 127;
};

using Table = std::array<std::uint8_t, 256>;

int value_of(bool is_signed, std::uint8_t byte) {
  return is_signed ? static_cast<std::int8_t>(byte) : byte;
}

std::uint8_t expected(const Settings& s, const Table& table, std::uint8_t result,
                      std::uint8_t operand) {
  if (s.table) result = table[result];
  const std::uint8_t out = s.result_moved ? 0x80 : 0;
  if (s.function == Function::kNone) return result ^ out;
  if (s.operand_moved) operand ^= 0x80;
  if (s.swap) std::swap(result, operand);
  const int a = value_of(s.is_signed, result), b = value_of(s.is_signed, operand);
  float sum;
  if (s.function == Function::kAdd) {
    sum = std::fma(static_cast<float>(a), s.result_scale,
                   std::fma(static_cast<float>(b), s.operand_scale, s.offset));
  } else {
    const volatile float product =
        static_cast<float>((a - s.result_zero) * (b - s.operand_zero)) * s.operand_scale;
    sum = product + s.offset;
  }
  const auto whole = static_cast<int>(std::nearbyint(sum));
  return static_cast<std::uint8_t>(std::max(s.low, std::min(s.high, whole))) ^ out;
}

/// In range of the module: a multiple of 2^-31 below 2^14.
bool takes_offset(float offset) {
  const double steps = std::ldexp(double{offset}, 31);
  return std::fabs(offset) < 16384 && steps == std::floor(steps);
}

template <class Model, unsigned kN>
class Unit {
 public:
  void set(const Settings& s) {
    settings_ = s;
    bench->load_i = 1;
    bench->signed_i = s.is_signed;
    bench->add_i = s.function == Function::kAdd;
    bench->multiply_i = s.function == Function::kMultiply;
    bench->table_i = s.table;
    bench->swap_i = s.swap;
    bench->operand_moved_i = s.operand_moved;
    bench->result_moved_i = s.result_moved;
    bench->result_scale_i = bits_of(s.result_scale) & 0x7ffffff;
    bench->operand_scale_i = bits_of(s.operand_scale) & 0x7ffffff;
    bench->offset_i = bits_of(s.offset);
    bench->result_zero_i = static_cast<std::uint8_t>(s.result_zero);
    bench->operand_zero_i = static_cast<std::uint8_t>(s.operand_zero);
    bench->low_i = static_cast<std::uint8_t>(s.low);
    bench->high_i = static_cast<std::uint8_t>(s.high);
    bench->valid_i = bench->table_write_i = 0;
    bench->ready_i = 1;
    bench.step();
  }
  void write(const Table& table) {
    table_ = table;
    bench->valid_i = 0;
    bench->table_write_i = 1;
    for (unsigned word = 0; word < table.size() / kN; ++word) {
      bench->table_index_i = static_cast<std::uint8_t>(word);
      for (unsigned i = 0; i < kN; ++i) set_lane(bench->table_word_i, i, table[word * kN + i]);
      bench.step();
    }
    bench->table_write_i = 0;
  }
  /// Sends pairs of a result and an operand in this order, N to a row.
  void check(const std::vector<std::array<std::uint8_t, 2>>& pairs, Gate given, Gate taken) {
    std::size_t sent = 0, came = 0;
    while (came < pairs.size()) {
      bench->valid_i = sent < pairs.size() && given();
      bench->ready_i = taken();
      bench->last_i = sent / kN % 3 == 0;
      for (unsigned i = 0; i < kN && bench->valid_i; ++i) {
        set_lane(bench->result_i, i, pairs[sent + i][0]);
        set_lane(bench->operand_i, i, pairs[sent + i][1]);
      }
      bench.settle();
      if (bench->valid_o && bench->ready_i) {
        ASSERT_EQ(bench->last_o, came / kN % 3 == 0);
        ASSERT_EQ(bench->wrong_row_o, 0);
        for (unsigned i = 0; i < kN; ++i) {
          const auto [result, operand] = pairs[came + i];
          ASSERT_EQ(lane<std::uint8_t>(bench->result_o, i),
                    expected(settings_, table_, result, operand))
              << "of " << int{result} << " and " << int{operand} << ", scales "
              << settings_.result_scale << " and " << settings_.operand_scale << ", offset "
              << settings_.offset << ", zeros " << settings_.result_zero << " and "
              << settings_.operand_zero << (settings_.is_signed ? ", int8" : ", uint8");
        }
        came += kN;
      }
      if (bench->valid_i && bench->ready_o) sent += kN;
      bench.edge();
    }
  }
  void check_all() {
    std::vector<std::array<std::uint8_t, 2>> pairs;
    for (unsigned i = 0; i < 65536; ++i) {
      pairs.push_back({static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
    }
    check(pairs, Gate(), Gate());
  }

  Bench<Model> bench{1'000'000'000};

 private:
  Settings settings_;
  Table table_{};
};

void random_bounds(std::mt19937& random, Settings& s) {
  s.is_signed = random() % 2 == 0;
  const int least = s.is_signed ? -128 : 0;
  s.low = least;
  s.high = least + 255;
  if (random() % 4 == 0) s.low = least + static_cast<int>(random() % 256);
  if (random() % 4 == 0) s.high = s.low + static_cast<int>(random()) % (s.high - s.low + 1);
  s.high = std::max(s.high, s.low);
}

float power(std::mt19937& random, double first, double last) {
  return static_cast<float>(std::exp2(std::uniform_real_distribution<double>(first, last)(random)));
}

/// The factors of QLinearAdd for scales and zero points; those that bring ties, now and then.
Settings random_sum(std::mt19937& random) {
  Settings s;
  s.function = Function::kAdd;
  do {
    random_bounds(random, s);
    const float ties[] = {0.5F, 0.25F, 0.125F, 1, 2, 0.1F, 0.2F, 1.5F};
    const auto scale = [&] {
      return random() % 2 == 0 ? ties[random() % std::size(ties)] : power(random, -6, 3);
    };
    const float of_a = scale(), of_b = scale(), of_y = scale();
    s.result_scale = of_a / of_y;
    s.operand_scale = of_b / of_y;
    const int least = s.is_signed ? -128 : 0;
    const auto zero = [&] { return static_cast<float>(least + static_cast<int>(random() % 256)); };
    s.offset = zero() - std::fma(s.result_scale, zero(), s.operand_scale * zero());
  } while (s.result_scale < 1 / 128.0F || s.result_scale >= 16 || s.operand_scale < 1 / 128.0F ||
           s.operand_scale >= 16 || !takes_offset(s.offset));
  return s;
}

Settings random_product(std::mt19937& random) {
  Settings s;
  s.function = Function::kMultiply;
  random_bounds(random, s);
  s.operand_scale = random() % 4 == 0 ? std::ldexp(1.0F, -2 - static_cast<int>(random() % 11))
                                      : power(random, -12, -1.0001);
  const int least = s.is_signed ? -128 : 0;
  const auto zero = [&] { return least + static_cast<int>(random() % 256); };
  s.result_zero = zero();
  s.operand_zero = zero();
  s.offset = static_cast<float>(zero());
  return s;
}

TEST(Vector, AddsAsOnnxRuntimeDoes) {
  Unit<Velementwise_n4, 4> unit;
  for_seeds(1, 24, [&](std::mt19937& random) {
    unit.set(random_sum(random));
    unit.check_all();
  });
}

// Small offsets, of any bit that counts: sums that lie a step from a half.
TEST(Vector, AddsWhatLiesAroundHalves) {
  Unit<Velementwise_n4, 4> unit;
  for_seeds(1, 12, [&](std::mt19937& random) {
    Settings s = random_sum(random);
    s.result_scale = std::ldexp(1.0F, static_cast<int>(random() % 10) - 6);
    s.operand_scale = std::ldexp(1.0F + std::ldexp(1.0F, -static_cast<int>(random() % 24)),
                                 static_cast<int>(random() % 10) - 7);
    const int exponent = static_cast<int>(random() % 44) - 31;
    s.offset = static_cast<float>(
        std::ldexp(std::floor(std::ldexp(1.0 + static_cast<double>(random() >> 9) / 8388608.0,
                                         std::min(23, exponent + 31))),
                   exponent - std::min(23, exponent + 31)));
    if (random() % 2 == 0) s.offset = -s.offset;
    ASSERT_TRUE(takes_offset(s.offset)) << s.offset;
    unit.set(s);
    unit.check_all();
  });
}

/// A row of which some pair gives a sum that is at a tie of float32, or a step from it, where its
/// last bit decides between two bytes.
struct Tie {
  Settings settings;
  std::uint8_t result, operand;
};

double step_of(double value) { return std::ldexp(1.0, std::ilogb(value) - 23); }

/// A few steps of `step` up or down, and sometimes none.
double nudge(std::mt19937& random, double step) {
  return static_cast<double>(static_cast<int>(random() % 5) - 2) * step;
}

/// The sum of operand and offset is rounded at half a step of float32; the whole sum is then a
/// half.
Tie tie_of_the_first_sum(std::mt19937& random) {
  Tie tie;
  Settings& s = tie.settings;
  s.function = Function::kAdd;
  // A sum around 2048 whose product has all the bits that there are: those that go are farthest
  // from the one that stays.
  const bool far = random() % 2 == 0;
  s.is_signed = far || random() % 2 == 0;
  s.low = s.is_signed ? -128 : 0;
  s.high = s.low + 255;
  for (;;) {
    const int a = far ? -128 : static_cast<int>(random() % 256) + s.low;
    const int b = far ? 1 : (s.is_signed && random() % 2 == 0 ? -1 : 1) << random() % 7;
    tie.result = static_cast<std::uint8_t>(a);
    tie.operand = static_cast<std::uint8_t>(b);
    // The nearer to 0, the finer is what float32 distinguishes.
    const double half = random() % 2 == 0 ? static_cast<int>(random() % 200) - 100 + 0.5
                                          : static_cast<int>(random() % 5) - 1.5;
    s.result_scale = far ? static_cast<float>((2048 - std::fabs(half)) / 128)
                         : static_cast<float>(255 - random() % 250) / 16;
    const double target = (far ? std::fabs(half) : half) -
                          static_cast<double>(a) * static_cast<double>(s.result_scale);
    const double step = step_of(target);
    const double coarse = far ? std::ldexp(b, -7) : b * static_cast<double>(1 + random() % 60) / 4;
    const double away = random() % 2 == 0 ? step / 2 : -step / 2;
    const int bit = far ? 28 + static_cast<int>(random() % 4) : static_cast<int>(random() % 32);
    s.offset = static_cast<float>(target - coarse);
    s.operand_scale =
        static_cast<float>((coarse + away + nudge(random, std::ldexp(1.0, -bit))) / b);
    if (s.operand_scale >= 1 / 128.0F && s.operand_scale < 16 && takes_offset(s.offset)) return tie;
  }
}

/// The whole sum is around a half.
Tie tie_of_the_sum(std::mt19937& random) {
  Tie tie;
  Settings& s = tie.settings;
  s.function = Function::kAdd;
  for (;;) {
    const int a = static_cast<int>(random() % 255) - 127,
              b = static_cast<int>(random() % 255) - 127;
    tie.result = static_cast<std::uint8_t>(a);
    tie.operand = static_cast<std::uint8_t>(b);
    s.result_scale = power(random, -6.99, 0);
    s.operand_scale = power(random, -6.99, 0);
    const double sum = static_cast<double>(a) * static_cast<double>(s.result_scale) +
                       static_cast<double>(b) * static_cast<double>(s.operand_scale);
    const double half = std::floor(sum) + 0.5;
    s.offset = static_cast<float>(half - sum + nudge(random, step_of(half) / 4) +
                                  nudge(random, std::ldexp(1.0, -31)));
    s.offset =
        static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(double{s.offset}, 31)), -31));
    if (takes_offset(s.offset)) return tie;
  }
}

/// The product is around a half.
Tie tie_of_the_product(std::mt19937& random) {
  Tie tie;
  Settings& s = tie.settings;
  s.function = Function::kMultiply;
  for (;;) {
    const int a = static_cast<int>(random() % 256) - 128,
              b = static_cast<int>(random() % 256) - 128;
    tie.result = static_cast<std::uint8_t>(a);
    tie.operand = static_cast<std::uint8_t>(b);
    s.result_zero = static_cast<int>(random() % 256) - 128;
    s.operand_zero = static_cast<int>(random() % 256) - 128;
    s.offset = static_cast<float>(static_cast<int>(random() % 256) - 128);
    const int product = (a - s.result_zero) * (b - s.operand_zero);
    if (product == 0) continue;
    const double half = static_cast<int>(random() % 300) - 150 + 0.5;
    s.operand_scale = static_cast<float>(half / product);
    const float toward = random() % 2 == 0 ? 0.0F : 1.0F;
    for (unsigned i = random() % 3; i != 0; --i) {
      s.operand_scale = std::nextafter(s.operand_scale, toward);
    }
    if (s.operand_scale >= std::ldexp(1.0F, -12) && s.operand_scale < 0.5F) return tie;
  }
}

TEST(Vector, RoundsTiesToEvenInBothRoundings) {
  Unit<Velementwise_n4, 4> unit;
  for_seeds(1, 12000, [&](std::mt19937& random) {
    const unsigned kind = random() % 3;
    const Tie tie = kind == 0   ? tie_of_the_first_sum(random)
                    : kind == 1 ? tie_of_the_sum(random)
                                : tie_of_the_product(random);
    unit.set(tie.settings);
    unit.check({{tie.result, tie.operand},
                {static_cast<std::uint8_t>(tie.result + 1), tie.operand},
                {tie.result, static_cast<std::uint8_t>(tie.operand + 1)},
                {static_cast<std::uint8_t>(tie.result - 1), tie.operand}},
               Gate(), Gate());
  });
}

// The least offset there is: it takes the sum of 1 * operand and itself to another float32, by
// which the whole sum then comes to lie at a tie instead of above one.
TEST(Vector, AddsTheLeastOffset) {
  Unit<Velementwise_n4, 4> unit;
  Settings s;
  s.function = Function::kAdd;
  for (int x = 1 << 18; x < 1 << 19; x += 4999) {
    s.operand_scale = static_cast<float>(std::ldexp(x, -25) + std::ldexp(1.0, -30));
    s.result_scale = static_cast<float>(0.5 + std::ldexp(1 - x, -25));
    for (const float offset : {-1.0F, 1.0F, -2.0F}) {
      s.offset = std::ldexp(offset, -31);
      unit.set(s);
      unit.check({{1, 1}, {0, 1}, {1, 0}, {255, 255}}, Gate(), Gate());
    }
  }
}

TEST(Vector, MultipliesAsOnnxRuntimeDoes) {
  Unit<Velementwise_n4, 4> unit;
  for_seeds(1, 24, [&](std::mt19937& random) {
    unit.set(random_product(random));
    unit.check_all();
  });
}

template <class Model, unsigned kN>
void check_streams() {
  Unit<Model, kN> unit;
  unit.write({});  // a first table: what the memory holds after a reset is not known
  for_seeds(1, 40, [&](std::mt19937& random) {
    Settings s = random() % 3 == 0   ? Settings()
                 : random() % 2 == 0 ? random_sum(random)
                                     : random_product(random);
    s.table = random() % 2 == 0;
    s.swap = s.function == Function::kAdd && random() % 2 == 0;
    s.operand_moved = random() % 2 == 0;
    s.result_moved = random() % 2 == 0;
    unit.set(s);
    if (random() % 4 != 0) {  // else the table before stays
      Table table;
      for (std::uint8_t& byte : table) byte = static_cast<std::uint8_t>(random());
      unit.write(table);
    }
    std::vector<std::array<std::uint8_t, 2>> pairs(kN * draw(random, 1, 100));
    for (auto& pair : pairs) {
      pair = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random())};
    }
    unit.check(pairs, Gate::random(random), Gate::random(random));
  });
}

TEST(Vector, TakesRowsAndATableWhateverThePatterns) {
  check_streams<Velementwise_n4, 4>();
  check_streams<Velementwise_n2, 2>();
}

TEST(Vector, ARowTakesElevenCyclesAndAResetDropsIt) {
  Bench<Velementwise_n4> bench;
  bench->add_i = bench->multiply_i = bench->table_i = bench->table_write_i = bench->swap_i = 0;
  bench->ready_i = 1;
  for (unsigned clock = 0; clock <= kLatency; ++clock) {
    bench->valid_i = clock == 0;
    bench.settle();
    EXPECT_EQ(bench->valid_o, clock == kLatency) << clock;
    EXPECT_EQ(bench->busy_o, clock != 0) << clock;
    bench.edge();
  }
  bench->valid_i = 1;
  bench.step();
  bench.reset();
  bench.settle();
  EXPECT_EQ(bench->busy_o, 0);
}

/// As Requantize's.
bool reports(std::size_t bit, std::mt19937& random) {
  constexpr std::size_t kRows = 28;
  constexpr unsigned kLanes = 4;
  Unit<Velementwise_flips, kLanes> unit;
  auto& bench = unit.bench;
  Flips flips(bench.context());
  Settings s = random() % 2 == 0 ? random_sum(random) : random_product(random);
  if (random() % 4 == 0) s.function = Function::kNone;
  unit.set(s);
  bench->load_i = 0;
  std::vector<std::array<std::array<std::uint8_t, 2>, kLanes>> rows(kRows);
  for (auto& row : rows)
    for (auto& pair : row)
      pair = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random())};
  const std::uint64_t when = bench.clock() + draw(random, 1, kRows);
  std::size_t given = 0, taken = 0;
  bool owed = false;  // a wrong row has left
  while (taken < kRows) {
    if (bench.clock() == when) flips.flip(bit);
    bench->valid_i = given < kRows && random() % 8 != 0;
    bench->ready_i = random() % 8 != 0;
    bench->last_i = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      const auto [result, operand] = rows[std::min(given, kRows - 1)][i];
      set_lane(bench->result_i, i, result);
      set_lane(bench->operand_i, i, operand);
    }
    bench.settle();
    if (bench->wrong_row_o) {
      EXPECT_GT(bench.clock(), when) << "nothing is wrong";
      bench->valid_i = 0;
      for (unsigned clock = 0; clock < 3; ++clock) bench.step();
      EXPECT_TRUE(bench->wrong_row_o) << "until the reset";
      bench.reset();
      bench.settle();
      EXPECT_FALSE(bench->wrong_row_o) << "after it";
      return true;
    }
    EXPECT_FALSE(owed) << "flip at cycle " << when << " of " << flips.in_words(bit);
    if (owed) return false;
    if (bench->valid_o && bench->ready_i) {
      for (unsigned i = 0; i < kLanes; ++i) {
        const auto [result, operand] = rows[taken][i];
        owed = owed || lane<std::uint8_t>(bench->result_o, i) != expected(s, {}, result, operand);
      }
      ++taken;
    }
    given += bench->valid_i && bench->ready_o;
    bench.edge();
  }
  bench->valid_i = 0;
  bench.settle();
  EXPECT_TRUE(bench->wrong_row_o || !owed)
      << "flip at cycle " << when << " of " << flips.in_words(bit);
  return bench->wrong_row_o != 0;
}

TEST(Vector, TellsOfEachFlipThatChangesARow) {
  const std::size_t bits = Flips(Bench<Velementwise_flips>().context()).bits();
  ASSERT_GT(bits, 4 * 670u);
  std::size_t reported = 0;
  for_seeds(1, 3, [&](std::mt19937& random) {
    for (std::size_t bit = 0; bit < bits && !testing::Test::HasFailure(); ++bit)
      reported += reports(bit, random);
  });
  EXPECT_GT(reported, bits) << "of " << 3 * bits << " flips";
}

}  // namespace
}  // namespace gemm64::rtl_test
