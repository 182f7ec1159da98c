// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/program_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// Throws UsageError if a tensor has another shape than a program was compiled for.
void check_shape(const std::string& layer, const std::string& name, const Tensor& found,
                 const TensorType& compiled) {
  if (found.dims() == compiled.dims) return;
  throw UsageError(fmt::format("{}: '{}' is {}, but the program was compiled for {}",
                               printable(layer), printable(name), describe(found),
                               fmt::join(compiled.dims, "x")));
}

}  // namespace

Tensor LayerOracle::expected_ahead(const DeviceProgram&, const DeviceLayer& layer,
                                   NamedBuffers given) {
  return expected(layer, std::move(given));
}

ProgramRun::ProgramRun(const DeviceProgram& program,
                       std::shared_ptr<const std::vector<LayerBuffers>> buffers,
                       const std::vector<PackedLayer>& constants)
    : program_(program), buffers_(std::move(buffers)), constants_(constants) {}

/// What a layer reads that no layer of the program writes, as far as `values` has it.
NamedBuffers ProgramRun::given(std::size_t index, const NamedBuffers& values) const {
  const DeviceLayer& layer = program_.layers[index];
  NamedBuffers given = (*buffers_)[index].known;
  for (const std::string* const name : {&layer.input_value, &layer.second, &layer.weights_value}) {
    const auto found = values.find(*name);
    if (found != values.end()) given[*name] = found->second;
  }
  return given;
}

ProgramLayer ProgramRun::layer(std::size_t index, const NamedBuffers& values) const {
  const DeviceLayer& layer = program_.layers[index];
  const LayerBuffers& buffers = (*buffers_)[index];
  NamedBuffers given = this->given(index, values);
  if (!layer.source) {
    check_shape(layer.job.name, layer.input_value, given.at(layer.input_value), buffers.input);
  }
  Tensor weights;
  if (!layer.weights_value.empty()) {
    weights = given.at(layer.weights_value);
    check_shape(layer.job.name, layer.weights_value, weights, buffers.weights);
  }
  const Tensor input = layer.source ? Tensor() : given.at(layer.input_value);
  ProgramLayer made = program_layer(layer, buffers.constants, input, weights);
  if (!layer.second.empty() && !layer.operand) {
    const auto found = given.find(layer.second);
    made.operands =
        found != given.end() ? operand_rows(layer, found->second) : buffers.operand_rows;
  }
  if (!constants_.empty() && layer.weights_value.empty()) made.packed = &constants_[index];
  return made;
}

std::vector<LayerExpectation> ProgramRun::expected(const NamedBuffers& values, LayerOracle& oracle,
                                                   std::vector<Tensor>& wanted) const {
  std::vector<LayerExpectation> all;
  for (std::size_t index = 0; index < program_.layers.size(); ++index) {
    const DeviceLayer& layer = program_.layers[index];
    NamedBuffers given = this->given(index, values);
    if (layer.source) given[layer.input_value] = as_source(index, stored(*layer.source, wanted));
    if (layer.operand) given[layer.second] = as_operand(index, stored(*layer.operand, wanted));
    wanted.push_back(oracle.expected_ahead(program_, layer, given));
    LayerExpectation& made = all.emplace_back();
    made.expected = to_job_results(layer, wanted.back());
    if (!layer.source && !layer.operand) continue;
    made.expect = [this, index, &oracle, given = std::move(given)](const MatrixI32* source,
                                                                   const MatrixI32* operand) {
      const DeviceLayer& reader = program_.layers[index];
      const auto as_stored = [this](std::size_t by, const MatrixI32& results,
                                    const ChannelOrder& order) {
        return to_node_results(program_.layers[by], results, stored_type(by), order);
      };
      NamedBuffers others = given;
      if (reader.source) {
        others[reader.input_value] =
            as_source(index, as_stored(*reader.source, *source, reader.source_order));
      }
      if (reader.operand) {
        others[reader.second] =
            as_operand(index, as_stored(*reader.operand, *operand, reader.result_order));
      }
      return to_job_results(reader, oracle.expected(reader, std::move(others)));
    };
  }
  return all;
}

std::vector<Tensor> ProgramRun::written(const std::vector<MatrixI32>& values,
                                        const std::vector<Tensor>& wanted) const {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const DeviceLayer& layer = program_.layers[i];
    results.push_back(values[i].size() != 0
                          ? to_node_results(layer, values[i], own_type(i), layer.result_order)
                      : i < wanted.size() ? wanted[i]
                                          : Tensor());
  }
  return results;
}

/// The results of a layer as they are in memory, with those that are parts of the same tensor.
Tensor ProgramRun::stored(std::size_t layer, const std::vector<Tensor>& each) const {
  const DeviceLayer& writer = program_.layers[layer];
  if (!writer.part && !writer.rows) return each[layer];
  std::map<std::uint64_t, Tensor> parts;  // by their first channel or row
  for (std::size_t i = 0; i < each.size(); ++i) {
    const DeviceLayer& other = program_.layers[i];
    if (other.gives() != writer.gives()) continue;
    parts[writer.part ? other.part->first : other.rows->first] = each[i];
  }
  std::vector<Tensor> in_order;
  for (auto& [first, part] : parts) {
    if (!part.present()) return {};
    in_order.push_back(part);
  }
  return join(in_order, writer.part ? 1 : 2);
}

Tensor ProgramRun::value_of(std::size_t layer, const std::vector<Tensor>& each) const {
  const Tensor all = stored(layer, each);
  const std::optional<Strips>& strips = program_.layers[layer].strips;
  return strips && all.present() ? out_of_strips(all, *strips) : all;
}

std::vector<std::pair<std::size_t, Tensor>> ProgramRun::values(
    const std::vector<Tensor>& each) const {
  std::vector<std::pair<std::size_t, Tensor>> values;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (!each[i].present() || program_.layers[i].is_later_part()) continue;
    Tensor value = value_of(i, each);
    if (value.present()) values.emplace_back(i, std::move(value));
  }
  return values;
}

/// The type of the tensor in memory that a layer writes, or writes a part of.
TensorType ProgramRun::stored_type(std::size_t layer) const {
  TensorType type = (*buffers_)[layer].result;
  if (const std::optional<Strips>& strips = program_.layers[layer].strips) {
    type.dims[1] *= strips->count;
    type.dims[2] = strips->rows;
  }
  return type;
}

/// The type of what it writes itself.
TensorType ProgramRun::own_type(std::size_t layer) const {
  const DeviceLayer& writer = program_.layers[layer];
  TensorType type = stored_type(layer);
  if (writer.part) type.dims[1] = static_cast<std::int64_t>(writer.job.plan.shape.n);
  if (writer.rows) type.dims[2] = writer.rows->end - writer.rows->first;
  return type;
}

/// What a layer reads of the tensor that its source's results are in.
Tensor ProgramRun::as_source(std::size_t layer, const Tensor& stored) const {
  const DeviceLayer& reader = program_.layers[layer];
  const Tensor tensor = channels_of(stored, reader.view);
  if (reader.strips) return tensor;
  if (!reader.rows) return tensor.reshaped((*buffers_)[layer].input.dims);
  const std::uint32_t first = reader.first_row_read();
  return rows_of_map(tensor, first, first + reader.rows->end - reader.rows->first);
}

Tensor ProgramRun::as_operand(std::size_t layer, const Tensor& stored) const {
  return program_.layers[layer].strips ? stored : stored.reshaped((*buffers_)[layer].operand.dims);
}

}  // namespace gemm64
