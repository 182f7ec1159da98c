// SPDX-License-Identifier: Apache-2.0
// Numbers and names as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// Text from a file as it may stand in a message: one line of valid UTF-8, control characters and
/// bytes that are none replaced, cut where it is longer than `most` bytes.
std::string printable(const std::string& text, std::size_t most = 80);

/// "1x3x224x224"; "scalar" where there are no dimensions.
std::string dims_text(const std::vector<std::int64_t>& dims);

}  // namespace gemm64
