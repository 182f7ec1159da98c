// SPDX-License-Identifier: Apache-2.0
// Against convolutions and pools as they are defined: tap by tap, on images that lie apart.
#include <Vdepthwise_flips.h>
#include <Vdepthwise_n16.h>
#include <Vdepthwise_n4.h>
#include <Vdepthwise_n8.h>

#include "host/device/command_types.hpp"
#include "tests/rtl/flips.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr unsigned kLatency = 4;
constexpr unsigned kTaps = 9;  // of a part
constexpr int kLine = 64;      // words of a line in the models

struct Layer {
  int kernel, stride_height, stride_width, dilation_height, dilation_width;
  int pad_top, pad_left, height, width, out_height, out_width;
  int zero;
  bool maximum, accumulate;
  int planes, images;

  int high() const { return (kernel - 1) * dilation_height + 1; }
  int wide() const { return (kernel - 1) * dilation_width + 1; }
  int first() const { return (high() - 1 - pad_top) * width + wide() - 1 - pad_left; }
  int row_step() const { return stride_height * width - (out_width - 1) * stride_width; }
  int image_step() const {
    return height * width - (out_height - 1) * stride_height * width -
           (out_width - 1) * stride_width;
  }
  int image_rows() const { return accumulate ? 1 : out_height * out_width; }
  int words() const { return planes * images * height * width; }
};

/// Columns from a tap to the next for which the window has words.
int most_dilation(int kernel) { return kernel == 3 ? 6 : kernel == 5 ? 2 : 1; }

Layer random_layer(std::mt19937& random) {
  Layer layer{};
  do {
    const auto pick = [&](int low, int high) {
      return static_cast<int>(
          draw(random, static_cast<unsigned>(low), static_cast<unsigned>(high)));
    };
    layer.kernel = pick(1, 3) * 2 + 1;
    layer.stride_height = pick(1, 4);
    layer.stride_width = pick(0, 1) ? layer.stride_height : pick(1, 4);
    layer.height = pick(1, 12);
    layer.width = pick(0, 9) == 0 ? pick(50, kLine) : pick(2, 14);
    const bool dilated = pick(0, 1) != 0;
    layer.dilation_height = dilated ? pick(1, std::min(kLine / layer.width, 8)) : 1;
    layer.dilation_width = dilated ? pick(1, most_dilation(layer.kernel)) : 1;
    layer.pad_top = pick(0, layer.high() - 1);
    layer.pad_left = pick(0, layer.wide() - 1);
    const int below = pick(0, layer.high() - 1), right = pick(0, layer.wide() - 1);
    layer.out_height =
        (layer.height + layer.pad_top + below - layer.high()) / layer.stride_height + 1;
    layer.out_width =
        (layer.width + layer.pad_left + right - layer.wide()) / layer.stride_width + 1;
    if (layer.height + layer.pad_top + below < layer.high()) layer.out_height = 0;
    if (layer.width + layer.pad_left + right < layer.wide()) layer.out_width = 0;
    layer.zero = pick(0, 255) - 128;
    layer.maximum = pick(0, 2) == 0;
    layer.accumulate = pick(0, 2) == 0;
    layer.planes = pick(1, 4);
    layer.images = pick(1, 3);
  } while (layer.out_height < 1 || layer.out_width < 1 || layer.row_step() < 0 ||
           layer.image_step() < 0);
  return layer;
}

/// Cycles that a command takes where nothing waits.
std::uint64_t cycles(const Layer& layer) {
  const int parts = (layer.kernel * layer.kernel + kTaps - 1) / kTaps;
  long last = layer.first(), merged = 0, outputs = 0;
  for (int image = 0; image < layer.planes * layer.images; ++image) {
    for (int y = 0; y < layer.out_height; ++y) {
      for (int x = 0; x < layer.out_width; ++x) {
        ++outputs;
        const bool row_end = x + 1 == layer.out_width;
        const bool image_end = row_end && y + 1 == layer.out_height;
        if (image_end && image + 1 == layer.planes * layer.images) continue;
        const int step = image_end ? layer.image_step()
                         : row_end ? layer.row_step()
                                   : layer.stride_width;
        merged += step != 0;
        last += step;
      }
    }
  }
  const long words = std::max<long>(layer.words(), last + 1);
  if (words > last + 1) ++merged;
  return static_cast<std::uint64_t>(words + outputs * parts - merged);
}

