// SPDX-License-Identifier: Apache-2.0
// NumPy's types, by the codes that .npy files hold.
#pragma once

#include <cstddef>
#include <string>

namespace gemm64 {

struct NpyType {
  enum class Element {
    kNone,  // complex, text, objects: what this program does not compute with
    kBool,
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kUint8,
    kUint16,
    kUint32,
    kUint64,
    kFloat16,
    kFloat32,
    kFloat64
  };

  Element element = Element::kNone;
  std::string name;  // "float32", "complex128", "text of 5 characters"
  std::size_t bytes = 0;
  bool swapped = false;  // its bytes stand in the other order than this machine's
  char text = '\0';      // 'U' or 'S' for texts of UTF-32 or bytes, padded with zeros to `bytes`
};

/// The type of a 'descr' such as "<f4". Throws UsageError if NumPy has no such type.
NpyType npy_type(const std::string& descr);

/// The name of an element in NumPy, and its 'descr' on this machine.
const char* numpy_name(NpyType::Element element);
std::string descr_of(NpyType::Element element);
std::size_t bytes_of(NpyType::Element element);

}  // namespace gemm64
