// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace gemm64 {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// A fraction as "97.35 %"; "100.00 %" only where it is 1.
std::string percent(double fraction);
/// A part of a whole as "98.4 % (63 of 64)". Never rounded to all or to nothing: "99.9 % (9,999 of
/// 10,000)". Of nothing "0 of 0".
std::string share(std::uint64_t count, std::uint64_t of);
/// "1 layer", "2,000 layers": a noun whose plural ends in s.
std::string counted(std::uint64_t count, const std::string& noun);
/// Bytes in MiB with three digits after the point, or in KiB or bytes where few: "37.000 MiB".
std::string bytes(std::uint64_t count);

}  // namespace gemm64
