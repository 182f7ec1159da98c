// SPDX-License-Identifier: Apache-2.0
// The file of a network, whatever its format: ONNX, compiled, or TorchScript by the plug-in.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/analysis/module_outputs.hpp"
#include "host/compile/executable.hpp"
#include "host/graph/onnx/model.hpp"

namespace gemm64 {

/// Shapes of inputs by name; "" stands for the first one.
using InputShapes = std::map<std::string, std::vector<std::int64_t>>;

class NetworkFile {
 public:
  /// A file, or an ONNX file that standard input ("-") or a pipe gives. `shapes`: those of inputs
  /// where a load() does not say others. TorchScript files keep none.
  explicit NetworkFile(std::string path, InputShapes shapes = {});

  /// Is it TorchScript: a ZIP archive, or called .pt or .pth?
  bool is_torchscript() const { return is_torchscript_; }

  /// The network, as OnnxModel::load() reads one. A TorchScript file is translated again for other
  /// shapes. Throws UsageError, one line.
  OnnxModel load(const ImportOptions& options = {});

  /// Of a compiled file (.g64) that was loaded: what it holds next to the network; else nullptr.
  const std::shared_ptr<const Executable>& executable() const { return executable_; }

  /// Of a TorchScript file that was loaded: what each module gives out.
  const std::vector<ModuleOutputs>& modules() const { return modules_; }

 private:
  OnnxModel load_compiled(const ImportOptions& options);
  InputShapes shapes_for(const ImportOptions& options) const;

  std::string path_;
  std::shared_ptr<const std::string> piped_;  // contents of standard input or a pipe, else nullptr
  InputShapes shapes_;
  bool is_torchscript_;
  std::vector<ModuleOutputs> modules_;
  std::shared_ptr<const Executable> executable_;
};

}  // namespace gemm64
