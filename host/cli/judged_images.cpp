// SPDX-License-Identifier: Apache-2.0
#include "host/cli/judged_images.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/numerics/labels.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// A row of scores for each image; empty where the tensor has none.
MatrixF scores_of(const Tensor& tensor, std::int64_t images) {
  if (!tensor.present() || tensor.rank() == 0 || tensor.dim(0) != images ||
      tensor.elements() == 0) {
    return {};
  }
  const auto rows = [&](auto kind) -> MatrixF {
    using T = decltype(kind);
    return Eigen::Map<const Matrix<T>>(tensor.values<T>(), images, tensor.elements() / images)
        .template cast<float>();
  };
  switch (tensor.type()) {
    case onnx::TensorProto::FLOAT:
      return rows(float());
    case onnx::TensorProto::DOUBLE:
      return rows(double());
    case onnx::TensorProto::INT8:
      return rows(std::int8_t());
    case onnx::TensorProto::UINT8:
      return rows(std::uint8_t());
    case onnx::TensorProto::INT32:
      return rows(std::int32_t());
    default:
      return {};
  }
}

}  // namespace

JudgedImages::JudgedImages(const NetworkOptions& options, const NetworkSource& source)
    : labels_file_(options.labels),
      names_file_(options.names),
      model_(source.model.name()),
      images_(static_cast<std::int64_t>(source.batch)),
      files_(source.inputs.files) {
  if (!options.labels.empty()) {
    labels_ = read_labels(options.labels);
    const auto held = static_cast<std::int64_t>(labels_.size());
    if (held < images_ || (held > images_ && options.images == 0)) {
      throw UsageError(fmt::format("{}: holds {} for {}; one for each is needed", labels_file_,
                                   counted(labels_.size(), "label"),
                                   counted(source.batch, "image")));
    }
    labels_.resize(static_cast<std::size_t>(images_));
  }
  if (!options.names.empty()) names_ = read_class_names(options.names);
  const auto& outputs = source.model.graph().output();
  const auto type = outputs.empty() ? std::nullopt : source.model.type(outputs[0].name());
  if (!type || type->dims.empty() || type->dims[0] == 0) return;
  check_classes(type->elements() / type->dims[0]);
}

void JudgedImages::check_classes(std::int64_t classes) const {
  const auto bad = std::find_if(labels_.begin(), labels_.end(),
                                [classes](std::int64_t label) { return label >= classes; });
  if (bad != labels_.end()) {
    throw UsageError(fmt::format("{}: the label of image {} is {}; {} has the classes 0 to {}",
                                 labels_file_, bad - labels_.begin(), *bad, model_, classes - 1));
  }
  if (!names_.empty() && static_cast<std::int64_t>(names_.size()) != classes) {
    throw UsageError(fmt::format("{}: holds {} for {} classes of {}", names_file_,
                                 counted(names_.size(), "name"), classes, model_));
  }
}

std::optional<Classification> JudgedImages::classify(const NetworkRun& run) const {
  const MatrixF found = scores_of(run.first, images_);
  if (found.size() == 0) {
    if (!asked()) return std::nullopt;
    throw UsageError(fmt::format("{}: {}: its first output has no row of scores for each of {}",
                                 model_, labels_.empty() ? "--names" : "--labels",
                                 counted(static_cast<std::uint64_t>(images_), "image")));
  }
  check_classes(found.cols());
  MatrixF exact = scores_of(run.exact, images_);
  if (exact.cols() != found.cols()) exact = {};
  if (!asked() && exact.size() == 0) return std::nullopt;
  Classification result = gemm64::classify(found, exact, labels_, names_);
  if (!asked() && result.disagreements.empty()) return std::nullopt;
  result.files = files_;
  return result;
}

}  // namespace gemm64
