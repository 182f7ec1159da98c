// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "host/runtime/npy.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

std::filesystem::path numbered(const std::filesystem::path& file, std::size_t output) {
  return file.string() + (output == 0 ? "" : "." + std::to_string(output)) + ".npy";
}

void save(const std::filesystem::path& path, const Tensor& tensor) {
  try {
    OutputFile file(path, "the activations");
    save_tensor(file, tensor);
  } catch (const UsageError& error) {  // the folder was there when the run began
    throw OutputError(path.string(), error.what());
  }
}

std::filesystem::path made_directory(const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(name, error);
  if (!std::filesystem::is_directory(name)) {
    throw UsageError(
        fmt::format("--dump-activations: {} is not a folder and cannot be created", name));
  }
  return name;
}

}  // namespace

bool is_dumped(const std::vector<std::string>& specifications, const std::string& name) {
  return std::any_of(specifications.begin(), specifications.end(), [&name](const std::string& one) {
    return fnmatch(one.substr(0, one.find('=')).c_str(), name.c_str(), 0) == 0;
  });
}

ActivationDump::ActivationDump(const std::vector<std::string>& specifications,
                               const NamedNodes& nodes) {
  std::map<std::filesystem::path, std::string> taken;  // files, and the nodes that they are of
  for (const std::string& specification : specifications) {
    const std::size_t equals = specification.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == specification.size()) {
      throw UsageError(fmt::format(
          "--dump-activations {}: give PATTERN=FOLDER, such as '*=activations'", specification));
    }
    const std::string pattern = specification.substr(0, equals);
    bool matched = false;
    for (const auto& [node, original] : nodes) {
      std::string name = original;
      if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      const std::filesystem::path folder = made_directory(specification.substr(equals + 1));
      matched = true;
      name = file_name(name);
      const auto [other, is_new] = taken.emplace(folder / name, original);
      if (!is_new && other->second == original) continue;
      if (!is_new) {
        throw UsageError(fmt::format("--dump-activations {}: nodes {} and {} would both be {}.npy",
                                     specification, other->second, original, name));
      }
      files_[node].push_back(folder / name);
      missing_[node] = original;
    }
    if (!matched) {
      throw UsageError(fmt::format(
          "--dump-activations {}: no node's name matches; the first is {}", specification,
          nodes.empty() ? "missing, since there are no nodes" : nodes.front().second));
    }
  }
}

void ActivationDump::write(const onnx::NodeProto& node, const Tensors& outputs) {
  const auto found = files_.find(&node);
  if (found == files_.end()) return;
  missing_.erase(&node);
  for (const std::filesystem::path& file : found->second) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].present()) continue;
      keep_going([&] { save(numbered(file, i), outputs[i]); });
    }
  }
}

std::string ActivationDump::missing_note() const {
  if (missing_.empty()) return "";
  std::vector<std::string> names;
  for (const auto& [node, name] : missing_) names.push_back(printable(name));
  std::sort(names.begin(), names.end());
  return fmt::format("Not written: {}, computed within other nodes: {}.",
                     counted(names.size(), "output"), fmt::join(names, ", "));
}

std::vector<std::string> ActivationDump::files() const {
  std::vector<std::string> names;
  for (const auto& [node, files] : files_) {
    for (const std::filesystem::path& file : files) {
      for (int i = 0; i < node->output_size(); ++i) {
        if (!node->output(i).empty()) {
          names.push_back(numbered(file, static_cast<std::size_t>(i)).string());
        }
      }
    }
  }
  return names;
}

}  // namespace gemm64
