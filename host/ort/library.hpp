// SPDX-License-Identifier: Apache-2.0
// A library of ONNX Runtime, loaded by its file, and sessions of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/graph/proto/onnx.pb.h"
#include "host/kernels/tensor.hpp"
#include "host/ort/api.hpp"

namespace gemm64::ort {

/// Names and values of options.
using Options = std::vector<std::pair<std::string, std::string>>;

/// A value of ONNX Runtime's that shares the tensor's memory, which outlives it; a copy of texts
/// and of types smaller than a byte.
Owned<OrtValue> to_value(const Api& api, const Tensor& tensor);
/// A copy of a value. Throws Error if it is neither a tensor nor a sequence of tensors.
Tensor to_tensor(const Api& api, const OrtValue& value);

class Library {
 public:
  /// Throws Error where the file is no library of ONNX Runtime, or too old a one. It stays loaded
  /// until the process ends.
  explicit Library(const std::string& file);
  /// One that is loaded.
  explicit Library(const OrtApiBase& base) : api_(base) {}
  const Api& api() const { return api_; }

 private:
  Api api_;
};

/// The library that sessions of this program are of, loaded once: in a provider the one that has
/// loaded it, which use_library() names. Throws Error, with the remedy, if there is none.
const Library& own_library();
void use_library(const OrtApiBase& base);
/// Was use_library() called, so that the process is another program's?
bool is_in_other_program();

/// What sessions share: the libraries of providers among others.
class Environment {
 public:
  explicit Environment(const Library& library, const std::string& name = "gemm64");

  const Api& api() const { return api_; }
  OrtEnv& get() const { return *env_; }

  /// Loads a provider's library. `file` is an absolute path: ONNX Runtime would look for another
  /// one next to its own library.
  void register_provider(const std::string& name, const std::string& file);
  void unregister_provider(const std::string& name);
  /// The devices of the provider called `name`, which may be none.
  std::vector<const OrtEpDevice*> devices(const std::string& name) const;

 private:
  const Api& api_;
  Owned<OrtEnv> env_;
};

/// Returns the initializer without its data, for which SessionOptions::add_initializers() has them.
onnx::TensorProto refer_to_data(const onnx::TensorProto& initializer);

class SessionOptions {
 public:
  explicit SessionOptions(const Environment& environment);

  OrtSessionOptions& get() const { return *options_; }
  void set_optimization(GraphOptimizationLevel level);
  /// The file for the model as the session has optimized it.
  void set_optimized_file(const std::string& file);
  /// Messages of lower levels are not printed.
  void set_log_level(OrtLoggingLevel level);
  void set_entry(const std::string& key, const std::string& value);
  /// For nodes, the calling one included; 0: one for each core.
  void set_threads(int threads);
  /// The first of these devices, with options of its provider.
  void add_provider(const std::vector<const OrtEpDevice*>& devices, const Options& options);
  /// The data of initializers that are external ones in the session's model (refer_to_data()), by
  /// their names. The session shares their raw_data, which outlive it.
  void add_initializers(const std::vector<const onnx::TensorProto*>& initializers);

 private:
  const Environment& environment_;
  Owned<OrtSessionOptions> options_;
  std::vector<Owned<OrtValue>> initializers_;
};

class Session {
 public:
  /// Of a model's file, or of its contents. Throws Error where ONNX Runtime refuses it.
  Session(const Environment& environment, const std::string& file, const SessionOptions& options);
  Session(const Environment& environment, std::string_view contents, const SessionOptions& options);

  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  /// Runs the network; outputs by name, or those of them that are `named`. Throws Error.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs) const {
    return run(inputs, outputs_);
  }
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs,
                                    const std::vector<std::string>& named) const;

 private:
  void read_names();

  const Api& api_;
  Owned<OrtSession> session_;
  std::vector<std::string> inputs_, outputs_;
};

}  // namespace gemm64::ort
