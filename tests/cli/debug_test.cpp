// SPDX-License-Identifier: Apache-2.0
// Waveforms, faults and replays as a user meets them.
#include <regex>

#include "sim/waves/cycle_time.hpp"
#include "tests/cli/program.hpp"
#include "tests/fst_word.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

class Debug : public Program {
 protected:
  /// First and last cycle of a waveform, from its header.
  std::pair<std::uint64_t, std::uint64_t> window(const std::string& name) const {
    return {fst_word(folder_ / name, 9) / kTimeOfCycle,
            fst_word(folder_ / name, 17) / kTimeOfCycle};
  }

  /// A replay of failure.json ends with the same failure.
  void expect_replayed(const json& failure) const {
    expect(1, "replay failure.json");
    for (const char* field : {"product", "index", "clock", "element", "tile", "first_wrong"}) {
      EXPECT_EQ(json_of("failure.json")["failure"][field], failure[field]) << field;
    }
  }
};

TEST_F(Debug, ReplaysMismatch) {
  expect(1, "gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172",
         "gemm, 8x24x8 from cycle", "the accumulator's bank 0, row 2, column 3: expected",
         "gtkwave failure.gtkw", "gemm64 replay failure.json",
         "Injected in cycle 172: bit 9 of the accumulator's bank 0, row 2, column 3.\n");
  const json failure = json_of("failure.json");
  EXPECT_EQ(failure["command"], "gemm");
  EXPECT_EQ(failure["options"]["seed"], 1);
  EXPECT_EQ(failure["options"]["sizes"], json({8, 24, 8}));
  EXPECT_EQ(failure["failure"]["first_wrong"]["place"], "accumulator");
  EXPECT_EQ(failure["failure"]["first_wrong"]["clock"], 172);
  EXPECT_EQ(failure["failure"]["element"]["row"], 2);
  EXPECT_EQ(failure["failure"]["element"]["column"], 3);
  EXPECT_EQ(window("failure.fst").first, failure["failure"]["trace"]["begin"]);
  EXPECT_EQ(window("failure.fst").second + 1, failure["failure"]["trace"]["end"]);
  // The marker stands where the sum left the array.
  const std::uint64_t time = kTimeOfCycle * failure["failure"]["clock"].get<std::uint64_t>();
  EXPECT_TRUE(std::regex_search(contents(folder_ / "failure.gtkw"),
                                std::regex("\n\\*-?[0-9.]+ " + std::to_string(time) + " ")))
      << contents(folder_ / "failure.gtkw");

  // By itself, from another folder, the same failure.
  fs::create_directory(folder_ / "elsewhere");
  fs::rename(folder_ / "failure.json", folder_ / "elsewhere" / "again.json");
  fs::remove(folder_ / "failure.fst");
  const Outcome again = run("replay elsewhere/again.json --json again_report.json");
  EXPECT_EQ(again.code, 1) << again.err;
  EXPECT_EQ(json_of("elsewhere/again.json")["failure"]["first_wrong"],
            failure["failure"]["first_wrong"]);
  EXPECT_EQ(json_of("again_report.json")["failure"]["clock"], failure["failure"]["clock"]);
  EXPECT_EQ(window("elsewhere/again.fst").first, failure["failure"]["trace"]["begin"]);

  // Without the fault it holds.
  json fixed = failure;
  fixed["options"]["inject"] = json::array();
  write("fixed.json", fixed.dump());
  expect(0, "replay fixed.json", "64 sums equal: VERIFIED in ");
  EXPECT_FALSE(fs::exists(folder_ / "fixed.fst"));
}

TEST_F(Debug, ReplaysProductOfNetwork) {
  // float32 runs four products; the fault comes in the third.
  const std::string arguments =
      "gemm 5 9 6 --array 8 --memory-latency 7 --precision float32 --memory-stalls 0.1 ";
  expect(0, arguments + "--json clean.json");
  for (int clock = 700; clock < 1100; clock += 3) {
    const Outcome outcome = run(arguments + "--inject activation:0,0:6@" + std::to_string(clock));
    if (outcome.code == 0) continue;
    ASSERT_EQ(outcome.code, 1) << outcome.err;
    const json failure = json_of("failure.json")["failure"];
    EXPECT_GT(failure["index"], 0);
    EXPECT_EQ(failure["product"], "gemm/" + std::to_string(failure["index"].get<int>()));
    EXPECT_EQ(failure["first_wrong"]["place"], "activation");
    expect_replayed(failure);
    return;
  }
  FAIL() << "no fault showed";
}

