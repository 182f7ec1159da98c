// SPDX-License-Identifier: Apache-2.0
// What a network is given: arrays, images, or random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/execute/executor.hpp"

namespace gemm64 {

/// A tensor for each of the model's inputs. Each of `files` is FILE, for the first input, or
/// NAME=FILE: a .npy file of the input's type and shape, of which the first size may be another, or
/// a PNG or JPEG image for an input [batch, 1 or 3, height, width]. One image stands for all of the
/// batch; several for the same input are the batch. Inputs without a file are uniform in [-1, 1),
/// from `seed` and their name; an input of integers needs a file. `batch`: the first size asked
/// for, 0 where none was; `images_in_turn`: how many images to make for a model that takes one at a
/// time, 0 where it takes all. Throws UsageError where files and inputs do not fit.
NamedTensors make_inputs(const OnnxModel& model, const std::vector<std::string>& files,
                         std::int64_t batch, std::uint32_t seed, std::int64_t images_in_turn = 0);

/// The file of such a text.
std::string input_file(const std::string& text);

}  // namespace gemm64
