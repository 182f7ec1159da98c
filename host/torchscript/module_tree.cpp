// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/module_tree.hpp"

#include <nlohmann/json.hpp>
#include <set>

namespace gemm64::torchscript {
namespace {

std::string joined(const std::string& module, const std::string& name) {
  return module.empty() ? name : module + "." + name;
}

}  // namespace

std::string shape_text(at::IntArrayRef dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

ModuleTree::ModuleTree(const torch::jit::Module& network) {
  std::set<const c10::TensorImpl*> counted;
  for (const auto& [name, module] : network.named_modules()) {
    if (!index_.emplace(module._ivalue().get(), entries_.size()).second) continue;
    ModuleEntry entry;
    entry.name = name;
    const auto qualified = module.type()->name();
    entry.kind = qualified ? qualified->name() : "Module";
    entry.container = module.children().size() != 0;
    for (const auto& [own, tensor] : module.named_parameters(false)) {
      tensor_names_.emplace(tensor.unsafeGetTensorImpl(), joined(name, own));
      if (!counted.insert(tensor.unsafeGetTensorImpl()).second) continue;
      parameters_.push_back(tensor);
      entry.parameters += static_cast<std::uint64_t>(tensor.numel());
      entry.parameter_bytes += tensor.nbytes();
      if (joined(name, own).find("weight") != std::string::npos) {
        entry.weight_bytes += tensor.nbytes();
      }
    }
    for (const auto& [own, tensor] : module.named_buffers(false)) {
      tensor_names_.emplace(tensor.unsafeGetTensorImpl(), joined(name, own));
    }
    entries_.push_back(std::move(entry));
  }
}

ModuleEntry* ModuleTree::find(const c10::intrusive_ptr<c10::ivalue::Object>& object) {
  const auto found = index_.find(object.get());
  return found == index_.end() ? nullptr : &entries_[found->second];
}

std::string ModuleTree::json() const {
  nlohmann::json modules = nlohmann::json::array();
  for (const ModuleEntry& entry : entries_) {
    modules.push_back({{"name", entry.name},
                       {"kind", entry.kind},
                       {"container", entry.container},
                       {"parameters", entry.parameters},
                       {"parameter_bytes", entry.parameter_bytes},
                       {"weight_bytes", entry.weight_bytes},
                       {"macs", entry.macs},
                       {"calls", entry.calls},
                       {"output_bytes", entry.output_bytes},
                       {"outputs", entry.outputs}});
  }
  return nlohmann::json{{"modules", modules}}.dump(-1, ' ', false,
                                                   nlohmann::json::error_handler_t::replace);
}

}  // namespace gemm64::torchscript
