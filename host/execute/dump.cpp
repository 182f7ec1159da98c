// SPDX-License-Identifier: Apache-2.0
#include "host/execute/dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "host/execute/npy.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

std::string name_of(const Step& step, std::size_t index) {
  return node_label(*step.context.node, static_cast<int>(index));
}

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

ActivationDump::ActivationDump(const std::vector<std::string>& specifications,
                               const Executor& executor) {
  std::map<std::filesystem::path, std::string> taken;  // files, and the nodes that they are of
  for (const std::string& specification : specifications) {
    const std::size_t equals = specification.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == specification.size()) {
      throw UsageError(fmt::format(
          "--dump-activations {}: give PATTERN=FOLDER, such as '*=activations'", specification));
    }
    const std::string pattern = specification.substr(0, equals);
    bool matched = false;
    for (std::size_t i = 0; i < executor.steps().size(); ++i) {
      const Step& step = executor.steps()[i];
      std::string name = name_of(step, i);
      if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      const std::filesystem::path folder = made_directory(specification.substr(equals + 1));
      matched = true;
      const std::string original = name;
      name = file_name(name);
      const auto [other, is_new] = taken.emplace(folder / name, original);
      if (!is_new && other->second == original) continue;
      if (!is_new) {
        throw UsageError(fmt::format("--dump-activations {}: nodes {} and {} would both be {}.npy",
                                     specification, other->second, original, name));
      }
      files_[step.context.node].push_back(folder / name);
      missing_[step.context.node] = original;
    }
    if (!matched) {
      throw UsageError(fmt::format("--dump-activations {}: no node's name matches; the first is {}",
                                   specification,
                                   executor.steps().empty() ? "missing, since there are no nodes"
                                                            : name_of(executor.steps()[0], 0)));
    }
  }
}

void ActivationDump::operator()(const Step& step, const Tensors& outputs) {
  const auto found = files_.find(step.context.node);
  if (found == files_.end()) return;
  missing_.erase(step.context.node);
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
  return fmt::format("Not written: {}, which the device computes within other nodes: {}.",
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
