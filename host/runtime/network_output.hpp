// SPDX-License-Identifier: Apache-2.0
// The .npy files that a network's outputs go to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/runtime/named_tensors.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/output_file.hpp"

namespace gemm64 {

/// Each text is FILE, for the network's first output, NAME=FILE, or FOLDER/ (or a folder that
/// exists) for all outputs, NAME.npy each. A sequence goes to a folder, NAME=FOLDER/ or
/// FOLDER/NAME.
class NetworkOutputs {
 public:
  /// Claims and opens the files that the texts name. Throws UsageError where one cannot be written
  /// or is claimed already, or where two texts name no output.
  NetworkOutputs(const std::vector<std::string>& texts, ClaimedFiles& files);

  /// Finds the outputs of the texts, makes folders, claims and opens the files in them. Throws
  /// UsageError where the model has no such output.
  void open(const OnnxModel& model, ClaimedFiles& files);

  /// Writes each file. One that is lost is reported, and the others are written.
  void write(const NamedTensors& outputs) const;

 private:
  struct File {
    std::string output;  // empty: the first
    std::string path;
    std::unique_ptr<OutputFile> file;  // nullptr if the path is the folder of a sequence
  };
  void add(const std::string& output, const std::string& path, ClaimedFiles& files);

  std::vector<File> files_;
  std::vector<std::string> folders_;
};

}  // namespace gemm64
