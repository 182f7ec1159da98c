// SPDX-License-Identifier: Apache-2.0
#include "host/check/timeline.hpp"

#include "tests/test.hpp"
#include "tests/unit/check/fake_probe.hpp"
#include "tests/unit/check/timeline_file.hpp"

namespace gemm64 {
namespace {

using testing::_;
using testing::ElementsAre;

namespace fs = std::filesystem;
using namespace counter;

class TimelineTest : public InFolder {
 protected:
  static Job job(const GemmShape& shape, const std::string& name = "layer",
                 Accumulate accumulate = Accumulate::kDevice) {
    Geometry geometry;
    geometry.n = 8;
    geometry.accumulator_rows = 16;
    return make_job(name, shape, accumulate, geometry);
  }

  /// The causes of all engines for `cycles` cycles; an engine that is not named is idle.
  void spend(Timeline& timeline, unsigned cycles, const std::vector<std::size_t>& causes) {
    constexpr std::size_t kIdle[] = {kCommandsIdle, kWeightsIdle, kActivationsIdle, kComputeIdle,
                                     kResultsIdle};
    FakeProbe probe;
    probe.now = event_bit(kTotalClocks);
    for (const std::size_t cause : causes) probe.now |= event_bit(cause);
    for (const std::size_t idle : kIdle) {
      bool named = false;
      for (const std::size_t cause : causes) {
        named |= std::string_view(kCounters[cause].engine) == kCounters[idle].engine;
      }
      if (!named) probe.now |= event_bit(idle);
    }
    for (unsigned i = 0; i < cycles; ++i) timeline.clock(clock_++, probe);
  }
  void rest(Timeline& timeline, unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) timeline.clock(clock_++, FakeProbe());
  }
  /// One product of a group, from its first cycle: all is dispatched and nothing done yet.
  void begin(Timeline& timeline, const Job& job) {
    timeline.begin(job, clock_);
    spend(timeline, 3, {kCommandsWaitMemory});
    spend(timeline, 4, {kCommandsDispatch});  // consecutive dispatches are four commands
  }
  TimelineFile finish(Timeline& timeline) const {
    timeline.end(clock_);
    timeline.finish();
    return TimelineFile(path_);
  }

