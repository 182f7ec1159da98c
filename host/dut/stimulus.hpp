// SPDX-License-Identifier: Apache-2.0
// What goes into a user's array, tile by tile, and what comes out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/dut/bench_protocol.hpp"
#include "host/dut/description.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64::dut {

using Values = Matrix<std::int64_t>;

/// One tile's work, in the rows of beats in which the streams carry it:
///
/// | dataflow | weights | activations | sums, results |
/// |---|---|---|---|
/// | weight-stationary | R x C: W[k][n] | L x R: A[m][k] | L x C: C[m][n] |
/// | output-stationary | L x C: W[k][n] | L x R: A[m][k] transposed | R x C: C[m][n] |
/// | input-stationary | L x R: W[k][n] transposed | R x C: A[m][k] transposed | L x C: C[m][n]
/// transposed |
///
/// L: the moving operand's length.
struct Tile {
  Values weights, activations;
  Values sums;  // empty: zeros
};

/// The tile's results, exact.
Values product(const Description& description, const Tile& tile);

/// A product as the array adds it: by product_shift and round_products.
std::int64_t scaled(const Description& description, std::int64_t product);

/// x * s + `sums` (empty: zeros) in the array's arithmetic, before what Description::overflow makes
/// of the sums.
Values multiplied(const Description& description, const Values& x, const Values& s,
                  const Values& sums);

/// A value as the array must return it: by Description::overflow.
std::int64_t fitted(const Description& description, std::int64_t sum);

/// Beats of values as TDATA carries them, value i in the bits from i * bits upwards, each beat
/// padded to whole bytes.
void append_beats(std::vector<std::uint8_t>& bytes, const Values& values, int bits);

/// The contrary for one beat of `count` values.
std::vector<std::int64_t> values_of(const std::uint8_t* beat, std::size_t count, const Operand& of);

struct Stimulus {
  std::vector<Tile> tiles;
  Stall stalls[kStreams] = {};
  std::uint32_t flags = kReset;
  std::uint64_t reset_at = 0;
  std::uint64_t quiet_cycles = 0;
};

struct ResultBeat {
  std::vector<std::int64_t> values;
  bool last = false;
  std::uint64_t cycle = 0;
  bool unknown = false;  // some bit is X or Z; only Icarus sees that
};

struct Observation {
  Answer answer{};
  std::vector<ResultBeat> results;
  std::string text;  // the simulator's own message

  Status status() const { return static_cast<Status>(answer.status); }
};

/// The state of each stream in words: "weights: 3 beats moved, 5 wait, TVALID 1, TREADY 0".
std::string stream_states(const Description& description, const Observation& observation);

}  // namespace gemm64::dut
