// SPDX-License-Identifier: Apache-2.0
// Weights as PyTorch initialises them, from a seed, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "host/numerics/mersenne_twister.hpp"

namespace gemm64 {

/// The generator of one layer: it depends only on the network's seed and the layer's name, so that
/// layers may be made in any order, or in parallel.
MersenneTwister layer_generator(std::uint32_t seed, const std::string& layer_name);

/// 1 / sqrt(fan_in): PyTorch's default bound of the weights and of the biases of Conv2d and Linear
/// (torch.nn.init.kaiming_uniform_ with a = sqrt 5). fan_in: inputs that one output adds up.
float initial_bound(std::size_t fan_in);

/// Fills `count` values, uniform over 2^24 steps in [-bound, bound). Bit-equal on all platforms,
/// which std::uniform_real_distribution is not.
void fill_uniform(MersenneTwister& generator, float bound, float* values, std::size_t count);

/// Fills `count` values, uniform over all of int8, the same on every machine.
void fill_int8(std::mt19937& generator, std::int8_t* values, std::size_t count);

}  // namespace gemm64
