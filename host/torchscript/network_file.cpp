// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/network_file.hpp"

#include <fmt/format.h>

#include "host/compile/executable_file.hpp"
#include "host/torchscript/module_records.hpp"
#include "host/torchscript/plugin.hpp"
#include "host/util/error.hpp"
#include "host/util/file_kind.hpp"
#include "host/util/piped_file.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

bool is_zip(const std::string& head) { return head.rfind("PK", 0) == 0; }

bool has_torch_name(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".pt" || extension == ".pth";
}

}  // namespace

NetworkFile::NetworkFile(std::string path, InputShapes shapes)
    : path_(std::move(path)),
      piped_(piped_contents(path_, ImportOptions().max_bytes)),
      shapes_(std::move(shapes)),
      is_torchscript_(piped_ == nullptr && (is_zip(file_head(path_)) || has_torch_name(path_))) {}

InputShapes NetworkFile::shapes_for(const ImportOptions& options) const {
  InputShapes shapes = shapes_;
  for (auto& [name, dims] : shapes) {
    if (options.batch != 0 && !dims.empty()) dims[0] = options.batch;
  }
  for (const auto& [name, dims] : options.input_shapes) {
    // A name says more than a place.
    if (shapes.count(name) == 0) shapes.erase("");
    shapes[name] = dims;
  }
  return shapes;
}

OnnxModel NetworkFile::load_compiled(const ImportOptions& options) {
  LoadedExecutable loaded = load_executable(path_);
  for (const auto& [input, dims] : shapes_for(options)) {
    const std::string name = input.empty() ? loaded.model.inputs().at(0) : input;
    const auto type = loaded.model.type(name);
    if (!type || type->dims == dims) continue;
    throw UsageError(
        fmt::format("{}: was compiled for an input '{}' of {}, not {}; compile it again",
                    printable(path_), printable(name), dims_text(type->dims), dims_text(dims)));
  }
  for (const std::string& name : loaded.model.inputs()) {
    const auto type = loaded.model.type(name);
    if (options.batch == 0 || !type || type->dims.empty() || type->dims[0] == options.batch)
      continue;
    throw UsageError(
        fmt::format("{}: was compiled for {} at once, not {}; compile it again", printable(path_),
                    counted(static_cast<std::uint64_t>(type->dims[0]), "image"), options.batch));
  }
  executable_ = std::make_shared<const Executable>(std::move(loaded.executable));
  return std::move(loaded.model);
}

OnnxModel NetworkFile::load(const ImportOptions& options) {
  ImportOptions import = options;
  if (piped_ != nullptr) {
    import.input_shapes = shapes_for(options);
    return OnnxModel::from_bytes(*piped_, path_ == "-" ? "standard input" : path_, import);
  }
  if (is_executable_file(path_)) return load_compiled(options);
  if (!is_torchscript_) {
    import.input_shapes = shapes_for(options);
    return OnnxModel::load(path_, import);
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path_, error)) return OnnxModel::load(path_, import);
  const std::string head = file_head(path_);
  if (!is_zip(head)) {
    throw UsageError(
        fmt::format("{}: is no TorchScript: the file is {}; save torch.jit.script(network) or "
                    "torch.jit.trace(network, input)",
                    printable(path_), file_kind(head)));
  }
  TorchScriptAnswer answer = ask_torchscript_plugin(
      find_torchscript_plugin(path_), {path_, shapes_for(options), options.shapes_only});
  modules_ = read_module_records(answer.modules);
  // Its shapes are what was asked for.
  import.batch = 0;
  import.input_shapes.clear();
  import.its_sizes_alone = true;
  return OnnxModel::from_bytes(answer.model, path_, import);
}

}  // namespace gemm64
