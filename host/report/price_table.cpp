// SPDX-License-Identifier: Apache-2.0
#include "host/report/price_table.hpp"

#include <fmt/format.h>

#include "host/util/table.hpp"
#include "host/util/text.hpp"

namespace gemm64 {

std::string price_table(const RunReport& report, std::size_t width) {
  const LayerReport total = report.total();
  if (!total.on_device || !report.timed()) return "";
  Table table;
  table.add_column("partial sums added", Align::kLeft);
  table.add_column("on the device:\nclocks");
  table.add_column("on the host:\nclocks");
  table.add_column("ratio");
  table.add_column("on the device:\nresults");
  table.add_column("on the host:\nresults");
  table.add_column("ratio");
  const auto row = [&table](const LayerReport& layer) {
    const auto ratio = [](std::uint64_t a, std::uint64_t b) {
      return fmt::format("{:.2f}", static_cast<double>(a) / static_cast<double>(b));
    };
    const Counters& device = *layer.on_device;
    const std::uint64_t cycles = layer.counters[counter::kTotalClocks];
    const std::uint64_t results = layer.counters[counter::kBytesResults];
    table.add_row({layer.name, grouped(device[counter::kTotalClocks]), grouped(cycles),
                   ratio(cycles, device[counter::kTotalClocks]),
                   bytes(device[counter::kBytesResults]), bytes(results),
                   ratio(results, device[counter::kBytesResults])});
  };
  for (const LayerReport& layer : report.layers) row(layer);
  if (report.layers.size() > 1) {
    table.add_rule();
    row(total);
  }
  return table.render(width) + "\n";
}

}  // namespace gemm64
