// SPDX-License-Identifier: Apache-2.0
// Float weights as int8 in steps of a scale for each output channel.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

namespace gemm64 {

using FloatValues = Eigen::Map<const Eigen::VectorXf>;

/// The greatest magnitude of each channel of values [...][channels][inner]; infinite where one of
/// its values is not finite.
std::vector<float> greatest_of_channels(const FloatValues& values, std::int64_t channels,
                                        std::int64_t inner);

/// The values in steps of their channels' scales, from -127 to 127, as bytes.
std::string in_steps(const FloatValues& values, const std::vector<float>& scales,
                     std::int64_t inner);

}  // namespace gemm64
