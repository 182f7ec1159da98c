// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/recording.hpp"

#include <unistd.h>

#include "host/check/trace_events.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

class Recording : public InFolder {
 protected:
  void write(const std::string& text) const { std::ofstream(file_) << text; }

  void expect_refused(const std::string& text, const std::string& why) const {
    write(text);
    EXPECT_THAT([&] { page_recording(file_, 100); }, Fails(file_, why));
  }

  const std::string file_ = folder_ / "recording";
};

TEST_F(Recording, PutsWaitsBetweenThePartsOfATile) {
  TraceEvents events(file_);
  events.name_track(1, "layers");
  events.name_track(5, "compute");
  events.begin(1, 10, "layer", "fc", Json::object());
  events.slice(5, 10, 20, "idle", "idle");
  events.begin(5, 20, "command", "MATMUL 4x4x4", Json::object());
  events.slice(5, 20, 40, "tile", "k0 n0", {{"compute", 16}});
  events.slice(5, 25, 29, "wait", "wait_weights");
  events.slice(5, 40, 44, "tile", "k1 n0", {{"compute", 4}});
  events.slice(5, 46, 47, "wait", "drain");
  events.end(5, 44, Json::object());
  events.end(1, 50, {{"clocks", 40}});
  events.finish(Json::object());

  const Json recording = page_recording(file_, 100);
  EXPECT_EQ(recording, Json::parse(R"({
    "begin": 10, "shortest": 1,
    "causes": ["layer", "idle", "compute", "wait_weights", "drain"],
    "texts": ["fc", "idle", "k0 n0", "wait_weights", "k1 n0", "drain"],
    "tracks": [
      {"name": "layers", "gaps": [0], "clocks": [40], "causes": [0], "texts": [0]},
      {"name": "compute", "gaps": [0, 0, 0, 0, 0, 2], "clocks": [10, 5, 4, 11, 4, 1],
       "causes": [1, 2, 3, 2, 2, 4], "texts": [1, 1, 1, -1, 2, 1]}]})"));
}

TEST_F(Recording, JoinsTooManyNeighbours) {
  TraceEvents events(file_);
  events.name_track(3, "weights");
  for (std::uint64_t tile = 0; tile < 64; ++tile) {
    events.slice(3, 3 * tile, 3 * tile + 2, "tile", "k" + std::to_string(tile), {{"transfer", 2}});
    events.slice(3, 3 * tile + 2, 3 * tile + 3, "wait", "wait_memory");
  }
  events.slice(3, 192, 400, "idle", "idle");
  events.finish(Json::object());

  const Json recording = page_recording(file_, 40);
  EXPECT_EQ(recording["shortest"], 4);
  const Json& track = recording["tracks"][0];
  EXPECT_LE(track["clocks"].size(), 40U);
  std::uint64_t sum = 0;
  for (const Json& cycles : track["clocks"]) sum += cycles.get<std::uint64_t>();
  EXPECT_EQ(sum, 400U);
  EXPECT_EQ(track["clocks"].back(), 208);  // what is long stays
  EXPECT_EQ(recording["causes"][track["causes"][0].get<std::size_t>()], "transfer");
}

TEST_F(Recording, MakesNeighboursOneAcrossGapsToo) {
  TraceEvents events(file_);
  events.name_track(3, "weights");
  for (std::uint64_t i = 0; i < 1000; ++i)
    events.slice(3, 10 * i, 10 * i + 1, "wait", "wait_memory");
  events.finish(Json::object());
  EXPECT_LE(page_recording(file_, 40)["tracks"][0]["clocks"].size(), 40U);
  EXPECT_EQ(page_recording(file_, 0)["tracks"][0]["clocks"].size(), 1U);  // never none
}

TEST_F(Recording, RefusesWhatIsNoTimeline) {
  expect_refused("", "no timeline");
  expect_refused("{\"layers\": []}\n", "no timeline");
  expect_refused("{\"traceEvents\":[\nnonsense\n],\n", "no event");
  expect_refused("{\"traceEvents\":[\n{\"ph\":\"X\",\"tid\":\"one\"}\n],\n", "no event");
  expect_refused(
      "{\"traceEvents\":[\n{\"ph\":\"X\",\"tid\":1,\"name\":\"n\",\"cat\":\"wait\",\"ts\":-1,"
      "\"dur\":5}\n],\n",
      "no event");
  expect_refused(
      "{\"traceEvents\":[\n"
      "{\"ph\":\"X\",\"tid\":1,\"name\":\"n\",\"cat\":\"wait\",\"ts\":5,\"dur\":5},\n"
      "{\"ph\":\"X\",\"tid\":1,\"name\":\"n\",\"cat\":\"wait\",\"ts\":7,\"dur\":5}\n],\n",
      "slices at cycle 7 overlap");
  EXPECT_THROW(page_recording("/nonexistent/timeline.json", 100), UsageError);
}

TEST_F(Recording, OfNothingHasNoTracks) {
  write("{\"traceEvents\":[\n\n],\"otherData\":{}}\n");
  EXPECT_THROW(page_recording(file_, 100), UsageError);
}

}  // namespace
}  // namespace gemm64
