// SPDX-License-Identifier: Apache-2.0
// Sweeps: their rows against the commands that they stand for, and what is left when they end
// early.

#include "tests/cli/onnx_bytes.hpp"
#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::StartsWith;

constexpr const char* kSample = GEMM64_TEST_DATA "/sweep.json";
constexpr const char* kFashion = GEMM64_TEST_DATA "/fashion_cnn.onnx";

class SweepProgram : public Program {
 protected:
  std::string read(const std::string& name) const { return contents(folder_ / name); }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }

  ordered_json rows(const std::string& sweep) const {
    write("s.json", sweep);
    const Outcome outcome = run("sweep s.json --json rows.json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const ordered_json rows = json_of<ordered_json>("rows.json")["rows"];
    fs::remove(folder_ / "rows.json");
    return rows;
  }

  /// The report of another command.
  ordered_json report(const std::string& arguments) const {
    const Outcome outcome = run(arguments + " --json report.json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json_of<ordered_json>("report.json");
  }

  /// A row of a run is what a report's total says.
  static void expect_total(const ordered_json& row, const ordered_json& report) {
    const ordered_json& total = report["total"];
    for (const char* key : {"cycles", "predicted_cycles", "macs", "utilization",
                            "roofline_utilization", "mismatches"}) {
      EXPECT_EQ(row[key], total[key]) << key;
    }
    for (const auto& [port, bytes] : total["bytes"].items()) {
      EXPECT_EQ(row["bytes." + port], bytes) << port;
    }
    std::map<std::string, std::uint64_t> causes;
    for (const ordered_json& layer : report["layers"]) {
      if (layer["on"] != "device") continue;
      for (const auto& [cause, cycles] : layer["cycle_breakdown"].items()) {
        causes[cause] += cycles.get<std::uint64_t>();
      }
    }
    for (const auto& [cause, cycles] : causes) {
      EXPECT_EQ(row["cycle_breakdown." + cause], cycles) << cause;
    }
    EXPECT_EQ(row["device_share"], total.value("device_share", 1.0));
    EXPECT_EQ(row["verified"], true);
  }
};

TEST_F(SweepProgram, RunsAProductAsGemmDoes) {
  const ordered_json rows = this->rows(R"({"mode": "run", "networks": "50x70x90", "batches": [1, 3],
      "designs": {"array": 8, "memory": ["shared", "exclusive"], "memory_latency": 30,
                  "memory_bytes_per_cycle": 5}})");
  ASSERT_EQ(rows.size(), 4U);
  for (const ordered_json& row : rows) {
    expect_total(row,
                 report("gemm 50 70 90 --array 8 --memory-latency 30 "
                        "--memory-bytes-per-cycle 5 --batch " +
                        row["batch"].dump() + " --memory " + row["memory"].get<std::string>()));
  }
}

TEST_F(SweepProgram, ShowsDramOnlyIfADesignHasIt) {
  write("s.json", R"({"networks": "50x70x90", "designs": {"array": [4, 8]}})");
  const Outcome without = run("sweep s.json");
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_EQ(without.out.find("row hits"), std::string::npos) << without.out;
}

TEST_F(SweepProgram, RunsOnDramAsGemmDoes) {
  const ordered_json rows = this->rows(R"({"mode": "run", "networks": "50x70x90",
      "designs": {"array": 8, "memory": ["shared", "dram:lpddr4", "dram:lpddr5,width=16"]}})");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0]["dram.bytes"].is_null());
  for (const std::size_t i : {1, 2}) {
    const ordered_json gemm =
        report("gemm 50 70 90 --array 8 --memory " + rows[i]["memory"].get<std::string>());
    expect_total(rows[i], gemm);
    for (const auto& [name, value] : gemm["dram"].items()) {
      EXPECT_EQ(rows[i]["dram." + name], value) << name;
    }
    EXPECT_EQ(gemm["dram"]["row_hits"].get<int>() + gemm["dram"]["row_misses"].get<int>(),
              gemm["dram"]["reads"].get<int>() + gemm["dram"]["writes"].get<int>());
  }
  EXPECT_EQ(rows[1]["dram.peak_bytes_per_cycle"], 12.8);
  const Outcome shown = run("sweep s.json");
  EXPECT_THAT(shown.out, Says("row hits", "waits for"));
}

