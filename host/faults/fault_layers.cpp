// SPDX-License-Identifier: Apache-2.0
#include "host/faults/fault_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "host/device/depthwise.hpp"
#include "host/util/float_bits.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMostCycles = 4000;  // that the tiles of a layer take
constexpr std::array<const char*, kFaultPrograms> kNames{"products", "convolutions", "lanes",
                                                         "vector"};

std::uint32_t draw(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random() % (std::uint64_t{high} - low + 1));
}
bool one_in(std::mt19937& random, std::uint32_t count) { return random() % count == 0; }

std::int8_t draw_byte(std::mt19937& random) {
  return static_cast<std::int8_t>(static_cast<int>(draw(random, 0, 255)) - 128);
}

/// Results of 8 bits; those that another layer reads are int8.
Output draw_output(std::mt19937& random, bool is_read) {
  Output output;
  const bool is_signed = is_read || !one_in(random, 3);
  output.format = ResultFormat(is_signed ? ResultCode::kInt8 : ResultCode::kUint8);
  output.zero = output.format.least() + static_cast<int>(draw(random, 64, 192));
  output.low = one_in(random, 2) ? output.zero : output.format.least();
  output.high = output.format.largest();
  return output;
}

/// Sizes of the output along both axes; false where there is none.
bool draw_out_size(std::mt19937& random, Convolution& c) {
  const auto size = [&random](std::uint32_t in, std::uint32_t pad, std::uint32_t kernel,
                              std::uint32_t dilation, std::uint32_t stride) {
    const std::uint32_t reach = (kernel - 1) * dilation + 1;
    const std::uint32_t room = in + pad + draw(random, 0, kernel - 1);
    return room < reach ? 0 : (room - reach) / stride + 1;
  };
  c.out_height = size(c.height, c.pad_top, c.kernel_height, c.dilation_height, c.stride_height);
  c.out_width = size(c.width, c.pad_left, c.kernel_width, c.dilation_width, c.stride_width);
  return c.out_height != 0 && c.out_width != 0;
}

void draw_map(std::mt19937& random, std::uint32_t least, Convolution& c) {
  c.images = draw(random, 1, 2);
  c.height = draw(random, least, 10);
  c.width = draw(random, std::max(least, 2U), 12);
}

/// As a layer of the map that `from` gives.
void read_map(const FaultLayer& from, Convolution& c) {
  const Convolution& given = *from.convolution;
  c.images = given.images;
  c.channels = given.out_channels;
  c.height = given.out_height;
  c.width = given.out_width;
}

void draw_window(std::mt19937& random, std::uint32_t most, Convolution& c) {
  c.kernel_height = draw(random, 1, most);
  c.kernel_width = draw(random, 1, most);
  c.stride_height = draw(random, 1, 3);
  c.stride_width = draw(random, 1, 3);
  c.dilation_height = draw(random, 1, 2);
  c.dilation_width = draw(random, 1, 2);
  c.pad_top = draw(random, 0, c.kernel_height - 1);
  c.pad_left = draw(random, 0, c.kernel_width - 1);
}

/// A convolution for the array, of a drawn map or of that of `from`.
FaultLayer draw_convolution(std::mt19937& random, const Geometry& geometry,
                            const FaultLayer* from) {
  const std::uint32_t most = std::max(2 * geometry.n, 12U);
  FaultLayer layer;
  Convolution c;
  do {
    c = Convolution();
    draw_map(random, 1, c);
    c.channels = draw(random, 1, most);
    if (from != nullptr) read_map(*from, c);
    c.out_channels = draw(random, 1, most);
    if (one_in(random, 4)) {  // depthwise, perhaps with several outputs a channel
      c.groups = c.channels;
      c.out_channels = c.channels * draw(random, 1, 2);
    } else if (one_in(random, 3)) {
      c.groups = draw(random, 2, 4);
      if (from == nullptr) c.channels = c.groups * draw(random, 1, most / c.groups);
      if (c.channels % c.groups != 0) c.groups = 1;
      c.out_channels = c.groups * draw(random, 1, most / c.groups);
    }
    draw_window(random, 4, c);
  } while (!draw_out_size(random, c));
  c.zero = draw_byte(random);
  layer.convolution = c;
  return layer;
}

/// A depthwise convolution or a pool.
FaultLayer draw_for_lanes(std::mt19937& random, const Geometry& geometry, const FaultLayer* from) {
  FaultLayer layer;
  layer.on_lanes = true;
  layer.sum = static_cast<LaneSum>(draw(random, 0, 2));
  Convolution c;
  bool has_size = false;
  do {
    c = Convolution();
    draw_map(random, 3, c);
    if (one_in(random, 8)) c.width = draw(random, 40, kLaneLineWords);
    c.channels = draw(random, 1, 3 * geometry.n);
    if (from != nullptr) read_map(*from, c);
    c.groups = c.out_channels = c.channels;
    if (layer.sum != LaneSum::kProducts && one_in(random, 3)) {  // whole maps
      c.kernel_height = c.height;
      c.kernel_width = c.width;
      has_size = true;
    } else {
      const std::uint32_t size = draw(random, 1, 3) * 2 + 1;
      draw_window(random, size, c);
      if (!one_in(random, 3)) {  // as they mostly are
        c.kernel_height = c.kernel_width = size;
        c.dilation_height = c.dilation_width = 1;
        c.stride_height = c.stride_width = draw(random, 1, 2);
        c.pad_top = c.pad_left = draw(random, 0, size / 2);
      }
      has_size = draw_out_size(random, c);
    }
    c.zero = layer.sum == LaneSum::kMaximum ? std::int8_t{-128} : draw_byte(random);
  } while (!has_size || !cut_for_lanes(c, geometry, layer.sum));
  layer.convolution = c;
  return layer;
}

