// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string attributes_text(const LayerAnalysis& layer) {
  std::string text;
  for (const auto& [name, value] : layer.attributes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

std::string product_text(const ArrayCost& cost) {
  const ProductSizes& shape = cost.products.shape;
  std::string text = fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
  if (cost.products.count != 1) text = fmt::format("{} of {}", cost.products.count, text);
  return text;
}

using L = LayerAnalysis;
using A = ArrayCost;
using Figure = std::function<Cell(const L&)>;

/// Returns `get` of the array's cost; nothing if the layer does not run on the array.
template <class Get>
Figure from_array(Get get) {
  return
      [get](const L& layer) { return layer.array ? Cell(std::invoke(get, *layer.array)) : Cell(); };
}

/// The same of a member of one of the cost's members.
template <class Part, class T>
Figure from_array(Part A::*part, T Part::*figure) {
  return from_array([part, figure](const A& cost) { return cost.*part.*figure; });
}

/// Returns a figure that is there if `is_known`.
template <class T>
Figure known(T L::*figure, bool L::*is_known) {
  return
      [figure, is_known](const L& layer) { return layer.*is_known ? Cell(layer.*figure) : Cell(); };
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

struct CellText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return quoted(text); }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
};

/// Does cell `a` sort before `b`?
bool before(const Cell& a, const Cell& b) {
  if (a.index() != b.index()) return b.index() == 0;
  if (const auto* text = std::get_if<std::string>(&a)) return *text < std::get<std::string>(b);
  if (const auto* count = std::get_if<std::uint64_t>(&a))
    return *count > std::get<std::uint64_t>(b);
  if (const auto* value = std::get_if<double>(&a)) return *value > std::get<double>(b);
  return false;
}

}  // namespace

const std::vector<LayerColumn>& layer_columns() {
  using Bytes = decltype(A::bytes);
  using P = PublishedCycles;
  static const std::vector<LayerColumn> columns{
      {"name", "layer", [](const L& l) { return l.name; }},
      {"operator", "operator", [](const L& l) { return l.op_type; }},
      {"inputs", nullptr, [](const L& l) { return joined(l.inputs); }},
      {"outputs", "output", [](const L& l) { return joined(l.outputs); }},
      {"parameters", "parameters", known(&L::parameters, &L::parameters_known)},
      {"parameter_bytes", nullptr, known(&L::parameter_bytes, &L::parameters_known)},
      {"weight_bytes", "weights,\nbytes", known(&L::weight_bytes, &L::parameters_known)},
      {"macs", "MACs", known(&L::macs, &L::macs_known)},
      {"bias_adds", nullptr, known(&L::bias_adds, &L::macs_known)},
      {"activation_bytes", "activations,\nbytes", known(&L::activation_bytes, &L::bytes_known)},
      {"read_bytes", "read,\nbytes", known(&L::read_bytes, &L::bytes_known)},
      {"written_bytes", "written,\nbytes", known(&L::written_bytes, &L::bytes_known)},
      {"traffic_bytes", nullptr,
       [](const L& l) { return l.bytes_known ? Cell(l.read_bytes + l.written_bytes) : Cell(); }},
      {"intensity", "MACs a\nvalue",
       [](const L& l) { return l.macs_known && l.bytes_known ? Cell(l.intensity) : Cell(); }},
      {"on", "runs on",
       [](const L& l) {
         if (!l.on_host) return Cell();
         return Cell(std::string(l.on_host->empty() ? "device" : "host"));
       }},
      {"product", "on the array:\nM x K x N", from_array(product_text)},
      {"program", nullptr,
       [](const L& l) {
         const std::size_t program = l.pool ? l.pool->program : l.array ? l.array->program : 0;
         return program == 0 ? Cell() : Cell(std::uint64_t{program});
       }},
      {"tiles", "tiles", from_array(&A::tiles)},
      {"padding_waste", "padding", from_array(&A::padding_waste)},
      {"clocks", "clocks",
       [](const L& l) {
         if (l.pool) return Cell(l.pool->cycles);
         return l.array && l.array->cycles ? Cell(*l.array->cycles) : Cell();
       }},
      {"roof_clocks", "its roof,\nclocks", from_array(&A::roof_cycles)},
      {"bound", "bound by", from_array(&A::bound)},
      {"utilization", "utilization",
       [](const L& l) { return l.array && l.array->cycles ? Cell(l.array->utilization) : Cell(); }},
      {"double_buffered_ws", "double-\nbuffered WS",
       from_array(&A::published, &P::double_buffered)},
      {"single_buffered_ws", "single-\nbuffered WS",
       from_array(&A::published, &P::single_buffered)},
      {"scale_sim_ws", "SCALE-Sim\nWS", from_array(&A::published, &P::scale_sim_ws)},
      {"scale_sim_os", "SCALE-Sim\nOS", from_array(&A::published, &P::scale_sim_os)},
      {"device_weight_bytes", nullptr, from_array(&A::bytes, &Bytes::weights)},
      {"device_activation_bytes", nullptr, from_array(&A::bytes, &Bytes::activations)},
      {"device_result_bytes", nullptr, from_array(&A::bytes, &Bytes::results)},
      {"why_on_host", nullptr, [](const L& l) { return l.on_host.value_or(""); }},
      {"attributes", nullptr, attributes_text},
      {"unknown", nullptr, [](const L& l) { return l.unknown; }},
      {"results_in", "results in", [](const L& l) { return l.results_in; }}};
  return columns;
}

