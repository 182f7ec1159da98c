// SPDX-License-Identifier: Apache-2.0
#include "host/dut/assets.hpp"

#include <stdexcept>
#include <string>

// The table that host/dut/assets.cmake writes.
struct Gemm64DutAsset {
  const char* name;
  const char* begin;
  const char* end;
};
extern "C" const Gemm64DutAsset gemm64_dut_assets[];

namespace gemm64::dut {

std::vector<Asset> assets() {
  std::vector<Asset> all;
  for (const Gemm64DutAsset* one = gemm64_dut_assets; one->name != nullptr; ++one) {
    all.push_back({one->name, {one->begin, static_cast<std::size_t>(one->end - one->begin)}});
  }
  return all;
}

std::string_view asset(std::string_view name) {
  for (const Asset& one : assets()) {
    if (one.name == name) return one.text;
  }
  throw std::out_of_range("asset " + std::string(name));
}

}  // namespace gemm64::dut
