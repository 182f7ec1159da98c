// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/open_model.hpp"

#include "host/graph/onnx/shapes.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

OnnxModel load_to_analyze(const ModelLoader& load, ImportOptions& import) {
  try {
    return load(import);
  } catch (const UsageError&) {
    if (import.batch != 0) throw;
    ImportOptions open = import;
    open.batch = kOpenBatch;
    try {
      OnnxModel model = load(open);
      import = open;
      return model;
    } catch (const UsageError&) {  // then it is not that size
    }
    throw;
  }
}

}  // namespace gemm64
