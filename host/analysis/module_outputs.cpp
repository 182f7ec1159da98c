// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/module_outputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "host/util/error.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

std::string count(std::uint64_t value) { return value == 0 ? "-" : grouped(value); }

/// The network itself has no name.
std::string shown_name(const ModuleOutputs& module) {
  return module.name.empty() ? "(the network)" : module.name;
}

}  // namespace

ModuleTotals total(const std::vector<ModuleOutputs>& modules) {
  ModuleTotals sum;
  for (const ModuleOutputs& module : modules) {
    sum.parameters += module.parameters;
    sum.parameter_bytes += module.parameter_bytes;
    sum.weight_bytes += module.weight_bytes;
    sum.macs += module.macs;
    if (module.calls == 0) continue;
    ModuleActivations& activations = sum.activations;
    (module.container ? activations.container_bytes : activations.leaf_bytes) +=
        module.output_bytes;
    ++(module.container ? activations.containers : activations.leaves);
  }
  return sum;
}

std::vector<ModuleOutputs> matching_modules(const std::vector<ModuleOutputs>& modules,
                                            const std::string& pattern) {
  std::vector<ModuleOutputs> matching;
  std::copy_if(modules.begin(), modules.end(), std::back_inserter(matching),
               [&pattern](const ModuleOutputs& module) {
                 return fnmatch(pattern.c_str(), module.name.c_str(), 0) == 0;
               });
  if (matching.empty()) {
    throw UsageError(fmt::format(
        "--modules {}: no module's name matches; they are called as in PyTorch's named_modules(), "
        "and '*' shows all",
        pattern));
  }
  return matching;
}

std::string module_totals_table(const std::vector<ModuleOutputs>& modules, std::size_t width) {
  const ModuleTotals sum = total(modules);
  std::map<std::string, std::uint64_t> macs;
  for (const ModuleOutputs& module : modules) {
    if (module.macs != 0) macs[module.kind] += module.macs;
  }
  Table table;
  table.add_column("by module", Align::kLeft);
  table.add_column("value");
  table.add_column("", Align::kLeft);
  table.add_row({"parameters", grouped(sum.parameters), bytes(sum.parameter_bytes)});
  table.add_row({"bytes of the weights", grouped(sum.weight_bytes),
                 "parameters with \"weight\" in their names"});
  table.add_row({"MACs", grouped(sum.macs), ""});
  for (const auto& [kind, of_kind] : macs) table.add_row({"  of " + kind, grouped(of_kind), ""});
  const ModuleActivations& activations = sum.activations;
  table.add_row({"bytes given out by leaves", grouped(activations.leaf_bytes),
                 fmt::format("{} modules", activations.leaves)});
  table.add_row(
      {"  and by containers again", grouped(activations.leaf_bytes + activations.container_bytes),
       fmt::format("{} modules more, as hooks on every module count", activations.containers)});
  return table.render(width);
}

std::string modules_table(const std::vector<ModuleOutputs>& modules, std::size_t width) {
  Table table;
  table.add_column("module", Align::kLeft);
  table.add_column("kind", Align::kLeft);
  table.add_column("outputs", Align::kLeft);
  for (const char* heading : {"bytes\ngiven out", "parameters", "weights,\nbytes", "MACs"}) {
    table.add_column(heading);
  }
  const auto row = [&table](const std::string& name, const std::string& kind,
                            const std::string& outputs, std::uint64_t given_out,
                            std::uint64_t parameters, std::uint64_t weights, std::uint64_t macs) {
    table.add_row(
        {name, kind, outputs, count(given_out), count(parameters), count(weights), count(macs)});
  };
  for (const ModuleOutputs& module : modules) {
    row(shown_name(module), module.kind, fmt::format("{}", fmt::join(module.outputs, " ")),
        module.output_bytes, module.parameters, module.weight_bytes, module.macs);
  }
  const ModuleTotals sum = total(modules);
  table.add_rule();
  row("total", counted(modules.size(), "module"), "",
      sum.activations.leaf_bytes + sum.activations.container_bytes, sum.parameters,
      sum.weight_bytes, sum.macs);
  return table.render(width);
}

Json to_json(const std::vector<ModuleOutputs>& modules, const std::vector<ModuleOutputs>& listed) {
  const ModuleTotals sum = total(modules);
  Json json = {{"parameters", sum.parameters},
               {"parameter_bytes", sum.parameter_bytes},
               {"weight_bytes", sum.weight_bytes},
               {"macs", sum.macs},
               {"leaves", sum.activations.leaves},
               {"leaf_bytes", sum.activations.leaf_bytes},
               {"containers", sum.activations.containers},
               {"container_bytes", sum.activations.container_bytes},
               {"list", Json::array()}};
  for (const ModuleOutputs& module : listed) {
    json["list"].push_back({{"name", module.name},
                            {"kind", module.kind},
                            {"container", module.container},
                            {"calls", module.calls},
                            {"outputs", module.outputs},
                            {"output_bytes", module.output_bytes},
                            {"parameters", module.parameters},
                            {"parameter_bytes", module.parameter_bytes},
                            {"weight_bytes", module.weight_bytes},
                            {"macs", module.macs}});
  }
  return json;
}

}  // namespace gemm64
