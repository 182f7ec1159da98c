// SPDX-License-Identifier: Apache-2.0
// What commands give to each other, and take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "host/device/registers.hpp"

namespace gemm64::cycles {

/// Some amount, and the command that gives or takes it.
struct Share {
  std::size_t command;
  std::uint64_t amount;
};

/// Where the product is larger than any program could run through, some number that is as well.
std::uint64_t product(std::initializer_list<std::uint64_t> factors);

std::uint64_t sum(const std::vector<Share>& shares);

/// The first command with which more than `available` is wanted.
std::size_t first_beyond(const std::vector<Share>& shares, std::uint64_t available);

/// Throws UsageError, naming the command, unless the words of `what` that loads bring are those
/// that `takers` take.
void check_words(const std::vector<Command>& program, const char* what, const char* takers,
                 const std::vector<Share>& loaded, const std::vector<Share>& taken);

}  // namespace gemm64::cycles
