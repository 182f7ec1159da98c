// SPDX-License-Identifier: Apache-2.0
#include "host/ort/library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/object_tensors.hpp"
#include "host/ort/find.hpp"
#include "host/ort/guarded_call.hpp"

namespace gemm64::ort {
namespace {

const OrtApiBase& load(const std::string& file) {
  // Else it writes files of its own into the home and temporary folders, and sends messages.
  setenv("ORT_DISABLE_TELEMETRY", "1", 0);
  // Files may be of the newest opset, of which few operators are new.
  setenv("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0", 0);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Error(ORT_NO_SUCHFILE, why == nullptr ? file + ": cannot be loaded" : why);
  }
  using GetBase = const OrtApiBase* (*)();
  const auto get = reinterpret_cast<GetBase>(dlsym(library, "OrtGetApiBase"));
  if (get == nullptr) {
    throw Error(ORT_FAIL, file + ": is no library of ONNX Runtime: OrtGetApiBase is missing");
  }
  return *get();
}

template <class T, class... Arguments>
T* make(const Api& api, OrtStatus* (*create)(Arguments..., T**),
        std::common_type_t<Arguments>... arguments) {
  T* made = nullptr;
  api.check(create(arguments..., &made));
  return made;
}

/// A value in memory that outlives it.
Owned<OrtValue> shared_value(const Api& api, const void* data, std::size_t bytes, const Dims& dims,
                             int type) {
  const Owned<OrtMemoryInfo> memory(
      make<OrtMemoryInfo, OrtAllocatorType, OrtMemType>(api, api->CreateCpuMemoryInfo,
                                                        OrtDeviceAllocator, OrtMemTypeDefault),
      api->ReleaseMemoryInfo);
  OrtValue* value = nullptr;
  api.check(api->CreateTensorWithDataAsOrtValue(memory.get(), const_cast<void*>(data), bytes,
                                                dims.data(), dims.size(), runtime_type(type),
                                                &value));
  return {value, api->ReleaseValue};
}

std::vector<const char*> texts(const std::vector<std::string>& names) {
  std::vector<const char*> all;
  for (const std::string& name : names) all.push_back(name.c_str());
  return all;
}

}  // namespace

namespace {

OrtAllocator* default_allocator(const Api& api) {
  OrtAllocator* allocator = nullptr;
  api.check(api->GetAllocatorWithDefaultOptions(&allocator));
  return allocator;
}

/// A value with memory of its own, to be filled.
Owned<OrtValue> new_value(const Api& api, const Tensor& tensor) {
  OrtValue* value = nullptr;
  api.check(api->CreateTensorAsOrtValue(default_allocator(api), tensor.dims().data(),
                                        tensor.dims().size(), runtime_type(tensor.type()), &value));
  return {value, api->ReleaseValue};
}

Owned<OrtValue> to_sequence(const Api& api, const Tensor& tensor) {
  std::vector<Owned<OrtValue>> items;
  std::vector<const OrtValue*> values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    items.push_back(to_value(api, tensor.values<Tensor>()[i]));
    values.push_back(items.back().get());
  }
  OrtValue* value = nullptr;
  api.check(api->CreateValue(values.data(), values.size(), ONNX_TYPE_SEQUENCE, &value));
  return {value, api->ReleaseValue};
}

Tensor from_sequence(const Api& api, const OrtValue& value) {
  std::size_t count = 0;
  api.check(api->GetValueCount(&value, &count));
  std::vector<Tensor> items;
  for (std::size_t i = 0; i < count; ++i) {
    OrtValue* item = nullptr;
    api.check(api->GetValue(&value, static_cast<int>(i), default_allocator(api), &item));
    const Owned<OrtValue> owned(item, api->ReleaseValue);
    items.push_back(to_tensor(api, *item));
  }
  return make_sequence(items);
}

void read_texts(const Api& api, const OrtValue& value, Tensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.elements());
  std::size_t bytes = 0;
  api.check(api->GetStringTensorDataLength(&value, &bytes));
  std::string all(bytes, '\0');
  std::vector<std::size_t> begins(count);
  if (count == 0) return;
  api.check(api->GetStringTensorContent(&value, all.data(), bytes, begins.data(), count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? begins[i + 1] : bytes;
    tensor.mutable_values<std::string>()[i] = all.substr(begins[i], end - begins[i]);
  }
}

/// Do elements share bytes in ONNX Runtime's memory? Each has a byte of its own in a Tensor.
bool is_packed(DataType type) { return element_bits(type) % 8 != 0; }

}  // namespace

