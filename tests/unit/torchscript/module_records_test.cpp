// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/module_records.hpp"

#include "host/util/error.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

std::string record(const std::string& name, bool container, int calls, int bytes) {
  return "{\"name\": \"" + name +
         "\", \"kind\": \"Linear\", \"container\": " + (container ? "true" : "false") +
         ", \"parameters\": 7, \"parameter_bytes\": 28, \"weight_bytes\": 24, \"macs\": 12, "
         "\"calls\": " +
         std::to_string(calls) + ", \"output_bytes\": " + std::to_string(bytes) +
         ", \"outputs\": [\"2x3\"]}";
}

TEST(ModuleRecords, AddUpWhatIsGivenOut) {
  const auto modules =
      read_module_records("{\"modules\": [" + record("", true, 1, 4) + ", " +
                          record("a.0", false, 2, 48) + ", " + record("a.1", false, 0, 0) + "]}");
  ASSERT_EQ(modules.size(), 3U);
  EXPECT_EQ(modules[1].name, "a.0");
  EXPECT_THAT(modules[1].outputs, ElementsAre("2x3"));
  const ModuleTotals sum = total(modules);
  EXPECT_EQ(sum.parameters, 21U);
  EXPECT_EQ(sum.parameter_bytes, 84U);
  EXPECT_EQ(sum.weight_bytes, 72U);
  EXPECT_EQ(sum.macs, 36U);
  EXPECT_EQ(sum.activations.leaf_bytes, 48U);
  EXPECT_EQ(sum.activations.container_bytes, 4U);
  EXPECT_EQ(sum.activations.leaves, 1U) << "a module without a call has no output";
  EXPECT_EQ(sum.activations.containers, 1U);
}

TEST(ModuleRecords, AreChosenByName) {
  const auto modules = read_module_records("{\"modules\": [" + record("a.0", false, 1, 4) + ", " +
                                           record("b.0", false, 1, 4) + "]}");
  const auto chosen = matching_modules(modules, "b.*");
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].name, "b.0");
  EXPECT_THROW(matching_modules(modules, "c*"), UsageError);
}

TEST(ModuleRecords, ThatAreNoneAreRefused) {
  for (const char* text : {"", "[]", "{}", "{\"modules\": 3}", "{\"modules\": [{}]}",
                           "{\"modules\": [{\"name\": 3}]}"}) {
    EXPECT_THAT([&] { read_module_records(text); }, Fails("cannot be read")) << text;
  }
}

}  // namespace
}  // namespace gemm64
