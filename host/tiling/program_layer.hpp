// SPDX-License-Identifier: Apache-2.0
// A layer of a program with its operands: what a compiler hands to a runner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/device/shared_bytes.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/shared_tiles.hpp"

namespace gemm64 {

/// The bytes of a layer's constants, as they lie.
struct PackedLayer {
  SharedBytes weights{std::vector<std::uint8_t>()};
  std::vector<std::uint8_t> parameters;
};

/// What a layer's results must be, where the layers that it reads gave these; nullptr: it reads
/// none.
using Expect = std::function<MatrixI32(const MatrixI32* source, const MatrixI32* operand)>;

/// A layer of a program: its job, made with job() of a runner, and its operands as Driver::run
/// takes them.
struct ProgramLayer {
  Job job;
  GemmShape products;  // of the network that it computes; m is 0: those of the job
  std::optional<SharedTiles> shared_tiles;  // where its job's products are made of the network's
  std::optional<std::size_t> source;        // the layer whose int8 results it reads, an earlier one
  /// The same of the second operand of its results, where they take one.
  std::optional<std::size_t> operand;
  MatrixI8 a;         // empty where there is a source
  MatrixI8 operands;  // [M x N], empty where a layer gives them, or there are none
  MatrixI8 w;
  std::vector<std::int32_t> bias;  // of 8-bit results
  std::vector<float> scale;
  std::vector<std::uint8_t> table;  // of 8-bit results, where they take one
  std::vector<std::uint32_t> gaps;  // columns of its results that hold nothing, in order
  /// Weights and parameters as they lie, where somebody has packed them already; else nullptr.
  const PackedLayer* packed = nullptr;
  /// [M x N]: what its results must be, if what it reads of other layers is as expected; empty: not
  /// known, and int32 sums are compared with the reference's where layers are checked.
  MatrixI32 expected;
  /// What they must be for what these gave; called by the thread that runs it.
  Expect expect;
};

/// `expected` and `expect` of a ProgramLayer.
struct LayerExpectation {
  MatrixI32 expected;
  Expect expect;
};
/// Computes those of all layers of a program.
using Expectations = std::function<std::vector<LayerExpectation>()>;

}  // namespace gemm64