std::vector<FaultLayer> draw_convolutions(std::mt19937& random, const LayerNeeds& needs,
                                          const Geometry& geometry) {
  std::vector<FaultLayer> layers{draw_convolution(random, geometry, nullptr)};
  if (one_in(random, 2)) {
    layers[0].output = draw_output(random, true);
    layers.push_back(draw_convolution(random, geometry, &layers[0]));
    layers[1].source = 0;
  }
  if (needs.parameters || !one_in(random, 3)) layers.back().output = draw_output(random, false);
  return layers;
}

std::vector<FaultLayer> draw_lanes(std::mt19937& random, const LayerNeeds& needs,
                                   const Geometry& geometry) {
  std::vector<FaultLayer> layers;
  if (one_in(random, 2)) {
    FaultLayer first;
    Convolution c;
    draw_map(random, 3, c);
    c.channels = draw(random, 1, 2 * geometry.n);
    c.out_channels = draw(random, 1, 2 * geometry.n);
    c.out_height = c.height;
    c.out_width = c.width;
    first.convolution = c;
    first.output = draw_output(random, true);
    layers.push_back(first);
  }
  const bool reads = !layers.empty();
  layers.push_back(draw_for_lanes(random, geometry, reads ? &layers[0] : nullptr));
  if (reads) layers.back().source = 0;
  if (needs.parameters || !one_in(random, 4)) layers.back().output = draw_output(random, false);
  return layers;
}

/// What becomes of a layer's results: they are added to or multiplied with a second operand, looked
/// up in a table, or both.
void draw_vector(std::mt19937& random, const LayerNeeds& needs, bool may_take_operands,
                 Output& output) {
  const auto part = [&random] { return draw(random, 1, 1U << 20) / double{1U << 20}; };
  StoreCommand store;
  const bool takes = may_take_operands && (needs.operands || !one_in(random, 4));
  store.table = needs.table || one_in(random, takes ? 3 : 2) ? 1 : 0;
  if (takes) {
    store.function_min = static_cast<std::uint32_t>(output.format.least()) & 0xff;
    store.function_max = static_cast<std::uint32_t>(output.format.largest()) & 0xff;
    store.offset = bits_of(static_cast<float>(
        std::ldexp(static_cast<int>(draw(random, 0, 1U << 14)) - (1 << 13), -8)));
    if (!one_in(random, 3)) {
      store.add = 1;
      store.swap = draw(random, 0, 1);
      store.result_scale = bits_of(static_cast<float>(0.25 + part()));
      store.operand_scale = bits_of(static_cast<float>(0.25 + part()));
    } else {
      store.multiply = 1;
      store.operand_scale = bits_of(static_cast<float>(0.004 + 0.02 * part()));
      store.result_zero = draw(random, 0, 255);
      store.operand_zero = draw(random, 0, 255);
    }
  }
  // What is in memory is int8.
  if (!output.format.is_signed()) store.operand_moved = store.result_moved = 1;
  output.vector = store;
}

/// A layer of the results of `from` that keeps the sizes of its map.
FaultLayer draw_same(std::mt19937& random, const Geometry& geometry, const FaultLayer& from,
                     std::uint64_t most_channels) {
  FaultLayer layer;
  if (!from.convolution) {
    layer.shape = {from.shape.m, from.shape.n, most_channels};
    return layer;
  }
  Convolution c;
  read_map(from, c);
  c.out_channels = static_cast<std::uint32_t>(most_channels);
  c.out_height = c.height;
  c.out_width = c.width;
  const std::uint32_t size = draw(random, 0, 2) * 2 + 1;
  c.kernel_height = c.kernel_width = std::min(size, 3U);
  c.pad_top = c.pad_left = c.kernel_height / 2;
  c.zero = draw_byte(random);
  layer.on_lanes = c.out_channels == c.channels && c.kernel_height == 3 && one_in(random, 2);
  if (layer.on_lanes) c.groups = c.channels;
  if (layer.on_lanes && !cut_for_lanes(c, geometry, layer.sum)) {
    layer.on_lanes = false;
    c.groups = 1;
  }
  layer.convolution = c;
  return layer;
}

