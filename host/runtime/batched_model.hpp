// SPDX-License-Identifier: Apache-2.0
// A model and its inputs, brought together: how many images there are, and how many run at once.
#pragma once

#include <functional>

#include "host/graph/onnx/model.hpp"
#include "host/runtime/input_passes.hpp"
#include "host/runtime/network_input.hpp"

namespace gemm64 {

/// The model as imported by some options.
using ModelLoader = std::function<OnnxModel(const ImportOptions&)>;

/// Throws UsageError where a model cannot run.
using CheckModel = std::function<void(const OnnxModel&)>;

/// A model for as many images as asked for, or for one where it can take no more.
struct LoadedModel {
  OnnxModel model;
  ImportOptions import;
  std::string why_in_turn;  // empty: it takes as many as asked for
};

/// Loads the model for `images` images by `import`. Where its shapes do not allow that number,
/// though they allow one: for one. Throws UsageError where it cannot be read.
LoadedModel load_for(const ModelLoader& load, const ImportOptions& import, std::int64_t images);

/// The inputs of a model, as open_inputs() finds them.
using OpenInputs = std::function<InputSources(const OnnxModel&, const InputOptions& options,
                                              std::int64_t images_in_turn)>;

struct BatchedModel {
  OnnxModel model;
  ImportOptions import;  // by which it was read
  NetworkInputs inputs;
  std::int64_t images = 1;
};

/// Loads the model for as many images as the inputs hold; those that are known before it runs
/// (known_inputs.hpp) are constants of it. More than `options.batch` images run in
/// passes of that number; where that is 0, more than 256 images (or than 1 GiB of values allow) run
/// in passes of equal size. Images that the model cannot take at once run one after the other.
/// `check` is asked as soon as all shapes are known, before memory for them is taken. Throws
/// UsageError where the model or the inputs cannot be used, or this machine has too little memory.
BatchedModel load_with_inputs(const ModelLoader& load, const InputOptions& options,
                              const CheckModel& check, const OpenInputs& open = open_inputs);

}  // namespace gemm64
