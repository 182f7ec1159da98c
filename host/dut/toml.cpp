// SPDX-License-Identifier: Apache-2.0
// TOML by toml++, apart because its header takes long to compile.
#include <fmt/format.h>
#include <toml++/toml.h>

#include "host/dut/description.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

nlohmann::json json_of(const toml::node& node, const std::string& file) {
  if (const auto* table = node.as_table()) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [key, value] : *table) json[std::string(key.str())] = json_of(value, file);
    return json;
  }
  if (const auto* array = node.as_array()) {
    nlohmann::json json = nlohmann::json::array();
    for (const toml::node& value : *array) json.push_back(json_of(value, file));
    return json;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  throw UsageError(fmt::format("{}:{}: dates are not used here", file, node.source().begin.line));
}

}  // namespace

nlohmann::json parse_toml(const std::string& text, const std::string& file) {
  try {
    return json_of(toml::parse(text), file);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                 error.source().begin.column,
                                 printable(std::string(error.description()), 300)));
  }
}

}  // namespace gemm64::dut
