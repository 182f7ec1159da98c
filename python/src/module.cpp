// SPDX-License-Identifier: Apache-2.0
// gemm64._gemm64: what python/gemm64 is made of. Reports cross as JSON, arrays as NumPy's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "host/ort/guarded_call.hpp"
#include "host/util/error.hpp"
#include "python/src/bindings.hpp"
#include "python/src/network_session.hpp"

namespace gemm64::python {

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace gemm64::python

NB_MODULE(_gemm64, module) {
  gemm64::ort::guard_runs();
  module.attr("VERSION") = GEMM64_VERSION;
  const nanobind::exception<gemm64::UsageError> usage(module, "InvalidArgument", PyExc_ValueError);
  // Each registers itself with the module.
  // NOLINTBEGIN(bugprone-throw-keyword-missing,bugprone-unused-raii)
  nanobind::exception<gemm64::python::InvalidModel>(module, "InvalidGraph", usage);
  nanobind::exception<gemm64::python::UnsupportedOperator>(module, "UnsupportedOperator",
                                                           PyExc_NotImplementedError);
  nanobind::exception<gemm64::DeviceError>(module, "DeviceError", PyExc_RuntimeError);
  nanobind::exception<gemm64::OutputError>(module, "OutputError", PyExc_OSError);
  // NOLINTEND(bugprone-throw-keyword-missing,bugprone-unused-raii)
  gemm64::python::bind_device(module);
  gemm64::python::bind_network(module);
  gemm64::python::bind_cluster(module);
  gemm64::python::bind_program(module);
}