template <class Model, unsigned kN>
class Lanes {
 public:
  explicit Lanes(int seed) : bench(1000000, seed) {}

  /// A flip of a register, and whether the device reported it: then the run ends there.
  struct Upset {
    std::size_t bit = 0;
    std::uint64_t clock = ~std::uint64_t{0};
  };
  Upset upset;
  bool reported = false;

  std::size_t register_bits() { return Flips(bench.context()).bits(); }

  void run(const Layer& layer, std::mt19937& random, Gate words, Gate weights, Gate places) {
    fill(layer, random);
    bench->active_i = bench->load_i = 0;
    for (unsigned i = 0; i < kLatency; ++i) {
      bench.settle();
      ASSERT_FALSE(bench->valid_o || bench->last_o) << "a row more";
      bench.edge();
    }
    set(layer);
    std::uint64_t moves = 0;
    std::size_t word = 0, weight = 0, row = 0, came = 0;
    std::deque<std::uint64_t> given;
    bench->load_i = 1;
    bench->active_i = 0;
    bench.step();
    bench->load_i = 0;
    for (bool finished = false; !finished || !given.empty();) {
      bench->active_i = !finished;
      bench->word_there_i = word < words_.size() && words();
      bench->weight_there_i = weight < weights_.size() && weights();
      bench->place_i = places();
      bench->row_last_i = row % 3 == 1;
      bench->row_bank_i = row % 2;
      bench->row_i = row % 32;
      if (bench.clock() == upset.clock) Flips(bench.context()).flip(upset.bit);
      bench.settle();
      if (bench->wrong_sum_o) {
        ASSERT_GT(bench.clock(), upset.clock) << "nothing is wrong";
        ASSERT_TRUE(bench->wrong_o);
        for (unsigned i = 0; i < kLatency; ++i) bench.step();
        ASSERT_TRUE(bench->wrong_sum_o) << "until the reset";
        bench.reset();
        bench.settle();
        ASSERT_FALSE(bench->wrong_o) << "after it";
        reported = true;
        return;
      }
      ASSERT_FALSE(wrong_) << "flip at cycle " << upset.clock << " of "
                           << Flips(bench.context()).in_words(upset.bit);
      ASSERT_EQ(bench->valid_o, !given.empty() && given.front() + kLatency == bench.clock());
      ASSERT_LE(bench->last_o, bench->valid_o);
      if (bench->valid_o) {
        given.pop_front();
        check(came++);
        if (testing::Test::HasFatalFailure()) return;
      }
      const bool take = bench->take_o, read = bench->weight_read_o;
      ASSERT_TRUE(!take || bench->word_there_i);
      ASSERT_TRUE(!read || bench->weight_there_i);
      moves += bench->move_o;
      if (bench->row_o) {
        ASSERT_TRUE(bench->place_i);
        given.push_back(bench.clock());
        const std::size_t rows = static_cast<std::size_t>(layer.images) * layer.image_rows();
        ASSERT_EQ(bench->plane_end_o, row % rows == rows - 1);
        ++row;
      }
      const bool finishes = bench->finished_o;
      bench.edge();
      if (finishes) {  // the next command is shown while the last sums are on their way
        finished = true;
        set(random_layer(random));
      }
      if (take)
        put(bench->word_i, words_[word++]);
      else
        set_noise(bench->word_i, random);
      if (read)
        put(bench->weight_i, weights_[weight++]);
      else
        set_noise(bench->weight_i, random);
    }
    bench.settle();
    ASSERT_TRUE(bench->wrong_sum_o || !wrong_) << "the last row";
    reported = bench->wrong_sum_o;
    ASSERT_EQ(came, sums_.size());
    ASSERT_EQ(word, words_.size());
    ASSERT_EQ(weight, weights_.size());
    ASSERT_EQ(moves, cycles(layer));
  }

