// SPDX-License-Identifier: Apache-2.0
// The part of a network before its first product on the device, a few images at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "host/execute/executor.hpp"

namespace gemm64 {

/// A network's inputs, of which some or all images (indices of the first axis) may be asked for.
struct NetworkInputs {
  std::int64_t images = 1;
  std::function<NamedTensors(std::int64_t first, std::int64_t count)> take;
  std::string why_in_turn;  // why the network runs once for each image; empty: once for all

  static NetworkInputs of(NamedTensors tensors);
  /// `images` images for a network that takes one at a time: rows of the tensors that have so many,
  /// other tensors whole.
  static NetworkInputs in_turn(NamedTensors tensors, std::int64_t images, std::string why);

  /// How often the network runs, and what it is given then.
  std::int64_t passes() const { return why_in_turn.empty() ? 1 : images; }
  NetworkInputs pass(std::int64_t index) const;
};

/// The values after steps [0, last). Where each of these steps treats every image by itself, and
/// there are many, images go through in groups, so that memory does not grow with the batch.
Values run_head(const Executor& executor, std::size_t last, const NetworkInputs& inputs,
                const ExecutorHooks& hooks);

}  // namespace gemm64
