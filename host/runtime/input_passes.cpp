// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/input_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/runtime/not_finite.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

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

}  // namespace gemm64
