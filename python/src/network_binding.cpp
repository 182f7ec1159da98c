// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "host/report/json.hpp"
#include "host/util/error.hpp"
#include "python/src/arrays.hpp"
#include "python/src/bindings.hpp"
#include "python/src/network_session.hpp"
#include "python/src/sweeps.hpp"
#include "python/src/tools.hpp"

namespace gemm64::python {
namespace {

ModelSource source_of(const std::string& name, const std::optional<nb::bytes>& contents) {
  if (!contents) return {name, std::nullopt, {}};
  return {name, std::string(contents->c_str(), contents->size()), {}};
}

RunSettings settings_of(const std::string& precision, const std::string& accumulate,
                        const std::optional<std::string>& results, const std::string& check) {
  nlohmann::json given = {{"precision", precision}, {"accumulate", accumulate}, {"check", check}};
  if (results) given["results"] = *results;
  RunSettings settings;
  read_settings(run_settings(), given, "", settings);
  return settings;
}

NetworkSession* open(const std::string& name, const std::optional<nb::bytes>& contents,
                     const std::string& precision, const std::string& accumulate,
                     const std::optional<std::string>& results, const std::string& check,
                     InputShapes input_shapes) {
  ModelSource source = source_of(name, contents);
  source.shapes = std::move(input_shapes);
  const RunSettings settings = settings_of(precision, accumulate, results, check);
  const nb::gil_scoped_release release;
  return new NetworkSession(std::move(source), settings);
}

/// Arrays of NumPy's by name.
using Arrays = nb::typed<nb::dict, nb::str, nb::object>;

NamedTensors tensors(const Arrays& arrays) {
  NamedTensors named;
  for (const auto& [name, array] : arrays) {
    named[nb::cast<std::string>(name)] = to_tensor(nb::cast<AnyArray>(array));
  }
  return named;
}

/// The outputs by name, and the report.
std::pair<Arrays, std::string> run(NetworkSession& session, BoundDevice& bound,
                                   const Arrays& arrays) {
  const NamedTensors inputs = tensors(arrays);
  NetworkResult result;
  {
    const Use use(bound.used);
    const nb::gil_scoped_release release;
    result = session.run(bound.device, inputs);
  }
  Arrays outputs;
  for (const auto& [name, tensor] : result.outputs) {
    outputs[nb::str(name.c_str(), name.size())] = to_array(tensor);
  }
  return {outputs, dump(result.report)};
}

std::string predict(std::uint64_t m, std::uint64_t k, std::uint64_t n, int array,
                    std::uint32_t scratchpad_words, std::uint32_t accumulator_rows,
                    std::uint32_t latency, std::uint32_t bytes_per_cycle, const std::string& memory,
                    const std::string& accumulate) {
  const Design design{array, scratchpad_words, accumulator_rows,
                      memory_timing(latency, bytes_per_cycle, memory),
                      accumulate_named(accumulate)};
  const nb::gil_scoped_release release;
  return dump(predict_product({m, k, n}, design));
}

std::string analyze(const std::string& file, std::int64_t batch,
                    const std::map<std::string, std::vector<std::int64_t>>& input_shapes, int array,
                    std::uint32_t latency, const std::string& memory) {
  const MemoryTiming timing = memory_timing(latency, 0, memory);
  const nb::gil_scoped_release release;
  return dump(analyze_network(file, batch, input_shapes, array, timing));
}

std::string quantize(const std::string& name, const std::optional<nb::bytes>& contents,
                     const std::string& output, const Arrays& arrays,
                     const std::vector<std::string>& files, std::int64_t images,
                     const std::string& preprocessing, const std::string& method, double percentile,
                     std::int64_t bins, const std::vector<std::string>& operators,
                     const std::vector<std::string>& nodes,
                     const std::vector<std::string>& excluded) {
  const RangeOptions ranges{method == "percentile" ? RangeMethod::kPercentile
                            : method == "entropy"  ? RangeMethod::kEntropy
                                                   : RangeMethod::kMinMax,
                            percentile, bins};
  QuantizeChoice choice;
  choice.operators = operators;
  choice.nodes = nodes;
  choice.excluded = excluded;
  const ModelSource source = source_of(name, contents);
  const CalibrationData calibration{tensors(arrays), files, images, preprocessing};
  const nb::gil_scoped_release release;
  return dump(quantize_network(source, output, calibration, std::move(choice), ranges));
}

std::string points(const std::string& text) {
  const nb::gil_scoped_release release;
  return dump(sweep_points(text));
}

std::string row(const std::string& text, std::size_t index) {
  const nb::gil_scoped_release release;
  return dump(sweep_row(text, index));
}

}  // namespace

void bind_network(nb::module_& module) {
  nb::class_<NetworkSession>(module, "Network")
      .def(nb::new_(&open), nb::arg("name"), nb::arg("contents").none(), nb::arg("precision"),
           nb::arg("accumulate"), nb::arg("results").none(), nb::arg("check"),
           nb::arg("input_shapes"))
      .def("inputs", [](const NetworkSession& session) { return dump(session.inputs()); })
      .def("outputs", [](const NetworkSession& session) { return dump(session.outputs()); })
      .def("metadata", [](const NetworkSession& session) { return dump(session.metadata()); })
      .def("run", &run, nb::arg("device"), nb::arg("inputs"));
  module.def("predict", &predict, nb::arg("m"), nb::arg("k"), nb::arg("n"), nb::arg("array"),
             nb::arg("scratchpad_words"), nb::arg("accumulator_rows"), nb::arg("memory_latency"),
             nb::arg("memory_bytes_per_cycle"), nb::arg("memory"), nb::arg("accumulate"));
  module.def("analyze", &analyze, nb::arg("file"), nb::arg("batch"), nb::arg("input_shapes"),
             nb::arg("array"), nb::arg("memory_latency"), nb::arg("memory"));
  module.def("quantize", &quantize, nb::arg("name"), nb::arg("contents").none(), nb::arg("output"),
             nb::arg("arrays"), nb::arg("files"), nb::arg("images"), nb::arg("preprocessing"),
             nb::arg("method"), nb::arg("percentile"), nb::arg("bins"), nb::arg("operators"),
             nb::arg("nodes"), nb::arg("excluded"));
  module.def("sweep_points", &points, nb::arg("text"));
  module.def("sweep_row", &row, nb::arg("text"), nb::arg("index"));
  module.def(
      "sweep_costs",
      [](const std::string& text) {
        const nb::gil_scoped_release release;
        return sweep_costs(text);
      },
      nb::arg("text"));
}

}  // namespace gemm64::python
