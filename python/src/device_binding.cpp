// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "host/report/json.hpp"
#include "host/runtime/run_settings.hpp"
#include "host/util/error.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bindings.hpp"
#include "sim/models/devices.hpp"

namespace gemm64::python {
namespace {

using Writable = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Readable = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Runs `action` on the device only, without Python's lock.
template <class Action>
auto simulate(BoundDevice& bound, Action action) {
  const Use use(bound.used);
  const nb::gil_scoped_release release;
  return action(bound.device);
}

BoundDevice* make(const std::string& kind, int array, std::uint32_t latency,
                  std::uint32_t bytes_per_cycle, const std::string& memory, double stalls,
                  std::uint32_t seed, bool debug, const std::string& trace_mismatch) {
  DeviceSettings settings;
  settings.device = kind;
  read_settings<DeviceOptions>(device_settings(),
                               {{"array", array},
                                {"seed", seed},
                                {"memory_latency", latency},
                                {"memory_bytes_per_cycle", bytes_per_cycle},
                                {"memory", memory},
                                {"memory_stalls", stalls}},
                               "", settings);
  settings.debug = debug;
  settings.trace_mismatch = trace_mismatch;
  const nb::gil_scoped_release release;
  return new BoundDevice(settings);
}

/// NumPy's own memory becomes the host's matrix.
MatrixI8 matrix(const ArrayI8& array) {
  return Eigen::Map<const MatrixI8>(array.data(), static_cast<Eigen::Index>(array.shape(0)),
                                    static_cast<Eigen::Index>(array.shape(1)));
}

std::pair<nb::object, std::string> multiply(BoundDevice& bound, const ArrayI8& a, const ArrayI8& w,
                                            const std::string& accumulate) {
  const Accumulate where = accumulate_named(accumulate);
  if (a.shape(1) != w.shape(1)) {
    throw UsageError(fmt::format("a is {}x{} and w is {}x{}: both must have K columns", a.shape(0),
                                 a.shape(1), w.shape(0), w.shape(1)));
  }
  Product product = simulate(
      bound, [&](SimulatedDevice& device) { return device.multiply(matrix(a), matrix(w), where); });
  const std::string report = dump(to_json(product.report));
  return {to_array(std::move(product.sums)), report};
}

const SignalView& find_signal(BoundDevice& bound, const std::string& name) {
  if (bound.signals.empty()) {
    for (auto& [known, view] : bound.device.signals()) bound.signals.emplace(known, view);
  }
  const auto found = bound.signals.find(name);
  if (found == bound.signals.end()) {
    throw UsageError("there is no signal '" + name + "'; signals() lists those that can be read");
  }
  return found->second;
}

std::vector<std::string> signal_names(BoundDevice& bound) {
  std::vector<std::string> names;
  for (const auto& [name, view] : bound.device.signals()) names.push_back(name);
  return names;
}

/// Its bytes, the bytes of a value, and the number of values of an array (0: it is none).
std::tuple<nb::bytes, std::size_t, std::size_t> read_signal(BoundDevice& bound,
                                                            const std::string& name) {
  const Use use(bound.used);
  const SignalView& view = find_signal(bound, name);
  const std::size_t bytes = view.words == 0 ? view.bytes : view.bytes * view.words;
  return {nb::bytes(view.data, bytes), view.bytes, view.words};
}

}  // namespace

Accumulate accumulate_named(const std::string& text) {
  RunSettings settings;
  read_settings(run_settings(), {{"accumulate", text}}, "", settings);
  return settings.accumulate;
}

MemoryTiming memory_timing(std::uint32_t latency, std::uint32_t bytes_per_cycle,
                           const std::string& sharing) {
  DeviceOptions options;
  read_settings(device_settings(),
                {{"memory_latency", latency},
                 {"memory_bytes_per_cycle", bytes_per_cycle},
                 {"memory", sharing}},
                "", options);
  return options.memory;
}

void bind_device(nb::module_& module) {
  nb::class_<BoundDevice>(module, "Device")
      .def(nb::new_(&make), nb::arg("device"), nb::arg("array"), nb::arg("memory_latency"),
           nb::arg("memory_bytes_per_cycle"), nb::arg("memory"), nb::arg("memory_stalls"),
           nb::arg("seed"), nb::arg("debug"), nb::arg("trace_mismatch"))
      .def("matmul", &multiply, nb::arg("a").noconvert(), nb::arg("w").noconvert(),
           nb::arg("accumulate"))
      .def("read_register",
           [](BoundDevice& bound, std::uint32_t offset) {
             return simulate(bound, [&](auto& it) { return it.device().read_register(offset); });
           })
      .def("write_register",
           [](BoundDevice& bound, std::uint32_t offset, std::uint32_t value) {
             simulate(bound, [&](auto& it) { it.device().write_register(offset, value); });
           })
      .def("memory_bytes", [](BoundDevice& bound) { return bound.device.device().memory_bytes(); })
      .def("read_memory",
           [](BoundDevice& bound, std::uint64_t address, Writable to) {
             simulate(bound,
                      [&](auto& it) { it.device().read_memory(address, to.data(), to.size()); });
           })
      .def("write_memory",
           [](BoundDevice& bound, std::uint64_t address, const Readable& from) {
             simulate(bound, [&](auto& it) {
               it.device().write_memory(address, from.data(), from.size());
             });
           })
      .def("counters",
           [](BoundDevice& bound) {
             const Counters values = simulate(bound, [](auto& it) { return it.counters(); });
             return std::vector<std::uint64_t>(values.begin(), values.end());
           })
      .def("clocks", [](BoundDevice& bound) { return bound.device.device().cycles(); })
      .def("step",
           [](BoundDevice& bound, std::uint64_t cycles) {
             simulate(bound, [&](auto& it) { it.step(cycles); });
           })
      .def("wait_interrupt",
           [](BoundDevice& bound, std::uint64_t max_cycles) {
             return simulate(bound, [&](auto& it) { return it.wait_interrupt(max_cycles); });
           })
      .def("interrupt", [](BoundDevice& bound) { return bound.device.interrupt(); })
      .def("reset",
           [](BoundDevice& bound) { simulate(bound, [](auto& it) { it.device().reset(); }); })
      .def("inject",
           [](BoundDevice& bound, const std::string& fault) {
             simulate(bound, [&](auto& it) { it.inject(fault); });
           })
      .def("start_trace",
           [](BoundDevice& bound, const std::string& file, std::uint64_t begin, std::uint64_t end) {
             simulate(bound, [&](auto& it) { it.start_trace(file, begin, end); });
           })
      .def("end_trace",
           [](BoundDevice& bound) { simulate(bound, [](auto& it) { it.end_trace(); }); })
      .def("signal_names", &signal_names)
      .def("read_signal", &read_signal);

  module.def("registers", [] {
    std::vector<std::tuple<std::string, std::uint32_t, std::string>> table;
    for (const Register& entry : kRegisters) {
      table.emplace_back(entry.name, entry.offset, entry.purpose);
    }
    return table;
  });
  module.def("counter_names", [] {
    std::vector<std::string> names;
    for (const Counter& entry : kCounters) {
      names.push_back(fmt::format("{}.{}", entry.engine, entry.cause));
    }
    return names;
  });
  module.def("devices", [] {
    std::vector<std::tuple<std::string, std::string, std::vector<int>>> table;
    for (const DeviceKind& kind : devices().kinds()) {
      table.emplace_back(kind.name, kind.summary, kind.arrays);
    }
    return table;
  });
}

}  // namespace gemm64::python
