// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/module_records.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/util/error.hpp"

namespace gemm64 {

std::vector<ModuleOutputs> read_module_records(const std::string& json) {
  std::vector<ModuleOutputs> modules;
  try {
    const nlohmann::json all = nlohmann::json::parse(json);
    for (const nlohmann::json& record : all.at("modules")) {
      ModuleOutputs module;
      record.at("name").get_to(module.name);
      record.at("kind").get_to(module.kind);
      record.at("container").get_to(module.container);
      record.at("parameters").get_to(module.parameters);
      record.at("parameter_bytes").get_to(module.parameter_bytes);
      record.at("weight_bytes").get_to(module.weight_bytes);
      record.at("macs").get_to(module.macs);
      record.at("calls").get_to(module.calls);
      record.at("output_bytes").get_to(module.output_bytes);
      record.at("outputs").get_to(module.outputs);
      modules.push_back(std::move(module));
    }
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(
        fmt::format("the TorchScript plug-in's records of modules cannot be read ({}); make "
                    "torchscript builds the right one",
                    error.what()));
  }
  return modules;
}

}  // namespace gemm64
