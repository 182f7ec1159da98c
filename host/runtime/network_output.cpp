// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "host/graph/proto/value_form.hpp"
#include "host/kernels/object_tensors.hpp"
#include "host/runtime/npy.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) || (!path.empty() && path.back() == '/');
}

/// Is the text a folder for all outputs, not one for the tensors of a sequence?
bool names_folder(const std::string& text) {
  std::error_code error;
  return fs::is_directory(text, error) || (is_folder(text) && text.find('=') == std::string::npos);
}

fs::path made_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (fs::is_directory(folder)) return folder;
  throw UsageError(
      fmt::format("--output {}: is no folder and cannot be made; name another", folder));
}

/// Writes the tensors of a sequence to 0.npy, 1.npy and so on, and removes those that follow them
/// from an earlier run.
void save_sequence(const fs::path& folder, const Tensor& sequence) {
  const auto file_of = [&folder](std::int64_t i) { return folder / fmt::format("{}.npy", i); };
  std::error_code error;
  for (std::int64_t i = sequence.elements(); fs::remove(file_of(i), error); ++i) continue;
  for (std::int64_t i = 0; i < sequence.elements(); ++i) {
    const fs::path path = file_of(i);
    try {
      OutputFile file(path, "the network's output");
      save_tensor(file, sequence.values<Tensor>()[i]);
    } catch (const UsageError& error) {  // the folder was there when the run began
      throw OutputError(path.string(), error.what());
    }
  }
}

std::vector<std::string> output_names(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& output : model.graph().output()) names.push_back(output.name());
  return names;
}

}  // namespace

NetworkOutputs::NetworkOutputs(const std::vector<std::string>& texts, ClaimedFiles& files) {
  std::string first;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (names_folder(text)) {
      folders_.push_back(text);
    } else if (equals == 0 || equals + 1 == text.size() || text.empty()) {
      throw UsageError(fmt::format("--output '{}': give FILE, NAME=FILE or FOLDER/", text));
    } else if (equals != std::string::npos && !fs::exists(text)) {
      add(text.substr(0, equals), text.substr(equals + 1), files);
    } else if (!first.empty()) {
      throw UsageError(fmt::format(
          "--output {}: the first output goes to {} already; give NAME=FILE for another", text,
          first));
    } else {
      first = text;
      add("", text, files);
    }
  }
}

void NetworkOutputs::add(const std::string& output, const std::string& path, ClaimedFiles& files) {
  if (is_folder(path)) {  // of a sequence
    files_.push_back({output, path, nullptr});
    return;
  }
  files.output("--output", path);
  files_.push_back({output, path, std::make_unique<OutputFile>(path, "the network's output")});
}

void NetworkOutputs::open(const OnnxModel& model, ClaimedFiles& files) {
  if (files_.empty() && folders_.empty()) return;
  const std::vector<std::string> names = output_names(model);
  if (names.empty()) {
    throw UsageError(fmt::format("--output: {} has no outputs", model.name()));
  }
  for (File& file : files_) {
    if (file.output.empty()) file.output = names.front();
    const auto found = std::find(names.begin(), names.end(), file.output);
    if (found != names.end()) {
      const auto& output = model.graph().output(static_cast<int>(found - names.begin()));
      if (value_form(output.type()).is_sequence == (file.file == nullptr)) {
        if (file.file == nullptr) made_folder(file.path);
        continue;
      }
      const char* const why = file.file == nullptr
                                  ? "is not a sequence; give a file in place of a folder"
                                  : "is a sequence of tensors; give NAME=FOLDER/";
      throw UsageError(fmt::format("--output {}={}: {}", printable(file.output), file.path, why));
    }
    std::string known;
    for (const std::string& name : names) {
      if (known.size() < 200) known += (known.empty() ? "" : ", ") + printable(name);
    }
    throw UsageError(fmt::format("--output {}={}: {} has no such output; its outputs are: {}",
                                 printable(file.output), file.path, model.name(), known));
  }
  for (const std::string& folder : folders_) {
    made_folder(folder);
    for (const onnx::ValueInfoProto& output : model.graph().output()) {
      const fs::path path = fs::path(folder) / file_name(output.name());
      if (value_form(output.type()).is_sequence) {
        add(output.name(), made_folder(path.string() + "/").string(), files);
      } else {
        add(output.name(), path.string() + ".npy", files);
      }
    }
  }
}

void NetworkOutputs::write(const NamedTensors& outputs) const {
  for (const File& file : files_) {
    keep_going([&] {
      const Tensor& value = outputs.at(file.output);
      if (file.file == nullptr) {
        save_sequence(file.path, value);
      } else {
        save_tensor(*file.file, value);
      }
    });
  }
}

}  // namespace gemm64
