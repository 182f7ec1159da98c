// SPDX-License-Identifier: Apache-2.0
// An Executable as a file (.g64): README.md has the format.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "host/compile/executable.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/util/output_file.hpp"

namespace gemm64 {

/// What an Executable is, as the header of its file says it: device, options, order of the work,
/// and of each program commands, layers and tensors, without the bytes of any.
nlohmann::ordered_json to_json(const Executable& executable, const OnnxModel& model);

/// Writes an executable, whose constants are packed, with the model that it was compiled from, and
/// commits. `made_by` names the program. Returns the bytes written. Throws UsageError where the
/// model is too large for one file.
std::uint64_t save_executable(const Executable& executable, const OnnxModel& model,
                              const std::string& made_by, OutputFile& file);

/// Is it such a file, by its first bytes?
bool is_executable_file(const std::string& path);

struct LoadedExecutable {
  OnnxModel model;  // in QOperator form, its inputs of the sizes that were compiled
  Executable executable;
};

/// Throws UsageError, one line that names the file and what is wrong with it, for everything that
/// is no such file, is damaged, or holds other commands than this version makes of its network.
LoadedExecutable load_executable(const std::string& path);

}  // namespace gemm64
