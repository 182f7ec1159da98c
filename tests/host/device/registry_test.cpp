// SPDX-License-Identifier: Apache-2.0
#include "host/device/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/device/reference_device.hpp"
#include "tests/says.hpp"

namespace gemm64 {
namespace {

DeviceRegistry registry() {
  DeviceKind glass;
  glass.name = "glass";
  glass.arrays = {4};
  glass.make_inspectable = [](const DeviceOptions&, const TraceOptions&) {
    return std::unique_ptr<DebugDevice>();
  };
  return DeviceRegistry({reference_kind(), glass});
}

TEST(DeviceRegistry, FindsKindsByName) {
  EXPECT_EQ(registry().names(), "reference, glass");
  EXPECT_EQ(registry().find("glass").name, "glass");
  EXPECT_FALSE(registry().find("reference").is_inspectable());
  DeviceOptions options;
  options.array = 8;
  EXPECT_EQ(read_geometry(*registry().find("reference", 8).make(options)).n, 8u);
}

TEST(DeviceRegistry, SaysWhatWouldBeRight) {
  EXPECT_THAT(message_of([] { registry().find("cpu"); }), Says("reference, glass"));
  EXPECT_THAT(message_of([] { registry().find("glass", 64); }), Says("its sizes are 4"));
  EXPECT_THAT(message_of([] { registry().find_inspectable("reference", "--trace"); }),
              Says("--trace needs a device with signals to look at: --device glass"));
}

}  // namespace
}  // namespace gemm64
