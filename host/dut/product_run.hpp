// SPDX-License-Identifier: Apache-2.0
// One product on a user's array: cut into tiles, streamed, added, and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/dut/tiling.hpp"
#include "host/dut/verilated_bench.hpp"

namespace gemm64::dut {

struct Mismatch {
  std::int64_t tile = 0;  // counted from 0
  std::int64_t row = 0, column = 0;
  std::uint64_t cycle = 0;
  std::int64_t expected = 0, got = 0;
};

struct ProductRun {
  std::string name, operation;
  ProductShape shape;
  std::uint64_t count = 1;  // products of this shape
  std::uint64_t tiles = 0;
  std::uint64_t sums = 0;              // that the array returned and that were compared
  std::uint64_t mismatches = 0;        // of them
  std::uint64_t total_mismatches = 0;  // of the product's own values, against Eigen
  std::uint64_t overflowed = 0;        // of these, if `overflow` says what becomes of large sums
  std::optional<Mismatch> first;
  std::uint64_t cycles = 0, bound = 0;
  std::uint64_t fill = 0, drain = 0;  // before the first and after the last moving beat
  std::uint64_t between[kIdles] = {}, within[kIdles] = {};
  std::uint64_t beats[kStreams] = {};
  std::uint64_t bytes[kStreams] = {};
  std::string error;                                      // why it ended early
  bool random_weights = true, random_activations = true;  // or those of a network
  double seconds = 0;

  std::uint64_t macs() const {
    return static_cast<std::uint64_t>(shape.m * shape.k * shape.n) * count;
  }
  bool verified() const { return mismatches == 0 && total_mismatches == 0 && error.empty(); }
  void add(const ProductRun& other);
};

/// Runs A[M x K] * W[N x K]^T after a reset. `progress` is called with the share that is done.
ProductRun run_product(VerilatedBench& bench, const Description& description, const Operands& a,
                       const Operands& w, const std::function<void(double)>& progress);

}  // namespace gemm64::dut