Owned<OrtValue> to_value(const Api& api, const Tensor& tensor) {
  if (is_sequence(tensor)) return to_sequence(api, tensor);
  const bool has_texts = tensor.type() == onnx::TensorProto::STRING;
  if (!has_texts && !is_packed(tensor.type())) {
    return shared_value(api, tensor.raw(), tensor.bytes(), tensor.dims(), tensor.type());
  }
  Owned<OrtValue> value = new_value(api, tensor);
  const onnx::TensorProto proto = tensor.to_proto();
  if (has_texts) {
    std::vector<const char*> all;
    for (const std::string& text : proto.string_data()) all.push_back(text.c_str());
    api.check(api->FillStringTensor(value.get(), all.data(), all.size()));
  } else {
    void* data = nullptr;
    api.check(api->GetTensorMutableData(value.get(), &data));
    std::memcpy(data, proto.raw_data().data(), proto.raw_data().size());
  }
  return value;
}

Tensor to_tensor(const Api& api, const OrtValue& value) {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  api.check(api->GetValueType(&value, &kind));
  if (kind == ONNX_TYPE_SEQUENCE) return from_sequence(api, value);
  const ValueType type = type_of(api, value);
  Tensor tensor(static_cast<DataType>(type.element_type), type.dims);
  if (tensor.type() == onnx::TensorProto::STRING) {
    read_texts(api, value, tensor);
    return tensor;
  }
  void* data = nullptr;
  api.check(api->GetTensorMutableData(const_cast<OrtValue*>(&value), &data));
  if (is_packed(tensor.type())) {
    onnx::TensorProto proto;
    proto.set_data_type(tensor.type());
    *proto.mutable_dims() = {type.dims.begin(), type.dims.end()};
    proto.set_raw_data(data,
                       static_cast<std::size_t>(TensorType{tensor.type(), type.dims}.bytes()));
    return Tensor::from_proto(proto);
  }
  if (tensor.bytes() != 0) std::memcpy(tensor.mutable_raw(), data, tensor.bytes());
  return tensor;
}

Library::Library(const std::string& file) : api_(load(file)) {}

namespace {

std::atomic<const OrtApiBase*> base_of_host{nullptr};

}  // namespace

void use_library(const OrtApiBase& base) { base_of_host = &base; }
bool is_in_other_program() { return base_of_host != nullptr; }

const Library& own_library() {
  static const Library library = [] {
    const OrtApiBase* const base = base_of_host;
    return base != nullptr ? Library(*base) : Library(find_library().string());
  }();
  return library;
}

Environment::Environment(const Library& library, const std::string& name)
    : api_(library.api()),
      env_(make<OrtEnv, OrtLoggingLevel, const char*>(api_, api_->CreateEnv,
                                                      ORT_LOGGING_LEVEL_ERROR, name.c_str()),
           api_->ReleaseEnv) {}

void Environment::register_provider(const std::string& name, const std::string& file) {
  api_.check(api_->RegisterExecutionProviderLibrary(env_.get(), name.c_str(), file.c_str()));
}

void Environment::unregister_provider(const std::string& name) {
  api_.check(api_->UnregisterExecutionProviderLibrary(env_.get(), name.c_str()));
}

std::vector<const OrtEpDevice*> Environment::devices(const std::string& name) const {
  const OrtEpDevice* const* all = nullptr;
  std::size_t count = 0;
  api_.check(api_->GetEpDevices(env_.get(), &all, &count));
  std::vector<const OrtEpDevice*> found;
  for (std::size_t i = 0; i < count; ++i) {
    if (name == api_->EpDevice_EpName(all[i])) found.push_back(all[i]);
  }
  return found;
}

SessionOptions::SessionOptions(const Environment& environment)
    : environment_(environment),
      options_(make<OrtSessionOptions>(environment.api(), environment.api()->CreateSessionOptions),
               environment.api()->ReleaseSessionOptions) {}

void SessionOptions::set_optimization(GraphOptimizationLevel level) {
  const Api& api = environment_.api();
  api.check(api->SetSessionGraphOptimizationLevel(options_.get(), level));
}

void SessionOptions::set_optimized_file(const std::string& file) {
  const Api& api = environment_.api();
  api.check(api->SetOptimizedModelFilePath(options_.get(), file.c_str()));
}

void SessionOptions::set_log_level(OrtLoggingLevel level) {
  const Api& api = environment_.api();
  api.check(api->SetSessionLogSeverityLevel(options_.get(), level));
}

void SessionOptions::set_entry(const std::string& key, const std::string& value) {
  const Api& api = environment_.api();
  api.check(api->AddSessionConfigEntry(options_.get(), key.c_str(), value.c_str()));
}

