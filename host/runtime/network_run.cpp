// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_run.hpp"

#include <cstring>
#include <utility>

#include "host/kernels/object_tensors.hpp"

namespace gemm64 {

void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check) {
  for (const auto& [name, tensor] : found) {
    const Tensor& wanted = expected.at(name);
    const std::size_t size = tensor.element_size();
    check.values += static_cast<std::uint64_t>(tensor.elements());
    const bool same = wanted.type() == tensor.type() && wanted.dims() == tensor.dims();
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * size;
      if (same && std::memcmp(wanted.raw() + at, tensor.raw() + at, size) == 0) continue;
      if (check.mismatches++ == 0) check.first = name;
    }
  }
}

namespace {

/// The rows of the first `images` of `at_once` images.
Tensor rows_of_images(const Tensor& tensor, std::int64_t images, std::int64_t at_once) {
  if (images == at_once || at_once == 0 || is_sequence(tensor) || tensor.rank() == 0 ||
      tensor.dim(0) % at_once != 0)
    return tensor;
  return rows(tensor, 0, tensor.dim(0) / at_once * images);
}

}  // namespace

void Passes::add(const onnx::GraphProto& graph, NamedTensors outputs, const Tensor* exact,
                 std::int64_t images, std::int64_t at_once) {
  for (auto& [name, tensor] : outputs) tensor = rows_of_images(tensor, images, at_once);
  if (graph.output_size() != 0) {
    const Tensor& found = outputs.at(graph.output(0).name());
    if (found.type() == onnx::TensorProto::FLOAT && found.elements() != 0) {
      found_.push_back(found);
      exact_.push_back(exact != nullptr ? rows_of_images(*exact, images, at_once) : found);
    }
  }
  for (auto& [name, tensor] : outputs) outputs_[name].push_back(std::move(tensor));
}

NamedTensors Passes::outputs() const {
  NamedTensors outputs;
  for (const auto& [name, parts] : outputs_) outputs[name] = stacked(parts);
  return outputs;
}

std::optional<NetworkQuality> Passes::quality() const {
  if (found_.empty()) return std::nullopt;
  return network_quality(as_rows(stacked(exact_)), as_rows(stacked(found_)));
}

Tensor Passes::exact() const { return exact_.empty() ? Tensor() : stacked(exact_); }

void join(std::vector<LayerReport>& layers, std::vector<LayerReport> more) {
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (i < layers.size()) {
      add_image(layers[i], more[i]);
    } else {
      layers.push_back(std::move(more[i]));
    }
  }
}

}  // namespace gemm64
