// SPDX-License-Identifier: Apache-2.0
#include "host/check/trace_events.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;
using Json = TraceEvents::Json;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

class TraceEventsTest : public InFolder {
 protected:
  /// The file's events, as it is there.
  Json events() const {
    std::ifstream file(path_);
    return Json::parse(file).at("traceEvents");
  }

  const fs::path path_ = folder_ / "events.json";
};

TEST_F(TraceEventsTest, OpenSliceIsBeforeItsParts) {
  TraceEvents file(path_);
  file.name_track(2, "weights");
  file.begin(2, 10, "command", "outer", {{"count", 3}});
  file.slice(2, 10, 12, "tile", "inner", {{"K", 0}});
  file.begin(2, 12, "command", "second", Json::object());
  file.end(2, 20, Json::object());
  file.end(2, 30, {{"transfer", 7}});
  file.finish({{"clocks", 30}});
  const Json found = events();
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0]["name"], "thread_name");
  EXPECT_EQ(found[2]["ts"], 10);
  EXPECT_EQ(found[2]["dur"], 20);
  EXPECT_EQ(found[2]["args"], (Json{{"count", 3}, {"transfer", 7}}));
  EXPECT_EQ(found[3]["name"], "inner");
  EXPECT_EQ(found[3]["dur"], 2);
  EXPECT_EQ(found[4]["dur"], 8);
}

TEST_F(TraceEventsTest, TheLargestNumbersHaveRoom) {
  TraceEvents file(path_);
  file.begin(1, 0, "layer", "largest", Json::object());
  Json args;
  for (std::size_t i = 0; i < TraceEvents::kEndArgs; ++i) {
    args[std::string(19, 'a') + std::to_string(i)] = kMax;
  }
  file.end(1, kMax, args);
  file.finish(Json::object());
  EXPECT_EQ(events()[0]["dur"], kMax);
  EXPECT_EQ(events()[0]["args"].size(), TraceEvents::kEndArgs);
}

}  // namespace
}  // namespace gemm64
