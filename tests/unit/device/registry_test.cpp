// SPDX-License-Identifier: Apache-2.0
#include "host/device/registry.hpp"

#include "host/device/reference_device.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

DeviceRegistry registry() {
  DeviceKind glass;
  glass.name = "glass";
  glass.arrays = {4};
  glass.make_inspectable = [](const DeviceOptions&, const TraceOptions&) {
    return std::unique_ptr<DebugDevice>();
  };
  DeviceKind far = reference_kind();
  far.name = "far";
  far.make = nullptr;
  far.make_at = [](const DeviceOptions& options, const std::string& place) {
    DeviceOptions there = options;
    there.array = std::stoi(place);
    return reference_kind().make(there);
  };
  return DeviceRegistry({reference_kind(), glass, far});
}

TEST(DeviceRegistry, FindsKindsByName) {
  EXPECT_EQ(registry().names(), "reference, glass, far");
  EXPECT_EQ(registry().find("glass").name, "glass");
  EXPECT_FALSE(registry().find("reference").is_inspectable());
  DeviceOptions options;
  options.array = 8;
  EXPECT_EQ(read_geometry(*registry().find("reference", options).make(options)).n, 8u);
}

TEST(DeviceRegistry, FindsAKindAtItsPlace) {
  EXPECT_EQ(read_geometry(*registry().find("far:2", {}).make(DeviceOptions())).n, 2u);
  EXPECT_THAT(message_of([] { registry().find("far"); }), Says("far:/dev/ttyUSB0"));
  EXPECT_THAT(message_of([] { registry().find("far:"); }), Says("far:/dev/ttyUSB0"));
  EXPECT_THAT(message_of([] { registry().find("glass:2"); }), Says("glass:2"));
}

TEST(DeviceRegistry, MakesTheMemoriesOfADesign) {
  DeviceOptions options;
  options.array = 4;
  options.design = "accumulator_rows=32,tensor_words=70";
  const auto device = registry().find("reference", options).make(options);
  EXPECT_EQ(read_design_geometry(*device), options.geometry());
  EXPECT_EQ(read_design_geometry(*device).tensor_words, 70u);
  EXPECT_THAT(message_of([&] { registry().find("glass", options); }),
              Says("design accumulator_rows=32,tensor_words=70: device 'glass' is built with "
                   "scratchpad_words=9216,accumulator_rows=128,tensor_words=6144,"));
  options.design = "accumulator_rows=128";
  EXPECT_EQ(registry().find("glass", options).name, "glass");
}

TEST(DeviceRegistry, SaysWhatWouldBeRight) {
  EXPECT_THAT(message_of([] { registry().find("cpu"); }), Says("reference, glass"));
  EXPECT_THAT(message_of([] { registry().find("glass", DeviceOptions()); }),
              Says("its sizes are 4"));
  EXPECT_THAT(message_of([] { registry().find_inspectable("reference", "--trace"); }),
              Says("--trace needs a device with signals to look at: --device glass"));
}

}  // namespace
}  // namespace gemm64
