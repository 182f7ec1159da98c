// SPDX-License-Identifier: Apache-2.0
#include "sim/web/origin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/tiling/tile_walk.hpp"

namespace gemm64::web {
namespace {

using Json = nlohmann::json;
using Matrix = Element::Matrix;

/// The element of the weights whose byte is that far after their first; it may be padding.
Element weight_at(const Plan& plan, std::uint64_t byte) {
  const std::uint64_t n = plan.array;
  const std::uint64_t word = byte / n, lane = byte % n;
  Element found;
  found.matrix = Matrix::kWeights;
  if (plan.lanes) {
    const Convolution& c = plan.lanes->convolution;
    const std::uint64_t size = plan.lanes->command().kernel_height;
    const std::uint64_t top = size - c.kernel_height, left = size - c.kernel_width;
    const std::uint64_t row = word % (size * size) / size, column = word % size;
    found.row = word / (size * size) * n + lane;
    found.column =
        row < top || column < left ? plan.shape.k : (row - top) * c.kernel_width + column - left;
    return found;
  }
  const std::uint64_t tile = word / n;  // [tile of N][tile of K], of a window [plane][tap]
  const std::uint64_t along_k = tile % plan.k_tiles;
  found.row = tile / plan.k_tiles * n + word % n;
  found.column = along_k * n + lane;
  if (plan.window) {
    const std::uint64_t taps = plan.window->convolution.taps();
    const std::uint64_t channel = along_k / taps * n + lane;
    found.column = channel < plan.window->convolution.channels ? channel * taps + along_k % taps
                                                               : plan.shape.k;
  }
  return found;
}

/// Of words that lie [tile of columns][row].
Element in_words_of(Matrix matrix, std::uint64_t byte, std::uint64_t rows, std::uint64_t array) {
  const std::uint64_t word = byte / array;
  Element found;
  found.matrix = matrix;
  found.row = word % rows;
  found.column = word / rows * array + byte % array;
  return found;
}

std::uint64_t activation_rows(const Plan& plan) {
  return plan.convolution() != nullptr ? plan.convolution()->pixels() : plan.shape.m;
}
std::uint64_t activation_columns(const Plan& plan) {
  return plan.convolution() != nullptr ? plan.convolution()->channels : plan.shape.k;
}

/// "pixel (2, 3)"
std::string pixel(std::uint64_t index, std::uint64_t width) {
  return fmt::format("pixel ({}, {})", index / width, index % width);
}

/// A block of results, in the order in which they leave.
struct Block {
  std::size_t job = 0;
  std::uint64_t first_row = 0, rows = 0, n = 0;
  std::uint64_t before = 0;  // rows of results of its job before it
};

/// Calls `visit` with each block of results in turn, until that returns true.
template <class Visit>
void for_blocks(const Work& work, Visit visit) {
  for (std::size_t j = 0; j < work.list.jobs.size(); ++j) {
    const Job& job = work.list.jobs[j];
    const Plan& plan = job.plan;
    if (plan.lanes) {
      std::vector<Block> blocks;
      for (std::uint64_t plane = 0; plane < plan.n_tiles; ++plane) {
        for (const RowGroup& group : plan.groups) {
          for (std::uint64_t i = 0; i < group.blocks; ++i) {
            const std::uint64_t row =
                group.first_row + i * (group.step != 0 ? group.step : group.rows);
            blocks.push_back({j, row, group.rows, plane, plan.lanes->rows_before(plane, row)});
          }
        }
      }
      std::sort(blocks.begin(), blocks.end(),
                [](const Block& a, const Block& b) { return a.before < b.before; });
      if (std::any_of(blocks.begin(), blocks.end(), visit)) return;
      continue;
    }
    for (TileWalk walk(job); !walk.done(); walk.next()) {
      const TileStep& step = walk.tile();
      if (!step.ends_block) continue;
      if (visit(Block{j, step.first_row, step.rows, step.tile.n, step.stored_before})) return;
    }
  }
}

}  // namespace

std::optional<Element> element_at(const Work& work, std::uint64_t address) {
  const auto within = [address](std::uint64_t first, std::uint64_t bytes) {
    return address >= first && address < first + bytes;
  };
  for (std::size_t j = 0; j < work.list.jobs.size(); ++j) {
    const Job& job = work.list.jobs[j];
    const Plan& plan = job.plan;
    const Layout& layout = job.layout;
    Element found;
    std::uint64_t rows = plan.shape.m, columns = plan.shape.n;
    if (within(layout.weights, plan.weight_bytes())) {
      found = weight_at(plan, address - layout.weights);
      rows = plan.shape.n;
      columns = plan.lanes && plan.shape.k == 0 ? 0 : plan.shape.k;  // a pool's are all ones
    } else if (!job.source && within(layout.activations, plan.activation_bytes())) {
      rows = activation_rows(plan);
      columns = activation_columns(plan);
      found = in_words_of(Matrix::kActivations, address - layout.activations, rows, plan.array);
    } else if (!job.operand && within(layout.operands, plan.operand_bytes())) {
      found = in_words_of(Matrix::kSecond, address - layout.operands, rows, plan.array);
    } else if (plan.accumulate == Accumulate::kDevice &&
               within(layout.results, plan.result_bytes())) {
      const std::uint64_t wide = plan.results().bytes();
      found = in_words_of(Matrix::kResults, (address - layout.results) / wide, rows, plan.array);
    } else {
      continue;
    }
    found.job = j;
    if (found.row >= rows || found.column >= columns) return std::nullopt;
    return found;
  }
  return std::nullopt;
}

std::string in_words(const Work& work, const Element& element) {
  const Job& job = work.list.jobs[element.job];
  const Convolution* const c = job.plan.convolution();
  const auto of = [&](const char* matrix) {
    return fmt::format("{}[{}, {}] of the {}", matrix, element.row, element.column, job.name);
  };
  switch (element.matrix) {
    case Matrix::kActivations:
      if (c == nullptr) return of("A");
      return fmt::format("channel {} of {} that enters the {}", element.column,
                         pixel(element.row, c->width), job.name);
    case Matrix::kWeights:
      if (c == nullptr) return of("W");
      return fmt::format(
          "the weight of output channel {}{} at tap ({}, {}) of the {}", element.row,
          job.plan.lanes ? "" : fmt::format(", channel {},", element.column / c->taps()),
          element.column % c->taps() / c->kernel_width, element.column % c->kernel_width, job.name);
    case Matrix::kSecond:
      if (c == nullptr) return of("the second operand");
      return fmt::format("the second operand for channel {} of {}", element.column,
                         pixel(element.row, c->out_width));
    case Matrix::kResults:
      if (c == nullptr) return of("C");
      return fmt::format("channel {} of {} that leaves the {}", element.column,
                         pixel(element.row, c->out_width), job.name);
  }
  return "";
}

Json row_entering(const Work& work, std::uint64_t ordinal) {
  std::uint64_t blocks = 0;
  for (std::size_t j = 0; j < work.list.jobs.size(); ++j) {
    const Job& job = work.list.jobs[j];
    if (job.plan.lanes) return nullptr;  // its rows enter no array
    for (TileWalk walk(job); !walk.done(); walk.next()) {
      const TileStep& step = walk.tile();
      if (ordinal < step.rows) {
        return {{"job", j},
                {"row", step.first_row + ordinal},
                {"k", step.tile.k},
                {"n", step.tile.n},
                {"block", blocks + step.result}};
      }
      ordinal -= step.rows;
    }
    blocks += job.plan.row_blocks() * job.plan.result_blocks();
  }
  return nullptr;
}

Json row_leaving(const Work& work, std::uint64_t ordinal) {
  Json found;
  for_blocks(work, [&](const Block& block) {
    const Plan& plan = work.list.jobs[block.job].plan;
    const std::uint64_t wide = plan.results().beats_per_row();
    if (ordinal >= block.rows * wide) {
      ordinal -= block.rows * wide;
      return false;
    }
    const std::uint64_t row = block.first_row + ordinal / wide;
    found = {{"job", block.job}, {"row", row}, {"n", block.n}, {"quarter", ordinal % wide}};
    if (plan.accumulate == Accumulate::kDevice) {
      found["address"] = work.list.jobs[block.job].layout.results +
                         ((block.n * plan.shape.m + row) * wide + ordinal % wide) * plan.array;
    }
    return true;
  });
  return found;
}

Json block_of_results(const Work& work, std::uint64_t ordinal) {
  Json found;
  for_blocks(work, [&](const Block& block) {
    if (ordinal-- != 0) return false;
    found = {{"job", block.job}, {"row", block.first_row}, {"rows", block.rows}, {"n", block.n}};
    return true;
  });
  return found;
}

}  // namespace gemm64::web