TEST_F(Debug, ReplaysProgramOfNetwork) {
  // The fault comes in LeNet's second convolution.
  expect(1, "run lenet --array 8 --batch 2 --inject accumulator:0,0,0:20@13000");
  const json failure = json_of("failure.json")["failure"];
  EXPECT_EQ(failure["product"], "c3");
  expect_replayed(failure);
}

TEST_F(Debug, FaultReachesOutputsWithAnyCheck) {
  const std::string lenet = "run lenet --array 8 --batch 2 --json report.json ";
  const std::string fault = "--inject accumulator:0,0,0:20@9000 --check ";
  expect(4, lenet + "--check none", "no value compared (--check none): NOT CHECKED in ");
  EXPECT_EQ(json_of("report.json")["verified"], false);
  const Outcome none = run(lenet + fault + "none");
  EXPECT_EQ(none.code, 4) << none.err;
  EXPECT_THAT(none.out, Lacks("no result changed"));
  expect(1, lenet + fault + "outputs",
         " of 20 values of the network's outputs differ from a run on "
         "the host, the first in 'output");
  const Outcome layers = run(lenet + fault + "layers");
  EXPECT_EQ(layers.code, 1) << layers.err;
  const std::regex wrong("\n[a-z0-9]+: [0-9,]+ values? differs?;");
  EXPECT_EQ(std::distance(std::sregex_iterator(layers.out.begin(), layers.out.end(), wrong), {}), 1)
      << layers.out;
}

TEST_F(Debug, ReplaysEveryOption) {
  const std::string arguments =
      "gemm 6 24 12 --array 4 --batch 2 --seed 9 --memory-latency 11 --memory-bytes-per-cycle 3 "
      "--memory-stalls 0.1 --accumulate host --inject accumulator:0,2,3:9@";
  for (int clock = 200; clock < 600; clock += 2) {
    const Outcome outcome = run(arguments + std::to_string(clock));
    if (outcome.code == 0) continue;
    ASSERT_EQ(outcome.code, 1) << outcome.err;
    const json failure = json_of("failure.json")["failure"];
    EXPECT_EQ(failure["m"], 12);
    EXPECT_EQ(failure["first_wrong"]["place"], "accumulator");
    // What replay writes down again is what it ran: the same, in every option.
    const json options = json_of("failure.json")["options"];
    const json given = {
        {"array", 4},           {"batch", 2},           {"seed", 9},
        {"memory_latency", 11}, {"memory_stalls", 0.1}, {"memory_bytes_per_cycle", 3},
        {"accumulate", "host"}, {"precision", "int8"}};
    for (const auto& [name, value] : given.items()) EXPECT_EQ(options[name], value) << name;
    expect_replayed(failure);
    EXPECT_EQ(json_of("failure.json")["options"], options);
    return;
  }
  FAIL() << "no fault showed";
}

TEST_F(Debug, ReplaysSharingOfMemory) {
  for (const std::string sharing : {"shared", "exclusive", "dram:ddr4,width=16"}) {
    const bool dram = sharing.find(':') != std::string::npos;
    const std::string arguments = "gemm 6 24 12 --array 4 --memory " + sharing +
                                  (dram ? "" : " --memory-bytes-per-cycle 2") +
                                  " --inject accumulator:0,2,3:9@";
    int clock = 400;
    while (clock < 1500 && run(arguments + std::to_string(clock)).code == 0) clock += 10;
    ASSERT_LT(clock, 1500) << "no fault showed";
    const json first = json_of("failure.json");
    EXPECT_EQ(first["options"]["memory"], sharing);
    fs::copy(folder_ / "failure.json", folder_ / "again.json",
             fs::copy_options::overwrite_existing);
    EXPECT_EQ(run("replay again.json --json report.json").code, 1);
    EXPECT_EQ(json_of("report.json")["memory"]["sharing"], sharing);
    // In the very same cycles: of another memory's they are others.
    EXPECT_EQ(json_of("report.json")["failure"]["clock"], first["failure"]["clock"]);
    json older = first;
    older["options"].erase("memory");
    write("older.json", older.dump());
    EXPECT_NE(run("replay older.json").code, 2);
    older["options"]["memory"] = "divided";
    write("wrong.json", older.dump());
    const Outcome wrong = run("replay wrong.json");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, Says("options.memory is 'divided'", "'independent', 'shared'"));
  }
}

