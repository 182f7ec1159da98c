// SPDX-License-Identifier: Apache-2.0
// How one product C[M x N] = A[M x K] * W[N x K]^T is cut into blocks for the array.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "host/device/command_types.hpp"
#include "host/device/geometry.hpp"
#include "host/device/result_format.hpp"
#include "host/device/vector_path.hpp"
#include "host/tiling/depthwise_tiling.hpp"
#include "host/tiling/window_cut.hpp"

namespace gemm64 {

/// Sizes of a product, each at least 1; K is 0 where there are no weights.
struct GemmShape {
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;

  std::uint64_t macs() const { return m * k * n; }
};

/// Results that are some columns of a wider matrix, or channels of a map; or where they are as
/// wide, and one tile is, some of its rows.
struct ResultPart {
  std::uint64_t first = 0;    // column of it
  std::uint64_t columns = 0;  // of it
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;    // of it; 0: as many as there are
  bool whole_tiles = false;  // no column of others follows in the tile of its last one

  /// The lane of the first one, on an array of n columns.
  std::uint32_t first_lane(std::uint32_t n) const { return static_cast<std::uint32_t>(first % n); }
  /// Has a tile, of those that `own` columns fall on, columns of others?
  bool has_shared_tiles(std::uint64_t own, std::uint32_t n) const {
    if (first % n != 0) return true;
    return !whole_tiles && (first + own) % n != 0 && first + own != columns;
  }

  friend bool operator==(const ResultPart& a, const ResultPart& b) {
    return a.first == b.first && a.columns == b.columns && a.first_row == b.first_row &&
           a.rows == b.rows && a.whole_tiles == b.whole_tiles;
  }
};

/// What a product's results are: its sums, or of each column's sums values of 8 bits,
/// clamp(rint(float32(sum + bias) * scale) + zero, low, high), which may pass the element-wise
/// unit.
struct Output {
  ResultFormat format = ResultFormat::int32();
  int zero = 0, low = 0, high = 0;  // of 8-bit results
  /// What becomes of 8-bit results before they are written: a STORE with VECTOR, of which the
  /// only fields of the element-wise unit count (host/device/vector_path.hpp).
  std::optional<StoreCommand> vector = {};
  /// Of a second operand that has a value for each column: how many images have one of their own.
  std::uint32_t operand_images = 1;
  /// Where they are written; whole tiles of columns begin with the first one if there is nothing.
  std::optional<ResultPart> part = {};

  /// How results lie in memory.
  ResultFormat stored() const;
  /// Does a second operand come from memory: a value for each result, or for each column?
  bool takes_operands() const { return vector && (vector->add != 0 || vector->multiply != 0); }
  /// Is it one for each column?
  bool broadcasts() const { return takes_operands() && vector->broadcast != 0; }
  /// Does a table from memory take the place of each result?
  bool takes_table() const { return vector && vector->table != 0; }

  friend bool operator==(const Output& a, const Output& b) {
    return a.format == b.format && a.zero == b.zero && a.low == b.low && a.high == b.high &&
           a.vector.has_value() == b.vector.has_value() &&
           (!a.vector || Command(*a.vector) == Command(*b.vector)) &&
           a.operand_images == b.operand_images && a.part == b.part;
  }
};

/// Where the partial sums of the tiles along K are added.
enum class Accumulate { kDevice, kHost };

/// Blocks of M that follow each other and have the same number of rows.
struct RowGroup {
  std::uint64_t first_row = 0;
  std::uint32_t rows = 0;    // of each block
  std::uint32_t blocks = 0;  // how many
  bool retain = false;       // a block's activations stay on chip and serve every tile of N
  std::uint32_t step = 0;    // rows from one block to the next, where these are not its own
};

/// The cut: M into blocks of rows, K and N into tiles of the array's size, the last of each padded
/// with zeros. Order of the work: blocks of M; in each the tiles of N; in each the tiles of K.
///
/// A convolution is a product of all output pixels x (channels of a group, taps) x output channels.
/// Its tiles along K are those of a pass: the planes of its group, and in each the taps. Its groups
/// of rows are its blocks, in their order.
///
/// A stack is several products of one shape, of which M counts the rows of all, one after the
/// other. Each has weights and parameters of its own, and no block has rows of two.
///
/// On the lanes a depthwise convolution has no tiles of weights. Order of its work: planes, which
/// are its tiles of N; in each the blocks of rows. Of strips each does so by itself, and is a group
/// of rows.
struct Plan {
  GemmShape shape;
  Accumulate accumulate = Accumulate::kDevice;
  Output output;
  std::uint32_t array = 0;  // the array's N
  std::uint32_t k_tiles = 0;
  std::uint32_t n_tiles = 0;
  std::uint32_t products = 1;       // of a stack
  std::vector<RowGroup> groups;     // one or two for each product; of a convolution any number
  std::optional<WindowCut> window;  // of a convolution on the array
  /// All tiles of weights stay in their buffer until the last block of rows, of a product of each
  /// group, has taken them.
  bool retains_weights = false;
  bool tensor_memory = false;  // it was cut for an accelerator whose tensor memory is enabled
  std::optional<DepthwiseTiling> lanes;  // of one on the lanes

