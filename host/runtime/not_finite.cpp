// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/not_finite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// The exponent's bits of a type of floats, all of which are set in NaN and infinity, and those of
/// the fraction, which are zero in infinity.
template <class Bits>
struct Layout {
  Bits exponent, fraction;
};

struct Found {
  std::int64_t count = 0, first = 0;
};

template <class Bits>
Found find(const Tensor& tensor, Layout<Bits> layout, bool nan) {
  Found found;
  const std::byte* at = tensor.raw();
  for (std::int64_t i = 0; i < tensor.elements(); ++i, at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    if ((bits & layout.exponent) != layout.exponent) continue;
    if (((bits & layout.fraction) != 0) != nan) continue;
    if (found.count++ == 0) found.first = i;
  }
  return found;
}

Found find(const Tensor& tensor, bool nan) {
  switch (tensor.type()) {
    case onnx::TensorProto::FLOAT:
      return find(tensor, Layout<std::uint32_t>{0x7f800000, 0x007fffff}, nan);
    case onnx::TensorProto::DOUBLE:
      return find(tensor, Layout<std::uint64_t>{0x7ff0000000000000, 0x000fffffffffffff}, nan);
    case onnx::TensorProto::FLOAT16:
      return find(tensor, Layout<std::uint16_t>{0x7c00, 0x03ff}, nan);
    case onnx::TensorProto::BFLOAT16:
      return find(tensor, Layout<std::uint16_t>{0x7f80, 0x007f}, nan);
    default:
      return {};
  }
}

std::string note(const std::string& name, const Tensor& tensor, bool nan) {
  const Found found = find(tensor, nan);
  if (found.count == 0) return "";
  std::vector<std::int64_t> index(tensor.rank());
  std::int64_t rest = found.first;
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = rest % tensor.dim(axis);
    rest /= tensor.dim(axis);
  }
  const auto text = [](std::int64_t count) { return grouped(static_cast<std::uint64_t>(count)); };
  return fmt::format("{}: {} of {} {} {}, the first at [{}]", name, text(found.count),
                     counted(static_cast<std::uint64_t>(tensor.elements()), "value"),
                     found.count == 1 ? "is" : "are", nan ? "NaN" : "infinite",
                     fmt::join(index, ", "));
}

}  // namespace

std::string nan_note(const std::string& name, const Tensor& tensor) {
  return note(name, tensor, true);
}

std::string infinity_note(const std::string& name, const Tensor& tensor) {
  return note(name, tensor, false);
}

}  // namespace gemm64
