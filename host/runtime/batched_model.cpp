// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/batched_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "host/graph/onnx/shapes.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/kernels/object_tensors.hpp"
#include "host/runtime/known_inputs.hpp"
#include "host/runtime/memory_need.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kMostAtOnce = 256;
constexpr double kBytesAtOnce = std::int64_t{1} << 30;

std::string gibibytes(double bytes) {
  return grouped(static_cast<std::uint64_t>(std::ceil(bytes / (1 << 30))));
}

void check_memory(const OnnxModel& model, std::int64_t passes, bool inputs_held) {
  const double need = memory_need(model, passes, inputs_held);
  if (need <= machine_memory()) return;
  throw UsageError(fmt::format("{} needs {} GiB of memory for its values; this machine has {} GiB",
                               model.name(), gibibytes(need), gibibytes(machine_memory())));
}

/// Does every input that the file leaves to the user hold one image? A scalar holds none; it goes
/// with all of them.
bool takes_one_image(const OnnxModel& model) {
  bool any = false;
  for (const std::string& name : model.inputs()) {
    const std::optional<TensorType> type = model.type(name);
    if (!type) return false;
    if (type->dims.empty()) continue;
    if (type->dims[0] != 1) return false;
    any = true;
  }
  return any;
}

/// The first size of all sources but scalars; 0 where they differ, all are scalars, or the model
/// does not know an input.
std::int64_t images_of(const OnnxModel& model, const InputSources& sources) {
  std::optional<std::int64_t> images;
  for (const auto& [name, source] : sources) {
    if (!model.type(name)) return 0;
    if (source.dims.empty()) continue;
    if (images.value_or(source.dims[0]) != source.dims[0]) return 0;
    images = source.dims[0];
  }
  return images.value_or(0);
}

/// The images that the model was loaded for: the first size of its inputs but scalars.
std::int64_t own_images(const OnnxModel& model, const InputSources& sources) {
  for (const auto& [name, source] : sources) {
    const std::optional<TensorType> type = model.type(name);
    if (type && !type->dims.empty()) return type->dims[0];
  }
  return 0;
}

/// Are these surely images, none of which has to do with another?
bool are_images(const InputSources& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const auto& named) {
    const InputSource& source = named.second;
    return !source.in_memory ||
           (source.dims.size() == 4 && (source.dims[1] == 1 || source.dims[1] == 3));
  });
}

/// How many of `images` images run at once, as the model was loaded with one batch or another.
std::int64_t images_at_once(const OnnxModel& model, const InputSources& sources,
                            std::int64_t images, std::int64_t batch) {
  const std::int64_t own = own_images(model, sources);
  if (images <= 1 || images == own) return images;
  if (batch != 0) return std::min(batch, images);
  if (!are_images(sources)) return images;
  const double bytes = memory_need(model) / static_cast<double>(std::max<std::int64_t>(own, 1));
  const auto room = static_cast<std::int64_t>(kBytesAtOnce / std::max(bytes, 1.0));
  const std::int64_t most = std::clamp<std::int64_t>(room, 1, kMostAtOnce);
  const std::int64_t passes = (images + most - 1) / most;
  return (images + passes - 1) / passes;
}

/// Shapes of inputs that are others than the model was loaded with, `at_once` of `images` rows.
std::map<std::string, Dims> other_shapes(const OnnxModel& model, const InputSources& sources,
                                         std::int64_t images, std::int64_t at_once) {
  std::map<std::string, Dims> shapes;
  for (const auto& [name, source] : sources) {
    if (source.type == kSequence) continue;
    Dims dims = source.dims;
    if (images != 0 && !dims.empty()) dims[0] = at_once;
    const std::optional<TensorType> type = model.type(name);
    if (!type || type->dims != dims) shapes[name] = dims;
  }
  return shapes;
}

/// Refuses a source that contradicts the shape that was given for its input, but for the images.
void check_given(const std::string& name, const Dims& dims, const InputOptions& options) {
  const auto given = options.shapes.find(name);
  if (given == options.shapes.end()) return;
  const Dims& wanted = given->second;
  if (wanted.size() == dims.size() &&
      std::equal(dims.begin() + 1, dims.end(), wanted.begin() + 1)) {
    return;
  }
  throw UsageError(fmt::format("input '{}' is {}; --input-shape says {}", printable(name),
                               dims_text(dims), dims_text(wanted)));
}

