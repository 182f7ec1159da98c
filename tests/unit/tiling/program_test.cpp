// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/program.hpp"

#include "host/tiling/job_commands.hpp"
#include "host/tiling/overlap.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

// Few enough blocks of the array's size that each may be looked at.
constexpr std::uint64_t kFewBlocks = 4'000'000;

TEST(Layout, PartsLieOnPagesOneAfterTheOther) {
  for_plans(20, 40, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              const Layout layout = make_layout(plan);
              for (const std::uint64_t address :
                   {layout.ring, layout.weights, layout.activations, layout.results}) {
                EXPECT_EQ(address % 4096, 0u);
              }
              EXPECT_LE(layout.ring + kRingCommands * kCommandBytes, layout.weights);
              EXPECT_LE(layout.weights + plan.weight_bytes(), layout.activations);
              EXPECT_LE(layout.activations + plan.activation_bytes(), layout.results);
              EXPECT_EQ(layout.results + plan.result_bytes(), layout.end);
              // No more than a page is lost before each part.
              EXPECT_LT(layout.end, kRingCommands * kCommandBytes + plan.weight_bytes() +
                                        plan.activation_bytes() + plan.result_bytes() + 4 * 4096);
            });
}

TEST(Program, FitsRingAndPrefetchEndsWithFinish) {
  for_plans(21, 40, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              const std::vector<Command> program = make_program(plan, make_layout(plan));
              EXPECT_EQ(program.size(), program_length(plan));
              EXPECT_LT(program.size(), kRingCommands);
              EXPECT_LE(program.size(), geometry.commands);
              EXPECT_EQ(program.back().opcode, Opcode::kFinish);
              for (std::size_t i = 0; i + 1 < program.size(); ++i) {
                EXPECT_NE(program[i].opcode, Opcode::kFinish);
              }
            });
  EXPECT_EQ(kRingCommands & (kRingCommands - 1), 0u);
}

/// Runs a program on words that know where they come from, and counts which products are added to
/// which sums. Reads the commands as rtl/gemm64.json explains them.
class Interpreter {
 public:
  Interpreter(const Plan& plan, const Layout& layout, const Geometry& geometry)
      : plan_(plan), layout_(layout), geometry_(geometry), covered_(plan.shape.m * plan.tiles()) {
    for (std::uint32_t tile = 0; tile < plan.k_tiles; ++tile) {
      for (std::uint64_t row = 0; row < plan.shape.m; ++row)
        activation_words_.push_back({row, tile});
    }
  }

  void run(const std::vector<Command>& program) {
    for (const Command& command : program) {
      switch (command.opcode) {
        case Opcode::kLoadWeights:
          load(command, {command.count, 1, 0, 1}, layout_.weights, weights_);
          break;
        case Opcode::kLoadActivations:
          load(command, {command.rows, command.count, command.stride, command.blocks},
               layout_.activations, activations_);
          break;
        case Opcode::kMatmul:
          multiply(command);
          break;
        case Opcode::kStore:
          store(command);
          break;
        case Opcode::kLoadParameters:
        case Opcode::kSetWindow:
        case Opcode::kFence:
        case Opcode::kFinish:
          break;
        case Opcode::kLoadOperands:
        case Opcode::kDepthwise:
          ADD_FAILURE() << "a product needs no such command";
          break;
      }
    }
    EXPECT_TRUE(weights_.empty()) << "weights that no MATMUL takes";
    EXPECT_TRUE(activations_.empty()) << "activations that no MATMUL takes";
    EXPECT_TRUE(blocks_.empty()) << "blocks that no STORE takes";
  }

  /// Every row meets every tile of K and N once, in the place where unpack_results() looks for it.
  void expect_every_product_once() const {
    EXPECT_EQ(errors_, 0u);
    const std::uint64_t parts = plan_.accumulate == Accumulate::kDevice ? 1 : plan_.k_tiles;
    EXPECT_EQ(stored_.size() * geometry_.n * 4, plan_.result_bytes());
    for (std::size_t product = 0; product < covered_.size(); ++product) {
      ASSERT_EQ(covered_[product], 1u) << "products of row " << product / plan_.tiles()
                                       << " and tile " << product % plan_.tiles();
    }
    // Order of the results: tiles of N, in each the parts, in each all rows.
    std::uint64_t place = 0;
    for (std::uint64_t tile = 0; tile < plan_.n_tiles * parts; ++tile) {
      for (std::uint64_t row = 0; row < plan_.shape.m; ++row, ++place) {
        const auto found = stored_.find(place);
        ASSERT_NE(found, stored_.end());
        ASSERT_EQ(found->second.row, row);
        ASSERT_EQ(found->second.n_tile, tile / parts);
      }
    }
  }

