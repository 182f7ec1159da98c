// SPDX-License-Identifier: Apache-2.0
#include "host/dut/scratch.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <string>
#include <system_error>

#include "host/util/error.hpp"

namespace gemm64::dut {

Scratch::Scratch(const std::filesystem::path& below) {
  std::error_code error;
  std::filesystem::create_directories(below, error);
  std::string pattern = (below / "gemm64-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    throw UsageError(fmt::format("{}: cannot be written", below.string()));
  }
  path_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace gemm64::dut
