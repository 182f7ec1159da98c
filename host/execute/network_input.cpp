// SPDX-License-Identifier: Apache-2.0
#include "host/execute/network_input.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/execute/npy.hpp"
#include "host/images/image_file.hpp"
#include "host/numerics/initialize.hpp"
#include "host/onnx/tensor.hpp"

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
  TensorType type = type_of(model, name, "give it as --input FILE.npy");
  if (images_in_turn != 0) type.dims.at(0) = images_in_turn;
  if (type.data_type != onnx::TensorProto::FLOAT) {
    throw UsageError(fmt::format("{}: its {} is of {}; give it as --input {}=FILE.npy",
                                 model.name(), quoted(name), data_type_name(type.data_type),
                                 printable(name)));
  }
  Tensor tensor(onnx::TensorProto::FLOAT, type.dims);
  std::mt19937 generator = layer_generator(seed, name);
  fill_uniform(generator, 1.0F, tensor.mutable_values<float>(),
               static_cast<std::size_t>(tensor.elements()));
  return tensor;
}

/// One image, for all of the batch, or several that are the batch.
Tensor image_input(const OnnxModel& model, const std::string& name,
                   const std::vector<std::string>& files, std::int64_t images_in_turn) {
  TensorType type = type_of(model, name, "an image cannot be resized to it");
  if (images_in_turn != 0) type.dims.at(0) = images_in_turn;
  Dims dims = type.dims;
  if (type.data_type != onnx::TensorProto::FLOAT || dims.size() != 4 ||
      (dims[1] != 1 && dims[1] != 3)) {
    throw UsageError(fmt::format(
        "{}: is an image, but {} of {} is {} {}; images are for float32 batches of 1 or 3 channels",
        files.front(), quoted(name), model.name(), data_type_name(type.data_type),
        dims_text(dims)));
  }
  const auto count = static_cast<std::int64_t>(files.size());
  if (count > 1) dims[0] = count;
  Tensor tensor(onnx::TensorProto::FLOAT, dims);
  if (tensor.elements() == 0) return tensor;
  const auto channels = static_cast<std::size_t>(dims[1]);
  float* to = tensor.mutable_values<float>();
  ImageBatch image;
  for (std::int64_t i = 0; i < dims[0]; ++i) {
    if (i < count) {
      image = network_input(load_image(files[static_cast<std::size_t>(i)], channels), channels,
                            static_cast<std::size_t>(dims[2]), static_cast<std::size_t>(dims[3]));
    }
    to = std::copy(image.values.begin(), image.values.end(), to);
  }
  return tensor;
}

Tensor array_input(const OnnxModel& model, const std::string& name, const std::string& file,
                   std::int64_t batch) {
  const auto& type = info_of(model, name).type().tensor_type();
  Tensor tensor = load_tensor(file, static_cast<DataType>(type.elem_type()));
  if (batch != 0 && (tensor.rank() == 0 || tensor.dim(0) != batch)) {
    throw UsageError(fmt::format("{}: is {}; --batch {} asks for another first size", file,
                                 dims_text(tensor.dims()), batch));
  }
  if (!type.has_shape()) return tensor;
  bool fits = type.shape().dim_size() == static_cast<int>(tensor.rank());
  for (int i = 1; fits && i < type.shape().dim_size(); ++i) {
    const auto& dim = type.shape().dim(i);
    fits = !dim.has_dim_value() || dim.dim_value() == tensor.dim(static_cast<std::size_t>(i));
  }
  if (fits) return tensor;
  std::vector<std::string> expected;
  for (const auto& dim : type.shape().dim()) {
    expected.push_back(dim.has_dim_value() ? std::to_string(dim.dim_value()) : "any");
  }
  throw UsageError(fmt::format("{}: is {}; {} of {} takes {}", file, dims_text(tensor.dims()),
                               quoted(name), model.name(), fmt::join(expected, "x")));
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

}  // namespace

std::string input_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::exists(text)) return text;
  return text.substr(equals + 1);
}

NamedTensors make_inputs(const OnnxModel& model, const std::vector<std::string>& files,
                         std::int64_t batch, std::uint32_t seed, std::int64_t images_in_turn) {
  const std::vector<std::string> names = model.inputs();
  std::map<std::string, std::vector<std::string>> given;
  for (const std::string& text : files) {
    const auto [name, file] = parse(text, model, names);
    given[name].push_back(file);
  }
  NamedTensors inputs;
  for (const auto& [name, of_input] : given) {
    const bool images = std::all_of(of_input.begin(), of_input.end(),
                                    [](const std::string& file) { return is_image_file(file); });
    if (!images && of_input.size() > 1) {
      throw UsageError(
          fmt::format("--input {}: {} is given twice; several files for one input must "
                      "all be images",
                      of_input[1], quoted(name)));
    }
    inputs.emplace(name, images ? image_input(model, name, of_input, images_in_turn)
                                : array_input(model, name, of_input[0], batch));
  }
  for (const std::string& name : names) {
    if (inputs.count(name) == 0)
      inputs.emplace(name, random_input(model, name, seed, images_in_turn));
  }
  return inputs;
}

}  // namespace gemm64
