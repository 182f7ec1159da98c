// SPDX-License-Identifier: Apache-2.0
// `run` in units, for gemm64.cluster.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/cli/network_units.hpp"
#include "host/report/page/page.hpp"
#include "host/sweep/front.hpp"
#include "host/sweep/row.hpp"
#include "host/sweep/sweep_plot.hpp"
#include "host/util/console.hpp"
#include "python/src/bindings.hpp"

namespace gemm64::python {
namespace {

namespace nb = nanobind;

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// What `action` makes without Python's lock.
template <class Action>
auto unlocked(Action action) {
  const nb::gil_scoped_release release;
  return action();
}

/// Rows of a sweep, each as JSON, as what `kind` says; `title` is a plot's, `width` a table's.
std::string sweep_text(const std::string& kind, const std::vector<std::string>& texts,
                       const std::string& title, std::size_t width) {
  std::vector<SweepRow> rows;
  for (const std::string& text : texts) rows.push_back(SweepRow::parse(text));
  if (kind == "csv") return rows_csv(with_front(rows));
  if (kind == "json") return rows_json(with_front(rows));
  if (kind == "plot") return page({{}, {}, nullptr, sweep_plot(rows, title)});
  if (kind == "table") return rows_table(rows, width, varied_keys(rows));
  return rows_verdict(rows);
}

}  // namespace

void bind_cluster(nb::module_& module) {
  using Arguments = std::vector<std::string>;
  nb::class_<NetworkUnits>(module, "NetworkUnits")
      .def(nb::new_([](const Arguments& arguments) {
             return unlocked([&] { return new NetworkUnits(arguments); });
           }),
           nb::arg("arguments"))
      .def("count", &NetworkUnits::count)
      .def("images", &NetworkUnits::images)
      .def("model_name", &NetworkUnits::model_name)
      .def("images_of", &NetworkUnits::images_of, nb::arg("unit"))
      .def("model",
           [](const NetworkUnits& units) {
             return to_bytes(unlocked([&] { return units.model(); }));
           })
      .def("settings", &NetworkUnits::settings)
      .def(
          "unit",
          [](const NetworkUnits& units, std::int64_t unit) {
            return to_bytes(unlocked([&] { return units.unit(unit); }));
          },
          nb::arg("unit"))
      .def(
          "add",
          [](NetworkUnits& units, const nb::bytes& part) {
            const std::string_view bytes = view(part);
            return unlocked([&] { return units.add(bytes); });
          },
          nb::arg("part"))
      .def("finish", [](NetworkUnits& units) { return unlocked([&] { return units.finish(); }); });
  nb::class_<UnitWorker>(module, "UnitWorker")
      .def(nb::new_([](const Arguments& arguments, const nb::bytes& model) {
             const std::string_view bytes = view(model);
             return unlocked([&] { return new UnitWorker(arguments, bytes); });
           }),
           nb::arg("arguments"), nb::arg("model"))
      .def(
          "run",
          [](UnitWorker& worker, const nb::bytes& unit) {
            const std::string_view bytes = view(unit);
            return to_bytes(unlocked([&] { return worker.run(bytes); }));
          },
          nb::arg("unit"));
  module.def("sweep_text", &sweep_text, nb::arg("kind"), nb::arg("rows"), nb::arg("title"),
             nb::arg("width"));
  module.def("need_charts", &need_charts, nb::arg("option"), nb::arg("path"));
  module.def("print_error", [](const std::string& message) { print_error(message); });
}

}  // namespace gemm64::python