void SessionOptions::set_threads(int threads) {
  const Api& api = environment_.api();
  api.check(api->SetIntraOpNumThreads(options_.get(), threads));
}

void SessionOptions::add_provider(const std::vector<const OrtEpDevice*>& devices,
                                  const Options& options) {
  if (devices.empty()) throw Error(ORT_FAIL, "the provider has no device");
  const Api& api = environment_.api();
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  api.check(api->SessionOptionsAppendExecutionProvider_V2(options_.get(), &environment_.get(),
                                                          devices.data(), 1, keys.data(),
                                                          values.data(), options.size()));
}

onnx::TensorProto refer_to_data(const onnx::TensorProto& initializer) {
  onnx::TensorProto reference;
  reference.set_name(initializer.name());
  reference.set_data_type(initializer.data_type());
  *reference.mutable_dims() = initializer.dims();
  reference.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& place = *reference.add_external_data();
  place.set_key("location");
  place.set_value("in memory");
  return reference;
}

void SessionOptions::add_initializers(const std::vector<const onnx::TensorProto*>& initializers) {
  const Api& api = environment_.api();
  std::vector<const char*> names;
  std::vector<const OrtValue*> values;
  for (const onnx::TensorProto* const tensor : initializers) {
    const std::string& data = tensor->raw_data();
    const Dims dims(tensor->dims().begin(), tensor->dims().end());
    initializers_.push_back(shared_value(api, data.data(), data.size(), dims, tensor->data_type()));
    names.push_back(tensor->name().c_str());
    values.push_back(initializers_.back().get());
  }
  if (names.empty()) return;
  api.check(
      api->AddExternalInitializers(options_.get(), names.data(), values.data(), names.size()));
}

namespace {

/// In another program, signals are that program's.
OrtSession* opened(const Api& api, const std::function<OrtStatus*(OrtSession**)>& open) {
  OrtSession* made = nullptr;
  const auto action = [&] { api.check(open(&made)); };
  if (is_in_other_program()) {
    action();
  } else {
    call_guarded(action);
  }
  return made;
}

}  // namespace

Session::Session(const Environment& environment, const std::string& file,
                 const SessionOptions& options)
    : api_(environment.api()),
      session_(opened(api_,
                      [&](OrtSession** made) {
                        return api_->CreateSession(&environment.get(), file.c_str(), &options.get(),
                                                   made);
                      }),
               api_->ReleaseSession) {
  read_names();
}

Session::Session(const Environment& environment, std::string_view contents,
                 const SessionOptions& options)
    : api_(environment.api()),
      session_(opened(api_,
                      [&](OrtSession** made) {
                        return api_->CreateSessionFromArray(&environment.get(), contents.data(),
                                                            contents.size(), &options.get(), made);
                      }),
               api_->ReleaseSession) {
  read_names();
}

void Session::read_names() {
  OrtAllocator* const allocator = default_allocator(api_);
  const auto read = [&](auto count, auto get, std::vector<std::string>& names) {
    std::size_t size = 0;
    api_.check(count(session_.get(), &size));
    for (std::size_t i = 0; i < size; ++i) {
      char* name = nullptr;
      api_.check(get(session_.get(), i, allocator, &name));
      names.emplace_back(name);
      api_.check(api_->AllocatorFree(allocator, name));
    }
  };
  read(api_->SessionGetInputCount, api_->SessionGetInputName, inputs_);
  read(api_->SessionGetOutputCount, api_->SessionGetOutputName, outputs_);
}

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs,
                                           const std::vector<std::string>& named) const {
  std::vector<std::string> names;
  std::vector<Owned<OrtValue>> owned;
  std::vector<const OrtValue*> values;
  for (const auto& [name, tensor] : inputs) {
    names.push_back(name);
    owned.push_back(to_value(api_, tensor));
    values.push_back(owned.back().get());
  }
  std::vector<OrtValue*> found(named.size(), nullptr);
  const std::vector<const char*> input_names = texts(names), output_names = texts(named);
  OrtStatus* status = nullptr;
  const auto run = [&] {
    status = api_->Run(session_.get(), nullptr, input_names.data(), values.data(), values.size(),
                       output_names.data(), named.size(), found.data());
  };
  if (runs_are_guarded()) {
    call_guarded(run);
  } else {
    run();
  }
  std::vector<Owned<OrtValue>> results;
  for (OrtValue* const value : found) results.emplace_back(value, api_->ReleaseValue);
  api_.check(status);
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < named.size(); ++i) {
    tensors[named[i]] = to_tensor(api_, *results[i]);
  }
  return tensors;
}

}  // namespace gemm64::ort