  /// That of a window or of lanes; nullptr: it is a product.
  const Convolution* convolution() const {
    return window ? &window->convolution : lanes ? &lanes->convolution : nullptr;
  }
  /// Rows of each product of a stack, and the product that a row belongs to.
  std::uint64_t product_rows() const { return shape.m / products; }
  std::uint64_t product_of(std::uint64_t row) const { return row / product_rows(); }
  /// Tiles of weights, of one product.
  std::uint64_t tiles() const { return std::uint64_t{k_tiles} * n_tiles; }
  /// Blocks of M.
  std::uint64_t row_blocks() const;
  /// How often the weights of each product are loaded, all products counted.
  std::uint64_t weight_loads() const;
  /// Rows of a block of results at most.
  std::uint64_t bank_rows() const {
    return window ? window->strips[0].plan.bank_rows : std::numeric_limits<std::uint64_t>::max();
  }
  /// Blocks of results: rows beyond a bank of the accumulator are one of their own.
  std::uint64_t stored_blocks() const;
  /// Has each pass a MATMUL of its own: does it take several blocks before the next one, or blocks
  /// that fill both banks?
  bool has_bands() const {
    return window && (window->bands() != window->blocks() ||
                      (!window->in_strips() && window->strips[0].plan.fills_both_banks()));
  }
  /// How results lie in memory.
  ResultFormat results() const { return output.stored(); }
  /// The lane of the first tile on which the first column falls.
  std::uint32_t first_lane() const { return output.part ? output.part->first_lane(array) : 0; }
  /// The first tile of all results that lie where these do on which the first column falls.
  std::uint32_t first_tile() const {
    return output.part ? static_cast<std::uint32_t>(output.part->first / array) : 0;
  }
  /// Columns of its activations: of a convolution the channels of a pixel.
  std::uint64_t activation_columns() const {
    return convolution() != nullptr ? convolution()->channels : shape.k;
  }
  /// Columns of all results that lie where these do.
  std::uint64_t result_columns() const { return output.part ? output.part->columns : shape.n; }
  /// Rows of them, and the first of these that are its own, and the one after its last.
  std::uint64_t result_rows() const {
    return output.part && output.part->rows != 0 ? output.part->rows : shape.m;
  }
  std::uint64_t first_row() const { return output.part ? output.part->first_row : 0; }
  std::uint64_t end_row() const { return first_row() + shape.m; }
  /// The lanes of a tile that hold columns, [first, second).
  std::pair<std::uint32_t, std::uint32_t> lanes_of(std::uint32_t tile) const;
  /// Do STOREs write the same lanes of all tiles? All of them, where no column of others is there.
  bool has_one_set_of_lanes() const;
  /// Tiles of results that leave the device for one block of M.
  std::uint64_t result_blocks() const {
    return accumulate == Accumulate::kDevice ? n_tiles : tiles();
  }
  /// Bytes of the packed weights and parameters of one product, of those of all, of the
  /// activations, and of all results.
  std::uint64_t weight_set_bytes() const {
    return (lanes ? lanes->weight_words() : tiles() * array) * array;
  }
  std::uint64_t weight_bytes() const { return weight_set_bytes() * products; }
  std::uint64_t parameter_set_bytes() const {
    return results().takes_parameters() ? std::uint64_t{n_tiles} * kParameterSetWords * array : 0;
  }
  std::uint64_t table_bytes() const { return output.takes_table() ? kTableBytes : 0; }
  /// The table follows all parameters.
  std::uint64_t table_place() const { return parameter_set_bytes() * products; }
  std::uint64_t parameter_bytes() const { return table_place() + table_bytes(); }
  std::uint64_t activation_bytes() const {
    return (lanes    ? lanes->convolution.pixels() / lanes->repeats() * n_tiles
            : window ? window->window.pixels() * window->window.planes
                     : shape.m * k_tiles) *
           array;
  }
  std::uint64_t result_bytes() const {
    return results().block_bytes(shape.m * result_blocks(), array);
  }
  /// Rows of the second operand of results, which is laid out as they are; where it is one a
  /// column, of the images that have one.
  std::uint64_t operand_rows() const {
    return output.broadcasts() ? output.operand_images : shape.m;
  }
  std::uint64_t operand_bytes() const {
    return output.takes_operands() ? operand_rows() * n_tiles * array : 0;
  }
};

/// Bytes that cross each port for a plan and its program; the device's counters give the same.
struct Traffic {
  std::uint64_t weights = 0;
  std::uint64_t activations = 0;
  std::uint64_t results = 0;
  std::uint64_t commands = 0;
  std::uint64_t parameters = 0;
  std::uint64_t operands = 0;