// The least buffers of an array, and a little more: layers run in more pieces, or from memory.
TEST_F(SweepProgram, RunsWithTheLeastBuffers) {
  const ordered_json rows = this->rows(R"({"mode": "run", "device": "tlm", "quantize": true,
      "networks": [")" GEMM64_TEST_DATA R"(/strips.onnx"],
      "designs": {"array": [2, 8, 64], "accumulator_rows": 2, "scratchpad_words": [65, 66, 130, 195, 196],
                  "memory": ["independent", "dram:lpddr4"]}})");
  ASSERT_EQ(rows.size(), 30U);
  for (const ordered_json& row : rows) {
    EXPECT_EQ(row["verified"], true) << row;
    EXPECT_EQ(row["device_share"], 1.0) << row;
  }
}

TEST_F(SweepProgram, RunsANetworkAsRunDoes) {
  const ordered_json rows = this->rows(
      std::string(
          R"({"mode": "run", "batches": [1, 2], "designs": {"array": [4, 8]}, "networks": [")") +
      kFashion + R"("]})");
  ASSERT_EQ(rows.size(), 4U);
  for (const ordered_json& row : rows) {
    const ordered_json run =
        report(std::string("run --precision int8 --model ") + kFashion + " --array " +
               row["array"].dump() + " --batch " + row["batch"].dump());
    expect_total(row, run);
    EXPECT_LT(row["device_share"], 1.0) << "convolutions of float32 are the host's";
  }
}

TEST_F(SweepProgram, PredictsQuantizedNetwork) {
  expect(0, std::string("quantize ") + kFashion +
                " -o q.onnx --calibrate-images 20 --calibrate "
                "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz");
  const ordered_json rows =
      this->rows(R"({"networks": "q.onnx", "batches": [1, 6], "designs": {"memory_latency": 40}})");
  ASSERT_EQ(rows.size(), 2U);
  for (const ordered_json& row : rows) {
    const ordered_json array =
        report("analyze q.onnx --memory-latency 40 --batch " + row["batch"].dump())["array"];
    EXPECT_EQ(row["cycles"], array["on_device"]["clocks"]);
    EXPECT_EQ(row["macs"], array["on_device"]["macs"]);
    EXPECT_EQ(row["tiles"], array["tiles"]);
    EXPECT_NEAR(row["utilization"].get<double>(), array["utilization"].get<double>(), 1e-12);
    for (const auto& [model, cycles] : array["published_cycles"].items()) {
      EXPECT_EQ(row["published_cycles." + model], cycles) << model;
    }
    EXPECT_EQ(row["device_share"], 1.0);
    EXPECT_TRUE(row["verified"].is_null());
  }
}