 private:
  using Word = std::array<std::int8_t, kN>;
  using Sums = std::array<std::int32_t, kN>;

  template <class Port>
  static void put(Port& port, const Word& word) {
    for (unsigned i = 0; i < kN; ++i) set_lane(port, i, word[i]);
  }

  void fill(const Layer& layer, std::mt19937& random) {
    const bool extreme = random() % 8 == 0;
    const auto byte = [&] { return static_cast<std::int8_t>(extreme ? -128 : random()); };
    words_.resize(static_cast<std::size_t>(layer.words()));
    weights_.resize(static_cast<std::size_t>(layer.planes) * layer.kernel * layer.kernel);
    for (Word& word : words_) std::generate(word.begin(), word.end(), byte);
    for (Word& word : weights_) std::generate(word.begin(), word.end(), byte);
    sums_.clear();
    for (int plane = 0; plane < layer.planes; ++plane) {
      for (int image = 0; image < layer.images; ++image) {
        for (int y = 0; y < layer.out_height; ++y) {
          for (int x = 0; x < layer.out_width; ++x) {
            const Sums window = sum(layer, plane, image, y, x);
            if (layer.accumulate && y + x != 0) {
              join(layer, window, sums_.back());
            } else {
              sums_.push_back(window);
            }
          }
        }
      }
    }
  }

  /// A window more of an image. A sum has 22 bits.
  static void join(const Layer& layer, const Sums& window, Sums& sums) {
    for (unsigned i = 0; i < kN; ++i) {
      const auto whole =
          static_cast<std::uint32_t>(sums[i]) + static_cast<std::uint32_t>(window[i]);
      sums[i] = layer.maximum ? std::max(sums[i], window[i])
                              : static_cast<std::int32_t>(whole << 10) >> 10;
    }
  }

  Sums sum(const Layer& layer, int plane, int image, int y, int x) const {
    Sums sums{};
    if (layer.maximum) sums.fill(-128);
    for (int ky = 0; ky < layer.kernel; ++ky) {
      for (int kx = 0; kx < layer.kernel; ++kx) {
        const int row = y * layer.stride_height - layer.pad_top + ky * layer.dilation_height;
        const int column = x * layer.stride_width - layer.pad_left + kx * layer.dilation_width;
        const bool inside = row >= 0 && row < layer.height && column >= 0 && column < layer.width;
        const Word& weight =
            weights_[static_cast<std::size_t>((plane * layer.kernel + ky) * layer.kernel + kx)];
        for (unsigned i = 0; i < kN; ++i) {
          const int value =
              inside ? words_[static_cast<std::size_t>(
                           ((plane * layer.images + image) * layer.height + row) * layer.width +
                           column)][i]
                     : layer.zero;
          if (!layer.maximum)
            sums[i] += value * weight[i];
          else if (weight[i] & 1)
            sums[i] = std::max(sums[i], value);
        }
      }
    }
    return sums;
  }

  void check(std::size_t row) {
    ASSERT_LT(row, sums_.size());
    ASSERT_EQ(bench->last_o, row % 3 == 1);
    ASSERT_EQ(bench->bank_o, row % 2);
    ASSERT_EQ(bench->place_o, row % 32);
    for (unsigned i = 0; i < kN; ++i) {
      const auto value = lane<std::int32_t>(bench->sum_o, i);
      wrong_ = wrong_ || value != sums_[row][i];
      if (bench.clock() >= upset.clock) continue;  // it is reported in the next cycle
      ASSERT_EQ(value, sums_[row][i]) << "row " << row << ", lane " << i;
    }
  }

