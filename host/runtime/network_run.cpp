// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_run.hpp"

#include <cstring>

namespace gemm64 {
void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check) {
  for (const auto& [name, tensor] : found) {
    const Tensor& wanted = expected.at(name);
    const std::size_t size = tensor.element_size();
    check.values += static_cast<std::uint64_t>(tensor.elements());
    const bool same = wanted.type() == tensor.type() && wanted.dims() == tensor.dims();
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * size;
      if (same && std::memcmp(wanted.raw() + at, tensor.raw() + at, size) == 0) continue;
      if (check.mismatches++ == 0) check.first = name;
    }
  }
}

}  // namespace gemm64