 private:
  struct ActivationWord {
    std::uint64_t row;
    std::uint32_t k_tile;
  };
  struct Sum {  // a row of N sums
    std::uint64_t row;
    std::uint64_t n_tile;
  };

  struct Tiles {
    std::uint64_t rows, count, stride, blocks;
  };

  void load(const Command& command, const Tiles& tiles, std::uint64_t base,
            std::deque<std::uint64_t>& words) {
    ASSERT_GE(command.address(), base);
    ASSERT_EQ((command.address() - base) % geometry_.n, 0u);
    const std::uint64_t first = (command.address() - base) / geometry_.n;
    for (std::uint64_t block = 0; block < tiles.blocks; ++block) {
      for (std::uint32_t pass = 0; pass < command.passes; ++pass) {
        for (std::uint64_t tile = 0; tile < tiles.count; ++tile) {
          for (std::uint64_t i = 0; i < tiles.rows; ++i) {
            words.push_back(first + block * tiles.rows + tile * tiles.stride + i);
          }
        }
      }
    }
  }

  void multiply(const Command& command) {
    ASSERT_GE(command.rows, 1u);
    ASSERT_LE(command.rows, geometry_.accumulator_rows);
    const bool accumulate = (command.flags & flag::kAccumulate) != 0;
    const bool retain = (command.flags & flag::kRetain) != 0;
    const std::uint64_t kept = std::uint64_t{command.rows} * command.count;
    if (retain) {
      ASSERT_LE(kept, geometry_.scratchpad_words);
    }
    const bool retain_weights = (command.flags & flag::kRetainWeights) != 0;
    for (std::uint32_t block = 0; block < command.blocks; ++block) {
      if (retain_weights && block + 1 != command.blocks) {  // the next block takes them again
        const std::uint64_t tiles = std::uint64_t{command.count} * command.passes;
        ASSERT_LE(tiles, geometry_.weight_tiles);
        ASSERT_GE(weights_.size(), tiles * geometry_.n);
        const std::vector<std::uint64_t> again(
            weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(tiles * geometry_.n));
        weights_.insert(weights_.begin(), again.begin(), again.end());
      }
      for (std::uint32_t pass = 0; pass < command.passes; ++pass) {
        ASSERT_GE(activations_.size(), kept);
        std::vector<Sum> sums;
        for (std::uint32_t tile = 0; tile < command.count; ++tile) {
          ASSERT_GE(weights_.size(), geometry_.n);
          const std::uint64_t weight_tile = weights_.front() / geometry_.n;
          for (std::uint32_t column = 0; column < geometry_.n; ++column, weights_.pop_front()) {
            errors_ += weights_.front() != weight_tile * geometry_.n + column;
          }
          if (!accumulate || tile == 0) sums.clear();
          for (std::uint32_t row = 0; row < command.rows; ++row) {
            const ActivationWord word =
                activation_words_.at(activations_[std::uint64_t{tile} * command.rows + row]);
            errors_ += word.k_tile != weight_tile % plan_.k_tiles;
            ++covered_.at(word.row * plan_.tiles() + weight_tile);
            const Sum sum{word.row, weight_tile / plan_.k_tiles};
            if (sums.size() <= row) sums.push_back(sum);
            errors_ += sums[row].row != sum.row || sums[row].n_tile != sum.n_tile;
          }
          if (!accumulate || tile + 1 == command.count) blocks_.push_back(sums);
        }
        if (retain && pass + 1 != command.passes) continue;
        activations_.erase(activations_.begin(),
                           activations_.begin() + static_cast<std::ptrdiff_t>(kept));
      }
    }
  }

