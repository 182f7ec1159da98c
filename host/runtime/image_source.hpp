// SPDX-License-Identifier: Apache-2.0
// Image files as an input of a network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/numerics/preprocessing.hpp"
#include "host/runtime/input_source.hpp"

namespace gemm64 {

/// PNG or JPEG files for an input of `type`: [images, 1 or 3, height, width], or [images, height,
/// width] for grey ones. One file stands for all images of `type`. `what` names the input in
/// messages. Up to 64 images are read at once. Throws UsageError where one of these cannot be read,
/// or the input takes no images.
InputSource image_files_source(const std::vector<std::string>& files, const TensorType& type,
                               const PixelChoice& how, const std::string& what);

/// An image file that was read elsewhere.
struct ImageContents {
  std::string file;  // for messages
  std::string bytes;
};

/// The same of contents, a row each, decoded when they are asked for. Rows throw UsageError where
/// an image is damaged.
InputSource image_contents_source(std::vector<ImageContents> images, const TensorType& type,
                                  const PixelChoice& how, const std::string& what);

/// The first `limit` (0: all) images of an idx file; also for an input [images, height * width].
InputSource idx_source(const std::string& file, const TensorType& type, const PixelChoice& how,
                       std::int64_t limit, const std::string& what);

}  // namespace gemm64
