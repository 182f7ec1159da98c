// SPDX-License-Identifier: Apache-2.0
#include "host/ort/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gemm64::ort {
namespace {

/// 31 of "1.31.1"; 0 where it is none.
std::uint32_t minor_version(const std::string& version) {
  std::uint32_t minor = 0;
  const std::size_t dot = version.find('.');
  if (dot == std::string::npos) return 0;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor;
}

}  // namespace

Api::Api(const OrtApiBase& base)
    : api_(base.GetApi(kOldestApi)),
      ep_(api_ == nullptr ? nullptr : api_->GetEpApi()),
      release_(base.GetVersionString()),
      version_(std::max(minor_version(release_), kOldestApi)) {
  if (api_ == nullptr || ep_ == nullptr) {
    throw Error(ORT_NOT_IMPLEMENTED,
                fmt::format("ONNX Runtime {} has no interface for gemm64; 1.{} or newer has one",
                            release_, kOldestApi));
  }
}

std::uint32_t Api::provider_version() const { return std::min(version_, kNewestProviderApi); }

void Api::check(OrtStatus* status) const {
  if (status == nullptr) return;
  const Owned<OrtStatus> owned(status, api_->ReleaseStatus);
  throw Error(api_->GetErrorCode(status), api_->GetErrorMessage(status));
}

OrtStatus* Api::status(OrtErrorCode code, const std::string& message) const {
  return api_->CreateStatus(code, message.c_str());
}

std::vector<std::pair<std::string, std::string>> pairs(const Api& api,
                                                       const OrtKeyValuePairs& pairs) {
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  std::size_t count = 0;
  api->GetKeyValuePairs(&pairs, &keys, &values, &count);
  std::vector<std::pair<std::string, std::string>> list;
  for (std::size_t i = 0; i < count; ++i) list.emplace_back(keys[i], values[i]);
  return list;
}

namespace {

// UINT2, INT2 and FLOAT8E8M0, in ONNX and in ONNX Runtime.
constexpr std::pair<int, int> kOtherNumbers[] = {{25, 24}, {26, 25}, {24, 26}};

}  // namespace

ONNXTensorElementDataType runtime_type(int element_type) {
  for (const auto& [onnx, runtime] : kOtherNumbers) {
    if (onnx == element_type) return static_cast<ONNXTensorElementDataType>(runtime);
  }
  return static_cast<ONNXTensorElementDataType>(element_type);
}

ValueType read_type(const Api& api, const OrtTensorTypeAndShapeInfo& info) {
  ValueType type;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  api.check(api->GetTensorElementType(&info, &element));
  type.element_type = static_cast<int>(element);
  for (const auto& [onnx, runtime] : kOtherNumbers) {
    if (runtime == static_cast<int>(element)) type.element_type = onnx;
  }
  std::size_t rank = 0;
  api.check(api->GetDimensionsCount(&info, &rank));
  type.dims.resize(rank);
  api.check(api->GetDimensions(&info, type.dims.data(), rank));
  std::vector<const char*> names(rank, "");
  api.check(api->GetSymbolicDimensions(&info, names.data(), rank));
  for (const char* const name : names) type.names.emplace_back(name == nullptr ? "" : name);
  return type;
}

ValueType type_of(const Api& api, const OrtValue& value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  api.check(api->GetTensorTypeAndShape(&value, &info));
  const Owned<OrtTensorTypeAndShapeInfo> owned(info, api->ReleaseTensorTypeAndShapeInfo);
  return read_type(api, *info);
}

}  // namespace gemm64::ort