std::vector<FaultLayer> draw_vectors(std::mt19937& random, const LayerNeeds& needs,
                                     const Geometry& geometry) {
  const std::uint32_t most = std::max(2 * geometry.n, 12U);
  FaultLayer first;
  if (one_in(random, 2)) {
    first.shape = {draw(random, 1, 24), draw(random, 1, most), draw(random, 1, most)};
  } else {
    Convolution c;
    draw_map(random, 1, c);
    c.channels = draw(random, 1, most);
    c.out_channels = draw(random, 1, most);
    c.out_height = c.height;
    c.out_width = c.width;
    first.convolution = c;
  }
  first.output = draw_output(random, true);
  const std::uint64_t channels = first.columns();
  std::vector<FaultLayer> layers{first};

  // Two layers that share a map, each on some of its lanes.
  if (!needs.operands && one_in(random, 3)) {
    const std::uint64_t left = draw(random, 1, most), right = draw(random, 1, most);
    std::uint64_t begin = 0;
    for (const std::uint64_t own : {left, right}) {
      FaultLayer layer = draw_same(random, geometry, first, own);
      layer.source = 0;
      if (layer.on_lanes) {
        layer.on_lanes = false;
        layer.convolution->groups = 1;
      }
      layer.output = draw_output(random, false);
      draw_vector(random, needs, false, layer.output);
      layer.output.part = ResultPart{begin, left + right};
      layer.map = 0;
      begin += own;
      layers.push_back(layer);
    }
    // Bytes of one map are of one kind.
    if (!(layers[1].output.stored() == layers[2].output.stored())) {
      layers[2].output = layers[1].output;
      layers[2].output.part->first = left;
    }
    return layers;
  }

  const bool meets = one_in(random, 2);  // the first layer's results
  FaultLayer layer = draw_same(random, geometry, first,
                               meets || one_in(random, 2) ? channels : draw(random, 1, most));
  layer.source = 0;
  layer.output = draw_output(random, false);
  draw_vector(random, needs, true, layer.output);
  StoreCommand& store = *layer.output.vector;
  if (layer.output.takes_operands() && meets) {
    layer.operand = 0;
  } else if (layer.output.takes_operands() && one_in(random, 2)) {
    store.broadcast = 1;
    if (layer.on_lanes && one_in(random, 2)) {
      layer.output.operand_images = layer.convolution->images;
    }
  }
  layers.push_back(layer);
  return layers;
}

std::vector<FaultLayer> draw_any(FaultProgram program, const LayerNeeds& needs,
                                 const Geometry& geometry, std::mt19937& random) {
  switch (program) {
    case FaultProgram::kConvolutions:
      return draw_convolutions(random, needs, geometry);
    case FaultProgram::kLanes:
      return draw_lanes(random, needs, geometry);
    case FaultProgram::kVector:
      return draw_vectors(random, needs, geometry);
    case FaultProgram::kProducts:
      break;
  }
  throw std::logic_error("a product has no layers");
}

/// Cycles of the array, or the lanes.
std::uint64_t cycles(const Job& job) {
  const Plan& plan = job.plan;
  if (plan.lanes) return plan.lanes->cycles();
  return plan.tiles() * std::max<std::uint64_t>(plan.shape.m, plan.array * plan.row_blocks());
}

}  // namespace

const char* name(FaultProgram program) { return kNames.at(static_cast<std::size_t>(program)); }

std::uint64_t FaultLayer::rows_read() const {
  return convolution ? convolution->pixels() : shape.m;
}
std::uint64_t FaultLayer::columns_read() const {
  return convolution ? convolution->channels : shape.k;
}
std::uint64_t FaultLayer::weights_each() const {
  if (sum != LaneSum::kProducts) return 0;
  return convolution ? std::uint64_t{convolution->group_channels()} * convolution->taps() : shape.k;
}
std::uint64_t FaultLayer::rows() const { return convolution ? convolution->out_pixels() : shape.m; }
std::uint64_t FaultLayer::columns() const {
  return convolution ? convolution->out_channels : shape.n;
}

Job job_of(const FaultLayer& layer, const Geometry& geometry) {
  const auto make = [&]() -> Job {
    if (!layer.convolution) {
      return make_job("product", layer.shape, Accumulate::kDevice, geometry, layer.output);
    }
    if (!layer.on_lanes) {
      return make_job("convolution", *layer.convolution, geometry, layer.output);
    }
    return make_lanes_job("lanes", *layer.convolution, geometry, layer.output, layer.sum).value();
  };
  Job job = make();
  job.source = layer.source;
  job.operand = layer.operand;
  job.map = layer.map;
  return job;
}

std::vector<FaultLayer> draw_layers(FaultProgram program, const LayerNeeds& needs,
                                    const Geometry& geometry, std::mt19937& random) {
  while (true) {
    std::vector<FaultLayer> layers = draw_any(program, needs, geometry, random);
    const bool soon = std::all_of(layers.begin(), layers.end(), [&](const FaultLayer& layer) {
      return cycles(job_of(layer, geometry)) <= kMostCycles;
    });
    if (soon) return layers;
  }
}

}  // namespace gemm64