  friend bool operator==(const Traffic& a, const Traffic& b) {
    return a.weights == b.weights && a.activations == b.activations && a.results == b.results &&
           a.commands == b.commands && a.parameters == b.parameters && a.operands == b.operands;
  }
};

/// Cuts a product for an accelerator. M is cut into as few blocks as the accumulator allows, of as
/// even a height as can be: a block takes max(rows, N) cycles a tile, so a low last block would
/// waste most of them. Throws UsageError if a size is zero, a count does not fit a command, or
/// 8-bit results have bounds that their type does not hold or sums that the device does not have. M
/// has the rows of all products of a stack.
Plan make_plan(const GemmShape& shape, Accumulate accumulate, const Geometry& geometry,
               const Output& output = {}, std::uint32_t products = 1);

/// Cuts a convolution, so that it takes the fewest cycles. Throws UsageError as make_plan() of a
/// product does, and if cut_convolution() does.
Plan make_plan(const Convolution& convolution, const Geometry& geometry, const Output& output = {},
               const MemoryRate& rate = {});

/// A depthwise convolution, or a pool, on the lanes; nothing where cut_for_lanes() has none. A pool
/// has no weights: its K is 0. Where each image has a second operand, no block has rows of two.
/// Throws UsageError where results cannot be made so.
std::optional<Plan> make_lanes_plan(const Convolution& convolution, const Geometry& geometry,
                                    const Output& output = {}, LaneSum sum = LaneSum::kProducts);

/// Makes a convolution of pixels in the tensor memory read them for each pass, if that saves time:
/// weights are loaded once then.
void read_for_each_pass(Plan& plan, const Geometry& geometry);

/// Makes blocks of a convolution fill both banks of the accumulator, if that saves time: weights
/// that do not stay in their buffer are loaded for half as many blocks.
void fill_both_banks(Plan& plan, const Geometry& geometry, const MemoryRate& rate);

/// Fills in what follows from a plan's window.
void set_window(Plan& plan, WindowCut window);

/// The bytes over each port: parameters once for each block of M, and weights too, but once if they
/// are retained, once for each band of blocks, and on the lanes once for each strip; activations
/// once, or once for each tile of N where they do not stay on chip; results and their second
/// operands once. Of a convolution each input pixel once, or where strips share it once for each.
Traffic predict_traffic(const Plan& plan);

}  // namespace gemm64
