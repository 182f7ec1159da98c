// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/image_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "host/graph/proto/tensor_data.hpp"
#include "host/numerics/idx.hpp"
#include "host/numerics/image.hpp"
#include "host/numerics/image_file.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kReadAtOnce = 64;  // images whose damage is found before anything runs

/// How a network sees an image.
struct ImageShape {
  std::size_t channels, rows, columns;
};

ImageShape image_shape(const TensorType& type, const std::string& file, const PixelChoice& how,
                       const std::string& what) {
  const Dims& dims = type.dims;
  const std::size_t rank = dims.size();
  if (type.data_type != onnx::TensorProto::FLOAT || (rank != 3 && rank != 4) ||
      (rank == 4 && dims[1] != 1 && dims[1] != 3) ||
      std::count(dims.begin() + 1, dims.end(), 0) != 0) {
    throw UsageError(fmt::format(
        "{}: holds images, but {} is {} {}; images are for float32 batches of 1 or 3 channels",
        file, what, data_type_name(type.data_type), dims_text(dims)));
  }
  const auto size = [&dims](std::size_t axis) { return static_cast<std::size_t>(dims[axis]); };
  const std::size_t channels = rank == 4 ? size(1) : 1;
  if (!how.of(channels).fits(channels)) {
    throw UsageError(fmt::format(
        "{}: {} takes images of {} channel{}; give one mean and deviation, or one for each channel",
        file, what, channels, channels == 1 ? "" : "s"));
  }
  return {channels, size(rank - 2), size(rank - 1)};
}

/// `count` images below each other, each from `image_at`.
InputSource source(const Dims& dims, const ImageShape& shape, const PixelChoice& how,
                   std::function<Image(std::int64_t)> image_at) {
  InputSource source;
  source.dims = dims;
  source.in_memory = false;
  const Preprocessing preprocessing = how.of(shape.channels);
  source.rows = [dims, shape, preprocessing, image_at = std::move(image_at)](std::int64_t first,
                                                                             std::int64_t count) {
    Dims wanted = dims;
    wanted[0] = count;
    Tensor tensor(onnx::TensorProto::FLOAT, wanted);
    float* to = tensor.mutable_values<float>();
    for (std::int64_t i = first; i < first + count; ++i) {
      const ImageBatch image =
          network_input(image_at(i), shape.channels, shape.rows, shape.columns, preprocessing);
      to = std::copy(image.values.begin(), image.values.end(), to);
    }
    return tensor;
  };
  return source;
}

}  // namespace

InputSource InputSource::of(const Tensor& tensor, const std::string& file) {
  return {tensor.type(),
          tensor.dims(),
          true,
          [tensor](std::int64_t first, std::int64_t count) {
            const bool all = tensor.rank() == 0 || (first == 0 && count == tensor.dim(0));
            return all ? tensor : gemm64::rows(tensor, first, count);
          },
          {},
          file};
}

InputSource image_files_source(const std::vector<std::string>& files, const TensorType& type,
                               const PixelChoice& how, const std::string& what) {
  const ImageShape shape = image_shape(type, files.front(), how, what);
  Dims dims = type.dims;
  const auto count = static_cast<std::int64_t>(files.size());
  if (count > 1) dims[0] = count;
  InputSource images = source(dims, shape, how, [files, shape](std::int64_t index) {
    return load_image(files[static_cast<std::size_t>(index)], shape.channels);
  });
  if (count == dims[0]) images.files = files;
  if (count > kReadAtOnce) return images;
  const Tensor tensor = images.rows(0, count);
  if (count == dims[0]) {
    InputSource read = InputSource::of(tensor);
    read.files = files;
    return read;
  }
  return {onnx::TensorProto::FLOAT,
          dims,
          true,
          [tensor](std::int64_t, std::int64_t wanted) {
            return stacked(std::vector<Tensor>(static_cast<std::size_t>(wanted), tensor));
          },
          {},
          {}};
}

InputSource image_contents_source(std::vector<ImageContents> images, const TensorType& type,
                                  const PixelChoice& how, const std::string& what) {
  const ImageShape shape = image_shape(type, images.front().file, how, what);
  Dims dims = type.dims;
  dims[0] = static_cast<std::int64_t>(images.size());
  const auto kept = std::make_shared<const std::vector<ImageContents>>(std::move(images));
  return source(dims, shape, how, [kept, shape](std::int64_t index) {
    const ImageContents& image = kept->at(static_cast<std::size_t>(index));
    return decode_image(image.bytes, image.file, shape.channels);
  });
}

InputSource idx_source(const std::string& file, const TensorType& type, const PixelChoice& how,
                       std::int64_t limit, const std::string& what) {
  IdxFile idx(file, 3);
  const std::size_t rows = idx.dims()[1];
  const std::size_t columns = idx.dims()[2];
  TensorType seen = type;
  const bool flat =
      type.dims.size() == 2 && type.dims[1] == static_cast<std::int64_t>(rows * columns);
  if (flat) {
    seen.dims = {type.dims[0], static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
  }
  const ImageShape shape = image_shape(seen, file, how, what);
  Dims dims = type.dims;
  dims[0] = idx.dims()[0];
  if (dims[0] == 0) idx.fail("holds no images");
  if (limit != 0) dims[0] = std::min(dims[0], limit);
  const auto pixels = std::make_shared<const std::vector<std::uint8_t>>(
      idx.read(static_cast<std::size_t>(dims[0])));
  return source(dims, shape, how, [=](std::int64_t index) {
    const std::size_t size = rows * columns;
    const auto first =
        pixels->begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(index) * size);
    Image image{rows, columns, shape.channels, {}};
    image.pixels.reserve(size * shape.channels);
    for (auto pixel = first; pixel != first + static_cast<std::ptrdiff_t>(size); ++pixel) {
      image.pixels.insert(image.pixels.end(), shape.channels, *pixel);
    }
    return image;
  });
}

}  // namespace gemm64
