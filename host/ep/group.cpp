// SPDX-License-Identifier: Apache-2.0
#include "host/ep/group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/device/counters.hpp"
#include "host/device/registers.hpp"
#include "host/graph/passes/fuse_scaled_sums.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/util/error.hpp"

namespace gemm64::ep {
namespace {

constexpr std::size_t kMostKept = 16;          // compiled forms of a group
constexpr std::int64_t kMostKnownValues = 64;  // of an input of integers

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

bool has_open_sizes(const onnx::GraphProto& graph) {
  return std::any_of(graph.input().begin(), graph.input().end(), [](const auto& input) {
    const auto& tensor = input.type().tensor_type();
    const auto& dims = tensor.shape().dim();
    return !tensor.has_shape() || tensor.elem_type() == onnx::TensorProto::INT64 ||
           std::any_of(dims.begin(), dims.end(),
                       [](const auto& dim) { return !dim.has_dim_value() || dim.dim_value() < 0; });
  });
}

/// Are these sizes, axes and the like, on which the other values' sizes may depend?
bool is_known_before(const Tensor& tensor) {
  return tensor.type() == onnx::TensorProto::INT64 && tensor.elements() <= kMostKnownValues;
}

/// Sizes as a part of a key.
std::string key_of(const Dims& dims) {
  std::string key;
  for (const std::int64_t size : dims) key += fmt::format("{}x", size);
  return key + ';';
}

/// A file of a name that nothing else has, until this ends.
class TemporaryFile {
 public:
  TemporaryFile() {
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    path_ = (folder / "gemm64-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw UsageError(folder.string() + ": no temporary file can be written");
    close(file);
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string read() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& contents) const {
    std::ofstream(path_, std::ios::binary) << contents;
  }

 private:
  std::string path_;
};

ProfileEvent event_of(const std::string& name, std::int64_t begin_us, const RunReport& report) {
  ProfileEvent event{name, begin_us, now_us() - begin_us, 0, 0, report.layers.size()};
  if (report.layers.empty()) return event;
  const LayerReport total = report.total();
  event.cycles = total.counters[counter::kTotalClocks];
  for (std::size_t bytes = counter::kBytesWeights; bytes <= counter::kBytesOperands; ++bytes) {
    event.bytes += total.counters[bytes];
  }
  return event;
}

}  // namespace

Group::Group(Accelerator& accelerator, RunLog& log, std::string name, onnx::ModelProto model)
    : accelerator_(accelerator), log_(log), name_(std::move(name)) {
  open(std::move(model));
}

Group::Group(Accelerator& accelerator, RunLog& log, std::string name, const std::string& payload)
    : accelerator_(accelerator), log_(log), name_(std::move(name)) {
  const TemporaryFile file;
  file.write(payload);
  if (!is_executable_file(file.path())) {
    onnx::ModelProto model;
    if (!model.ParseFromString(payload)) {
      throw UsageError(fmt::format("EPContext '{}': its payload is damaged", name_));
    }
    open(std::move(model));
    return;
  }
  LoadedExecutable loaded = load_executable(file.path());
  const CompileOptions options = accelerator_.compile_options();
  require_same(loaded.executable, accelerator_.geometry(), options, name_);
  auto made = std::make_shared<Compiled>(std::move(loaded.model));
  made->executable = std::move(loaded.executable);
  add_buffers(made->executable, made->model);
  fixed_ = std::move(made);
}

Group::Group(Accelerator& accelerator, RunLog& log, std::string name, LoadedExecutable compiled)
    : accelerator_(accelerator), log_(log), name_(std::move(name)) {
  auto made = std::make_shared<Compiled>(std::move(compiled.model));
  made->executable = std::move(compiled.executable);
  add_buffers(made->executable, made->model);
  fixed_ = std::move(made);
  accelerator_.compiled(fixed_->model, fixed_->executable);
}

void Group::open(onnx::ModelProto model) {
  model_ = std::move(model);
  if (has_open_sizes(model_.graph())) return;
  fixed_ = compile({});
  accelerator_.compiled(fixed_->model, fixed_->executable);
}

std::shared_ptr<const Group::Compiled> Group::compile(const ImportOptions& import) const {
  auto made = std::make_shared<Compiled>(fuse_scaled_sums(
      with_quantized_operators(OnnxModel::from_proto(model_, name_, import), import), import));
  for (const auto& [name, value] : import.input_values) made->known.push_back(name);
  made->executable =
      gemm64::compile(made->model, accelerator_.geometry(), accelerator_.compile_options());
  pack_constants(made->executable, made->model);
  return made;
}

void Group::prepare(const std::map<std::string, Dims>& shapes) {
  if (fixed_) return;
  ImportOptions import;
  for (const auto& input : model_.graph().input()) {
    const auto found = shapes.find(input.name());
    // What integers are may decide sizes.
    const bool may_decide = input.type().tensor_type().elem_type() == onnx::TensorProto::INT64;
    if (may_decide || found == shapes.end()) return;
    import.input_shapes[input.name()] = found->second;
  }
  std::string key;
  for (const auto& [name, dims] : import.input_shapes) key += key_of(dims);
  try {
    recent_.emplace_front(key, compile(import));
  } catch (const std::exception&) {  // then run() reports it
    return;
  }
  accelerator_.compiled(recent_.front().second->model, recent_.front().second->executable);
}

std::shared_ptr<const Group::Compiled> Group::compiled_for(const NamedTensors& inputs) {
  if (fixed_) return fixed_;
  ImportOptions import;
  std::string key;
  for (const auto& [name, tensor] : inputs) {
    import.input_shapes[name] = tensor.dims();
    key += key_of(tensor.dims());
    if (!is_known_before(tensor)) continue;
    onnx::TensorProto& value = import.input_values[name] = tensor.to_proto();
    value.set_name(name);
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      key += fmt::format("{},", tensor.values<std::int64_t>()[i]);
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(recent_.begin(), recent_.end(),
                                  [&key](const auto& one) { return one.first == key; });
  if (found != recent_.end()) {
    std::rotate(recent_.begin(), found, std::next(found));
  } else {
    recent_.emplace_front(key, compile(import));
    if (recent_.size() > kMostKept) recent_.pop_back();
  }
  return recent_.front().second;
}

NamedTensors Group::run(NamedTensors inputs) {
  const std::shared_ptr<const Compiled> compiled = compiled_for(inputs);
  for (const std::string& name : compiled->known) inputs.erase(name);
  const std::int64_t begin = now_us();
  NetworkRun run = accelerator_.run(compiled->nodes, compiled->executable, std::move(inputs));
  for (LayerReport& layer : run.report.layers) {
    if (layer.program != 0 && program_ != 0) layer.program = program_;
  }
  const std::string failed = accelerator_.why_ends(run.report);
  log_.add(run.report, event_of(name_, begin, run.report));
  if (!failed.empty()) throw std::runtime_error(failed);
  return std::move(run.outputs);
}

std::string Group::payload() const {
  if (!fixed_) return model_.SerializeAsString();
  const TemporaryFile file;
  OutputFile output(file.path());
  save_executable(fixed_->executable, fixed_->model, "gemm64's execution provider", output);
  return file.read();
}

}  // namespace gemm64::ep
