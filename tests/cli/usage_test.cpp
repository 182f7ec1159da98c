// SPDX-License-Identifier: Apache-2.0
// Hostile and mistaken words on the command line, and in files that are read.

#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

using Usage = Program;

TEST_F(Usage, EmptyValuesAreRefused) {
  expect_refused("run --model \"\"", "--model: the value is empty");
  expect_refused("info --json \"\"", "--json: the value is empty");
  expect_refused("gemm 1 1 1 --trace \"\"", "--trace: the value is empty");
}

TEST_F(Usage, AnOptionIsNoValue) {
  expect_refused("gemm 1 1 1 --json --engines", "'--engines' is an option, not a value");
  expect_refused("make-model lenet -o --seed", "'--seed' is an option, not a value");
}

TEST_F(Usage, NumbersAreReadAsTheyAreWritten) {
  const std::string analyze = "analyze " GEMM64_TEST_DATA "/alexnet.onnx ";
  expect_refused(analyze + "--top -1", "--top: -1 is out of range; give a number from 0 to");
  expect_refused(analyze + "--top 1e3", "'1e3' is not a whole number; give one from 0 to");
  expect_refused(analyze + "--batch 0x10", "'0x10' is not a whole number");
  expect_refused(analyze + "--batch 99999999999999999999", "out of range");
  // 10 in all: not 8.
  expect(0, analyze + "--top 010", "10 of 26 nodes shown");
}

TEST_F(Usage, AnErrorPointsToTheHelpOfItsCommand) {
  expect_refused("analyze", "(see gemm64 analyze --help)");
  expect_refused("march", "(see gemm64 --help)");
}

TEST_F(Usage, UnknownWordsGetTheNearestName) {
  expect_refused("rum", "no command is called 'rum'; did you mean run?");
  expect_refused("dut chek", "no command of dut is called 'chek'; did you mean check?");
  expect_refused("run --modle x", "no option of run is called --modle; did you mean --model?");
  expect_refused("gemm 4 4 4 --aray=4",
                 "no option of gemm is called --aray; did you mean --array?");
  expect_refused("info x", "unexpected argument of info: 'x'");
}

TEST_F(Usage, HelpIsACommandToo) {
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help dut check").out, run("dut check --help").out);
  expect_refused("help rum", "did you mean run?");
}

TEST_F(Usage, SizesMayBeOneWord) {
  const std::string options = " --array 4 --json - 2> /dev/null";
  const auto cycles = [&](const std::string& sizes) {
    const Outcome outcome = run("gemm " + sizes + options);
    EXPECT_EQ(outcome.code, 0);
    return json::parse(outcome.out).at("layers").at(0).at("cycles");
  };
  EXPECT_EQ(cycles("5x6x7"), cycles("5 6 7"));
  expect_refused("gemm 5x6", "sizes");
  expect_refused("gemm 5x6x0", "out of range");
}

TEST_F(Usage, OutputHasItsShortNameInEveryCommand) {
  std::istringstream help(run("--help").out);
  int outputs = 0;
  for (std::string line; std::getline(help, line);) {
    if (line.rfind("  ", 0) != 0 || line.rfind("  -", 0) == 0) continue;
    const std::string command = line.substr(2, line.find(' ', 2) - 2);
    const std::string options = run(command + " --help").out;
    if (options.find("--output ") == std::string::npos) continue;
    ++outputs;
    EXPECT_THAT(options, Says("  -o,--output ")) << command;
  }
  EXPECT_GE(outputs, 7);
}

TEST_F(Usage, MessagesStayOnTheirLine) {
  const std::string escape = "$(printf '\\033[2Jx\\n')";
  const Outcome outcome = run("replay \"" + escape + "\"");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, testing::AllOf(Says("\\x1b[2Jx"), Lacks("\x1b")));
}

TEST_F(Usage, OneProgramSaysWhatItDoesNotGoWith) {
  expect_refused("run --one-program --precision float32",
                 "--one-program does not go with --precision float32; use int8");
  expect_refused("run --one-program --accumulate host",
                 "--one-program does not go with --accumulate host; use device");
  expect_refused("run --one-program --results int8",
                 "--one-program does not go with --results int8; use int32");
}

TEST_F(Usage, ResultsOfTheHostsSumsAreSums) {
  expect_refused("run --results int8 --accumulate host",
                 "--results int8 does not go with --accumulate host, which adds int32 sums; use "
                 "device");
  expect_refused("run --results int16", "--results");
}

TEST_F(Usage, AFailureFileIsNotBelieved) {
  expect_refused("replay /tmp", "/tmp: cannot be read: it is a folder");
  expect_refused("replay /dev/zero", "/dev/zero: has more than");
  ASSERT_EQ(run("gemm 8 24 8 --array 8 --memory-latency 7 --inject accumulator:0,2,3:9@172").code,
            1);
  const json good = json_of("failure.json");
  const auto refused = [&](const std::string& what, const char* key, const json& value) {
    json bad = good;
    bad["options"][key] = value;
    write("bad.json", bad.dump());
    const Outcome outcome = run("replay bad.json");
    EXPECT_EQ(outcome.code, 2) << what;
    EXPECT_THAT(outcome.err, testing::AllOf(Says(what), Lacks("\x1b")));
  };
  refused("options.batch is 0; it may be from 1 to", "batch", 0);
  refused("options.seed is 4294967296; it may be from 0 to 4294967295", "seed", 4294967296);
  refused("options.seed is -1; it may be from 0 to", "seed", -1);
  refused("options.seed is 1.5; it may be a whole number from 0 to", "seed", 1.5);
  refused("options.array is 1e+300; it may be a whole number from 1 to", "array", 1e300);
  refused("\\x1b[2J", "precision", "\x1b[2J");
}

}  // namespace
}  // namespace gemm64::cli_test