bool any_in_memory(const InputSources& sources) {
  return std::any_of(sources.begin(), sources.end(),
                     [](const auto& named) { return named.second.in_memory; });
}

}  // namespace

LoadedModel load_for(const ModelLoader& load, const ImportOptions& import, std::int64_t images) {
  try {
    return {load(import), import, ""};
  } catch (const UsageError& error) {
    if (images < 2) throw;
    const std::string why = error.what();
    ImportOptions one = import;
    one.batch = 0;
    for (auto& [name, dims] : one.input_shapes) {
      if (!dims.empty() && dims[0] == images) dims[0] = 1;
    }
    try {
      OnnxModel single = load(one);
      if (takes_one_image(single)) return {std::move(single), one, why};
    } catch (const UsageError&) {  // then what was wrong is not the number of images
    }
    throw;
  }
}

namespace {

/// The model as it is before its inputs are opened: for one image where the file leaves a first
/// size open. If that cannot be, since the size is no number of images but a length, it stays open
/// until the inputs' files say what it is.
LoadedModel load_first(const ModelLoader& load, const ImportOptions& import,
                       const InputOptions& options) {
  try {
    return load_for(load, import, options.batch);
  } catch (const UsageError&) {
    if (options.batch != 0 || options.files.empty()) throw;
    ImportOptions open = import;
    open.batch = kOpenBatch;
    std::optional<LoadedModel> found;
    try {
      found.emplace(load_for(load, open, 0));
    } catch (const UsageError&) {  // then what was wrong is not the first size
    }
    if (!found) throw;
    return *std::move(found);
  }
}

}  // namespace

BatchedModel load_with_inputs(const ModelLoader& load, const InputOptions& given,
                              const CheckModel& check, const OpenInputs& open) {
  InputOptions options = given;
  ImportOptions import;
  import.batch = options.batch;
  import.input_shapes = options.shapes;
  const auto check_loaded = [&](const LoadedModel& loaded, std::int64_t passes, bool inputs_held) {
    try {
      check(loaded.model);
      check_memory(loaded.model, passes, inputs_held);
    } catch (const UsageError& error) {
      if (options.batch == 0) throw;
      throw UsageError(fmt::format("--batch {}: {}", options.batch, error.what()));
    }
  };
  LoadedModel loaded = load_first(load, import, options);
  // What was read and checked gets other shapes, where it can.
  const auto load_again = [&](std::int64_t images) {
    const ModelLoader reread = [&](const ImportOptions& by) {
      loaded.model.reread(by);
      return std::move(loaded.model);
    };
    loaded = load_for(loaded.model.can_be_reread() ? reread : load, import, images);
  };
  import.input_values = take_known_inputs(loaded.model, options.files);
  if (!import.input_values.empty()) load_again(options.batch);
  bool in_turn = !loaded.why_in_turn.empty();
  const bool files = !options.files.empty();
  if (!waits_for_inputs(loaded.model)) check_loaded(loaded, in_turn ? options.batch : 1, !files);
  InputSources sources = open(loaded.model, options, in_turn ? options.batch : 0);
  std::int64_t images = images_of(loaded.model, sources);
  if (in_turn && images == 0) images = options.batch;
  std::int64_t at_once = in_turn || images == 0
                             ? images
                             : images_at_once(loaded.model, sources, images, options.batch);
  if (!in_turn) {
    const auto others = other_shapes(loaded.model, sources, images, at_once);
    for (const auto& [name, dims] : others) {
      check_given(name, dims, options);
      import.input_shapes[name] = dims;
    }
    if (!others.empty()) {
      load_again(takes_one_image(loaded.model) ? at_once : 0);
      in_turn = !loaded.why_in_turn.empty();
    }
  }
  if (in_turn) at_once = 1;
  if (images == 0 || (at_once == images && !in_turn)) {
    check_loaded(loaded, 1, true);
    std::int64_t first = std::max<std::int64_t>(images, 1);
    if (images == 0 && !sources.empty()) {
      const Dims& dims = sources.at(loaded.model.inputs().at(0)).dims;
      if (!dims.empty()) first = dims[0];
    }
    return {std::move(loaded.model), loaded.import, NetworkInputs::of(std::move(sources)), first};
  }
  check_loaded(loaded, (images + at_once - 1) / at_once, any_in_memory(sources));
  return {std::move(loaded.model), loaded.import,
          NetworkInputs::in_passes(std::move(sources), images, at_once, loaded.why_in_turn),
          images};
}

}  // namespace gemm64
