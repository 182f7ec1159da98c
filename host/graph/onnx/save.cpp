// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/save.hpp"

#include <fmt/format.h>

#include "host/graph/onnx/graph_check.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {

void require_model_fits(std::uint64_t bytes, const std::filesystem::path& path) {
  if (bytes <= kMaxModelBytes) return;
  throw UsageError(
      fmt::format("{}: the model takes {} bytes; an ONNX file in one piece holds at most {}",
                  path.string(), grouped(bytes), grouped(kMaxModelBytes)));
}

std::uint64_t save_model(const onnx::ModelProto& model, OutputFile& file) {
  const std::uint64_t size = model.ByteSizeLong();
  require_model_fits(size, file.path());
  try {
    require_valid(model, file.path().string());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("not written, since it is not a valid model: {}", error.what()));
  }
  if (!model.SerializeToOstream(&file.stream())) file.stream().setstate(std::ios::badbit);
  file.commit();
  return size;
}

}  // namespace gemm64
