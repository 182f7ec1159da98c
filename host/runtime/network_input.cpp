// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_input.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/graph/proto/tensor_data.hpp"
#include "host/graph/proto/value_form.hpp"
#include "host/numerics/idx.hpp"
#include "host/numerics/image_file.hpp"
#include "host/numerics/initialize.hpp"
#include "host/runtime/image_source.hpp"
#include "host/runtime/known_inputs.hpp"
#include "host/runtime/npy.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

const onnx::ValueInfoProto& info_of(const OnnxModel& model, const std::string& name) {
  const auto& inputs = model.graph().input();
  return *std::find_if(inputs.begin(), inputs.end(),
                       [&](const onnx::ValueInfoProto& info) { return info.name() == name; });
}

std::string quoted(const std::string& name) { return fmt::format("input '{}'", printable(name)); }

/// Type and shape of an input, where an open first size is taken as 1.
TensorType type_of(const OnnxModel& model, const std::string& name, const char* help) {
  const std::optional<TensorType> type = model.type(name);
  if (!type) {
    throw UsageError(fmt::format("{}: the shape of its {} is open: {}; {}", model.name(),
                                 quoted(name), model.why_unknown(name), help));
  }
  return *type;
}

Tensor random_input(const OnnxModel& model, const std::string& name, std::uint32_t seed,
                    std::int64_t images_in_turn) {
  TensorType type =
      type_of(model, name, "give it as --input FILE.npy, or its sizes with --input-shape");
  if (images_in_turn != 0 && !type.dims.empty()) type.dims[0] = images_in_turn;
  if (type.data_type != onnx::TensorProto::FLOAT) {
    throw UsageError(fmt::format("{}: its {} is of {}; give it as --input {}=FILE.npy",
                                 model.name(), quoted(name), data_type_name(type.data_type),
                                 printable(name)));
  }
  Tensor tensor(onnx::TensorProto::FLOAT, type.dims);
  MersenneTwister generator = layer_generator(seed, name);
  fill_uniform(generator, 1.0F, tensor.mutable_values<float>(),
               static_cast<std::size_t>(tensor.elements()));
  return tensor;
}

/// Refuses fewer images than are asked for at once. Arrays are refused likewise.
void check_batch(const std::string& file, std::int64_t images, const InputOptions& options) {
  if (options.is_batch_of_file || images >= options.batch) return;
  throw UsageError(
      fmt::format("{}: {} for a batch of {}; give as many images as that (several files, or a "
                  "folder), or --batch {}",
                  file, counted(static_cast<std::uint64_t>(images), "image"), options.batch,
                  std::max<std::int64_t>(images, 1)));
}

InputSource images_source(const OnnxModel& model, const std::string& name,
                          const std::vector<std::string>& files, const InputOptions& options,
                          std::int64_t images_in_turn) {
  TensorType type = type_of(model, name, "an image cannot be resized to it");
  if (images_in_turn != 0 && !type.dims.empty()) type.dims[0] = images_in_turn;
  const std::string what = fmt::format("{} of {}", quoted(name), model.name());
  if (is_idx_file(files.front())) {
    InputSource source = idx_source(files.front(), type, options.pixels, options.limit, what);
    check_batch(files.front(), source.dims[0], options);
    return source;
  }
  std::vector<std::string> taken = files;
  if (options.limit != 0 && static_cast<std::size_t>(options.limit) < taken.size()) {
    taken.resize(static_cast<std::size_t>(options.limit));
  }
  check_batch(files.front(), static_cast<std::int64_t>(taken.size()), options);
  return image_files_source(taken, type, options.pixels, what);
}

/// The elements of an input that is a sequence of tensors, from a folder.
InputSource sequence_source(const ValueForm& form, const std::string& folder) {
  const Tensor tensor = load_sequence(folder, static_cast<DataType>(form.tensor.elem_type()));
  return {tensor.type(), {}, true, [tensor](std::int64_t, std::int64_t) { return tensor; }, {},
          folder};
}

