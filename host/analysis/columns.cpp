// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// A value of the array's cost; nothing if the layer does not run on the array.
template <class Get>
Cell from_array(const LayerAnalysis& layer, Get get) {
  if (!layer.array) return {};
  return get(*layer.array);
}

/// A value, or nothing if it is unknown.
template <class T>
Cell known(bool is_known, T value) {
  if (!is_known) return {};
  return value;
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
  using L = LayerAnalysis;
  using A = ArrayCost;
  static const std::vector<LayerColumn> columns{
      {"name", "layer", [](const L& l) -> Cell { return l.name; }},
      {"operator", "operator", [](const L& l) -> Cell { return l.op_type; }},
      {"inputs", nullptr, [](const L& l) -> Cell { return joined(l.inputs); }},
      {"outputs", "output", [](const L& l) -> Cell { return joined(l.outputs); }},
      {"parameters", "parameters",
       [](const L& l) -> Cell { return known(l.parameters_known, l.parameters); }},
      {"parameter_bytes", nullptr,
       [](const L& l) -> Cell { return known(l.parameters_known, l.parameter_bytes); }},
      {"weight_bytes", "weights,\nbytes",
       [](const L& l) -> Cell { return known(l.parameters_known, l.weight_bytes); }},
      {"macs", "MACs", [](const L& l) -> Cell { return known(l.macs_known, l.macs); }},
      {"bias_adds", nullptr, [](const L& l) -> Cell { return known(l.macs_known, l.bias_adds); }},
      {"activation_bytes", "activations,\nbytes",
       [](const L& l) -> Cell { return known(l.bytes_known, l.activation_bytes); }},
      {"read_bytes", "read,\nbytes",
       [](const L& l) -> Cell { return known(l.bytes_known, l.read_bytes); }},
      {"written_bytes", "written,\nbytes",
       [](const L& l) -> Cell { return known(l.bytes_known, l.written_bytes); }},
      {"traffic_bytes", nullptr,
       [](const L& l) -> Cell { return known(l.bytes_known, l.read_bytes + l.written_bytes); }},
      {"intensity", "MACs a\nvalue",
       [](const L& l) -> Cell { return known(l.macs_known && l.bytes_known, l.intensity); }},
      {"on", "runs on",
       [](const L& l) -> Cell {
         if (!l.on_host) return {};
         return std::string(l.on_host->empty() ? "device" : "host");
       }},
      {"product", "on the array:\nM x K x N",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return product_text(a); });
       }},
      {"program", nullptr,
       [](const L& l) {
         if (l.pool) return Cell(std::uint64_t{l.pool->program});
         return from_array(l, [](const A& a) -> Cell {
           return a.program == 0 ? Cell() : Cell(std::uint64_t{a.program});
         });
       }},
      {"tiles", "tiles",
       [](const L& l) { return from_array(l, [](const A& a) -> Cell { return a.tiles; }); }},
      {"padding_waste", "padding",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.padding_waste; });
       }},
      {"clocks", "clocks",
       [](const L& l) {
         if (l.pool) return Cell(l.pool->cycles);
         return from_array(l, [](const A& a) { return a.cycles ? Cell(*a.cycles) : Cell(); });
       }},
      {"roof_clocks", "its roof,\nclocks",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.roof_cycles(); });
       }},
      {"bound", "bound by",
       [](const L& l) { return from_array(l, [](const A& a) -> Cell { return a.bound(); }); }},
      {"utilization", "utilization",
       [](const L& l) {
         return from_array(l, [](const A& a) { return a.cycles ? Cell(a.utilization) : Cell(); });
       }},
      {"double_buffered_ws", "double-\nbuffered WS",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.published.double_buffered; });
       }},
      {"single_buffered_ws", "single-\nbuffered WS",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.published.single_buffered; });
       }},
      {"scale_sim_ws", "SCALE-Sim\nWS",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.published.scale_sim_ws; });
       }},
      {"scale_sim_os", "SCALE-Sim\nOS",
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.published.scale_sim_os; });
       }},
      {"device_weight_bytes", nullptr,
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.bytes.weights; });
       }},
      {"device_activation_bytes", nullptr,
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.bytes.activations; });
       }},
      {"device_result_bytes", nullptr,
       [](const L& l) {
         return from_array(l, [](const A& a) -> Cell { return a.bytes.results; });
       }},
      {"why_on_host", nullptr, [](const L& l) -> Cell { return l.on_host.value_or(""); }},
      {"attributes", nullptr, [](const L& l) -> Cell { return attributes_text(l); }},
      {"unknown", nullptr, [](const L& l) -> Cell { return l.unknown; }},
      {"results_in", "results in", [](const L& l) -> Cell { return l.results_in; }}};
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
