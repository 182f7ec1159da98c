// SPDX-License-Identifier: Apache-2.0
// What a network is given: arrays, images, or random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/numerics/preprocessing.hpp"
#include "host/runtime/input_source.hpp"

namespace gemm64 {

/// What a person says of a network's inputs.
struct InputOptions {
  std::vector<std::string> files;
  PixelChoice pixels;      // of images
  std::int64_t limit = 0;  // of images, the first ones are taken; 0: all
  std::int64_t batch = 0;  // the first size asked for; 0: none was
  std::uint32_t seed = 1;  // of inputs without a file
  /// As ImportOptions has them.
  std::map<std::string, std::vector<std::int64_t>> shapes = {};
  bool is_batch_of_file = false;  // and was not asked for
};

/// A source for each of the model's inputs. Each of `options.files` is FILE, for the first input,
/// or NAME=FILE:
/// - a .npy file of the input's type and shape, of which the first size may be another;
/// - PNG or JPEG images, or folders of them (in the order of their names), for an input [batch, 1
///   or 3, height, width] or [batch, height, width]. One image stands for all of the file's own
///   batch, several are the batch; a few are read at once, many when they are asked for;
/// - an idx file of grey images, plain or compressed by gzip, also for an input [batch, pixels].
/// Inputs without a file are uniform in [-1, 1), from the seed and their name; an input of integers
/// needs a file. `images_in_turn`: how many images to make for a model that takes one at a time, 0
/// where it takes all. Throws UsageError where files and inputs do not fit, files have
/// fewer rows or images than `options.batch`, or the options say how
/// images are treated and no input is one.
InputSources open_inputs(const OnnxModel& model, const InputOptions& options,
                         std::int64_t images_in_turn = 0);

/// The files that such a text names: of a folder, all of its images.
std::vector<std::string> input_files(const std::string& text);

}  // namespace gemm64
