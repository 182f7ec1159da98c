// SPDX-License-Identifier: Apache-2.0
// The network of `run`, and what it runs on: one that the program makes, or one from a file.
#pragma once

#include <string>
#include <vector>

#include "host/cli/image_options.hpp"
#include "host/cli/options.hpp"
#include "host/compile/executable.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/graph/passes/quantize.hpp"
#include "host/numerics/fashion_mnist.hpp"
#include "host/runtime/batched_model.hpp"
#include "host/runtime/input_passes.hpp"
#include "host/runtime/narrowed_ranges.hpp"

namespace gemm64 {

struct NetworkOptions : CommonOptions {
  std::string network = "alexnet";
  std::string data = kFashionMnistFolder;
  std::string model;                      // a file; empty: `network`
  std::vector<std::string> input_shapes;  // --input-shape
  std::vector<std::string> inputs;
  std::int64_t images = 0;  // of the inputs, the first ones; 0: all
  ImageOptions pixels;
  std::vector<std::string> calibrate;  // files as `inputs` has them
  std::int64_t calibration_images = 0;
  std::string labels, names;
  std::vector<std::string> outputs;
  std::vector<std::string> dumps;
  bool allow_host_only = false;
  unsigned jobs = 0;  // devices in parallel; 0: one a core

  InputOptions input_options() const;
  InputOptions calibration_options() const;
};

struct NetworkSource {
  std::string name;  // for the report
  OnnxModel model;   // as the file has it
  NetworkInputs inputs;
  std::uint64_t batch;
  std::unique_ptr<OnnxModel> exact;  // the float network that `model` was quantized from
  std::string scales;                // and what images its scales come from, in words
  ImportOptions import;              // by which both were read
  std::shared_ptr<const Executable> executable;  // of a file that holds one
};

/// --input-shape.
CLI::Option& add_input_shapes(CLI::App& command, NetworkOptions& options);

/// --calibrate, --calibrate-images; returns the first.
CLI::Option& add_calibration_options(CLI::App& command, NetworkOptions& options);

/// Makes or reads it. `options.batch` is 0 where the file's own is wanted. With files to calibrate
/// on, it is quantized, its scales from the ranges that they lead to; so is a network that is made
/// here, unless it is to run in float32, on images other than those that run. Throws UsageError
/// where the model, the data or the inputs cannot be used, or an output in `files` would overwrite
/// one.
NetworkSource open_network(const NetworkOptions& options, ClaimedFiles& files,
                           const CheckModel& check);

/// Returns why a network was compiled to no program, as the end of a message, with a remedy.
std::string why_no_program(const Executable& executable, const OnnxModel& model);

/// Claims the files that the options name as inputs.
void claim_inputs(const NetworkOptions& options, ClaimedFiles& files);

/// The model of `options` as a QDQ file, calibrated on `options.calibrate`; in `choice`, which
/// nodes are quantized, whose ranges come by `ranges`.
QuantizedModel quantized_network(const NetworkOptions& options, ClaimedFiles& files,
                                 QuantizeChoice choice = {}, const RangeOptions& ranges = {});

}  // namespace gemm64