TEST_F(SweepProgram, WritesTableCsvJsonAndPlot) {
  expect(0, std::string("sweep ") + kSample, "40x64x48", " exclusive",
         "VERIFIED: every value, cycle and byte of 36 points.\n");
  write(
      "s.json",
      R"({"mode": "run", "networks": ["40x64x48"], "batches": [1], "designs": {"array": [4, 8]}})");
  const Outcome files = run("sweep s.json --csv a.csv --json a.json --plot a.html --jobs 1");
  EXPECT_EQ(files.code, 0);
  EXPECT_EQ(files.out, "VERIFIED: every value, cycle and byte of 2 points.\n");
  const std::string csv = read("a.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, StartsWith("point,mode,device,network,batch,depthwise,array,"));
  EXPECT_EQ(ordered_json::parse(read("a.json"))["rows"].size(), 2U);
  EXPECT_THAT(read("a.html"), AllOf(StartsWith("<!DOCTYPE html>"), Says("\"verdict\":\"VERIFIED")));
  EXPECT_FALSE(exists("a.csv.part"));
  EXPECT_EQ(run("sweep s.json --csv b.csv --jobs 3").code, 0);
  EXPECT_EQ(read("b.csv"), csv);
}

TEST_F(SweepProgram, ShowsTheBestSelectedPoints) {
  write("s.json", R"({"mode": "predict", "networks": ["40x64x48"],
                      "designs": {"array": [4, 8, 64], "memory_latency": [20, 200]}})");
  expect(0,
         "sweep s.json --sort-by cycles --top 1 --where 'array<64' --objectives cycles,array "
         "--csv best.csv --json all.json",
         "1 of 6 points shown.");
  const ordered_json all = ordered_json::parse(read("all.json"))["rows"];
  ASSERT_EQ(all.size(), 6U);
  EXPECT_THAT(read("best.csv"), Says("\n2,predict,,40x64x48,1,window,8,"));
  // The shorter latency is the better one; each array is the smallest with its cycles.
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]["pareto"], i % 2 == 0) << i;
  const Outcome refused = run("sweep s.json --csv a.csv --sort-by area");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, Says("no column is called 'area'"));
  EXPECT_FALSE(exists("a.csv") || exists("a.csv.part"));
}

TEST_F(SweepProgram, ContinuesAfterKill) {
  fs::copy(kSample, folder_ / "s.json");
  ASSERT_EQ(run("sweep s.json --csv whole.csv").code, 0);
  // Whatever the moment, a line cut off is no row.
  for (const int rows : {1, 7, 35}) {
    SCOPED_TRACE(rows);
    ASSERT_EQ(shell("$G sweep s.json --csv cut.csv --jobs 1 2> /dev/null & pid=$!; "
                    "while kill -0 $pid 2> /dev/null && "
                    "[ $(cat cut.csv.part 2> /dev/null | wc -l) -le " +
                    std::to_string(rows) +
                    " ]; do sleep 0.01; done; kill -9 $pid 2> /dev/null; wait $pid; "
                    "[ -e cut.csv.part ] || [ -e cut.csv ]"),
              0);
    if (!exists("cut.csv")) {
      std::ofstream(folder_ / "cut.csv.part", std::ios::app) << "{\"point\": 3, \"mo";
      EXPECT_THAT(run("sweep s.json --csv cut.csv").err, Says("go on with --resume, or remove"));
      EXPECT_EQ(run("sweep s.json --csv cut.csv --resume").code, 0);
    }
    EXPECT_EQ(read("cut.csv"), read("whole.csv"));
    EXPECT_FALSE(exists("cut.csv.part"));
    fs::remove(folder_ / "cut.csv");
  }
}

TEST_F(SweepProgram, OfWhichTheFileChangedDoesNotGoOn) {
  fs::copy(kSample, folder_ / "s.json");
  write("a.csv.part", R"({"sweep": {"the program": "0", "s.json": "0"}})"
                      "\n{\"point\": 0}\n");
  EXPECT_THAT(run("sweep s.json --csv a.csv --resume").err,
              Says("a.csv.part: the program has changed since its points were finished"));
  EXPECT_EQ(shell("$G sweep s.json --csv b.csv --jobs 1 2> /dev/null & pid=$!; "
                  "while kill -0 $pid && [ $(cat b.csv.part 2> /dev/null | wc -l) -le 2 ]; do "
                  "sleep 0.01; done; kill -9 $pid; wait $pid; [ -e b.csv.part ]"),
            0);
  write("s.json", read("s.json") + "\n");
  const Outcome outcome = run("sweep s.json --csv b.csv --resume");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, Says("b.csv.part: s.json has changed since its points were finished"));
  EXPECT_FALSE(exists("b.csv"));
}

