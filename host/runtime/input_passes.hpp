// SPDX-License-Identifier: Apache-2.0
// What each run of a network is given.
#pragma once

#include <cstdint>
#include <functional>

#include "host/runtime/input_source.hpp"
#include "host/runtime/named_tensors.hpp"

namespace gemm64 {

/// A network's inputs, of which some or all images (indices of the first axis) may be asked for.
struct NetworkInputs {
  std::int64_t images = 1;
  std::int64_t at_once = 0;  // images of a pass through the network; 0: all
  std::function<NamedTensors(std::int64_t first, std::int64_t count)> take;
  std::vector<std::string> files;  // of the images, where each has one
  std::vector<std::string> nans,
      infinities;           // nan_note() and infinity_note() of arrays that have any
  std::string why_in_turn;  // why a pass takes one image, where the network could take no more

  /// One pass with all.
  static NetworkInputs of(NamedTensors tensors);
  static NetworkInputs of(InputSources sources);
  /// Passes of `at_once` of `images` images: rows of the sources that have that many, other sources
  /// whole. The last pass is filled up with the last image.
  static NetworkInputs in_passes(InputSources sources, std::int64_t images, std::int64_t at_once,
                                 std::string why_in_turn = "");

  /// How often the network runs, what it is given then, and how many of these images count.
  std::int64_t passes() const { return at_once == 0 ? 1 : (images + at_once - 1) / at_once; }
  NetworkInputs pass(std::int64_t index) const;
  std::int64_t images_of(std::int64_t pass) const;
};

}  // namespace gemm64
