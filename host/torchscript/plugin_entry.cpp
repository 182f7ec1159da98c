// SPDX-License-Identifier: Apache-2.0
// The plug-in's border: nothing is thrown across it.
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <new>

#include "host/torchscript/plugin_interface.h"
#include "host/torchscript/refusal.hpp"
#include "host/torchscript/translate.hpp"

namespace gemm64::torchscript {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct LostOutput {};

int translate_request(const gemm64_torchscript_request* request) {
  const auto write = [request](int output, std::string_view bytes) {
    if (request->write(request->context, output, bytes.data(), bytes.size()) != 0) {
      throw LostOutput();
    }
  };
  std::string message;
  try {
    // Shapes need no threads, and the program may have forked from one that has some.
    at::set_num_threads(1);
    std::map<std::string, Dims> shapes;
    for (std::size_t i = 0; i < request->shape_count; ++i) {
      const gemm64_torchscript_shape& shape = request->shapes[i];
      shapes[shape.input] = Dims(shape.dims, shape.dims + shape.rank);
    }
    const Translated network = translate(request->path, shapes);
    write_onnx(network.graph, request->with_weights != 0,
               [&](std::string_view bytes) { write(GEMM64_TORCHSCRIPT_MODEL, bytes); });
    write(GEMM64_TORCHSCRIPT_MODULES, network.modules);
    return 0;
  } catch (const LostOutput&) {
    return 1;
  } catch (const Refusal& refusal) {
    message = refusal.what();
  } catch (const c10::Error& error) {
    message = "LibTorch refuses it: " + first_line(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    message = "needs more memory than there is";
  } catch (const std::exception& error) {
    message = "LibTorch refuses it: " + first_line(error.what());
  } catch (...) {
    message = "LibTorch refuses it";
  }
  try {
    write(GEMM64_TORCHSCRIPT_MESSAGE, message);
  } catch (const LostOutput&) {
  }
  return 1;
}

constexpr gemm64_torchscript_plugin kPlugin{GEMM64_TORCHSCRIPT_VERSION, translate_request};

}  // namespace
}  // namespace gemm64::torchscript

extern "C" __attribute__((visibility("default"))) const gemm64_torchscript_plugin*
gemm64_torchscript() {
  return &gemm64::torchscript::kPlugin;
}
