// SPDX-License-Identifier: Apache-2.0
// Makes a DevicePlan, node by node: planner.cpp has the layers, planner_vector.cpp what becomes of
// their results on the way to memory, planner_view.cpp Slices, planner_strips.cpp strips of maps,
// planner_stacks.cpp products that share tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/compile/device_plan.hpp"
#include "host/compile/table_node.hpp"
#include "host/compile/vector_node.hpp"

namespace gemm64 {

/// Cycles in which the array works on a plan's tiles.
std::uint64_t array_cycles(const Plan& plan);

class Planner {
 public:
  Planner(const OnnxModel& model, const Geometry& geometry, const PlanOptions& options)
      : nodes_(model),
        model_(model),
        geometry_(geometry),
        options_(options),
        readers_(readers_of(model)) {}

  DevicePlan run();

 private:
  /// Where a value comes from.
  struct Value {
    std::size_t level = 0;
    std::optional<std::size_t> layer;  // whose results it is, perhaps in another shape
    bool behind_layer = false;         // does it need the results of one?
    std::string root;                  // the value whose bytes it is, perhaps in another shape
    /// Channels of the layer's tensor that it has; all where there are none. Then the node that
    /// takes these.
    std::vector<std::uint32_t> view = {};
    int slice = 0;
  };

  /// A layer and its place.
  struct Placed {
    DeviceLayer layer;
    QuantizedNode node;
    std::size_t level = 0;
    std::size_t depth = 0;  // layers of the level before it, each reading the one before
    bool map = false;       // are its results pixels of a map? else rows of a matrix
    bool read = false;      // by another layer of the level
    std::optional<StoreCommand> vector;  // what becomes of its results
    std::uint32_t operand_images = 1;    // that have a second operand of their own

    bool takes_operand() const { return vector && (vector->add != 0 || vector->multiply != 0); }
  };

  // planner.cpp
  void add_node(int index);
  void add_layer(int index, QuantizedNode node);
  void add_on_host(int index, const QuantizedNode& node);
  std::size_t append(Placed placed);
  void push(Placed placed, const std::string& output);
  bool reads_as_it_lies(const Value& input, QuantizedNode& to) const;
  bool is_packed(const QuantizedNode& node) const;
  Job make(const Placed& placed) const;
  Job make_job_of(const Placed& placed) const;
  bool is_pool_for_lanes(const onnx::NodeProto& proto, const QuantizedNode& node) const;
  Value host_value(const onnx::NodeProto& node) const;
  Value value_of(const std::string& name) const;
  const onnx::NodeProto& proto(int index) const { return model_.graph().node(index); }
  const std::string& output_of(const Placed& placed) const {
    return proto(placed.layer.gives()).output(0);
  }
  Convolution results_map(const Placed& from) const;
  std::uint32_t columns_of(std::size_t number) const;
  ChannelOrder order_of(std::size_t number) const;
  void mark_read(std::size_t layer);
  bool is_internal(const Placed& giver) const;
  std::vector<std::size_t> depths_in_order() const;
  std::vector<DeviceProgram> programs();
  void find_between();
  void find_splits();
  bool leave(int index, std::string why);

  // planner_view.cpp
  Convolution map_of(const Value& value) const;
  bool add_view(int index);
  void set_columns(Placed& placed, const Value& given,
                   const std::vector<std::uint32_t>& channels) const;
  void set_columns(Placed& placed, const std::vector<std::uint32_t>& channels,
                   std::uint32_t all) const;
  static void set_gaps(Placed& placed, std::uint32_t channels, std::uint32_t columns);
  bool materialize(const std::string& name);

  // planner_strips.cpp
  void lay_strips();
  bool may_have_strips(const Placed& placed, const std::vector<std::size_t>& chain) const;
  std::optional<std::size_t> next_of(const std::vector<std::size_t>& chain,
                                     const std::vector<std::vector<std::size_t>>& readers) const;
  std::vector<Placed> with_strips(const std::vector<std::size_t>& chain,
                                  const std::vector<Strips>& strips) const;

  // planner_stacks.cpp
  void share_tiles();
  bool may_share_tiles(std::size_t number) const;

  // planner_vector.cpp
  bool add_vector(int index);
  bool add_second_operand(int index, const VectorNode& node);
  bool join(int index, const VectorNode& node, const std::string& first, const std::string& second,
            const StoreCommand& settings);
  bool attach(int index, Placed& placed, std::optional<std::size_t> own, const VectorNode& node,
              const std::string& second, const StoreCommand& settings);
  void add_table(std::size_t number);
  static void set_table(Placed& placed, std::vector<std::uint8_t> table,
                        const Quantization& result);
  bool push_copy(Placed copy);
  bool copy_through_table(int index);
  bool enlarge(int index);
  bool scale_channels(int index);
  std::optional<Placed> copy_of(int index, const std::string& name, bool shifted = false) const;
  bool is_alone(const std::string& name) const;
  struct ConcatInput {
    int input = 0;                     // of the node
    std::optional<std::size_t> layer;  // of the program that gives it; else the host does
    std::vector<std::uint8_t> table;
    /// Can the layer write its part itself: where that begins with a tile, and anywhere?
    bool joins = false, joins_shifted = false;
    PartCost cost;
  };
  std::optional<ConcatInput> concat_input(int index, int input) const;
  std::optional<ConcatInput> given_input(int index, int input, std::size_t level) const;
  Placed copy_of_given(int index, int input, std::size_t level, bool shifted) const;
  std::size_t level_of_concat(int index) const;
  bool has_part_of(int index, std::size_t level) const;
  std::string host_part_of(int index) const;
  bool is_read_on_device(const std::string& name) const;
  bool add_concat(int index);

  const HostNodes nodes_;
  const OnnxModel& model_;
  const Geometry& geometry_;
  const PlanOptions& options_;
  DevicePlan plan_;
  std::vector<Placed> layers_;
  std::map<std::string, Value> values_;
  Readers readers_;
  std::set<int> done_;               // nodes that follow a layer
  std::map<int, std::string> left_;  // nodes of the element-wise unit: why the host has them
};

}  // namespace gemm64
