// SPDX-License-Identifier: Apache-2.0
// A folder for idx files, and their bytes.
#pragma once

#include <stdlib.h>
#include <zlib.h>

#include "tests/test.hpp"

namespace gemm64 {

using Bytes = std::vector<std::uint8_t>;

inline void append_number(Bytes& bytes, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) {
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

/// Numbers of the header, then data of 0, 7, 14, ...
inline Bytes idx_bytes(const std::vector<std::uint32_t>& header, std::size_t data) {
  Bytes bytes;
  for (const std::uint32_t value : header) append_number(bytes, value);
  for (std::size_t i = 0; i < data; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
  return bytes;
}

class IdxFiles : public InFolder {
 protected:
  static void write_plain(const std::filesystem::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  static void write_gzip(const std::filesystem::path& path, const Bytes& bytes) {
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
};

}  // namespace gemm64
