// SPDX-License-Identifier: Apache-2.0
// Where ONNX Runtime's library is.
#pragma once

#include <filesystem>

namespace gemm64::ort {

/// The folder of the program or, if this code is in a library such as Python's module, of that.
std::filesystem::path own_folder();

/// The file of ONNX Runtime's library: that which GEMM64_ONNXRUNTIME names by itself, by its folder
/// or by its Python environment; else that which scripts/setup/fetch-onnxruntime.sh or
/// scripts/setup/venv.sh puts into the build folder, or that of the Python package next to
/// gemm64's. Throws Error, whose message has the remedy, if there is none.
std::filesystem::path find_library();

}  // namespace gemm64::ort
