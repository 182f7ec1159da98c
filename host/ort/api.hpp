// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's C API as C++ types: what is owned is released, and a status is an exception.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/ort/c_api.hpp"

namespace gemm64::ort {

/// What ONNX Runtime answered in place of success.
class Error : public std::runtime_error {
 public:
  Error(OrtErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  OrtErrorCode code() const { return code_; }

 private:
  OrtErrorCode code_;
};

/// The oldest version of the API that is enough: that of ONNX Runtime 1.23.
inline constexpr std::uint32_t kOldestApi = 23;
/// The newest version whose tables for providers c_api.hpp declares.
inline constexpr std::uint32_t kNewestProviderApi = 27;

/// The functions of one library of ONNX Runtime, which stays loaded as long as this is used.
class Api {
 public:
  /// Throws Error where the library is older than kOldestApi.
  explicit Api(const OrtApiBase& base);

  const OrtApi* operator->() const { return api_; }
  const OrtEpApi& ep() const { return *ep_; }
  /// "1.31.1", and 31 of it: the version of the API that the library has.
  const std::string& release() const { return release_; }
  std::uint32_t version() const { return version_; }
  /// The version that a provider's tables are filled for.
  std::uint32_t provider_version() const;

  /// Throws Error where `status` is none of success, and releases it.
  void check(OrtStatus* status) const;
  /// A new status, which the caller hands to ONNX Runtime.
  OrtStatus* status(OrtErrorCode code, const std::string& message) const;

 private:
  const OrtApi* api_;
  const OrtEpApi* ep_;
  std::string release_;
  std::uint32_t version_;
};

/// An object of ONNX Runtime's that is released with this one.
template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

/// Names and values of a list of pairs.
std::vector<std::pair<std::string, std::string>> pairs(const Api& api,
                                                       const OrtKeyValuePairs& pairs);

/// Element type (onnx::TensorProto::DataType), and sizes, -1 where one is open.
struct ValueType {
  int element_type = 0;
  std::vector<std::int64_t> dims;
  std::vector<std::string> names;  // of open sizes; empty where one has none
};
/// Returns ONNX Runtime's number of an element type of ONNX, which is another one for a few.
ONNXTensorElementDataType runtime_type(int element_type);
ValueType read_type(const Api& api, const OrtTensorTypeAndShapeInfo& info);
/// The type of a tensor that there is.
ValueType type_of(const Api& api, const OrtValue& value);

}  // namespace gemm64::ort
