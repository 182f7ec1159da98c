// SPDX-License-Identifier: Apache-2.0
// Small ONNX files as bytes: these tests know the program only, no library of its.
#pragma once

#include <initializer_list>

#include "tests/test.hpp"

namespace gemm64::cli_test::onnx {

constexpr int kFloat = 1;
constexpr int kInt64 = 7;

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string message(unsigned field, const std::string& contents) {
  return varint(field << 3 | 2) + varint(contents.size()) + contents;
}

using Dims = std::vector<std::uint64_t>;

/// A graph's input (field 11) or output (12) of float32.
inline std::string value(unsigned field, const std::string& name, const Dims& dims) {
  std::string shape;
  for (const std::uint64_t dim : dims) shape += message(1, number(1, dim));
  const std::string tensor = number(1, kFloat) + message(2, shape);
  return message(field, message(1, name) + message(2, message(1, tensor)));
}
inline std::string input(const std::string& name, const Dims& dims) {
  return value(11, name, dims);
}
inline std::string output(const std::string& name, const Dims& dims) {
  return value(12, name, dims);
}

template <class T>
std::string constant(const std::string& name, int type, const Dims& dims,
                     const std::vector<T>& values) {
  std::string tensor;
  for (const std::uint64_t dim : dims) tensor += number(1, dim);
  std::string raw(values.size() * sizeof(T), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  return message(
      5, tensor + number(2, static_cast<unsigned>(type)) + message(8, name) + message(9, raw));
}
inline std::string floats(const std::string& name, const Dims& dims,
                          const std::vector<float>& values) {
  return constant(name, kFloat, dims, values);
}
inline std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return constant(name, kInt64, {values.size()}, values);
}
/// float32 in a file next to the model's.
inline std::string outside(const std::string& name, const Dims& dims, const std::string& file) {
  std::string tensor;
  for (const std::uint64_t dim : dims) tensor += number(1, dim);
  return message(5, tensor + number(2, kFloat) + message(8, name) +
                        message(13, message(1, "location") + message(2, file)) + number(14, 1));
}

inline std::string node(const std::string& op, std::initializer_list<std::string> inputs,
                        const std::string& output) {
  std::string text;
  for (const std::string& name : inputs) text += message(1, name);
  return message(1, text + message(2, output) + message(3, "the " + op) + message(4, op));
}

/// A file of these parts of a graph.
inline std::string model(std::initializer_list<std::string> parts) {
  std::string graph = message(2, "graph");
  for (const std::string& part : parts) graph += part;
  return number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 13));
}

}  // namespace gemm64::cli_test::onnx
