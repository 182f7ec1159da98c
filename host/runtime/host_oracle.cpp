// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/host_oracle.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "host/compile/table_node.hpp"

namespace gemm64 {

/// The name of what a layer writes. A part of a concatenation, in the steps of the whole, has a
/// node of its own.
std::string HostOracle::value_of(const DeviceLayer& layer) const {
  return layer.part ? node_of_part(layer).output(0) : node(layer.last()).output(0);
}

onnx::NodeProto HostOracle::node_of_part(const DeviceLayer& layer) const {
  onnx::NodeProto made = concat_of_part(node(layer.part->node), layer.part->input);
  *made.mutable_output(0) += fmt::format(" of input {}", layer.part->input);
  return made;
}

void HostOracle::begin(const DeviceProgram& program, const NamedBuffers& values) {
  std::vector<std::string> wanted;
  std::vector<onnx::NodeProto> parts;
  for (const DeviceLayer& layer : program.layers) {
    if (layer.source_strips) continue;
    wanted.push_back(value_of(layer));
    if (layer.part) parts.push_back(node_of_part(layer));
  }
  ahead_ = nodes_.values(wanted, values, parts);
}

/// Without strips.
Tensor HostOracle::of_map(const DeviceLayer& layer, const NamedBuffers& given) const {
  std::vector<onnx::NodeProto> parts;
  if (layer.part) parts.push_back(node_of_part(layer));
  const std::string name = value_of(layer);
  return nodes_.values({name}, given, parts).at(name);
}

Tensor HostOracle::expected(const DeviceLayer& layer, NamedBuffers given) const {
  if (!layer.strips) return of_map(layer, given);
  if (!layer.source) return in_strips(of_map(layer, given), *layer.strips);
  const NamedBuffers all = given;
  std::vector<Tensor> each;
  for (std::uint32_t i = 0; i < layer.strips->count; ++i) {
    given[layer.input_value] = strip_of(all.at(layer.input_value), *layer.source_strips, i);
    if (layer.operand) given[layer.second] = strip_of(all.at(layer.second), *layer.strips, i);
    each.push_back(of_map(layer, given));
  }
  return join(each, 1);
}

Tensor HostOracle::expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                                  NamedBuffers given) {
  const auto found = layer.source_strips ? ahead_.end() : ahead_.find(value_of(layer));
  if (found == ahead_.end()) return LayerOracle::expected_ahead(program, layer, std::move(given));
  return layer.strips ? in_strips(found->second, *layer.strips) : found->second;
}

void show_inner(const ProgramRun& run, const std::vector<Tensor>& results,
                const NamedBuffers& values, const HostNodes& nodes, const NodeObserver& after) {
  if (!after.wants_inner) return;
  const OnnxModel& model = nodes.model();
  std::set<int> shown;  // of a layer in stripes there are several
  for (const DeviceLayer& layer : run.program().layers) {
    std::vector<std::string> wanted;
    std::vector<int> inner;
    for (const int index : layer.nodes()) {
      const onnx::NodeProto& node = model.graph().node(index);
      if (index == layer.gives() || !shown.insert(index).second || !after.wants_inner(node)) {
        continue;
      }
      inner.push_back(index);
      wanted.push_back(node.output(0));
    }
    if (inner.empty()) continue;
    NamedBuffers given;
    const auto give = [&](const std::string& name, std::optional<std::size_t> from,
                          const std::vector<std::uint32_t>& channels) {
      const auto found = values.find(name);
      if (found != values.end()) {
        given[name] = found->second;
      } else if (from) {
        given[name] =
            channels_of(run.value_of(*from, results), channels).reshaped(model.type(name)->dims);
      }
    };
    give(layer.input_value, layer.source, layer.view);
    give(layer.second, layer.operand, {});
    give(layer.weights_value, {}, {});
    const std::map<std::string, Tensor> found = nodes.values(wanted, given);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      after(model.graph().node(inner[i]), {found.at(wanted[i])});
    }
  }
}

}  // namespace gemm64
