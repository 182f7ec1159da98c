// SPDX-License-Identifier: Apache-2.0
// The modules of a network as its own file records them (TorchScript's do), and what each gave
// out.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/analysis/analysis.hpp"

namespace gemm64 {

/// One module; the network itself has the empty name. Parameters, MACs and outputs are those of one
/// run, as forward hooks count them.
struct ModuleOutputs {
  std::string name;              // "features.0"
  std::string kind;              // "Conv2d"
  bool container = false;        // does it hold other modules?
  std::uint64_t parameters = 0;  // its own, without those of modules inside
  std::uint64_t parameter_bytes = 0;
  std::uint64_t weight_bytes = 0;  // of parameters with "weight" in their names
  std::uint64_t macs = 0;          // of what it computes itself
  std::uint64_t calls = 0;
  std::uint64_t output_bytes = 0;    // of all calls
  std::vector<std::string> outputs;  // shapes: "1x64x55x55"
};

/// Sums over modules.
struct ModuleTotals {
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t macs = 0;
  ModuleActivations activations;  // of modules that were called
};

ModuleTotals total(const std::vector<ModuleOutputs>& modules);

/// Those whose names match a pattern (*, ?, [abc]). Throws UsageError if none does.
std::vector<ModuleOutputs> matching_modules(const std::vector<ModuleOutputs>& modules,
                                            const std::string& pattern);

/// The totals, with MACs by kind of module.
std::string module_totals_table(const std::vector<ModuleOutputs>& modules, std::size_t width);
/// A row for each module, and their sum.
std::string modules_table(const std::vector<ModuleOutputs>& modules, std::size_t width);

/// {"parameters", "parameter_bytes", "weight_bytes", "macs", "leaves", "leaf_bytes", "containers",
/// "container_bytes", "list"}: totals of all modules, and each of those that are listed.
nlohmann::ordered_json to_json(const std::vector<ModuleOutputs>& modules,
                               const std::vector<ModuleOutputs>& listed);

}  // namespace gemm64
