// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/input_shapes.hpp"

#include <filesystem>
#include <utility>

#include "host/numerics/npy.hpp"

namespace gemm64 {
namespace {

/// FILE or NAME=FILE as name and file; no name stands for the first input.
std::pair<std::string, std::string> named_input(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text)) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

InputShapes with_array_shapes(InputShapes known, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const auto [name, file] = named_input(text);
    if (known.count(name) != 0 || (name.empty() && !known.empty())) continue;
    if (std::filesystem::path(file).extension() != ".npy") continue;
    std::vector<std::int64_t>& shape = known[name];
    shape = NpyFile(file).shape();
    if (shape.size() > 1) shape[0] = 1;
  }
  return known;
}

}  // namespace gemm64
