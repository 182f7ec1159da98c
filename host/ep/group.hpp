// SPDX-License-Identifier: Apache-2.0
// A group of nodes that ONNX Runtime has fused for this provider.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/compile/executable_file.hpp"
#include "host/ep/accelerator.hpp"
#include "host/ep/run_log.hpp"
#include "host/graph/proto/onnx.pb.h"

namespace gemm64::ep {

class Group {
 public:
  /// The group's nodes as a model, whose inputs may have open sizes. Compiles it where they have
  /// none. The accelerator and the log outlive the group. Throws UsageError where it cannot be
  /// compiled.
  Group(Accelerator& accelerator, RunLog& log, std::string name, onnx::ModelProto model);
  /// One that payload() returned of a group for the same device. Throws UsageError where it is
  /// damaged, or for another device.
  Group(Accelerator& accelerator, RunLog& log, std::string name, const std::string& payload);
  /// One that is compiled for this device already.
  Group(Accelerator& accelerator, RunLog& log, std::string name, LoadedExecutable compiled);

  /// Compiles the group for inputs of these shapes, if it is not compiled yet, and can be.
  void prepare(const std::map<std::string, Dims>& shapes);
  /// Is it compiled for the inputs of prepare()?
  bool is_prepared() const { return fixed_ || !recent_.empty(); }

  /// Its program has this number in reports; without a number, it is the first.
  void set_program(std::size_t program) { program_ = program; }

  /// Runs the group on the device; outputs by name. Throws std::runtime_error where it fails, or
  /// what was checked does not hold. May be called by several threads.
  NamedTensors run(NamedTensors inputs);

  /// The group compiled, as the contents of a .g64 file; as an ONNX model where its inputs have
  /// open sizes.
  std::string payload() const;

 private:
  /// The group for inputs of certain sizes.
  struct Compiled {
    explicit Compiled(OnnxModel own) : model(std::move(own)) {}
    OnnxModel model;  // in QOperator form
    Executable executable;
    HostNodes nodes{model};
    std::vector<std::string> known;  // inputs that are constants of it
  };

  void open(onnx::ModelProto model);
  std::shared_ptr<const Compiled> compiled_for(const NamedTensors& inputs);
  std::shared_ptr<const Compiled> compile(const ImportOptions& import) const;

  Accelerator& accelerator_;
  RunLog& log_;
  const std::string name_;
  std::size_t program_ = 0;
  onnx::ModelProto model_;
  std::mutex mutex_;
  std::shared_ptr<const Compiled> fixed_;  // where there is nothing open
  /// Those for the last sizes that came, the newest first, by sizes and known values as text.
  std::deque<std::pair<std::string, std::shared_ptr<const Compiled>>> recent_;
};

}  // namespace gemm64::ep
