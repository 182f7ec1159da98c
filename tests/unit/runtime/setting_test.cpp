// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/setting.hpp"

#include "host/runtime/run_settings.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::json;

template <class Options>
std::string refused(const Settings<Options>& settings, const Json& json) {
  return message_of([&] {
    Options options;
    read_settings(settings, json, "options.", options);
  });
}

TEST(Settings, EachHasItsDefault) {
  const Json device = to_json(device_settings(), DeviceOptions());
  EXPECT_EQ(device, Json({{"array", 64},
                          {"seed", 1},
                          {"self_check", false},
                          {"memory_latency", 100},
                          {"memory_bytes_per_cycle", 0},
                          {"memory", "independent"},
                          {"memory_stalls", 0.0}}));
  // "results" has none.
  EXPECT_EQ(Json(to_json(run_settings(), RunSettings())), Json({{"precision", "file"},
                                                                {"accumulate", "device"},
                                                                {"check", "layers"},
                                                                {"convolutions", "device"},
                                                                {"depthwise", "window"},
                                                                {"one_program", false}}));
  const Json other = {{"precision", "float32"}, {"accumulate", "host"},   {"results", "int32"},
                      {"check", "none"},        {"convolutions", "host"}, {"depthwise", "array"},
                      {"one_program", true}};
  RunSettings run;
  read_settings(run_settings(), other, "", run);
  EXPECT_EQ(Json(to_json(run_settings(), run)), other);
}

TEST(Settings, RefuseWhatTheyDoNotTake) {
  EXPECT_EQ(refused(run_settings(), {{"check", "some"}}),
            "options.check is 'some'; it may be 'layers', 'outputs' or 'none'");
  EXPECT_EQ(refused(run_settings(), {{"check", 3}}),
            "options.check is 3; it may be 'layers', 'outputs' or 'none'");
  EXPECT_EQ(refused(run_settings(), {{"one_program", 1}}),
            "options.one_program is 1; it may be true or false");
  EXPECT_EQ(refused(device_settings(), {{"memory_latency", 0}}),
            "options.memory_latency is 0; it may be from 1 to 1000000");
  EXPECT_EQ(refused(device_settings(), {{"seed", 1.5}}),
            "options.seed is 1.5; it may be a whole number from 0 to 4294967295");
  EXPECT_EQ(refused(device_settings(), {{"memory_stalls", 1}}),
            "options.memory_stalls is 1; it may be from 0 to 0.99");
}

TEST(Settings, ReadDramChannels) {
  DeviceOptions options;
  for (const char* word : {"dram:lpddr4", "dram:ddr4,clock=800", "dram:lpddr5,clock=2,width=16"}) {
    read_settings(device_settings(), {{"memory", word}}, "", options);
    EXPECT_EQ(options.memory.sharing, MemorySharing::kDram);
    EXPECT_EQ(to_json(device_settings(), options)["memory"], word);
  }
  EXPECT_THAT(refused(device_settings(), {{"memory", "dram:lpddr3"}}),
              Says("dram:lpddr3", "dram:lpddr4, dram:ddr4, dram:lpddr5"));
  EXPECT_THAT(refused(device_settings(), {{"memory", "drams"}}), Says("memory is 'drams'"));
}

TEST(RunSettings, NamesConflictsInUsersWords) {
  RunSettings settings;
  settings.results = ResultCode::kInt8;
  settings.accumulate = Accumulate::kHost;
  const auto message = [&](Spelling spelling) {
    return message_of([&] { settings.check_together("rtl", spelling); });
  };
  EXPECT_EQ(message(Spelling::kOption),
            "--results int8 does not go with --accumulate host, which adds int32 sums; use device");
  EXPECT_EQ(message(Spelling::kArgument),
            "results='int8' does not go with accumulate='host', which adds int32 sums; use "
            "'device'");
  settings.results.reset();
  EXPECT_EQ(settings.result_code(), ResultCode::kInt32);
  EXPECT_NO_THROW(settings.check_together("rtl"));
}

}  // namespace
}  // namespace gemm64
