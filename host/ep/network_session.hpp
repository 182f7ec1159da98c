// SPDX-License-Identifier: Apache-2.0
// A network in ONNX Runtime, whose layers for the device run on the device of a session of ours.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/ep/accelerator.hpp"
#include "host/runtime/dump.hpp"
#include "host/runtime/input_passes.hpp"
#include "host/runtime/network_run.hpp"
#include "host/runtime/session.hpp"
#include "host/util/error.hpp"

namespace gemm64::ep {

class NetworkSession {
 public:
  /// Loads ONNX Runtime. All groups run by the runner of `session`, which outlives this; its
  /// observers are announced the jobs of all groups together before the first one runs. There may
  /// be several of these at once, of a session each. `parallel_for`: devices like the session's, on
  /// which groups run in parallel if they can. Throws UsageError if there is no ONNX Runtime.
  explicit NetworkSession(Session& session, SideBySide parallel_for = {});
  ~NetworkSession();
  NetworkSession(const NetworkSession&) = delete;
  NetworkSession& operator=(const NetworkSession&) = delete;

  /// The network of run(), as its file has it (QDQ form included), whose inputs have the shapes
  /// that the model knows; and the float network to compare it with, nullptr: none. Both outlive
  /// this. To be called once. Throws UsageError if ONNX Runtime refuses it, it has a
  /// Loop that was not unrolled, or a group cannot be compiled.
  /// `dumped`: PATTERN=FOLDER each, whose nodes are outputs of ONNX Runtime's too. `compiled`: what
  /// the model, which is in QOperator form then, was compiled to; its programs run as they are.
  void open(const OnnxModel& model, const OnnxModel* exact,
            const std::vector<std::string>& dumped = {}, const Executable* compiled = nullptr);
  /// The nodes of the file and of groups, by name. Some are computed within others; of those, nodes
  /// that change the form of values only are there if `dumped` has their very name.
  NamedNodes nodes(const std::vector<std::string>& dumped) const;

  /// Runs the network, once or once for each pass, and adds it to `report`, as Session::run() does.
  /// An error of the device is in the report; throws UsageError if ONNX Runtime fails.
  /// `dump`, if there is one, is given the outputs of its nodes.
  NetworkRun run(const NetworkInputs& inputs, RunReport report, const RunProgress& progress,
                 ActivationDump* dump = nullptr);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gemm64::ep
