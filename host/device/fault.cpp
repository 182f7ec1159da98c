// SPDX-License-Identifier: Apache-2.0
#include "host/device/fault.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "host/error.hpp"

namespace gemm64 {

const char* const kFaultForms =
    "weight:ROW,COLUMN:BIT@CLOCK, activation:ROW,COLUMN:BIT@CLOCK, "
    "partial-sum:STAGE,COLUMN:BIT@CLOCK, accumulator:BANK,ROW,COLUMN:BIT@CLOCK or "
    "hang:weights|data|results@CLOCK";

namespace {

struct KindEntry {
  Fault::Kind kind;
  const char* name;
  std::size_t indices;  // before the bit
  unsigned bits;
};

constexpr std::array<KindEntry, 4> kKinds{{{Fault::Kind::kWeight, "weight", 2, 8},
                                           {Fault::Kind::kActivation, "activation", 2, 8},
                                           {Fault::Kind::kPartialSum, "partial-sum", 2, 32},
                                           {Fault::Kind::kAccumulator, "accumulator", 3, 32}}};
constexpr std::array<const char*, 3> kPorts{"weights", "data", "results"};

const KindEntry& entry(Fault::Kind kind) {
  for (const KindEntry& e : kKinds) {
    if (e.kind == kind) return e;
  }
  throw std::logic_error("a hang has no place");
}

/// Cuts `text` at its last `separator` and returns what follows; false where there is none.
bool cut_last(std::string_view& text, char separator, std::string_view& tail) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return false;
  tail = text.substr(at + 1);
  text = text.substr(0, at);
  return true;
}

template <class T>
bool number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// "1,2,3" as so many numbers.
bool numbers(std::string_view text, std::size_t count, std::vector<unsigned>& values) {
  while (true) {
    const std::size_t comma = text.find(',');
    unsigned value = 0;
    if (!number(text.substr(0, comma), value)) return false;
    values.push_back(value);
    if (comma == std::string_view::npos) return values.size() == count;
    text.remove_prefix(comma + 1);
  }
}

bool parse(std::string_view text, Fault& fault) {
  std::string_view clock, bit, place;
  if (!cut_last(text, '@', clock) || !number(clock, fault.clock)) return false;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view kind = text.substr(0, colon);
  place = text.substr(colon + 1);
  if (kind == "hang") {
    fault.kind = Fault::Kind::kHang;
    for (std::size_t port = 0; port < kPorts.size(); ++port) {
      fault.port = static_cast<Fault::Port>(port);
      if (place == kPorts[port]) return true;
    }
    return false;
  }
  for (const KindEntry& e : kKinds) {
    if (kind != e.name) continue;
    std::vector<unsigned> indices;
    if (!cut_last(place, ':', bit) || !number(bit, fault.bit)) return false;
    if (!numbers(place, e.indices, indices)) return false;
    fault.kind = e.kind;
    fault.column = indices.back();
    fault.row = indices[e.indices - 2];
    if (e.indices == 3) fault.bank = indices[0];
    return true;
  }
  return false;
}

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  if (!parse(text, fault)) {
    throw UsageError(fmt::format("--inject {}: give {}", text, kFaultForms));
  }
  return fault;
}

void check_fault(const Fault& fault, const Geometry& geometry) {
  if (fault.kind == Fault::Kind::kHang) return;
  const auto check = [&](const char* what, std::uint64_t value, std::uint64_t count) {
    if (value < count) return;
    throw UsageError(fmt::format("--inject {}: {} {}; this accelerator has 0 to {}",
                                 to_string(fault), what, value, count - 1));
  };
  const KindEntry& e = entry(fault.kind);
  if (fault.kind == Fault::Kind::kPartialSum) {
    check("stage", fault.row, geometry.n / geometry.stage_rows);
  } else if (fault.kind == Fault::Kind::kAccumulator) {
    check("bank", fault.bank, 2);
    check("row", fault.row, geometry.accumulator_rows);
  } else {
    check("row", fault.row, geometry.n);
  }
  check("column", fault.column, geometry.n);
  check("bit", fault.bit, e.bits);
}

std::string to_string(const Fault& fault) {
  if (fault.kind == Fault::Kind::kHang) {
    return fmt::format("hang:{}@{}", kPorts[static_cast<std::size_t>(fault.port)], fault.clock);
  }
  const KindEntry& e = entry(fault.kind);
  const std::string bank = e.indices == 3 ? fmt::format("{},", fault.bank) : "";
  return fmt::format("{}:{}{},{}:{}@{}", e.name, bank, fault.row, fault.column, fault.bit,
                     fault.clock);
}

std::string in_words(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kWeight:
      return fmt::format("bit {} of the weight at row {}, column {}", fault.bit, fault.row,
                         fault.column);
    case Fault::Kind::kActivation:
      return fmt::format("bit {} of the activation at row {}, column {}", fault.bit, fault.row,
                         fault.column);
    case Fault::Kind::kPartialSum:
      return fmt::format("bit {} of the partial sum behind stage {}, column {}", fault.bit,
                         fault.row, fault.column);
    case Fault::Kind::kAccumulator:
      return fmt::format("bit {} of the accumulator's bank {}, row {}, column {}", fault.bit,
                         fault.bank, fault.row, fault.column);
    case Fault::Kind::kHang:
      return fmt::format("the {} port never answers again",
                         kPorts[static_cast<std::size_t>(fault.port)]);
  }
  return {};
}

}  // namespace gemm64
