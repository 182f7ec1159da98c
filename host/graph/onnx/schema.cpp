// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/schema.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>

namespace gemm64 {
namespace {

using onnx::AttributeProto;

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Cuts the next word off the beginning of a line.
std::string_view next_word(std::string_view& line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(std::min(space + 1, line.size()));
  return word;
}

/// "X", "B?" or "inputs*1".
Formal parse_formal(std::string_view word) {
  Formal formal;
  const std::size_t star = word.find('*');
  formal.name = word.substr(0, star);
  if (star != std::string_view::npos) {
    formal.variadic = true;
    formal.least = static_cast<int>(number(word.substr(star + 1)));
  } else if (word.back() == '?') {
    formal.optional = true;
    formal.name.remove_suffix(1);
  }
  return formal;
}

AttributeProto::AttributeType type_of(char letter) {
  constexpr std::string_view kLetters = "fistgFISTGpPyY";  // in the order of AttributeType
  return static_cast<AttributeProto::AttributeType>(kLetters.find(letter) + 1);
}

/// "axis=i" or "axis=i!".
SchemaAttribute parse_attribute(std::string_view word) {
  const std::size_t equals = word.find('=');
  return {word.substr(0, equals), type_of(word.at(equals + 1)), word.back() == '!'};
}

Schema parse_schema(std::string_view domain, std::string_view line) {
  Schema schema;
  schema.domain = domain;
  schema.name = next_word(line);
  schema.since = number(next_word(line));
  if (line == "deprecated") {
    schema.deprecated = true;
    return schema;
  }
  int part = 0;  // inputs > outputs : attributes
  while (!line.empty()) {
    const std::string_view word = next_word(line);
    if (word == ">" || word == ":") {
      ++part;
    } else if (part == 2) {
      schema.attributes.push_back(parse_attribute(word));
    } else {
      (part == 0 ? schema.inputs : schema.outputs).push_back(parse_formal(word));
    }
  }
  return schema;
}

struct Domain {
  std::int64_t newest = 0;
  std::map<std::string_view, std::vector<Schema>> operators;  // by opset
};

using Domains = std::map<std::string_view, Domain>;

Domains parse_table(std::string_view text) {
  Domains domains;
  auto domain = domains.end();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.rfind("domain ", 0) == 0) {
      next_word(line);
      std::string_view name = next_word(line);
      if (name == "ai.onnx") name = "";
      domain = domains.emplace(name, Domain{number(line), {}}).first;
      continue;
    }
    Schema schema = parse_schema(domain->first, line);
    domain->second.operators[schema.name].push_back(std::move(schema));
  }
  return domains;
}

const Domains& domains() {
  static const Domains all = parse_table(kSchemaTable);
  return all;
}

const std::vector<Schema>* find_forms(std::string_view domain, std::string_view name) {
  const auto found = domains().find(domain);
  if (found == domains().end()) return nullptr;
  const auto forms = found->second.operators.find(name);
  return forms == found->second.operators.end() ? nullptr : &forms->second;
}

}  // namespace

const SchemaAttribute* Schema::attribute(std::string_view wanted) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(),
                   [wanted](const SchemaAttribute& one) { return one.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

Arity arity(const std::vector<Formal>& formals) {
  Arity result;
  int count = 0;
  for (const Formal& formal : formals) {
    if (formal.variadic) return {std::max(result.least, count + formal.least), Arity::kAnyNumber};
    ++count;
    if (!formal.optional) result.least = count;
  }
  result.most = count;
  return result;
}

const Schema* find_schema(std::string_view domain, std::string_view name, std::int64_t opset) {
  const std::vector<Schema>* forms = find_forms(domain, name);
  if (forms == nullptr) return nullptr;
  const Schema* newest = nullptr;
  for (const Schema& schema : *forms) {
    if (schema.since <= opset) newest = &schema;
  }
  return newest;
}

std::int64_t first_opset(std::string_view domain, std::string_view name) {
  const std::vector<Schema>* forms = find_forms(domain, name);
  return forms == nullptr ? 0 : forms->front().since;
}

bool is_complete_domain(std::string_view domain) {
  return domain != "com.microsoft" && domains().count(domain) != 0;
}

std::int64_t newest_opset() { return domains().at("").newest; }

}  // namespace gemm64