  void store(const Command& command) {
    const std::uint64_t row_bytes = geometry_.n * 4;
    ASSERT_EQ((command.address() - layout_.results) % row_bytes, 0u);
    const std::uint64_t first = (command.address() - layout_.results) / row_bytes;
    for (std::uint64_t block = 0; block < command.blocks; ++block) {
      for (std::uint64_t tile = 0; tile < command.count; ++tile) {
        ASSERT_FALSE(blocks_.empty());
        ASSERT_EQ(blocks_.front().size(), command.rows);
        std::uint64_t place = first + block * command.rows + tile * command.stride;
        for (const Sum& sum : blocks_.front()) {
          errors_ += !stored_.insert({place++, sum}).second;  // nothing is written twice
        }
        blocks_.pop_front();
      }
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  const Geometry& geometry_;
  std::vector<ActivationWord> activation_words_;     // in the order of packing
  std::deque<std::uint64_t> weights_, activations_;  // words by their number in memory
  std::deque<std::vector<Sum>> blocks_;
  std::map<std::uint64_t, Sum> stored_;  // by their place in memory
  std::vector<std::uint32_t> covered_;   // [row][tile of weights]: products computed
  std::uint64_t errors_ = 0;
};

TEST(Program, CoversEveryProductExactlyOnce) {
  for_plans(22, 15, kFewBlocks,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              if (shape.macs() / geometry.n / geometry.n > 20'000) return;
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              const Layout layout = make_layout(plan);
              Interpreter interpreter(plan, layout, geometry);
              interpreter.run(make_program(plan, layout));
              interpreter.expect_every_product_once();
            });
}

TEST(Program, SurvivesItsEncoding) {
  for_plans(23, 10, kAnySize,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              for (const Command& command : make_program(plan, make_layout(plan))) {
                std::uint8_t bytes[kCommandBytes];
                command.encode(bytes);
                EXPECT_EQ(Command::decode(bytes), command);
              }
            });
}

// The commands of one small product, in words.
TEST(Program, OfASmallProductReadsAsDocumented) {
  Geometry geometry;
  geometry.n = 8;
  const Plan plan = make_plan({130, 17, 9}, Accumulate::kDevice, geometry);
  std::vector<std::string> words;
  for (const Command& command : make_program(plan, make_layout(plan)))
    words.push_back(to_string(command));
  EXPECT_EQ(words, (std::vector<std::string>{
                       "LOAD_WEIGHTS count=48 passes=1 address=4096",
                       "LOAD_ACTIVATIONS rows=65 count=3 passes=1 blocks=2 address=8192 stride=130",
                       "MATMUL flags=131 rows=65 count=3 passes=2 blocks=2",
                       "STORE rows=65 count=2 blocks=2 address=12288 format=0 zero=0 low=0 high=0 "
                       "stride=130",
                       "FINISH",
                   }));
}

// With parameters, and an overlap on either side: the last of four tiles of K is loaded apart, the
// last of two of N stored apart.
TEST(Program, OfAProductInAChainReadsAsDocumented) {
  Geometry geometry;
  geometry.n = 8;
  const Output output{ResultFormat(ResultCode::kInt8), -3, -128, 127};
  const Plan plan = make_plan({5, 30, 16}, Accumulate::kDevice, geometry, output);
  std::vector<std::string> words;
  const JobCommands list =
      job_commands(plan, make_layout(plan, 0), Overlaps{0, 3, ResultCut{0, 1}});
  for (const Command& command : list.commands) words.push_back(to_string(command));
  EXPECT_EQ(words, (std::vector<std::string>{
                       "LOAD_WEIGHTS count=64 passes=1 address=0",
                       "LOAD_ACTIVATIONS rows=5 count=3 passes=1 blocks=1 address=8192 stride=5",
                       "LOAD_ACTIVATIONS rows=5 count=1 passes=1 blocks=1 address=8312 stride=5",
                       "MATMUL flags=3 rows=5 count=4 passes=2 blocks=1",
                       "LOAD_PARAMETERS count=16 passes=1 address=4096",
                       "STORE rows=5 count=1 blocks=1 address=12288 format=1 zero=253 low=128 "
                       "high=127 stride=5",
                       "STORE rows=5 count=1 blocks=1 address=12328 format=1 zero=253 low=128 "
                       "high=127 stride=5",
                       "FINISH",
                   }));
  constexpr Phase kAhead = Phase::kAhead, kEarly = Phase::kEarly, kRest = Phase::kRest;
  EXPECT_EQ(list.phases,
            (std::vector<Phase>{kAhead, kEarly, kRest, kEarly, kAhead, kRest, kRest, kRest}));
}

TEST(Program, StackLoadsWeightsPerProduct) {
  Geometry geometry;
  geometry.n = 8;
  const Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const Plan plan = make_plan({6, 8, 8}, Accumulate::kDevice, geometry, output, 3);
  std::vector<std::string> words;
  for (const Command& command : make_program(plan, make_layout(plan, 0))) {
    if (command.opcode == Opcode::kLoadWeights || command.opcode == Opcode::kLoadParameters) {
      words.push_back(to_string(command));
    }
  }
  EXPECT_EQ(words, (std::vector<std::string>{"LOAD_WEIGHTS count=8 passes=1 address=0",
                                             "LOAD_PARAMETERS count=8 passes=1 address=4096",
                                             "LOAD_WEIGHTS count=8 passes=1 address=64",
                                             "LOAD_PARAMETERS count=8 passes=1 address=4160",
                                             "LOAD_WEIGHTS count=8 passes=1 address=128",
                                             "LOAD_PARAMETERS count=8 passes=1 address=4224"}));
}

/// The STOREs of that many rows of results that are a part of 24 columns, on an array of 8.
std::vector<StoreCommand> stores_of_part(std::uint64_t rows, std::uint64_t first,
                                         std::uint64_t columns) {
  Geometry geometry;
  geometry.n = 8;
  geometry.accumulator_rows = 8;
  Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  output.vector = StoreCommand{};
  output.part = ResultPart{first, 24};
  const Plan plan = make_plan({rows, 8, columns}, Accumulate::kDevice, geometry, output);
  Layout layout = make_layout(plan);
  layout.results = 0;
  std::vector<StoreCommand> stores;
  for (const Command& command : make_program(plan, layout)) {
    if (command.opcode == Opcode::kStore) stores.emplace_back(command);
  }
  return stores;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> stored_lanes(std::uint64_t first,
                                                                  std::uint64_t columns) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lanes;
  for (const StoreCommand& store : stores_of_part(3, first, columns)) {
    lanes.emplace_back(store.first_lane, store.lanes);
  }
  return lanes;
}

TEST(Program, StoresTheLanesOfAPartAlone) {
  using Lanes = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(stored_lanes(2, 4), (Lanes{{2, 4}}));
  EXPECT_EQ(stored_lanes(3, 17), (Lanes{{3, 5}, {0, 0}, {0, 4}})) << "0 are all eight";
  EXPECT_EQ(stored_lanes(8, 16), (Lanes{{0, 0}}));
}

TEST(Program, StoresSplitBlocksSeparately) {
  std::vector<std::uint64_t> words;
  for (const StoreCommand& store : stores_of_part(20, 3, 17)) {  // blocks of 7, 7 and 6 rows
    EXPECT_EQ(store.blocks, 1U);
    words.push_back(store.address / 8);
  }
  EXPECT_EQ(words, (std::vector<std::uint64_t>{0, 20, 40, 7, 27, 47, 14, 34, 54}));
}

TEST(Program, SplitsOnlyASingleBlock) {
  Geometry geometry;
  geometry.n = 8;
  geometry.accumulator_rows = 16;
  geometry.scratchpad_words = 100;
  const auto plan = [&](const GemmShape& shape) {
    return make_plan(shape, Accumulate::kDevice, geometry);
  };
  const auto is_seam = [&](const GemmShape& shape, const GemmShape& next) {
    return find_overlap(plan(shape), plan(next), geometry).has_value();
  };
  EXPECT_TRUE(is_seam({5, 8, 16}, {5, 16, 8}));
  EXPECT_TRUE(is_seam({16, 80, 16}, {16, 16, 8}));   // what the first reads need not stay
  EXPECT_FALSE(is_seam({5, 8, 8}, {5, 8, 8}));       // one tile between them
  EXPECT_FALSE(is_seam({17, 8, 16}, {17, 16, 8}));   // two blocks
  EXPECT_FALSE(is_seam({16, 16, 80}, {16, 80, 8}));  // more than stays on chip
}

TEST(Program, NamesTheRemedyIfItDoesNotFitTheRing) {
  EXPECT_EQ(ring_places(65535), 65536U);
  EXPECT_THAT(message_of([] { ring_places(65536); }), Says("65536", "65535", "--batch", "--array"));
}

}  // namespace
}  // namespace gemm64
