// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_parts.hpp"

#include "host/report/json.hpp"
#include "host/runtime/network_input.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/marked_device.hpp"
#include "tests/unit/ep/run_network.hpp"
#include "tests/unit/report/shown.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"

namespace gemm64 {
namespace {

/// Reports without wall times.
std::string timeless(RunReport report) {
  for (LayerReport& layer : report.layers) layer.seconds = 0;
  report.host->seconds = report.host->reference_seconds = 0;
  return to_json(report).dump(1) + (report.error.empty() ? shown(report) : "");
}

/// Ten images in four passes of three, the last one filled up, each pass on a device of its own.
class NetworkPartsTest : public testing::Test {
 protected:
  NetworkRun whole() {
    marks_.ran.clear();
    return run_on_own_device(inputs_);
  }

  NetworkRun joined() {
    MarkedDevice device(marks_);
    const Session session(device, "tlm", {}, settings_of(options_), options_);
    PartJoin join(model_.graph(), inputs_, session.report("test", 10));
    for (std::int64_t i = 0; i < inputs_.passes(); ++i) {
      const NetworkInputs pass = inputs_.pass(i);
      const Json sent = to_binary_json(pass.take(0, pass.images));
      join.add(unpack_part(pack_part(run_on_own_device(NetworkInputs::of(tensors_from(sent))))));
    }
    return join.finish();
  }

  Marks marks_;
  RunOptions options_;

 private:
  using Json = nlohmann::json;

  NetworkRun run_on_own_device(const NetworkInputs& inputs) {
    MarkedDevice device(marks_);
    return run_network(model_, inputs, device, options_, nullptr, "tlm", 10);
  }

  const OnnxModel model_ = quantized_branches(3);
  const NetworkInputs inputs_ = NetworkInputs::in_passes(
      {{"x", InputSource::of(quantized_input({10, 3, 9, 9}))}}, 10, 3, "for a test");
};

TEST_F(NetworkPartsTest, GiveReportAndOutputsOfOneRun) {
  for (const ResultCode results : {ResultCode::kInt8, ResultCode::kInt32}) {
    options_.results = results;
    const NetworkRun one = whole(), found = joined();
    EXPECT_TRUE(one.report.verified());
    EXPECT_EQ(timeless(found.report), timeless(one.report));
    const Tensor &y = found.outputs.at("y"), &expected = one.outputs.at("y");
    EXPECT_EQ(y.dims(), expected.dims());
    ASSERT_EQ(y.bytes(), expected.bytes());
    EXPECT_EQ(std::memcmp(y.raw(), expected.raw(), y.bytes()), 0);
    EXPECT_EQ(found.first.raw(), y.raw());
  }
}

TEST_F(NetworkPartsTest, GiveTheMismatchesOfOneRun) {
  whole();
  ASSERT_EQ(marks_.ran.size(), 8U);
  marks_.damage = {{marks_.ran[3], Damage::kFlips}, {marks_.ran[5], Damage::kFlips}};
  const NetworkRun one = whole(), found = joined();
  EXPECT_FALSE(found.report.verified());
  EXPECT_GT(found.report.total().mismatches.count, 1U);
  EXPECT_EQ(timeless(found.report), timeless(one.report));
}

TEST_F(NetworkPartsTest, EndWithFirstErrorOfOneRun) {
  whole();
  ASSERT_EQ(marks_.ran.size(), 8U);
  marks_.damage = {{marks_.ran[3], Damage::kFails}, {marks_.ran[5], Damage::kFails}};
  const NetworkRun one = whole(), found = joined();
  EXPECT_THAT(found.report.error, Says("burnt down"));
  EXPECT_EQ(timeless(found.report), timeless(one.report));
  EXPECT_EQ(found.report.layers.size(), one.report.layers.size());
}

TEST(NetworkParts, RefuseWhatIsNoPart) {
  EXPECT_THROW(unpack_part("nothing of the kind"), UsageError);
  EXPECT_THROW(unpack_part(""), UsageError);
  NetworkRun part;
  const std::string whole = pack_part(part);
  EXPECT_THROW(unpack_part(whole.substr(0, whole.size() - 1)), UsageError);
}

TEST(NetworkParts, KeepWhereALayersResultsAreWrong) {
  NetworkRun part;
  LayerReport layer;
  layer.name = "fc1";
  layer.shape = {4, 5, 6};
  layer.counters[counter::kTotalClocks] = 188;
  layer.mismatches = {2, 3, 1, -7, 9, 16};
  part.report.layers = {layer};
  const NetworkRun again = unpack_part(pack_part(part));
  ASSERT_EQ(again.report.layers.size(), 1U);
  const LayerReport& found = again.report.layers[0];
  EXPECT_EQ(found.name, "fc1");
  EXPECT_EQ(found.shape.n, 6U);
  EXPECT_EQ(found.counters, layer.counters);
  EXPECT_EQ(found.mismatches.count, 2U);
  EXPECT_EQ(found.mismatches.first_row, 3);
  EXPECT_EQ(found.mismatches.first_column, 1);
  EXPECT_EQ(found.mismatches.expected, -7);
  EXPECT_EQ(found.mismatches.found, 9);
  EXPECT_EQ(found.mismatches.max_abs_error, 16);
}

TEST(NetworkParts, RefuseBytesThatAreNone) {
  const std::string bytes = pack_part({});
  EXPECT_THROW(unpack_part(bytes.substr(0, bytes.size() / 2)), UsageError);
  EXPECT_THROW(unpack_part("{}"), UsageError);
}

}  // namespace
}  // namespace gemm64
