// SPDX-License-Identifier: Apache-2.0
// What ONNX's definitions say of each operator: inputs, outputs and attributes, by opset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// An input or output of an operator.
struct Formal {
  std::string_view name;
  bool optional = false;
  bool variadic = false;  // stands for any number, at the end
  int least = 0;          // how many, where variadic
};

struct SchemaAttribute {
  std::string_view name;
  onnx::AttributeProto::AttributeType type = onnx::AttributeProto::UNDEFINED;
  bool required = false;
};

/// The form that an operator has from one opset on, until the next of its schemas.
struct Schema {
  std::string_view domain, name;
  std::int64_t since = 0;
  bool deprecated = false;
  std::vector<Formal> inputs, outputs;
  std::vector<SchemaAttribute> attributes;

  const SchemaAttribute* attribute(std::string_view wanted) const;
};

/// Fewest and most of a node's inputs or outputs; kAnyNumber where there is no bound.
struct Arity {
  static constexpr int kAnyNumber = 0x7fffffff;
  int least = 0;
  int most = 0;
};
Arity arity(const std::vector<Formal>& formals);

/// The form of an operator in `opset` of its domain ("" is ONNX's own), or nullptr where that has
/// none of this name.
const Schema* find_schema(std::string_view domain, std::string_view name, std::int64_t opset);

/// The first opset of the domain that has the operator; 0 where none has.
std::int64_t first_opset(std::string_view domain, std::string_view name);

/// Are all of the domain's operators in the table, so that one that is missing does not exist?
bool is_complete_domain(std::string_view domain);

/// The newest opset of ONNX's own domain, and the newest version of the file format, that the table
/// was made for.
std::int64_t newest_opset();
extern const std::int64_t kNewestIrVersion;

/// The table, a line for each form of an operator: schema_table.cpp, which
/// scripts/codegen/generate-operators.py writes.
extern const char* const kSchemaTable;

}  // namespace gemm64
