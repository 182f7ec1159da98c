// SPDX-License-Identifier: Apache-2.0
// `gemm64 dut` as a user types it: usage, exit codes and files.
#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

const std::string kArrays = GEMM64_DUT_TEST_DATA;

using Dut = Program;

TEST_F(Dut, WrongWordsAreRefused) {
  expect_refused("dut", "(see gemm64 dut --help)");
  expect_refused("dut prov a.toml", "(see gemm64 dut --help)");
  expect_refused("dut new row-stationary", "row-stationary");
  expect_refused("dut new weight-stationary --size 1", "--size: 1 is out of range");
  expect_refused("dut check", "(see gemm64 dut check --help)");
  expect_refused("dut check missing.toml", "missing.toml");
  expect_refused("dut prove missing.toml --tiles 0", "--tiles: 0 is out of range");
  expect_refused("dut prove missing.toml --seconds x", "'x' is not a whole number");
  expect_refused("dut prove missing.toml", "missing.toml");
  expect_refused("dut run missing.toml 1 2", "sizes");
  expect_refused("dut run missing.toml 1 2 3 --model net.onnx", "missing.toml");
  expect_refused("dut mutants missing.toml --count 0", "--count: 0 is out of range");
  expect_refused("dut compare missing.toml", "other");
}

TEST_F(Dut, LargeArraysAreNotProven) {
  ASSERT_EQ(run("dut new weight-stationary a --size 16").code, 0);
  expect_bad("dut prove a/array.toml", "16×16");
}

TEST_F(Dut, ExitCodesSeparateHeldFromFailed) {
  const std::string cache = " --cache " GEMM64_DUT_CACHE " ";
  const Outcome held = run("dut check " + kArrays + "/no_backpressure.toml --no-trace --score" +
                           cache + "--json held.json --junit held.xml");
  EXPECT_EQ(held.code, 0) << held.err;
  EXPECT_THAT(held.out, Says("score: 100.0", "VERIFIED"));
  EXPECT_EQ(json_of("held.json")["verified"], true);
  EXPECT_THAT(read("held.xml"), Says("<testsuite", "failures=\"0\"", "name=\"reset\""));

  const Outcome failed = run("dut check " + kArrays + "/mismatched.json --trace a.fst" + cache +
                             "--json failed.json --junit failed.xml");
  EXPECT_EQ(failed.code, 1) << failed.err;
  EXPECT_THAT(failed.out, Says("NOT VERIFIED", "diagnosis", "gtkwave a.gtkw"));
  EXPECT_EQ(json_of("failed.json")["verified"], false);
  EXPECT_LT(json_of("failed.json")["score"], 100);
  EXPECT_THAT(read("failed.xml"), Says("<failure message=\"wrong value\""));
  EXPECT_TRUE(fs::exists(folder_ / "a.fst"));

  const Outcome ran = run("dut run " + kArrays + "/mismatched.json 3 4 5 --json ran.json" + cache);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_GT(json_of("ran.json")["total"]["mismatches"], 0);
  EXPECT_EQ(run("dut run " + kArrays + "/no_backpressure.toml 3 4 5" + cache).code, 0);
}

TEST_F(Dut, OutputsAreOpenedBeforeTheWork) {
  expect_refused("dut check " + kArrays + "/no_backpressure.toml --json /no/such/place",
                 "/no/such/place");
  expect_refused("dut prove " + kArrays + "/no_backpressure.toml --json /no/such/place",
                 "/no/such/place");
}

}  // namespace
}  // namespace gemm64::cli_test
