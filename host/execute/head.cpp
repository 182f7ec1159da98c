// SPDX-License-Identifier: Apache-2.0
#include "host/execute/head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/execute/not_finite.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// About 200 MB of activations for an AlexNet.
constexpr std::int64_t kImagesAtOnce = 64;

/// Does a node give the same for an image whatever else is in the batch?
bool treats_images_alone(const OnnxModel& model, const Step& step) {
  static const char* const kOperators[] = {"Conv",
                                           "Relu",
                                           "MaxPool",
                                           "AveragePool",
                                           "Dropout",
                                           "Flatten",
                                           "Tanh",
                                           "GlobalAveragePool",
                                           "QLinearConv",
                                           "QuantizeLinear",
                                           "DequantizeLinear",
                                           "QLinearGlobalAveragePool"};
  const onnx::NodeProto& node = *step.context.node;
  if (node.op_type() == "Flatten" && attribute(node, "axis", std::int64_t{1}) != 1) return false;
  // What Dropout drops in training mode depends on the place in the batch.
  if (node.op_type() == "Dropout" && node.input_size() > 2) return false;
  // A MaxPool's positions are counted through the whole batch.
  if (node.op_type() == "MaxPool" && node.output_size() > 1) return false;
  // The images are its first input; weights are the same for all of them.
  for (int i = 0; i < node.input_size(); ++i) {
    const bool constant = node.input(i).empty() || model.constant(node.input(i)) != nullptr;
    if (constant != (i > 0)) return false;
  }
  return std::find(std::begin(kOperators), std::end(kOperators), node.op_type()) !=
         std::end(kOperators);
}

/// Appends the rows of `part`, which begin with image `first` of `images`.
void append(Tensor& whole, const Tensor& part, std::int64_t first, std::int64_t images) {
  if (!whole.present()) {
    Dims dims = part.dims();
    dims[0] = images;
    whole = Tensor(part.type(), dims);
  }
  const std::size_t row = part.bytes() / static_cast<std::size_t>(part.dim(0));
  std::memcpy(whole.mutable_raw() + static_cast<std::size_t>(first) * row, part.raw(),
              part.bytes());
}

/// The files of the first input that has any.
std::vector<std::string> files_of(const InputSources& sources) {
  for (const auto& [name, source] : sources) {
    if (!source.files.empty()) return source.files;
  }
  return {};
}

NetworkInputs all_of(NamedTensors tensors) {
  NetworkInputs inputs;
  inputs.take = [tensors = std::move(tensors)](std::int64_t, std::int64_t) { return tensors; };
  return inputs;
}

std::string input_called(const std::string& name) {
  return fmt::format("input '{}'", printable(name));
}

void note_values(const std::string& name, const Tensor& tensor, NetworkInputs& inputs) {
  if (std::string note = nan_note(name, tensor); !note.empty()) {
    inputs.nans.push_back(std::move(note));
  }
  if (std::string note = infinity_note(name, tensor); !note.empty()) {
    inputs.infinities.push_back(std::move(note));
  }
}

void note_values(const InputSources& sources, NetworkInputs& inputs) {
  for (const auto& [name, source] : sources) {
    if (!source.in_memory) continue;  // pixels are numbers
    note_values(source.file.empty() ? input_called(name) : printable(source.file),
                source.rows(0, source.dims.empty() ? 0 : source.dims[0]), inputs);
  }
}

}  // namespace

NetworkInputs NetworkInputs::of(NamedTensors tensors) {
  NetworkInputs inputs = all_of(tensors);
  for (const auto& [name, tensor] : tensors) {
    note_values(input_called(name), tensor, inputs);
  }
  return inputs;
}

NetworkInputs NetworkInputs::of(InputSources sources) {
  NetworkInputs inputs;
  inputs.files = files_of(sources);
  note_values(sources, inputs);
  inputs.take = [sources = std::move(sources)](std::int64_t, std::int64_t) {
    NamedTensors taken;
    for (const auto& [name, source] : sources) {
      taken[name] = source.rows(0, source.dims.empty() ? 0 : source.dims[0]);
    }
    return taken;
  };
  return inputs;
}

NetworkInputs NetworkInputs::in_passes(InputSources sources, std::int64_t images,
                                       std::int64_t at_once, std::string why_in_turn) {
  NetworkInputs inputs;
  inputs.images = images;
  inputs.at_once = at_once;
  inputs.why_in_turn = std::move(why_in_turn);
  inputs.files = files_of(sources);
  note_values(sources, inputs);
  inputs.take = [sources = std::move(sources), images](std::int64_t first, std::int64_t count) {
    NamedTensors taken;
    const std::int64_t there = std::min(count, images - first);
    for (const auto& [name, source] : sources) {
      if (source.dims.empty() || source.dims[0] != images) {
        taken[name] = source.rows(0, source.dims.empty() ? 0 : source.dims[0]);
        continue;
      }
      std::vector<Tensor> parts{source.rows(first, there)};
      const Tensor last = rows(parts[0], there - 1, 1);
      parts.insert(parts.end(), static_cast<std::size_t>(count - there), last);
      taken[name] = parts.size() == 1 ? parts[0] : stacked(parts);
    }
    return taken;
  };
  return inputs;
}

NetworkInputs NetworkInputs::pass(std::int64_t index) const {
  return at_once == 0 ? *this : all_of(take(index * at_once, at_once));
}

std::int64_t NetworkInputs::images_of(std::int64_t pass) const {
  return at_once == 0 ? images : std::min(at_once, images - pass * at_once);
}

Values run_head(const Executor& executor, std::size_t last, const NetworkInputs& inputs,
                const ExecutorHooks& hooks) {
  const auto& steps = executor.steps();
  const bool alone =
      std::all_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(last),
                  [&](const Step& step) { return treats_images_alone(executor.model(), step); });
  if (!alone || inputs.images <= kImagesAtOnce) {
    Values values = executor.begin(inputs.take(0, inputs.images));
    executor.run_steps(0, last, values, hooks);
    return values;
  }
  Values whole;
  for (std::int64_t first = 0; first < inputs.images; first += kImagesAtOnce) {
    const std::int64_t count = std::min(kImagesAtOnce, inputs.images - first);
    Values values = executor.begin(inputs.take(first, count));
    executor.run_steps(0, last, values, hooks);
    for (const auto& [name, tensor] : values) append(whole[name], tensor, first, inputs.images);
  }
  return whole;
}

}  // namespace gemm64