InputSource array_source(const OnnxModel& model, const std::string& name, const std::string& file,
                         const InputOptions& options) {
  const onnx::TypeProto::Tensor type = value_form(info_of(model, name).type()).tensor;
  Tensor tensor = load_tensor(file, static_cast<DataType>(type.elem_type()));
  if (options.batch != 0 && (tensor.rank() == 0 || tensor.dim(0) < options.batch)) {
    throw UsageError(fmt::format("{}: is {}; --batch {} needs a first size of at least that", file,
                                 dims_text(tensor.dims()), options.batch));
  }
  if (options.limit != 0 && tensor.rank() != 0 && tensor.dim(0) > options.limit) {
    tensor = rows(tensor, 0, options.limit);
  }
  if (!type.has_shape()) return InputSource::of(tensor, file);
  bool fits = type.shape().dim_size() == static_cast<int>(tensor.rank());
  for (int i = 1; fits && i < type.shape().dim_size(); ++i) {
    const auto& dim = type.shape().dim(i);
    fits = dim.dim_value() <= 0 || dim.dim_value() == tensor.dim(static_cast<std::size_t>(i));
  }
  if (fits) return InputSource::of(tensor, file);
  std::vector<std::string> expected;
  for (const auto& dim : type.shape().dim()) {
    const std::string open = dim.dim_param().empty() ? "any" : printable(dim.dim_param());
    expected.push_back(dim.dim_value() > 0 ? std::to_string(dim.dim_value()) : open);
  }
  throw UsageError(fmt::format("{}: is {}; {} of {} takes {}", file, dims_text(tensor.dims()),
                               quoted(name), model.name(), fmt::join(expected, " x ")));
}

/// FILE or NAME=FILE as name and file. What is a file by its whole text is one.
std::pair<std::string, std::string> parse(const std::string& text, const OnnxModel& model,
                                          const std::vector<std::string>& names) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text)) {
    if (names.empty()) throw UsageError(fmt::format("{}: has no inputs to give", model.name()));
    return {names.front(), text};
  }
  const std::string name = text.substr(0, equals);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string known;
    for (const std::string& input : names) known += (known.empty() ? "" : ", ") + printable(input);
    throw UsageError(
        fmt::format("{}: has no {}; its inputs are: {}", model.name(), quoted(name), known));
  }
  return {name, text.substr(equals + 1)};
}

/// The file of FILE or NAME=FILE.
std::string file_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text)) return text;
  return text.substr(equals + 1);
}

/// What a person names as one file: the images and arrays of a folder, or the file itself.
std::vector<std::string> expanded(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_directory(file, error)) return {file};
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator at(file, error), end; !error && at != end;
       at.increment(error)) {
    const bool is_array = at->path().extension() == ".npy";
    if (is_array || is_image_file(at->path())) found.push_back(at->path().string());
  }
  if (error) throw UsageError(fmt::format("{}: cannot be read: {}", file, error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

/// The images of a folder, or the file itself.
std::vector<std::string> images_in(const std::string& file) {
  std::vector<std::string> images = expanded(file);
  if (images == std::vector{file}) return images;
  images.erase(std::remove_if(images.begin(), images.end(),
                              [](const std::string& one) { return !is_image_file(one); }),
               images.end());
  if (images.empty()) throw UsageError(fmt::format("{}: holds no PNG or JPEG images", file));
  return images;
}

}  // namespace

std::vector<std::string> input_files(const std::string& text) {
  return is_constant_input(text) ? std::vector<std::string>{} : expanded(file_of(text));
}

InputSources open_inputs(const OnnxModel& model, const InputOptions& options,
                         std::int64_t images_in_turn) {
  const std::vector<std::string> names = model.inputs();
  std::map<std::string, std::vector<std::string>> given;
  for (const std::string& text : options.files) {
    const auto [name, file] = parse(text, model, names);
    const bool is_sequence = value_form(info_of(model, name).type()).is_sequence;
    for (std::string& one : is_sequence ? std::vector{file} : images_in(file)) {
      given[name].push_back(std::move(one));
    }
  }
  InputSources inputs;
  bool any_images = false;
  for (const auto& [name, files] : given) {
    if (const ValueForm form = value_form(info_of(model, name).type()); form.is_sequence) {
      inputs.emplace(name, sequence_source(form, files[0]));
      continue;
    }
    const bool images = std::all_of(files.begin(), files.end(),
                                    [](const std::string& file) { return is_image_file(file); });
    if (!images && files.size() > 1) {
      throw UsageError(
          fmt::format("--input {}: {} is given twice; several files for one input must "
                      "all be images",
                      files[1], quoted(name)));
    }
    const bool pixels = images || is_idx_file(files[0]);
    any_images = any_images || pixels;
    inputs.emplace(name, pixels ? images_source(model, name, files, options, images_in_turn)
                                : array_source(model, name, files[0], options));
  }
  if (options.pixels.given() && !any_images) {
    throw UsageError(
        "--preprocess, --mean, --std, --scale and --resize are for images (PNG, JPEG, idx); arrays "
        "are taken "
        "as they are");
  }
  for (const std::string& name : names) {
    if (inputs.count(name) != 0) continue;
    inputs.emplace(name, InputSource::of(random_input(model, name, options.seed, images_in_turn)));
  }
  return inputs;
}

}  // namespace gemm64