  const fs::path path_ = folder_ / "t.json";
  std::uint64_t clock_ = 100;
};

/// "tile k0 n0 107-115", ...
std::vector<std::string> texts(const std::vector<TimelineSlice>& slices) {
  std::vector<std::string> texts;
  for (const TimelineSlice& s : slices) {
    texts.push_back(fmt::format("{} {} {}-{}", s.category, s.name, s.begin, s.end));
  }
  return texts;
}

TEST_F(TimelineTest, CutsTransfersIntoTiles) {
  Timeline timeline(path_);
  const Job p = job({3, 16, 16});
  begin(timeline, p);  // cycles 100 to 106
  spend(timeline, 32, {kWeightsTransfer});
  spend(timeline, 6, {kActivationsTransfer});
  spend(timeline, 12, {kComputeCompute});
  spend(timeline, 24, {kResultsTransfer});
  const TimelineFile file = finish(timeline);
  const auto& weights = file.tracks.at("weights");
  ASSERT_THAT(texts(weights),
              ElementsAre("idle idle 100-107", "command LOAD_WEIGHTS 16x16 107-139",
                          "tile k0 n0 107-115", "tile k1 n0 115-123", "tile k0 n1 123-131",
                          "tile k1 n1 131-139", "idle idle 139-181"));
  EXPECT_EQ(weights[1].args.at("count"), 32);
  EXPECT_EQ(weights[1].args.at("transfer"), 32);
  EXPECT_EQ(weights[5].args.at("K"), 1);
  EXPECT_EQ(weights[5].args.at("N"), 1);
  EXPECT_EQ(weights[5].args.at("transfer"), 8);
  EXPECT_EQ(weights[5].parent, 1);

  const auto& activations = file.tracks.at("activations");
  ASSERT_THAT(texts(activations), ElementsAre(_, "command LOAD_ACTIVATIONS 3x16 139-145",
                                              "tile k0 139-142", "tile k1 142-145", _));

  const auto& compute = file.tracks.at("compute");
  ASSERT_THAT(texts(compute),
              ElementsAre(_, "command MATMUL 3x16x16 145-157", _, _, _, "tile k1 n1 154-157", _));

  const auto& results = file.tracks.at("results");
  ASSERT_THAT(texts(results),
              ElementsAre(_, "command STORE 3x16 157-181", "tile n0 157-169", "tile n1 169-181"));

  const auto& commands = file.tracks.at("commands");
  ASSERT_THAT(texts(commands),
              ElementsAre("wait wait_memory 100-103", "dispatch LOAD_WEIGHTS 16x16 103-104", _, _,
                          "dispatch STORE 3x16 106-107", _));
  EXPECT_EQ(commands[4].args.at("command"), 3);
  EXPECT_THAT(texts(file.tracks.at("layers")), ElementsAre("layer layer 100-181"));
  EXPECT_EQ(file.tracks.at("layers")[0].args.at("tiles"), 4);
}

TEST_F(TimelineTest, ShowsLongWaitsInTiles) {
  Timeline timeline(path_);
  const Job p = job({3, 8, 8});
  begin(timeline, p);
  spend(timeline, 5, {kWeightsTransfer});
  spend(timeline, 10, {kWeightsWaitMemory});
  spend(timeline, 5, {kWeightsWaitMemory, kActivationsWaitMemory});  // the same wait goes on
  spend(timeline, 2, {kWeightsTransfer});
  spend(timeline, 9, {kWeightsWaitBuffer});
  spend(timeline, 7, {kWeightsWaitBuffer, kActivationsWaitMemory});  // 16 cycles
  spend(timeline, 1, {kWeightsTransfer});
  const TimelineFile file = finish(timeline);
  const auto& weights = file.tracks.at("weights");
  ASSERT_THAT(texts(weights), ElementsAre(_, _, "tile k0 n0 107-146", "wait wait_buffer 129-145"));
  EXPECT_EQ(weights[2].args.at("transfer"), 8);
  EXPECT_EQ(weights[2].args.at("wait_memory"), 15);
  EXPECT_EQ(weights[2].args.at("wait_buffer"), 16);
  EXPECT_EQ(weights[3].parent, 2);
}

TEST_F(TimelineTest, ShowsWaitsBetweenTiles) {
  Timeline timeline(path_);
  const Job p = job({3, 16, 8});
  begin(timeline, p);
  spend(timeline, 2, {kComputeWaitWeights});
  spend(timeline, 3, {kComputeCompute});
  spend(timeline, 1, {kComputeWaitActivations});
  spend(timeline, 3, {kComputeCompute});
  spend(timeline, 4, {kComputeDrain});
  const auto compute = finish(timeline).tracks.at("compute");
  ASSERT_THAT(texts(compute),
              ElementsAre(_, "command MATMUL 3x16x8 107-116", "wait wait_weights 107-109",
                          "tile k0 n0 109-112", "wait wait_activations 112-113",
                          "tile k1 n0 113-116", "wait drain 116-120"));
  EXPECT_EQ(compute[1].args.at("wait_weights"), 2);
  EXPECT_EQ(compute[1].args.at("wait_activations"), 1);
  EXPECT_EQ(compute[6].parent, -1);
}

TEST_F(TimelineTest, ShowsBlocksOfMOfNextGroup) {
  Timeline timeline(path_);
  ASSERT_EQ(job({33, 8, 8}).plan.groups.size(), 1U);  // three blocks of 11 rows
  const Job q = job({34, 8, 8});                      // 12, 11, 11
  ASSERT_EQ(q.plan.groups.size(), 2U);
  timeline.begin(q, clock_);
  spend(timeline, 8, {kCommandsDispatch});
  spend(timeline, 34, {kComputeCompute});
  const auto compute = finish(timeline).tracks.at("compute");
  ASSERT_THAT(texts(compute), ElementsAre(_, "command MATMUL 12x8x8 108-120",
                                          "tile m0 k0 n0 108-120", "command MATMUL 22x8x8 120-142",
                                          "tile m1 k0 n0 120-131", "tile m2 k0 n0 131-142"));
}

TEST_F(TimelineTest, ShowsBlocksOfKOfHostSums) {
  Timeline timeline(path_);
  const Job p = job({3, 16, 8}, "layer", Accumulate::kHost);
  begin(timeline, p);
  spend(timeline, 24, {kResultsTransfer});
  const auto results = finish(timeline).tracks.at("results");
  ASSERT_THAT(texts(results), ElementsAre(_, _, "tile k0 n0 107-119", "tile k1 n0 119-131"));
}

TEST_F(TimelineTest, ShowsTilesOfReloadedActivations) {
  Geometry geometry;
  geometry.n = 8;
  geometry.scratchpad_words = 72;
  geometry.accumulator_rows = 16;
  const Job p = make_job("layer", {9, 80, 16}, Accumulate::kDevice, geometry);
  ASSERT_FALSE(p.plan.groups[0].retain);
  Timeline timeline(path_);
  begin(timeline, p);
  spend(timeline, 9 * 20, {kActivationsTransfer});
  const auto activations = finish(timeline).tracks.at("activations");
  ASSERT_EQ(activations.size(), 22U);
  EXPECT_EQ(activations[2].name, "k0 n0");
  EXPECT_EQ(activations[21].name, "k9 n1");
}

TEST_F(TimelineTest, IgnoresCyclesOutsideProducts) {
  Timeline timeline(path_);
  rest(timeline, 5);
  spend(timeline, 5, {kWeightsTransfer});
  const Job first = job({3, 8, 8}, "first"), second = job({3, 8, 8}, "second");
  timeline.begin(first, clock_);
  rest(timeline, 20);
  spend(timeline, 4, {});
  rest(timeline, 20);
  timeline.end(clock_);
  spend(timeline, 5, {kWeightsTransfer});
  timeline.begin(second, clock_);
  spend(timeline, 6, {});
  const TimelineFile file = finish(timeline);
  const auto& layers = file.tracks.at("layers");
  ASSERT_THAT(texts(layers), ElementsAre("layer first 130-134", "layer second 159-165"));
  Counters expected{};
  for (const std::size_t i :
       {kTotalClocks, kCommandsIdle, kWeightsIdle, kActivationsIdle, kComputeIdle, kResultsIdle}) {
    expected[i] = 10;
  }
  EXPECT_EQ(file.counters(true), expected);
}

TEST_F(TimelineTest, ClosesSlicesOfUnfinishedProduct) {
  Timeline timeline(path_);
  const Job p = job({3, 16, 8});
  begin(timeline, p);
  spend(timeline, 10, {kWeightsTransfer});
  spend(timeline, 2, {kWeightsWaitMemory});
  timeline.end(clock_);
  begin(timeline, p);
  spend(timeline, 16, {kWeightsTransfer});
  const auto weights = finish(timeline).tracks.at("weights");
  ASSERT_THAT(texts(weights),
              ElementsAre(_, _, _, "tile k1 n0 115-119", _, _, "tile k0 n0 126-134", _));
}

TEST_F(TimelineTest, ShowsWorkWithoutCommand) {
  Timeline timeline(path_);
  const Job p = job({3, 8, 8}, "broken");
  timeline.begin(p, clock_);
  spend(timeline, 20, {kCommandsDispatch, kWeightsTransfer, kComputeCompute});
  const TimelineFile file = finish(timeline);
  EXPECT_EQ(file.counters(false)[kWeightsTransfer], 20U);
  EXPECT_EQ(file.counters(true)[kComputeCompute], 20U);
  EXPECT_EQ(file.count("commands", "dispatch"), 5U);
}

TEST_F(TimelineTest, EscapesNames) {
  Timeline timeline(path_);
  const Job p = job({3, 8, 8}, "a\"b\\c\n\xff");
  timeline.begin(p, clock_);
  spend(timeline, 1, {});
  EXPECT_EQ(finish(timeline).tracks.at("layers")[0].name, "a\"b\\c\n\xef\xbf\xbd");
}

TEST_F(TimelineTest, NothingIsLeftWithoutFinish) {
  {
    Timeline timeline(path_);
    const Job p = job({3, 8, 8});
    begin(timeline, p);
    timeline.end(clock_);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(TimelineTest, RefusesUnwritablePath) {
  EXPECT_THROW(Timeline(folder_ / "no" / "t.json"), UsageError);
  EXPECT_THROW(Timeline{folder_}, UsageError);
}

TEST_F(TimelineTest, AFullDiskIsAnError) {
  ASSERT_TRUE(fs::exists("/dev/full")) << "Linux has it";
  Timeline timeline("/dev/full");
  EXPECT_EQ(message_of<OutputError>([&] { timeline.finish(); }),
            "/dev/full: the timeline is lost: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace gemm64
