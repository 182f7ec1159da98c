// SPDX-License-Identifier: Apache-2.0
// libFuzzer's target: any bytes as an ONNX file, imported and analysed. What is no model must be
// refused by UsageError, with one line; anything else that is thrown, and any fault that the
// sanitizers see, ends the run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/analysis/analysis.hpp"
#include "host/analysis/analysis_report.hpp"
#include "host/analysis/columns.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/util/error.hpp"

namespace {

using namespace gemm64;

// The cycle model is exact and slow under sanitizers; it has tests of its own.
constexpr std::uint64_t kMaxTiles = 1000;

void use(const OnnxModel& model) {
  const Analysis analysis = analyze(model, Geometry(), {}, true, kMaxTiles);
  const auto layers = sort_layers(analysis, shown_layers(analysis), "traffic_bytes", 0);
  if (analysis_tables(analysis, layers, "all", 80).empty()) std::abort();
  if (layers_csv(analysis, layers).empty()) std::abort();
  to_json(analysis).dump();  // throws where a text is not UTF-8
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool shapes_only : {true, false}) {
    ImportOptions options;
    options.shapes_only = shapes_only;
    options.batch = shapes_only ? 0 : 2;
    options.max_bytes = std::uint64_t{1} << 24;
    try {
      use(OnnxModel::from_bytes(bytes, "fuzz.onnx", options));
    } catch (const UsageError& error) {
      const std::string_view message = error.what();
      if (message.find('\n') != std::string_view::npos || message.size() > 2000) std::abort();
    }
  }
  return 0;
}