TEST_F(Debug, ReplaysWrongCounter) {
  // A campaign reports a fault that changes only cycles.
  ASSERT_EQ(run("faults --program products --array 4 --count 600 --seed 3 --json faults.json").code,
            0);
  std::string command;
  const json faults = json_of("faults.json");
  for (const json& fault : faults["tries"]) {
    if (fault["outcome"] == "wrong_counters") command = fault["command"];
  }
  ASSERT_NE(command, "");
  expect(1, command.substr(std::string("gemm64 ").size()), "every sum is right",
         "reproduce     gemm64 replay failure.json");
  const json failure = json_of("failure.json")["failure"];
  EXPECT_EQ(failure["kind"], "counter");
  EXPECT_THAT(failure["message"].get<std::string>(), Says(", predicted "));
  EXPECT_FALSE(fs::exists(folder_ / "failure.fst"));
  expect(1, "replay failure.json --json report.json");
  EXPECT_EQ(json_of("report.json")["failure"]["message"], failure["message"]);
}

TEST_F(Debug, ReportsFaultThatChangesNothing) {
  // Nothing is in the array yet.
  expect(0, "gemm 8 24 8 --array 8 --inject partial-sum:0,0:3@70", "VERIFIED",
         "Injected in cycle 70: bit 3 of the partial sum after stage 0, "
         "column 0; no result changed.\n");
}

TEST_F(Debug, ReplaysLayerOfOnnxNetwork) {
  ASSERT_EQ(run("make-model lenet -o lenet.onnx").code, 0);
  // The first row of the first tile of f6 is read in a cycle of the tile's trace.
  const Outcome tile =
      run("run --precision int8 --model lenet.onnx --trace t.fst --trace-tile f6:0,0,0");
  std::smatch clock;
  ASSERT_TRUE(std::regex_search(tile.out, clock, std::regex("tile 0,0,0 from cycle ([0-9]+)")))
      << tile.out << tile.err;
  // Its weight of row 9, column 5 is used 2 + 2 + 5 cycles later, in stage 2.
  const std::string fault = "weight:9,5:6@" + std::to_string(std::stoull(clock[1]) + 9);
  expect(1, "run --precision int8 --model lenet.onnx --inject " + fault);
  const json failure = json_of("failure.json")["failure"];
  EXPECT_EQ(failure["product"], "f6");
  EXPECT_EQ(failure["index"], 1);
  EXPECT_EQ(failure["first_wrong"]["place"], "weight");
  EXPECT_EQ(failure["first_wrong"]["row"], 9);
  EXPECT_EQ(failure["first_wrong"]["column"], 5);
  expect(1, "replay failure.json");
  EXPECT_EQ(json_of("failure.json")["failure"]["first_wrong"], failure["first_wrong"]);
}