TEST_F(SweepProgram, TakesAFileWithExternalData) {
  write("m.onnx",
        onnx::model({onnx::node("MatMul", {"x", "w"}, "y"), onnx::outside("w", {2, 2}, "w.bin"),
                     onnx::input("x", {1, 2}), onnx::output("y", {1, 2})}));
  write("w.bin", std::string(16, '\0'));
  write("s.json", R"({"networks": "m.onnx", "designs": {"array": [4, 8]}})");
  expect(0, "sweep s.json --csv rows.csv");
  const std::string text = read("rows.csv");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

TEST_F(SweepProgram, KeepsFinishedWorkAfterSignal) {
  write("long.json", R"({"mode": "run", "networks": ["4x4x4", "20000x300x300"],
                         "designs": {"array": 4}})");
  const std::string until_one_is_there =
      "while kill -0 $pid && [ $(cat a.csv.part 2> /dev/null | wc -l) -le 1 ]; do sleep 0.02; "
      "done; ";
  for (const auto& [signal, code] : {std::pair("INT", 130), std::pair("TERM", 143)}) {
    EXPECT_EQ(
        shell(std::string("set -m; $G sweep long.json --csv a.csv --jobs 1 2> err & pid=$!; ") +
              until_one_is_there + "kill -" + signal + " $pid; wait $pid"),
        code);
    EXPECT_THAT(read("err"), Says("with 1 of 2 points finished, which a.csv.part has; "
                                  "--resume goes on"));
    EXPECT_TRUE(exists("a.csv.part"));
    EXPECT_FALSE(exists("a.csv"));
    fs::remove(folder_ / "a.csv.part");
    // Without a file the rows are printed; how long the first takes depends on the machine.
    EXPECT_EQ(shell(std::string("set -m; for t in 0.5 1 2 4 8 16; do "
                                "$G sweep long.json --jobs 1 > out 2> err & pid=$!; "
                                "sleep $t; kill -") +
                    signal + " $pid; wait $pid; code=$?; [ -s out ] && break; done; exit $code"),
              code);
    EXPECT_THAT(read("out"), testing::AllOf(Says("wait"), Lacks("VERIFIED")));
  }
}

TEST_F(SweepProgram, ReplacesNoFile) {
  write("s.json", R"({"networks": "1x2x3"})");
  for (const char* output : {"--csv", "--json", "--plot"}) {
    write("old", "rows");
    const Outcome outcome = run(std::string("sweep s.json ") + output + " old");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, Says(std::string(output) + " old: the file is there already; "
                                                        "remove it, or name another"));
    EXPECT_EQ(read("old"), "rows");
  }
  EXPECT_THAT(run("sweep s.json --csv old --resume").err, Says("the file is there already"));
  EXPECT_THAT(run("sweep s.json --plot a.svg").err, Says("--plot a.svg: ", "a.html"));
  EXPECT_THAT(run("sweep s.json --csv s.json").err, Says("s.json"));
  EXPECT_THAT(run("sweep s.json --resume").err, Says("--csv FILE or --json FILE"));
  EXPECT_EQ(run("sweep s.json --csv -").code, 0);
  EXPECT_THAT(run("sweep s.json --csv /dev/stdout").out, StartsWith("point,mode,"));
}

TEST_F(SweepProgram, SaysThatAPredictionIsNoProof) {
  write("s.json", R"({"networks": "64x9216x4096"})");
  const Outcome outcome = run("sweep s.json");
  EXPECT_THAT(outcome.out,
              Says("590,534", "1 point predicted; nothing ran, so nothing is verified.\n"));
}

TEST_F(SweepProgram, ExplainsItsFile) {
  const Outcome help = run("sweep --help");
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"\"networks\": [", "memory_bytes_per_cycle", "accumulator_rows",
                           "scratchpad_words", "\"seed\"", "--resume"}) {
    EXPECT_THAT(help.out, Says(word));
  }
  expect_refused("sweep nowhere.json", "nowhere.json");
  write("s.json", R"({"mode": "run", "networks": "1x2x3", "designs": {"scratchpad_words": 900}})");
  const Outcome outcome = run("sweep s.json --csv a.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, Says("point 0 (1x2x3, batch 1): the models are built with "
                                "scratchpad_words 9216"));
  EXPECT_FALSE(exists("a.csv") || exists("a.csv.part"));
}

}  // namespace
}  // namespace gemm64::cli_test
