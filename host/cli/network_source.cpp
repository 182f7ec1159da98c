// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "host/cli/values.hpp"
#include "host/compile/executable_file.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/graph/passes/fold_batch_normalization.hpp"
#include "host/graph/passes/fold_pads.hpp"
#include "host/numerics/image.hpp"
#include "host/runtime/calibration.hpp"
#include "host/runtime/known_inputs.hpp"
#include "host/torchscript/input_shapes.hpp"
#include "host/torchscript/network_file.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kCalibrationImages = 16;

/// Image `index` as a network of one channel takes it.
ImageBatch grey_input(const GreyImages& images, std::size_t index, std::size_t rows,
                      std::size_t columns) {
  const std::size_t size = images.rows * images.columns;
  const auto first = images.pixels.begin() + static_cast<std::ptrdiff_t>(index * size);
  const Image image{
      images.rows, images.columns, 1, {first, first + static_cast<std::ptrdiff_t>(size)}};
  return network_input(image, 1, rows, columns, default_preprocessing(1));
}

/// Images first .. first + count - 1 as the network takes them.
NamedTensors image_tensor(const GreyImages& images, const std::string& name, const Dims& dims,
                          std::int64_t first, std::int64_t count) {
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  Tensor tensor(onnx::TensorProto::FLOAT, {count, dims[1], dims[2], dims[3]});
  float* to = tensor.mutable_values<float>();
  if (size(dims[1]) == kImageNetChannels) {
    const ImageBatch batch = imagenet_batch(images, size(first), size(count));
    std::copy(batch.values.begin(), batch.values.end(), to);
  } else {
    for (std::int64_t i = first; i < first + count; ++i) {
      const ImageBatch one = grey_input(images, size(i), size(dims[2]), size(dims[3]));
      to = std::copy(one.values.begin(), one.values.end(), to);
    }
  }
  return {{name, tensor}};
}

NetworkSource built_in(const NetworkOptions& options) {
  const bool quantized = options.precision != Precision::kFloat32;
  const auto batch = static_cast<std::size_t>(options.batch);
  const auto images = std::make_shared<const GreyImages>(
      read_fashion_mnist_images(batch, options.data, quantized ? kCalibrationImages : 0));
  auto model = std::make_unique<OnnxModel>(OnnxModel::from_proto(
      make_network(options.network, options.batch, options.seed), options.network));
  const std::string name = model->inputs().at(0);
  const Dims dims = model->type(name)->dims;
  NetworkInputs inputs;
  inputs.images = options.batch;
  inputs.take = [images, name, dims](std::int64_t first, std::int64_t count) {
    return image_tensor(*images, name, dims, first, count);
  };
  if (!quantized) {
    return {options.network, std::move(*model), std::move(inputs), batch, nullptr, "", {}, nullptr};
  }
  // Images after those that run; where these are all that there are, the last of them.
  const std::size_t others = images->count - batch;
  NetworkInputs calibration;
  calibration.images =
      static_cast<std::int64_t>(others != 0 ? others : std::min(batch, kCalibrationImages));
  const auto begin = static_cast<std::int64_t>(images->count) - calibration.images;
  calibration.take = [&](std::int64_t first, std::int64_t count) {
    return inputs.take(begin + first, count);
  };
  OnnxModel integers = OnnxModel::from_proto(
      quantize_model(*model, calibrate(*model, calibration)).proto, options.network);
  return {options.network,
          std::move(integers),
          std::move(inputs),
          batch,
          std::move(model),
          fmt::format("from {} of Fashion-MNIST{}",
                      counted(static_cast<std::uint64_t>(calibration.images), "image"),
                      others == 0   ? ", of those that run"
                      : others == 1 ? " that does not run"
                                    : " that do not run"),
          {},
          nullptr};
}

/// What the options say of the shapes of a TorchScript file's inputs: --input-shape, or else those
/// of the arrays that run, or of those that it is calibrated on.
InputShapes torchscript_shapes(const NetworkOptions& options) {
  return with_array_shapes(
      with_array_shapes(parse_input_shapes(options.input_shapes), options.inputs),
      options.calibrate);
}

/// What they say of an ONNX file's.
InputShapes onnx_shapes(const NetworkOptions& options) {
  if (options.input_shapes.empty() || NetworkFile(options.model).is_torchscript()) return {};
  return parse_input_shapes(options.input_shapes);
}

