// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/shares.hpp"

#include <fmt/format.h>

#include <limits>

#include "host/cycles/program_check.hpp"

namespace gemm64::cycles {

std::uint64_t product(std::initializer_list<std::uint64_t> factors) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max() >> 16;
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) {
    result = factor != 0 && result > kMax / factor ? kMax : result * factor;
  }
  return result;
}

std::uint64_t sum(const std::vector<Share>& shares) {
  std::uint64_t sum = 0;
  for (const Share& share : shares) sum += share.amount;
  return sum;
}

std::size_t first_beyond(const std::vector<Share>& shares, std::uint64_t available) {
  std::uint64_t wanted = 0;
  for (const Share& share : shares) {
    wanted += share.amount;
    if (wanted > available) return share.command;
  }
  return 0;
}

void check_words(const std::vector<Command>& program, const char* what, const char* takers,
                 const std::vector<Share>& loaded, const std::vector<Share>& taken) {
  const std::uint64_t brought = sum(loaded), wanted = sum(taken);
  if (brought < wanted) {
    refuse(program, first_beyond(taken, brought),
           fmt::format("the {} up to here take more words of {} than the program loads ({})",
                       takers, what, brought));
  }
  if (brought > wanted) {
    refuse(program, first_beyond(loaded, wanted),
           fmt::format("the program loads more words of {} than its {} take ({})", what, takers,
                       wanted));
  }
}

}  // namespace gemm64::cycles