  void set(const Layer& layer) {
    const auto bits = [](int value) { return static_cast<std::uint32_t>(value); };
    DepthwiseCommand command;
    command.kernel_height = bits(layer.kernel);
    command.stride_height = bits(layer.stride_height);
    command.stride_width = bits(layer.stride_width);
    command.dilation_height = bits(layer.dilation_height);
    command.dilation_width = bits(layer.dilation_width);
    command.pad_top = bits(layer.pad_top);
    command.pad_left = bits(layer.pad_left);
    command.height = bits(layer.height);
    command.width = bits(layer.width);
    command.out_height = bits(layer.out_height);
    command.out_width = bits(layer.out_width);
    command.row_step = bits(layer.row_step());
    command.image_step = bits(layer.image_step());
    command.lead = bits(layer.first());
    std::uint8_t bytes[kCommandBytes];
    Command(command).encode(bytes);
    for (unsigned i = 32; i < kCommandBytes; ++i) set_lane(bench->window_i, i - 32, bytes[i]);
    bench->zero_i = static_cast<std::uint8_t>(layer.zero);
    bench->maximum_i = layer.maximum;
    bench->accumulate_i = layer.accumulate;
    bench->planes_i = bits(layer.planes);
    bench->images_i = bits(layer.images);
  }

  Bench<Model> bench;
  std::vector<Word> words_, weights_;
  std::vector<Sums> sums_;
  bool wrong_ = false;  // a row has left
};

template <class Model, unsigned kN>
void run_random(unsigned seeds) {
  for_seeds(1, seeds, [](std::mt19937& random) {
    Lanes<Model, kN> lanes(static_cast<int>(random() >> 1));
    for (int i = 0; i < 4; ++i) {
      const Layer l = random_layer(random);
      SCOPED_TRACE("kernel " + std::to_string(l.kernel) + ", dilations " +
                   std::to_string(l.dilation_height) + " and " + std::to_string(l.dilation_width) +
                   ", " + std::to_string(l.height) + " x " + std::to_string(l.width) + " to " +
                   std::to_string(l.out_height) + " x " + std::to_string(l.out_width) +
                   ", maximum " + std::to_string(l.maximum));
      lanes.run(l, random, Gate::random(random), Gate::random(random), Gate::random(random));
      if (testing::Test::HasFailure()) return;
    }
  });
}

TEST(Lanes, GivesSumsAndMaximaOfRandomLayers) { run_random<Vdepthwise_n4, 4>(150); }
TEST(Lanes, EightGiveThemToo) { run_random<Vdepthwise_n8, 8>(60); }
TEST(Lanes, ThatCheckThemselvesGiveThemToo) { run_random<Vdepthwise_flips, 4>(60); }

// Their words are checked in two groups of bytes.
TEST(Lanes, SixteenThatCheckThemselvesGiveThemToo) { run_random<Vdepthwise_n16, 16>(20); }

TEST(Lanes, TellOfEachFlipThatChangesASum) {
  std::size_t reported = 0, tried = 0;
  for_seeds(1, 4, [&](std::mt19937& random) {
    const std::size_t bits = Lanes<Vdepthwise_flips, 4>(1).register_bits();
    ASSERT_GT(bits, 4 * 8 * (49 + 9 + 4) + 4 * 3 * 17u);
    for (std::size_t bit = 0; bit < bits && !testing::Test::HasFailure(); ++bit) {
      Layer layer;
      do layer = random_layer(random);
      while (layer.width > 14);
      Lanes<Vdepthwise_flips, 4> lanes(static_cast<int>(random() >> 1));
      lanes.upset = {bit, draw(random, 10, static_cast<unsigned>(cycles(layer)) + 20)};
      lanes.run(layer, random, Gate(), Gate(), Gate());
      reported += lanes.reported;
      ++tried;
    }
  });
  EXPECT_GT(reported, tried / 10) << "of " << tried << " flips";
}

}  // namespace
}  // namespace gemm64::rtl_test