ModelLoader file_loader(const NetworkOptions& options, ClaimedFiles& files) {
  NetworkFile file(options.model);
  if (file.is_torchscript()) {
    file = NetworkFile(options.model, torchscript_shapes(options));
  }
  return [file, &files, claimed = false](const ImportOptions& import) mutable {
    OnnxModel model = file.load(import);
    if (!claimed) claim_external_data(files, model);
    claimed = true;
    return model;
  };
}

/// A compiled network. Its batch and its sizes are fixed.
NetworkSource from_executable(const NetworkOptions& options, const CheckModel& check) {
  const auto refuse = [&options](const char* with) {
    throw UsageError(
        fmt::format("{}: {} is for ONNX files; this one is compiled", options.model, with));
  };
  if (!options.calibrate.empty()) refuse("--calibrate");
  if (!options.input_shapes.empty()) refuse("--input-shape");
  NetworkFile file(options.model);
  const OnnxModel model = file.load();
  std::int64_t images = 1;
  if (const std::vector<std::string> names = model.inputs(); !names.empty()) {
    const auto type = model.type(names[0]);
    if (type && !type->dims.empty()) images = type->dims[0];
  }
  InputOptions inputs = options.input_options();
  inputs.is_batch_of_file = inputs.batch == 0;
  if (inputs.is_batch_of_file) inputs.batch = images;
  BatchedModel batched = load_with_inputs(
      [&](const ImportOptions& import) {
        if (import.batch != 0 && import.batch != images) {
          throw UsageError(fmt::format(
              "{}: was compiled for {} at once, and {} to run; compile it with --batch {}",
              options.model, counted(images, "image"),
              import.batch == 1 ? "1 is" : fmt::format("{} are", import.batch), import.batch));
        }
        ImportOptions own;
        own.its_sizes_alone = true;
        return model.again(own);
      },
      inputs, check);
  if (batched.images < images) {
    throw UsageError(fmt::format(
        "{}: was compiled for {} at once, and {} to run; compile it with --batch {}", options.model,
        counted(images, "image"),
        batched.images == 1 ? "1 is" : fmt::format("{} are", batched.images), batched.images));
  }
  return {std::filesystem::path(options.model).filename().string(),
          std::move(batched.model),
          std::move(batched.inputs),
          static_cast<std::uint64_t>(batched.images),
          nullptr,
          "",
          batched.import,
          file.executable()};
}

struct CalibratedNetwork {
  QuantizedModel quantized;
  std::unique_ptr<OnnxModel> file;  // in float; nullptr where the calibration's inputs are in it
};

CalibratedNetwork calibrated_network(const NetworkOptions& options, ClaimedFiles& files,
                                     QuantizeChoice choice, const RangeOptions& ranges) {
  // What is written is for as many images as the file says, not as many as it is calibrated on.
  const ModelLoader load = file_loader(options, files);
  InputOptions inputs = options.calibration_options();
  auto file = std::make_unique<OnnxModel>(load({}));
  ImportOptions known;
  known.input_values = take_known_inputs(*file, inputs.files);
  if (!known.input_values.empty()) {
    if (file->can_be_reread()) {
      file->reread(known);
    } else {
      *file = load(known);
    }
  }
  const OnnxModel model = fold_pads(file->rewritten(fold_batch_normalization(*file)));
  if (!known.input_values.empty()) file = nullptr;
  const BatchedModel batched =
      load_with_inputs([&model](const ImportOptions& import) { return model.again(import); },
                       inputs, [](const OnnxModel&) {});
  const ObservedNetwork network(batched.model);
  const Ranges extremes = calibrate(network, batched.inputs);
  choice.ranges = narrowed_ranges(network, batched.inputs, extremes, ranges);
  try {
    return {quantize_model(model, extremes, choice), std::move(file)};
  } catch (const UsageError& error) {
    throw with_infinities(error, batched.inputs);
  }
}

