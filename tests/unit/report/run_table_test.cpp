// SPDX-License-Identifier: Apache-2.0
#include "host/report/run_table.hpp"

#include "host/report/json.hpp"
#include "tests/test.hpp"
#include "tests/unit/report/shown.hpp"
#include "tests/unit/runtime/reports.hpp"

namespace gemm64 {
namespace {

class RunTable : public testing::Test {
 protected:
  RunReport report = example_report();
};

TEST_F(RunTable, ReportsWhatIsVerified) {
  EXPECT_THAT(
      shown(report),
      Says(fmt::format("18 sums equal the reference on the inputs that the device had; "
                       "all {} counters of cycles and bytes equal their prediction in every "
                       "layer.\n",
                       kCounters.size())));
}

TEST_F(RunTable, EndsInASummary) {
  EXPECT_EQ(summary_line(report, 8.24),
            "200 cycles, 0.0 % of the MACs, -, 18 sums equal: VERIFIED in 8.2 s\n");
  report.layers[0].mismatches = {2, 2, 3, 40, 41, 1};
  EXPECT_EQ(summary_line(report, 0.0042),
            "200 cycles, 0.0 % of the MACs, -, 2 of 18 sums differ: FAILED in 5 ms\n");
  report.check = CheckLevel::kNone;
  report.layers[0].mismatches = {};
  EXPECT_THAT(summary_line(report, std::nullopt), Says("(--check none): NOT CHECKED\n"));
}

TEST_F(RunTable, FitsIntoAHundredColumnsByDefault) {
  report.layers[0].name = std::string(150, 'x') + "/conv1";
  report.layers[0].shape = {193600, 3630, 6400};
  for (const std::size_t width : {0, 40, 79, 100, 200}) {
    ReportView view;
    view.width = width;
    const std::string text = run_details(report, view);
    std::istringstream table(text.substr(0, text.find("\n\n", text.find("layer")) + 1));
    std::string line;
    std::getline(table, line);  // the heading, which the terminal's width cuts later
    while (std::getline(table, line)) EXPECT_LE(line.size(), width == 40 ? 40U : 100U) << line;
    EXPECT_THAT(text, Says("/conv1 ", "fc2"));
    EXPECT_THAT(text, Lacks("SCALE-Sim", "roofline", "18 sums"));
  }
}

TEST_F(RunTable, ShowsTheColumnsThatAreAskedFor) {
  ReportView view;
  view.columns = "tiles,check";
  EXPECT_THAT(run_details(report, view), Says("\nlayer  tiles  check\n"));
  view.columns = "all";
  EXPECT_THAT(run_details(report, view), Says("SCALE-Sim", "roofline"));
  EXPECT_THAT([] { check_columns("tiles,til"); }, Fails("'til'", "tiles, "));
}

TEST_F(RunTable, ShowsADashInPlaceOfAFigureThatIsNone) {
  report.layers.resize(1);
  report.layers[0].shape = {46656, 0, 64};
  report.layers[0].utilization = 0;
  Convolution pool;
  pool.kernel_height = pool.kernel_width = 3;
  pool.stride_height = pool.stride_width = 2;
  report.layers[0].convolution = pool;
  ReportView view;
  view.columns = "shape,padded,tiles,utilization,scale_sim_os";
  EXPECT_THAT(run_details(report, view), testing::ContainsRegex("fc1 +3x3 /2 pool +- +- +- +-\n"));
}

TEST_F(RunTable, IsALineIfQuiet) {
  ReportView view;
  view.quiet = true;
  report.host_layers.clear();
  EXPECT_EQ(run_details(report, view), "");
  report.layers[0].mismatches = {1, 2, 3, 40, 41, 1};
  EXPECT_THAT(run_details(report, view), Says("fc1: 1 value differs; the first at row 2"));
}

TEST_F(RunTable, WarnsOfNoShareThatWasAskedFor) {
  report.host_layers = {{"conv1", "Conv", 900, "with --convolutions host"}};
  EXPECT_THAT(run_details(report, {}), Lacks("Warning", "Next:"));
  report.host_layers[0].reason =
      "convolutions run on the device only where their values are of 8 bits";
  EXPECT_THAT(run_details(report, {}),
              Says("Warning: only 6.6 %", "Next: quantize it: gemm64 quantize net "));
}

TEST_F(RunTable, ReportsFoundFaults) {
  LayerReport& layer = report.layers.front();
  layer.faults.push_back({"CHECKSUM", "", {0, 17, 3}, 5, 590484, 590333});
  layer.faults.push_back({"PARITY", "scratchpad", {}, 77, 591000, 590900});
  EXPECT_THAT(shown(report),
              Says("VERIFIED", "1 fault found by the device in " + layer.name +
                                   ", tile 0,17,3, row 5 (CHECKSUM); run again from cycle "
                                   "590,484.\n1 fault found by the device in " +
                                   layer.name +
                                   ", scratchpad, word 77 (PARITY); run again from cycle "
                                   "591,000.\n"));
  EXPECT_EQ(to_json(report)["layers"][0]["faults_found"],
            nlohmann::ordered_json::parse(R"([{"error": "CHECKSUM", "tile": [0, 17, 3], "row": 5,
                                               "found_in": 590333,
                                               "run_again_from": 590484},
                                              {"error": "PARITY", "memory": "scratchpad",
                                               "word": 77, "found_in": 590900, "run_again_from": 591000}])"));
}

TEST_F(RunTable, ReportsHostLayersAndReasons) {
  EXPECT_THAT(shown(report),
              Says("7 nodes on the host, 0.50 s.\n", "MACs on the device: 6.4 % (64 of 1,000).\n",
                   "On the host: 2 layers, 900 MACs (conv1, conv2): convolutions run on "
                   "the host.\n",
                   "On the host: 1 layer, 36 MACs (attention): its weights depend on "
                   "the input.\n"));
}

TEST_F(RunTable, NamesFourLayersOfAReason) {
  for (const char* name : {"conv3", "conv4", "conv5"}) {
    report.host_layers.push_back({name, "Conv", 100, "convolutions run on the host"});
  }
  EXPECT_THAT(shown(report), Says("5 layers, 1,200 MACs (conv1, conv2, conv3, conv4, ...): conv"));
}

TEST_F(RunTable, ReportsReloadedWeights) {
  report.geometry.n = 64;
  report.layers.resize(1);
  LayerReport& layer = report.layers[0];
  layer.program = 1;
  layer.shape = {100, 64, 32};
  layer.counters = {};
  layer.counters[counter::kTotalClocks] = 1000;
  layer.counters[counter::kBytesWeights] = 3 * 64 * 32;
  layer.counters[counter::kBytesActivations] = 6400;
  layer.counters[counter::kBytesResults] = 3200;
  EXPECT_THAT(shown(report),
              Says("Weight traffic: 6.000 KiB for 2.000 KiB of the model, 3.00x",
                   "A single memory of 64 bytes per cycle for all ports would need 246 "
                   "cycles (0.25x).\n"));
  EXPECT_EQ(to_json(report)["total"]["weights"],
            (nlohmann::ordered_json{{"model_bytes", 2048}, {"loaded_bytes", 6144}}));
}

TEST_F(RunTable, NamesAFigureThatCannotBe) {
  report.layers[1].utilization = 4.3952;
  EXPECT_THAT(shown(report),
              Says("fc2: its utilization is 439.52 %; more than 100 % cannot be\n", "FAILED\n"));
}

TEST_F(RunTable, WarnsIfFewMacsAreOnDevice) {
  const std::string warning =
      "only 6.4 % (64 of 1,000) of the network's MACs are on the device; cycles and bytes are of "
      "these layers only";
  EXPECT_THAT(shown(report), Says("Warning: " + warning + ".\n"));
  EXPECT_EQ(to_json(report)["warnings"], nlohmann::ordered_json::array({warning}));
  report.host_layers = {{"conv1", "Conv", 64, "why"}};
  EXPECT_THAT(shown(report), Lacks("Warning"));
  EXPECT_FALSE(to_json(report).contains("warnings"));
}

TEST_F(RunTable, GivesALayerNoCyclesThatAreNotItsOwn) {
  for (LayerReport& layer : report.layers) {
    layer.program = 1;
    layer.overlapped = true;
  }
  EXPECT_THAT(shown(report), Says("the cycles of each are not known: 200 in program 1.\n"));
  const nlohmann::ordered_json json = to_json(report);
  EXPECT_TRUE(json["layers"][0]["cycles"].is_null());
  EXPECT_TRUE(json["layers"][0]["utilization"].is_null());
  EXPECT_EQ(json["programs"][0]["cycles"], 200);
  EXPECT_EQ(json["total"]["cycles"], 200);
}

TEST_F(RunTable, CountsImagesOfTheSameClass) {
  EXPECT_THAT(
      shown(report),
      Says("Same top-1 class as in float32: 98.4 % (63 of 64); SQNR 40.0 dB (30.0 dB after"));
}

TEST_F(RunTable, ReportsThatNothingWasVerified) {
  report.layers.clear();
  const std::string text = shown(report);
  EXPECT_THAT(text, testing::AllOf(Says("No layer of the network ran on the device, so nothing was "
                                        "verified.\n",
                                        "MACs on the device: 0.0 % (0 of 936).\n"),
                                   Lacks("VERIFIED", "FAILED")));
  EXPECT_THAT(text, Lacks("MxKxN")) << "a table of nothing";
}

TEST_F(RunTable, ShowsProblemsAndFails) {
  report.problems = {"--trace-tile fc1:0,0,0: the tile was never reached"};
  EXPECT_THAT(shown(report), Says("--trace-tile fc1:0,0,0: the tile was never reached\n",
                                  "18 sums equal: FAILED\n"));
}

TEST_F(RunTable, ShowsWhatDiffers) {
  report.layers[0].mismatches = {1, 2, 3, 40, 41, 1};
  ++report.layers[1].counters[counter::kWeightsIdle];
  EXPECT_THAT(shown(report),
              Says("fc1: 1 value differs; the first at row 2, column 3: expected 40, "
                   "found 41\n",
                   "fc2: counter weights.idle is 1, predicted 0\n", "FAILED\n"));
}

TEST_F(RunTable, OfTheFloatPathComparesWithDouble) {
  report.host_only = true;
  report.layers[1].error_bound = 0.5;
  EXPECT_THAT(
      shown(report),
      Says("2 Linear layers as close to the product in double as float32 allows: VERIFIED\n"));
  report.layers[1].max_abs_error = 1;
  EXPECT_THAT(shown(report), Says("fc2: error 1 is larger than 0.5 allows\n", ": FAILED\n"));
  report.layers.clear();
  EXPECT_THAT(shown(report), Lacks("MxKxN"));
}

}  // namespace
}  // namespace gemm64
