// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "host/cli/program.hpp"
#include "python/src/bindings.hpp"
#include "sim/waves/save_file.hpp"

namespace gemm64::python {

void bind_program(nanobind::module_& module) {
  // Bytes, since names of files may be of any.
  module.def(
      "run_program",
      [](const std::vector<nanobind::bytes>& arguments, const std::string& waves) {
        std::vector<const char*> words;
        for (const nanobind::bytes& argument : arguments) words.push_back(argument.c_str());
        if (!waves.empty()) set_waves_folder(waves);
        const nanobind::gil_scoped_release release;
        return gemm64::run_program(static_cast<int>(words.size()), words.data());
      },
      nanobind::arg("arguments"), nanobind::arg("waves"),
      "Runs the program with these arguments, its name first; returns its exit code. Signals are "
      "the\n"
      "program's from then on, so the process should end with it. `waves`: the folder of "
      "GTKWave's\n"
      "views; empty: that of the sources.");
}

}  // namespace gemm64::python
