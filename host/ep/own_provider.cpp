// SPDX-License-Identifier: Apache-2.0
#include "host/ep/own_provider.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "host/ep/factory.hpp"
#include "host/ep/local_library.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/ort/find.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64::ep {
namespace {

constexpr const char* kRegistered = "gemm64";
constexpr const char* kOption = "attachment";

/// By the values of the option.
class Attachments {
 public:
  std::string add(const Attachment& attachment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string name = std::to_string(++last_);
    attachments_[name] = &attachment;
    return name;
  }
  void remove(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    attachments_.erase(name);
  }
  const Attachment* find(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = attachments_.find(name);
    return found == attachments_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::string, const Attachment*> attachments_;
};

Attachments& attachments() {
  static Attachments all;
  return all;
}

const Attachment* find_attachment(const ort::Options& entries) {
  for (const auto& [key, value] : entries) {
    if (key == std::string(kEntryPrefix) + kOption) return attachments().find(value);
  }
  return nullptr;
}

OrtStatus* create_factory(const OrtApiBase* base, OrtEpFactory** made, std::size_t* count) {
  return make_factory(*base, find_attachment, made, count);
}

/// The library that ONNX Runtime loads, with this program's functions in it.
std::string prepared_library() {
  const std::string file = (ort::own_folder() / kLocalLibrary).string();
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* const factory =
      handle == nullptr ? nullptr : static_cast<LocalFactory*>(dlsym(handle, kLocalFactory));
  if (factory == nullptr) {
    throw UsageError(fmt::format("{}: is missing, or is not of this program; `make` builds it",
                                 printable(file, kMostMessage)));
  }
  *factory = {create_factory, release_factory};
  return file;
}

}  // namespace

const ort::Environment& own_environment() {
  // Never destroyed: ONNX Runtime would call the provider after this program's objects have ended.
  static const ort::Environment* const environment = [] {
    auto made = std::make_unique<ort::Environment>(ort::own_library());
    made->register_provider(kRegistered, prepared_library());
    return made.release();
  }();
  return *environment;
}

Attached::Attached(const Attachment& attachment) : name_(attachments().add(attachment)) {}

Attached::~Attached() { attachments().remove(name_); }

HostProvider Attached::provider() const {
  return {own_environment().devices(kProviderName), {{kOption, name_}}};
}

}  // namespace gemm64::ep
