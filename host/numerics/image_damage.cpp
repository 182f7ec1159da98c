// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/image_damage.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>

#include "host/util/escaped.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kPngSignature = 8;
constexpr std::size_t kChunkFrame = 12;  // length, type, checksum

// JPEG's markers, after a byte of 0xff.
constexpr unsigned kStartOfScan = 0xda;
constexpr unsigned kEnd = 0xd9;

unsigned byte(std::string_view file, std::size_t at) {
  return static_cast<unsigned char>(file[at]);
}

std::uint32_t word(std::string_view file, std::size_t at) {
  return byte(file, at) << 24 | byte(file, at + 1) << 16 | byte(file, at + 2) << 8 |
         byte(file, at + 3);
}

/// Markers without a segment after them: fill bytes, a stuffed zero, restarts.
bool stands_in_data(unsigned marker) {
  return marker == 0 || marker == 0xff || (marker >= 0xd0 && marker <= 0xd7);
}

}  // namespace

std::string png_damage(std::string_view file) {
  std::size_t at = kPngSignature;
  while (true) {
    if (file.size() < at + kChunkFrame) return "ends early";
    const std::size_t length = word(file, at);
    if (length > file.size() - at - kChunkFrame) return "ends early";
    const std::string_view type = file.substr(at + 4, 4);
    // The checksum is over type and data.
    const auto* const data = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    const uLong found = crc32_z(0, data, length + 4);
    if (found != word(file, at + 8 + length)) {
      return fmt::format("is damaged: the checksum of its part {} at byte {} is wrong",
                         escaped(type), at);
    }
    if (type == "IEND") return "";
    at += kChunkFrame + length;
  }
}

std::string jpeg_damage(std::string_view file) {
  std::size_t at = 2;  // after the marker of the start
  while (true) {
    // The next marker: directly after a segment, or after the data of a scan.
    while (at + 1 < file.size() && (byte(file, at) != 0xff || stands_in_data(byte(file, at + 1)))) {
      ++at;
    }
    if (at + 1 >= file.size()) return "ends early";
    const unsigned marker = byte(file, at + 1);
    if (marker == kEnd) return "";
    if (at + 3 >= file.size()) return "ends early";
    const std::size_t length = byte(file, at + 2) << 8 | byte(file, at + 3);
    if (length < 2)
      return fmt::format("is damaged: a part of {} at byte {}", counted(length, "byte"), at);
    at += 2 + length;
    if (marker != kStartOfScan && at < file.size() && byte(file, at) != 0xff) {
      return fmt::format("is damaged: no part begins at byte {}", at);
    }
  }
}

}  // namespace gemm64
