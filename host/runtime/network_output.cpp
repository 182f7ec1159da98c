// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "host/runtime/npy.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

bool names_folder(const std::string& text) {
  std::error_code error;
  const bool exists = fs::is_directory(text, error);
  const std::size_t equals = text.find('=');
  return exists || (!text.empty() && text.back() == '/' && equals == std::string::npos);
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
  files.output("--output", path);
  files_.push_back({output, std::make_unique<OutputFile>(path, "the network's output")});
}

void NetworkOutputs::open(const OnnxModel& model, ClaimedFiles& files) {
  if (files_.empty() && folders_.empty()) return;
  const std::vector<std::string> names = output_names(model);
  if (names.empty()) {
    throw UsageError(fmt::format("--output: {} has no outputs", model.name()));
  }
  for (File& file : files_) {
    if (file.output.empty()) file.output = names.front();
    if (std::find(names.begin(), names.end(), file.output) != names.end()) continue;
    std::string known;
    for (const std::string& name : names) {
      if (known.size() < 200) known += (known.empty() ? "" : ", ") + printable(name);
    }
    throw UsageError(fmt::format("--output {}={}: {} has no such output; its outputs are: {}",
                                 printable(file.output), file.file->path().string(), model.name(),
                                 known));
  }
  for (const std::string& folder : folders_) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder)) {
      throw UsageError(
          fmt::format("--output {}: is no folder and cannot be made; name another", folder));
    }
    for (const std::string& name : names) {
      add(name, (fs::path(folder) / (file_name(name) + ".npy")).string(), files);
    }
  }
}

void NetworkOutputs::write(const NamedTensors& outputs) const {
  for (const File& file : files_) {
    keep_going([&] { save_tensor(*file.file, outputs.at(file.output)); });
  }
}

}  // namespace gemm64
