// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/known_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/tensor.hpp"
#include "host/runtime/npy.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

std::optional<double> number_of(const std::string& text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  try {
    std::size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size()) return value;
  } catch (const std::exception&) {  // then it is none
  }
  return std::nullopt;
}

/// NAME=TEXT, where the whole is no file.
std::optional<std::pair<std::string, std::string>> named(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::error_code error;
  if (equals == std::string::npos || std::filesystem::exists(text, error)) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

const onnx::ValueInfoProto* input_of(const OnnxModel& model, const std::string& name) {
  if (!model.is_graph_input(name)) return nullptr;
  const auto& inputs = model.graph().input();
  return &*std::find_if(inputs.begin(), inputs.end(), [&name](const onnx::ValueInfoProto& input) {
    return input.name() == name;
  });
}

UsageError wrong(const std::string& name, const std::string& why) {
  return UsageError(fmt::format("--input {}: {}", printable(name), why));
}

/// A tensor of the input's type and sizes, all of whose values are `number`.
Tensor filled(const OnnxModel& model, const onnx::ValueInfoProto& input, double number) {
  const std::string& name = input.name();
  const auto type = model.type(name);
  if (!type) throw wrong(name, model.why_unknown(name) + ", so that a number does not fill it");
  Tensor tensor(static_cast<DataType>(type->data_type), type->dims);
  const auto fill = [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      // 2^63 is no int64, but what its largest becomes as a double.
      const bool fits = number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                        number <= static_cast<double>(std::numeric_limits<T>::max()) &&
                        number < 9.2e18;
      if (!fits || number != std::floor(number)) {
        throw wrong(name, fmt::format("{} is no {}", number, data_type_name(type->data_type)));
      }
    }
    std::fill_n(tensor.mutable_values<T>(), tensor.elements(), static_cast<T>(number));
  };
  switch (type->data_type) {
    case onnx::TensorProto::FLOAT:
      fill(float{});
      break;
    case onnx::TensorProto::INT32:
      fill(std::int32_t{});
      break;
    case onnx::TensorProto::INT64:
      fill(std::int64_t{});
      break;
    case onnx::TensorProto::BOOL:
      fill(bool{});
      break;
    default:
      throw wrong(name, fmt::format("values of type {} come from a .npy file",
                                    data_type_name(type->data_type)));
  }
  return tensor;
}

bool is_whole(int type) {
  return type == onnx::TensorProto::INT64 || type == onnx::TensorProto::INT32 ||
         type == onnx::TensorProto::BOOL;
}

}  // namespace

bool is_constant_input(const std::string& text) {
  const auto parts = named(text);
  std::error_code error;
  return parts && number_of(parts->second) && !std::filesystem::exists(parts->second, error);
}

std::map<std::string, onnx::TensorProto> take_known_inputs(const OnnxModel& model,
                                                           std::vector<std::string>& texts) {
  const bool may_follow = waits_for_inputs(model);
  std::map<std::string, onnx::TensorProto> known;
  const auto take = [&](const std::string& text) {
    const auto parts = named(text);
    const onnx::ValueInfoProto* const input = parts ? input_of(model, parts->first) : nullptr;
    if (input == nullptr) return false;  // open_inputs() reports it
    const int type = input->type().tensor_type().elem_type();
    Tensor tensor;
    if (is_constant_input(text)) {
      tensor = filled(model, *input, number_of(parts->second).value());
    } else if (may_follow && is_whole(type) &&
               std::filesystem::path(parts->second).extension() == ".npy") {
      tensor = load_tensor(parts->second, static_cast<DataType>(type));
      if (tensor.elements() != 1) return false;
    } else {
      return false;
    }
    known[parts->first] = tensor.to_proto();
    return true;
  };
  texts.erase(std::remove_if(texts.begin(), texts.end(), take), texts.end());
  return known;
}

}  // namespace gemm64