NetworkSource from_file(const NetworkOptions& options, ClaimedFiles& files,
                        const CheckModel& check) {
  const std::string name = std::filesystem::path(options.model).filename().string();
  ModelLoader load = file_loader(options, files);
  const ModelLoader load_exact = load;
  std::unique_ptr<OnnxModel> exact;
  if (!options.calibrate.empty()) {
    CalibratedNetwork calibrated = calibrated_network(options, files, {}, {});
    exact = std::move(calibrated.file);
    load = [proto = std::move(calibrated.quantized.proto), &options](const ImportOptions& import) {
      return OnnxModel::from_proto(proto, options.model, import);
    };
  }
  BatchedModel batched = load_with_inputs(load, options.input_options(), check);
  std::string scales;
  if (!options.calibrate.empty()) {
    if (exact != nullptr && exact->can_be_reread()) {
      exact->reread(batched.import);
    } else {
      exact = std::make_unique<OnnxModel>(load_exact(batched.import));
    }
    scales = fmt::format("from {}{}", fmt::join(options.calibrate, ", "),
                         options.calibration_images == 0 ? ""
                         : options.calibration_images == 1
                             ? ", its first image"
                             : fmt::format(", its first {} images", options.calibration_images));
  }
  return {name,
          std::move(batched.model),
          std::move(batched.inputs),
          static_cast<std::uint64_t>(batched.images),
          std::move(exact),
          std::move(scales),
          batched.import,
          nullptr};
}

}  // namespace

InputOptions NetworkOptions::input_options() const {
  return {inputs, pixels.choice(), images, batch, seed, onnx_shapes(*this)};
}

InputOptions NetworkOptions::calibration_options() const {
  return {calibrate, pixels.choice(), calibration_images, 0, seed, onnx_shapes(*this)};
}

CLI::Option& add_input_shapes(CLI::App& command, NetworkOptions& options) {
  return *command
              .add_option(
                  "--input-shape", options.input_shapes,
                  "shape of one input, as x=1x3x224x224\n"
                  "Or sizes that the file leaves open by their names, as batch=1,sequence=128. "
                  "Repeat it for more. A TorchScript file keeps no shapes (default: those of the "
                  ".npy files).")
              ->allow_extra_args(false);
}

CLI::Option& add_calibration_options(CLI::App& command, NetworkOptions& options) {
  CLI::Option* const calibrate =
      command.add_option("--calibrate", options.calibrate,
                         "inputs that set the scales: .npy, idx, images, or a folder of images\n"
                         "Their ranges become the scales of the quantized network. NAME=FILE where "
                         "it has several inputs.");
  command
      .add_option("--calibrate-images", options.calibration_images,
                  "takes only the first N of them (default: all)")
      ->transform(whole_number(1, kMaxSize))
      ->needs(calibrate);
  return *calibrate;
}

void claim_inputs(const NetworkOptions& options, ClaimedFiles& files) {
  files.input("--model", options.model);
  for (const std::string& text : options.inputs) {
    for (const std::string& file : input_files(text)) files.input("--input", file);
  }
  for (const std::string& text : options.calibrate) {
    for (const std::string& file : input_files(text)) files.input("--calibrate", file);
  }
  files.input("--labels", options.labels);
  files.input("--names", options.names);
}

std::string why_no_program(const Executable& executable, const OnnxModel& model) {
  const DevicePlan& plan = executable.plan;
  if (!is_quantized(model)) {
    return "has no layer of 8-bit values for the device; give --calibrate, or quantize it by "
           "gemm64 quantize";
  }
  // Reasons of layers whose sums the device could compute say more than those of other nodes.
  const std::map<int, std::string>& reasons = plan.sums.empty() ? plan.on_host : plan.sums;
  std::string why = "the device runs layers that take and give 8-bit values";
  if (!reasons.empty()) {
    const auto& [index, reason] = *reasons.begin();
    const onnx::NodeProto& node = model.graph().node(index);
    why = fmt::format("{}: {}", node_label(node, index), reason);
  }
  return fmt::format("is quantized, and none of its layers can be in a program for the device: {}",
                     why);
}

QuantizedModel quantized_network(const NetworkOptions& options, ClaimedFiles& files,
                                 QuantizeChoice choice, const RangeOptions& ranges) {
  return calibrated_network(options, files, std::move(choice), ranges).quantized;
}

NetworkSource open_network(const NetworkOptions& options, ClaimedFiles& files,
                           const CheckModel& check) {
  if (options.model.empty()) return built_in(options);
  return is_executable_file(options.model) ? from_executable(options, check)
                                           : from_file(options, files, check);
}

}  // namespace gemm64