TEST_F(Debug, ReplaysTimeout) {
  const Outcome outcome =
      run("gemm 8 64 40 --array 8 --inject hang:results@200 --trace-mismatch hang.fst --timeline "
          "hang_timeline.json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, Says("WATCHDOG", "last move", "wait_response"));
  EXPECT_THAT(outcome.out, Says("Injected in cycle 200: "));
  const json failure = json_of("hang.json")["failure"];
  EXPECT_EQ(failure["kind"], "error");
  EXPECT_EQ(failure["first_wrong"]["place"], "hang");
  EXPECT_EQ(window("hang.fst").second + 1, failure["trace"]["end"]);
  EXPECT_TRUE(fs::exists(folder_ / "hang.gtkw"));
  // The timeline shows what led to it, up to the wait that did not end.
  EXPECT_THAT(contents(folder_ / "hang_timeline.json"), Says("wait_response"));
  EXPECT_TRUE(json_of("hang_timeline.json").contains("traceEvents"));
  expect(1, "replay hang.json");
  EXPECT_EQ(json_of("hang.json")["failure"]["clock"], failure["clock"]);
}

TEST_F(Debug, NamesCommandThatBuildsSelfCheck) {
  expect_bad(
      "gemm 4 4 4 --array 2 --self-check",
      "self-check and N = 2; this build has N = 4, 8; `make -C sim self-check ARRAY=2` builds it");
}

TEST_F(Debug, TracesTile) {
  const Outcome outcome =
      run("gemm 16 40 24 --array 8 --trace t.fst --trace-tile gemm:0,3,1 --view array");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::smatch cycles;
  ASSERT_TRUE(std::regex_search(outcome.out, cycles,
                                std::regex("t.fst; tile 0,3,1 from cycle ([0-9]+) to ([0-9]+)")))
      << outcome.out;
  const std::uint64_t begin = std::stoull(cycles[1]);
  const std::uint64_t end = std::stoull(cycles[2]);
  EXPECT_EQ(end - begin, 16u + 2 + 8 + 1);  // its rows, the stages, the columns, the accumulator
  EXPECT_EQ(window("t.fst").first, begin - 16);  // with the tile before it
  EXPECT_GE(window("t.fst").second, end);
  EXPECT_LE(window("t.fst").second, end + 10);
  EXPECT_TRUE(fs::exists(folder_ / "t.gtkw"));
}

TEST_F(Debug, TracesFirstTileFromBegin) {
  expect(0, "gemm 16 40 24 --array 8 --trace t.fst --trace-tile 0,0,0");
  EXPECT_LT(window("t.fst").first, 80u);
}

TEST_F(Debug, WaveformOfTileIsSmallAtN64) {
  expect(0, "gemm 64 192 128 --trace t.fst --trace-tile 0,2,1");
  EXPECT_EQ(window("t.fst").second - window("t.fst").first, 64u + 64 + 81 + 7);
  EXPECT_LT(fs::file_size(folder_ / "t.fst"), 20'000'000u);
  EXPECT_GT(fs::file_size(folder_ / "t.fst"), 500'000u);
}

TEST_F(Debug, ARunThatHoldsLeavesNoFailureFiles) {
  const Outcome outcome = run("gemm 8 24 8 --array 8 --trace-mismatch bad.fst");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, Lacks("diagnosed in a second run"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Debug, ReportsFailureWithoutFiles) {
  fs::create_directory(folder_ / "failure.fst");
  expect(1, "gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172",
         "the accumulator's bank 0, row 2, column 3",
         "failure.fst: cannot be written: it names a folder");
}

TEST_F(Debug, ReportsFailureWithoutSaveFile) {
  fs::create_symlink("/dev/full", folder_ / "failure.gtkw");
  const Outcome outcome =
      run("gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172");
  EXPECT_EQ(outcome.code, 1) << "what did not hold is worth more than what was lost";
  EXPECT_THAT(outcome.err, Says("failure.gtkw: the save file is lost: No space left"));
  EXPECT_THAT(outcome.out, Says("FAILED", "gtkwave failure.fst"));
  EXPECT_EQ(run("replay failure.json").code, 1);
}

TEST_F(Debug, BadInputIsRefused) {
  const std::string gemm = "gemm 8 24 8 --array 8 ";
  expect_refused(gemm + "--trace t.fst --trace-window 200:100",
                 "--trace-window 200:100: it ends before it starts");
  expect_refused(gemm + "--trace t.fst --trace-window 100", "no colon");
  expect_refused(gemm + "--trace-window 1:2", "--trace");
  expect_refused(gemm + "--trace t.fst --trace-window 1:2 --trace-tile 0,0,0", "--trace-tile");
  expect_refused(gemm + "--trace t.fst --trace-tile 0,0", "give LAYER:M,K,N");
  expect_refused(gemm + "--trace t.fst --trace-tile gemm:0,3,0",
                 "gemm has the tiles M,K,N = 0,0,0 to 0,2,0");
  expect_refused(gemm + "--trace nowhere/t.fst",
                 "nowhere/t.fst: cannot be written: its folder does not exist");
  expect_refused(gemm + "--trace failure.fst", "is the file that --trace goes to");
  expect_refused(gemm + "--trace t.fst --trace-mismatch ./t.fst",
                 "is the file that --trace goes to");
  expect_refused(gemm + "--trace t.gtkw", "name the waveform itself");
  expect_refused(gemm + "--trace t.fst --view everything", "overview");
  expect_refused(gemm + "--trace-mismatch nowhere/t.fst", "nowhere/t.fst: cannot be written");
  expect_refused(gemm + "--inject weight:8,0:0@1", "row 8; this accelerator has 0 to 7");
  expect_refused(gemm + "--inject weight", "--inject weight: use weight:ROW,COLUMN:BIT@CLOCK\n");
  expect_refused(gemm + "--inject slverr:foo@1",
                 ": use hang|slverr|decerr:weights|data|results@CLOCK\n");
  expect_refused(gemm + "--inject wight:0,0:0@1",
                 "no fault is called 'wight'; use one of weight, activation, ");
  expect_refused(gemm + "--device reference --inject weight:0,0:0@1",
                 "--inject needs a device with signals to look at: --device rtl; 'reference' has "
                 "none");
  expect_refused(gemm + "--device reference --trace t.fst",
                 "--trace needs a device with signals to look at: --device rtl");
  expect_refused(gemm + "--device reference --trace-mismatch t.fst",
                 "--trace-mismatch needs a device with signals to look at: --device rtl");
  expect_refused("replay nothing.json", "nothing.json: cannot be read");
}

TEST_F(Debug, RefusesCycleAfterEnd) {
  const std::string gemm = "gemm 8 24 8 --array 8 ";
  expect_refused(gemm + "--inject weight:0,0:0@100000000",
                 "--inject weight:0,0:0@100000000: cycle 100000000 is after the end of the run");
  expect_refused(gemm + "--inject weight:0,0:0@1 --inject weight:0,0:0@100000000",
                 "--inject weight:0,0:0@100000000: cycle 100000000 is after the end of the run");
  expect_refused(gemm + "--trace t.fst --trace-window 100000000:100000001",
                 "--trace-window 100000000:100000001: cycle 100000000 is after the end of the run");
  expect_refused(gemm + "--trace t.fst --trace-tile none:0,0,0",
                 "no layer is called 'none'; the layers are: gemm");
  // A network's jobs are known before the first of them runs.
  ASSERT_EQ(run("make-model lenet -o lenet.onnx").code, 0);
  for (const char* options : {"--inject weight:0,0:0@100000000",
                              "--timeline t.json --inject "
                              "weight:0,0:0@100000000",
                              "--trace t.fst --trace-tile f6:0,9,0"}) {
    const Outcome outcome = run(std::string("run --model lenet.onnx ") + options);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
        << "something was left half written";
  }
}

TEST_F(Debug, RunsAgainAfterFoundFault) {
  const std::string gemm = "gemm 9 40 9 --array 8 --inject partial-sum:1,5:9@350 ";
  EXPECT_EQ(run(gemm).code, 1);
  const Outcome outcome = run(gemm + "--self-check --timeline t.json --json report.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      Says("VERIFIED", "1 fault found by the device in gemm, tile 0,3,0, row 0 (CHECKSUM)"));
  EXPECT_THAT(outcome.out, Lacks("no result changed"));
  EXPECT_EQ(json_of("report.json")["layers"][0]["faults_found"].size(), 1u);
}

TEST_F(Debug, RunsAgainAfterAlteredRegister) {
  expect(0, "gemm 9 40 9 --array 8 --inject register:RING_TAIL:3@350 --self-check --json r.json",
         "VERIFIED", "1 fault found by the driver in gemm, register RING_TAIL;");
  EXPECT_EQ(json_of("r.json")["layers"][0]["faults_found"][0]["register"], "RING_TAIL");
}

TEST_F(Debug, ASelfTestEndsWith1WhereABitIsStuck) {
  const std::string test = "info --array 4 --self-test --json i.json ";
  EXPECT_EQ(run(test).code, 0);
  expect(1, test + "--trace t.fst --inject weight:1,2:3=1@9", "self-test FAILED", "sums are wrong");
  EXPECT_EQ(json_of("i.json")["self_test"]["passed"], false);
  EXPECT_GT(window("t.fst").second, json_of("i.json")["self_test"]["clocks"].get<std::uint64_t>());
  EXPECT_EQ(run(test + "--inject weight:4,0:3=1@9").code, 2);
  EXPECT_EQ(run(test + "--device tlm --inject weight:0,0:3=1@9").code, 2);
  const Outcome refused = run("info --inject weight:0,0:3=1@9");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, Says("--inject", "--self-test"));
}

TEST_F(Debug, CampaignReportsFoundFaults) {
  const Outcome outcome =
      run("faults --self-check --program products --array 4 --count 168 --seed 3 --json f.json");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, Says("faults that matter", "products: command", "HELD"));
  const json report = json_of("f.json");
  unsigned found = 0;
  for (const json& fault : report["tries"]) {
    const std::string kind = fault["fault"].get<std::string>();
    const bool outside = kind.rfind("result", 0) == 0 || kind.rfind("lost", 0) == 0 ||
                         kind.rfind("repeated", 0) == 0 || kind.rfind("slverr", 0) == 0 ||
                         kind.rfind("decerr", 0) == 0 || kind.rfind("hang", 0) == 0;
    EXPECT_THAT(fault["command"].get<std::string>(), Says("--self-check"));
    if (outside || !fault["matters"].get<bool>()) continue;
    EXPECT_EQ(fault["outcome"], "run_again") << fault;
    EXPECT_GT(fault["found_after"], 0);
    ++found;
  }
  EXPECT_GT(found, 0u);
  EXPECT_EQ(run("faults --self-check --kind broken-programs").code, 2);
}

TEST_F(Debug, ReportsCycleThatDidNotCome) {
  // Within what the run might have taken, and after what it took.
  const std::string gemm = "gemm 8 24 8 --array 8 ";
  const std::pair<const char*, const char*> cases[] = {
      {"--inject weight:0,0:0@3000", "so the fault was never injected"},
      {"--trace t.fst --trace-window 3000:3001", "so nothing was traced"},
      {"--memory-stalls 0.1 --inject weight:0,0:0@100000000", "so the fault was never injected"}};
  for (const auto& [arguments, reason] : cases) {
    const Outcome outcome = run(gemm + arguments + " --json report.json");
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.out + outcome.err, Says(reason));
    EXPECT_THAT(outcome.out, Lacks("VERIFIED"));
    const json report = json_of("report.json");
    EXPECT_EQ(report["verified"], false);
    EXPECT_THAT(report["problems"].at(0).get<std::string>(), Says(reason));
    EXPECT_FALSE(fs::exists(folder_ / "t.fst"));
  }
}

TEST_F(Debug, BrokenFailureFilesAreRefused) {
  ASSERT_EQ(run("gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172").code,
            1);
  const json good = json_of("failure.json");
  const auto refused = [&](const std::string& what, const std::function<void(json&)>& change) {
    SCOPED_TRACE(what);
    json bad = good;
    change(bad);
    write("bad.json", bad.dump());
    const Outcome outcome = run("replay bad.json");
    expect_bad(outcome, what);
  };
  refused("command: ", [](json& j) { j = json::array(); });
  refused("options: ", [](json& j) { j.erase("options"); });
  refused("options.seed: ", [](json& j) { j["options"].erase("seed"); });
  refused("failure.index: ", [](json& j) { j["failure"].erase("index"); });
  refused("options.seed is \"one\"; it may be a whole number from",
          [](json& j) { j["options"]["seed"] = "one"; });
  refused("options.precision is 'int4'", [](json& j) { j["options"]["precision"] = "int4"; });
  refused("options.memory_latency is 0", [](json& j) { j["options"]["memory_latency"] = 0; });
  refused("no array of 24x24", [](json& j) { j["options"]["array"] = 24; });
  refused("command is 'info'", [](json& j) { j["command"] = "info"; });
  refused("the run has no job 7", [](json& j) { j["failure"]["index"] = 7; });
  refused("no job can begin before cycle", [](json& j) { j["failure"]["first_clock"] = 0; });
  refused("options.sizes: give M, K and N", [](json& j) {
    j["options"]["sizes"] = json::array({1, 2});
  });
  refused("options.sizes: -1; each size", [](json& j) {
    j["options"]["sizes"] = json::array({-1, 2, 3});
  });
}

}  // namespace
}  // namespace gemm64::cli_test