std::string column_keys() {
  std::string keys;
  for (const LayerColumn& column : layer_columns()) {
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", column.key);
  }
  return keys;
}

std::vector<const LayerColumn*> table_columns(const std::string& keys) {
  constexpr const char* kUsual = "operator,macs,on,product,clocks,utilization";
  std::vector<const LayerColumn*> columns{&layer_columns().front()};
  if (keys == "all") {
    for (const LayerColumn& column : layer_columns()) {
      if (column.heading != nullptr && &column != columns.front()) columns.push_back(&column);
    }
    return columns;
  }
  std::istringstream in(keys.empty() ? kUsual : keys);
  for (std::string key; std::getline(in, key, ',');) {
    const auto found = std::find_if(layer_columns().begin(), layer_columns().end(),
                                    [&](const LayerColumn& column) { return key == column.key; });
    if (found == layer_columns().end()) {
      throw UsageError(fmt::format("--columns: no column is called '{}'; use all, or some of {}",
                                   key, column_keys()));
    }
    if (&*found != columns.front()) columns.push_back(&*found);
  }
  return columns;
}

std::vector<std::size_t> shown_layers(const Analysis& analysis) {
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < analysis.layers.size(); ++i) {
    const LayerAnalysis& layer = analysis.layers[i];
    if (!layer.folded && layer.op_type != "Identity") layers.push_back(i);
  }
  return layers;
}

std::vector<std::size_t> sort_layers(const Analysis& analysis, std::vector<std::size_t> layers,
                                     const std::string& key, std::size_t top) {
  if (!key.empty()) {
    const std::vector<LayerColumn>& columns = layer_columns();
    const auto column = std::find_if(columns.begin(), columns.end(),
                                     [&key](const LayerColumn& c) { return c.key == key; });
    if (column == columns.end()) {
      throw UsageError(
          fmt::format("--sort-by {}: no such column; use one of {}", key, column_keys()));
    }
    std::stable_sort(layers.begin(), layers.end(), [&](std::size_t a, std::size_t b) {
      return before(column->cell(analysis.layers[a]), column->cell(analysis.layers[b]));
    });
  }
  if (top != 0 && layers.size() > top) layers.resize(top);
  return layers;
}

std::string layers_csv(const Analysis& analysis, const std::vector<std::size_t>& layers) {
  std::string text;
  for (const LayerColumn& column : layer_columns()) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", column.key);
  }
  text += '\n';
  for (const std::size_t i : layers) {
    std::string line;
    for (const LayerColumn& column : layer_columns()) {
      if (&column != &layer_columns().front()) line += ',';
      line += std::visit(CellText{}, column.cell(analysis.layers[i]));
    }
    text += line + '\n';
  }
  return text;
}

}  // namespace gemm64
