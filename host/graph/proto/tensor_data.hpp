// SPDX-License-Identifier: Apache-2.0
// The contents of tensors in a file: what they should be, whether they are, and small ones as
// numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Element type (onnx::TensorProto::DataType) and sizes of a tensor, every one of them known.
struct TensorType {
  int data_type = 0;
  std::vector<std::int64_t> dims;

  std::int64_t elements() const;  // product of dims
  std::int64_t bytes() const;     // elements times the type's size, whole bytes
};

/// Bits of one element of an onnx::TensorProto::DataType; 0 for strings and unknown types.
std::int64_t element_bits(int data_type);
/// Whole bytes of one element; 0 also for types that are smaller than a byte.
std::int64_t element_bytes(int data_type);
/// Is the type one of numbers or bool, which operators compute with? (Not strings, nor complex.)
bool is_computable(int data_type);
/// "float32", "int64", ...; "type 99" where it is unknown.
std::string data_type_name(int data_type);

/// a * b, or empty where the product of two sizes, each at least 0, is beyond 2^62.
std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b);

/// The tensor's type. Throws UsageError, whose message begins with `where`, if a dimension is
/// negative, the type unknown, or the size in bytes beyond 2^62.
TensorType checked_type(int data_type, const std::vector<std::int64_t>& dims,
                        const std::string& where);
TensorType checked_type(const onnx::TensorProto& tensor, const std::string& where);

/// Does the tensor hold data, rather than only a shape? One of no values does.
bool has_data(const onnx::TensorProto& tensor);

/// Throws UsageError if the tensor holds another number of values than its shape says. A tensor
/// without any data passes where `shapes_only`; external data are not looked at.
void check_data(const onnx::TensorProto& tensor, bool shapes_only, const std::string& where);

/// The values of a tensor of int32, int64 or bool with at most `most` elements; empty where it is
/// another, or has no data.
std::optional<std::vector<std::int64_t>> integer_values(const onnx::TensorProto& tensor,
                                                        std::int64_t most);
/// The values of a tensor of float32 with at most `most` elements; empty likewise.
std::optional<std::vector<float>> float_values(const onnx::TensorProto& tensor, std::int64_t most);

/// The file below `folder` that a tensor with external data names; empty where it names none, or
/// one that is stored elsewhere.
std::optional<std::filesystem::path> external_file(const onnx::TensorProto& tensor,
                                                   const std::filesystem::path& folder);

/// Reads a tensor's external data, which are stored in a file below `folder`, into raw_data. The
/// file may be a link to one below `linked_folder`, if that is not empty. Throws UsageError if the
/// place is outside of both, or does not hold the data.
void read_external_data(onnx::TensorProto& tensor, const std::filesystem::path& folder,
                        const std::filesystem::path& linked_folder, const std::string& where);

}  // namespace gemm64
