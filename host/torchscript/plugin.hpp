// SPDX-License-Identifier: Apache-2.0
// The plug-in that reads TorchScript files: where it is, and what it makes of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gemm64 {

/// What a plug-in is asked for.
struct TorchScriptRequest {
  std::string path;
  /// Shapes of inputs by name; "" stands for the first one.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  /// May the model lack the contents of large tensors?
  bool shapes_only = false;
};

struct TorchScriptAnswer {
  std::string model;    // an ONNX file's bytes
  std::string modules;  // JSON: {"modules": [...]}, see module_records.hpp
};

/// What GEMM64_TORCHSCRIPT of the environment names, or gemm64_torchscript.so next to the program,
/// in ../lib/gemm64 from there or, for Python's module, in the build folder. Throws UsageError,
/// which says how to get it and names `file`, if it is in none of these places.
std::filesystem::path find_torchscript_plugin(const std::string& file);

/// Lets a plug-in translate a file, in a process of its own: whatever the file does to LibTorch,
/// this program goes on, and none of LibTorch stays in its memory. Throws UsageError, one line,
/// if the plug-in cannot be loaded, speaks another version of the interface, or refuses the
/// file.
TorchScriptAnswer ask_torchscript_plugin(const std::filesystem::path& plugin,
                                         const TorchScriptRequest& request);

}  // namespace gemm64
