// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: float activations times weights of a few bits, each block of a column with a scale
// and a zero point of its own. Sums are in double, rounded once.
#include <fmt/format.h>

#include <vector>

#include "host/execute/operators.hpp"
#include "host/execute/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// The weights of N columns of K, blocks of which lie packed, the lowest bits first.
class Blocks {
 public:
  Blocks(const NodeContext& node, const Tensors& inputs)
      : k(attribute(*node.node, "K", std::int64_t{0})),
        n(attribute(*node.node, "N", std::int64_t{0})),
        bits_(attribute(*node.node, "bits", std::int64_t{4})),
        size_(attribute(*node.node, "block_size", std::int64_t{0})),
        packed_(input(node, inputs, 1)),
        scales_(input(node, inputs, 2)),
        zeros_(optional_input(inputs, 3)) {
    if (bits_ != 2 && bits_ != 4 && bits_ != 8) {
      throw failure(node, fmt::format("weights of {} bits; 2, 4 and 8 are supported", bits_));
    }
    // So that no number of bytes overflows.
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    if (k < 1 || n < 1 || k > kMost || n > kMost || size_ < 16 || size_ > kMost ||
        (size_ & (size_ - 1)) != 0) {
      throw failure(node,
                    fmt::format("K is {}, N is {} and block_size is {}; each must be positive and "
                                "at most {}, and blocks a power of two from 16 on",
                                k, n, size_, kMost));
    }
    count_ = (k + size_ - 1) / size_;
    require(node, packed_, n * count_ * (size_ * bits_ / 8), onnx::TensorProto::UINT8);
    require(node, scales_, n * count_, input(node, inputs, 0).type());
    zero_bytes_ = (count_ * bits_ + 7) / 8;
    if (zeros_.present() && zeros_.type() == onnx::TensorProto::UINT8) {
      require(node, zeros_, n * zero_bytes_, onnx::TensorProto::UINT8);
    } else if (zeros_.present()) {
      require(node, zeros_, n * count_, scales_.type());
    }
    order_ = order(node, optional_input(inputs, 4));
  }

  /// Column `column` of the weights as floats.
  template <class T>
  void column_to(std::int64_t column, std::vector<double>& to) const {
    const std::uint8_t* const from = packed_.values<std::uint8_t>() + column * count_ * bytes();
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t block = order_.empty() ? i / size_ : order_[static_cast<std::size_t>(i)];
      const std::int64_t at = column * count_ + block;
      const double weight = value_at(from, i) - zero_of<T>(column, block);
      to[static_cast<std::size_t>(i)] = weight * static_cast<double>(scales_.values<T>()[at]);
    }
  }

  const std::int64_t k, n;

 private:
  std::int64_t bytes() const { return size_ * bits_ / 8; }

  int value_at(const std::uint8_t* from, std::int64_t i) const {
    const std::int64_t bit = i * bits_;
    return (from[bit / 8] >> (bit % 8)) & ((1 << bits_) - 1);
  }

  template <class T>
  double zero_of(std::int64_t column, std::int64_t block) const {
    if (!zeros_.present()) return static_cast<double>(1 << (bits_ - 1));
    if (zeros_.type() == onnx::TensorProto::UINT8) {
      return value_at(zeros_.values<std::uint8_t>() + column * zero_bytes_, block);
    }
    return static_cast<double>(zeros_.values<T>()[column * count_ + block]);
  }

  static void require(const NodeContext& node, const Tensor& tensor, std::int64_t elements,
                      DataType type) {
    if (tensor.type() == type && tensor.elements() == elements) return;
    throw failure(node, fmt::format("its input {} should hold {} values of type {}",
                                    describe(tensor), elements, data_type_name(type)));
  }

  /// The block of each row, where the file tells it.
  Dims order(const NodeContext& node, const Tensor& given) const {
    if (!given.present()) return {};
    Dims result = integers(node, given);
    bool fits = static_cast<std::int64_t>(result.size()) >= k;
    for (const std::int64_t block : result) fits = fits && block >= 0 && block < count_;
    if (!fits) {
      throw failure(node,
                    fmt::format("g_idx, {}, does not name one of {} blocks for each of {} rows",
                                describe(given), count_, k));
    }
    return result;
  }

  std::int64_t bits_, size_, count_ = 0, zero_bytes_ = 0;
  Tensor packed_, scales_, zeros_;
  Dims order_;
};

}  // namespace

Tensors matmul_n_bits(const NodeContext& node, const Tensors& inputs) {
  const Tensor& a = input(node, inputs, 0);
  const Tensor& bias = optional_input(inputs, 5);
  const Blocks weights(node, inputs);
  if (a.rank() == 0 || a.dims().back() != weights.k) {
    throw failure(node, fmt::format("its input is {} and K is {}", describe(a), weights.k));
  }
  if (bias.present() && bias.dims() != Dims{weights.n}) {
    throw failure(node, fmt::format("its bias is {} and N is {}", describe(bias), weights.n));
  }
  if (bias.present()) require_same_type(node, a, bias);
  Dims dims = a.dims();
  dims.back() = weights.n;
  return {visit_floats(node, a.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(a.type(), dims);
    std::vector<double> column(static_cast<std::size_t>(weights.k));
    for (std::int64_t n = 0; n < weights.n; ++n) {
      weights.column_to<T>(n, column);
      for (std::int64_t m = 0; m < a.elements() / weights.k; ++m) {
        double sum = bias.present() ? static_cast<double>(bias.values<T>()[n]) : 0;
        const T* const row = a.values<T>() + m * weights.k;
        for (std::int64_t i = 0; i < weights.k; ++i) {
          sum += static_cast<double>(row[i]) * column[static_cast<std::size_t>(i)];
        }
        result.mutable_values<T>()[m * weights.n + n] = static_cast<T>(sum);
      }
    }
    return result;
  })};
}

}  // namespace host
}  // namespace gemm64
