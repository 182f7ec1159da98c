// SPDX-License-Identifier: Apache-2.0
#include "host/device/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "host/device/depthwise.hpp"
#include "host/device/registers.hpp"
#include "host/device/vector_path.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

const char* const kFaultForms =
    "weight:ROW,COLUMN:BIT@CLOCK, activation:ROW,COLUMN:BIT@CLOCK, "
    "partial-sum:STAGE,COLUMN:BIT@CLOCK, accumulator:BANK,ROW,COLUMN:BIT@CLOCK, "
    "result:BYTE:BIT@CLOCK, command:WORD:BIT@CLOCK, bias:COLUMN:BIT@CLOCK, scale:COLUMN:BIT@CLOCK, "
    "operand:BYTE:BIT@CLOCK, table:ENTRY:BIT@CLOCK, vector:LANE:BIT@CLOCK, "
    "lane-weight:HALF,TAP,LANE:BIT@CLOCK, lane-value:ROW,COLUMN,LANE:BIT@CLOCK, "
    "lane-sum:LANE:BIT@CLOCK, lane-line:LINE,COLUMN,LANE:BIT@CLOCK, "
    "scratchpad:WORD,COLUMN:BIT@CLOCK, stored-weight:WORD,ROW:BIT@CLOCK, "
    "stored-bias:SET,COLUMN:BIT@CLOCK, stored-scale:SET,COLUMN:BIT@CLOCK, "
    "stored-operand:WORD,LANE:BIT@CLOCK, "
    "register:NAME:BIT@CLOCK, "
    "of a weight, an activation or a partial sum BIT=0 or BIT=1, stuck from CLOCK on, "
    "lost|repeated:weights.ar|weights.r|data.ar|data.r|results.aw|results.w|results.b@CLOCK or "
    "hang|slverr|decerr:weights|data|results@CLOCK";

namespace {

using Kind = Fault::Kind;

constexpr std::array<const char*, kFaultPorts> kPorts{"weights", "data", "results"};
constexpr std::array<const char*, kFaultChannels> kChannels{
    "weights.ar", "weights.r", "data.ar", "data.r", "results.aw", "results.w", "results.b"};
constexpr unsigned kCommandWords = kCommandBytes / 4;

const char* port_name(const Fault& fault) { return kPorts[static_cast<std::size_t>(fault.port)]; }
const char* channel_name(const Fault& fault) {
  return kChannels[static_cast<std::size_t>(fault.channel)];
}
bool has_port(Kind kind) {
  return kind == Kind::kHang || kind == Kind::kSlaveError || kind == Kind::kDecodeError;
}
bool has_channel(Kind kind) { return kind == Kind::kLost || kind == Kind::kRepeated; }

/// Numbers before the bit of a place that has one.
std::size_t indices(Kind kind) {
  switch (kind) {
    case Kind::kAccumulator:
    case Kind::kLaneWeight:
    case Kind::kLaneValue:
    case Kind::kLaneLine:
      return 3;
    case Kind::kResult:
    case Kind::kCommand:
    case Kind::kBias:
    case Kind::kScale:
    case Kind::kOperand:
    case Kind::kTable:
    case Kind::kVector:
    case Kind::kLaneSum:
      return 1;
    default:
      return 2;
  }
}

/// Bits of a place that has some.
unsigned bits(const Fault& fault) {
  switch (fault.kind) {
    case Kind::kWeight:
    case Kind::kActivation:
    case Kind::kResult:
    case Kind::kOperand:
    case Kind::kTable:
    case Kind::kLaneWeight:
    case Kind::kLaneValue:
    case Kind::kLaneLine:
    case Kind::kScratchpad:
    case Kind::kStoredWeight:
    case Kind::kStoredOperand:
      return 8;
    case Kind::kVector:
      return 11;
    case Kind::kLaneSum:
      return kLaneSumBits;
    case Kind::kRegister:
      return kFaultRegisters[fault.place].bits;
    default:
      return 32;
  }
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

/// "1,2,3" as numbers.
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

/// The index of `text` among names, as Enum or as a number.
template <class Names, class Value>
bool one_of(const Names& names, std::string_view text, Value& value) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text != names[i]) continue;
    value = static_cast<Value>(i);
    return true;
  }
  return false;
}

bool kind_of(std::string_view text, Kind& kind) {
  for (const FaultKind& known : kFaultKinds) {
    if (text != known.name) continue;
    kind = known.kind;
    return true;
  }
  return false;
}

bool register_of(std::string_view text, unsigned& place) {
  std::array<const char*, kFaultRegisters.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFaultRegisters[i].name;
  return one_of(names, text, place);
}

bool parse(std::string_view text, Fault& fault) {
  std::string_view clock, bit;
  if (!cut_last(text, '@', clock) || !number(clock, fault.clock)) return false;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !kind_of(text.substr(0, colon), fault.kind)) return false;
  std::string_view place = text.substr(colon + 1);
  if (has_port(fault.kind)) return one_of(kPorts, place, fault.port);
  if (has_channel(fault.kind)) return one_of(kChannels, place, fault.channel);
  std::string_view value;
  if (!cut_last(place, ':', bit)) return false;
  if (is_in_array(fault.kind) && cut_last(bit, '=', value)) {
    if (value != "0" && value != "1") return false;
    fault.stuck = value == "1";
  }
  if (!number(bit, fault.bit)) return false;
  if (fault.kind == Kind::kRegister) return register_of(place, fault.place);
  std::vector<unsigned> values;
  if (!numbers(place, indices(fault.kind), values)) return false;
  if (values.size() == 1) {
    fault.place = values[0];
    return true;
  }
  fault.column = values.back();
  fault.row = values[values.size() - 2];
  if (values.size() == 3) fault.bank = values[0];
  return true;
}

}  // namespace

std::uint32_t scratchpad_places(const Geometry& geometry) {
  return geometry.scratchpad_words + (geometry.tensor_memory ? geometry.tensor_words : 0);
}

bool is_in_array(Kind kind) {
  return kind == Kind::kWeight || kind == Kind::kActivation || kind == Kind::kPartialSum;
}

namespace {

/// What `text` must be: the form of its kind or, of an unknown one, the kinds.
std::string expected_form(const std::string& text) {
  const std::string kind = text.substr(0, text.find_first_of(":@"));
  std::string kinds;
  for (const FaultKind& known : kFaultKinds) {
    kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", known.name);
    if (kind != known.name) continue;
    const std::string_view forms = kFaultForms;
    std::size_t at = forms.find(kind + ":");
    if (at == std::string_view::npos) at = forms.find(kind + "|");
    const auto after = [&](std::string_view border) {
      const std::size_t found = forms.rfind(border, at);
      return found == std::string_view::npos ? 0 : found + border.size();
    };
    const std::size_t begin = std::max(after(", "), after(" or "));
    const std::size_t end = std::min(forms.find(", ", at), forms.find(" or ", at));
    return fmt::format("use {}", forms.substr(begin, end - begin));
  }
  return fmt::format("no fault is called '{}'; use one of {}", kind, kinds);
}

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  if (!parse(text, fault)) {
    throw UsageError(fmt::format("--inject {}: {}", text, expected_form(text)));
  }
  return fault;
}

void check_fault(const Fault& fault, const Geometry& geometry) {
  if (has_port(fault.kind) || has_channel(fault.kind)) return;
  const auto check = [&](const char* what, std::uint64_t value, std::uint64_t count) {
    if (value < count) return;
    throw UsageError(fmt::format("--inject {}: {} {}; this accelerator has 0 to {}",
                                 to_string(fault), what, value, count - 1));
  };
  switch (fault.kind) {
    case Kind::kPartialSum:
      check("stage", fault.row, geometry.n / geometry.stage_rows);
      break;
    case Kind::kAccumulator:
      check("bank", fault.bank, 2);
      check("row", fault.row, geometry.accumulator_rows);
      break;
    case Kind::kTable:
      check("entry", fault.place, kTableBytes);
      break;
    case Kind::kLaneWeight:
      check("half", fault.bank, 2);
      check("tap", fault.row, std::uint64_t{kLaneWindow} * kLaneWindow);
      check("lane", fault.column, geometry.n);
      break;
    case Kind::kLaneValue:
      check("row", fault.bank, kLaneWindow);
      check("column", fault.row, kLaneWindow);
      check("lane", fault.column, geometry.n);
      break;
    case Kind::kLaneLine:
      check("line", fault.bank, kLaneLines);
      check("column", fault.row, kLaneLineWords);
      check("lane", fault.column, geometry.n);
      break;
    case Kind::kScratchpad:
      check("word", fault.row, scratchpad_places(geometry));
      break;
    case Kind::kStoredWeight:
      check("word", fault.row, std::uint64_t{geometry.weight_tiles} * geometry.n);
      break;
    case Kind::kStoredOperand:
      check("word", fault.row, geometry.operand_words());
      break;
    case Kind::kStoredBias:
    case Kind::kStoredScale:
      check("set", fault.row, geometry.parameter_sets);
      break;
    case Kind::kVector:
    case Kind::kLaneSum:
      check("lane", fault.place, geometry.n);
      break;
    case Kind::kResult:
    case Kind::kOperand:
      check("byte", fault.place, geometry.n);
      break;
    case Kind::kCommand:
      check("word", fault.place, kCommandWords);
      break;
    case Kind::kBias:
    case Kind::kScale:
      check("column", fault.place, geometry.n);
      break;
    case Kind::kRegister:
      break;
    default:
      check("row", fault.row, geometry.n);
  }
  check("column", fault.column, geometry.n);
  check("bit", fault.bit, bits(fault));
}

const char* name(Kind kind) {
  for (const FaultKind& known : kFaultKinds) {
    if (known.kind == kind) return known.name;
  }
  throw std::logic_error("a kind of fault without a name");
}

std::string to_string(const Fault& fault) {
  const char* const kind = name(fault.kind);
  if (has_port(fault.kind)) return fmt::format("{}:{}@{}", kind, port_name(fault), fault.clock);
  if (has_channel(fault.kind)) {
    return fmt::format("{}:{}@{}", kind, channel_name(fault), fault.clock);
  }
  std::string place;
  if (fault.kind == Kind::kRegister) {
    place = kFaultRegisters[fault.place].name;
  } else if (indices(fault.kind) == 1) {
    place = std::to_string(fault.place);
  } else {
    if (indices(fault.kind) == 3) place = fmt::format("{},", fault.bank);
    place += fmt::format("{},{}", fault.row, fault.column);
  }
  const char* const stuck = fault.stuck ? *fault.stuck ? "=1" : "=0" : "";
  return fmt::format("{}:{}:{}{}@{}", kind, place, fault.bit, stuck, fault.clock);
}

std::string in_words(const Fault& fault) {
  if (fault.stuck) {
    Fault flip = fault;
    flip.stuck.reset();
    return fmt::format("{}, stuck at {}", in_words(flip), *fault.stuck ? 1 : 0);
  }
  switch (fault.kind) {
    case Kind::kWeight:
      return fmt::format("bit {} of the weight at row {}, column {}", fault.bit, fault.row,
                         fault.column);
    case Kind::kActivation:
      return fmt::format("bit {} of the activation at row {}, column {}", fault.bit, fault.row,
                         fault.column);
    case Kind::kPartialSum:
      return fmt::format("bit {} of the partial sum after stage {}, column {}", fault.bit,
                         fault.row, fault.column);
    case Kind::kAccumulator:
      return fmt::format("bit {} of the accumulator's bank {}, row {}, column {}", fault.bit,
                         fault.bank, fault.row, fault.column);
    case Kind::kResult:
      return fmt::format("bit {} of byte {} in the next beat of results", fault.bit, fault.place);
    case Kind::kCommand:
      return fmt::format("bit {} of word {} in the next command fetched", fault.bit, fault.place);
    case Kind::kBias:
    case Kind::kScale:
      return fmt::format("bit {} of column {}'s {} in the next set of parameters", fault.bit,
                         fault.place, name(fault.kind));
    case Kind::kOperand:
      return fmt::format("bit {} of byte {} in the next word of second operands", fault.bit,
                         fault.place);
    case Kind::kTable:
      return fmt::format("bit {} of entry {} in the element-wise unit's table", fault.bit,
                         fault.place);
    case Kind::kVector:
      return fmt::format("bit {} of lane {}'s rounded sum in the element-wise unit", fault.bit,
                         fault.place);
    case Kind::kLaneWeight:
      return fmt::format("bit {} of lane {}'s weight at tap {}, half {}", fault.bit, fault.column,
                         fault.row, fault.bank);
    case Kind::kLaneValue:
      return fmt::format("bit {} of lane {}'s value at row {}, column {} of the window", fault.bit,
                         fault.column, fault.bank, fault.row);
    case Kind::kLaneSum:
      return fmt::format("bit {} of lane {}'s depthwise sum", fault.bit, fault.place);
    case Kind::kLaneLine:
      return fmt::format("bit {} of lane {}'s value at column {} of line memory {}", fault.bit,
                         fault.column, fault.row, fault.bank);
    case Kind::kScratchpad:
      return fmt::format("bit {} of the scratchpad's word {}, column {}", fault.bit, fault.row,
                         fault.column);
    case Kind::kStoredWeight:
      return fmt::format("bit {} of the weight buffer's word {}, row {}", fault.bit, fault.row,
                         fault.column);
    case Kind::kStoredBias:
    case Kind::kStoredScale:
      return fmt::format("bit {} of column {}'s {} in set {} of the parameter buffer", fault.bit,
                         fault.column, fault.kind == Kind::kStoredBias ? "bias" : "scale",
                         fault.row);
    case Kind::kStoredOperand:
      return fmt::format("bit {} of the operand buffer's word {}, lane {}", fault.bit, fault.row,
                         fault.column);
    case Kind::kRegister:
      return fmt::format("bit {} of the register {}", fault.bit, kFaultRegisters[fault.place].name);
    case Kind::kLost:
      return fmt::format("the next handshake on {} is lost", channel_name(fault));
    case Kind::kRepeated:
      return fmt::format("the next handshake on {} comes twice", channel_name(fault));
    case Kind::kSlaveError:
    case Kind::kDecodeError:
      return fmt::format("the next burst on the {} port is answered with {}", port_name(fault),
                         fault.kind == Kind::kSlaveError ? "SLVERR" : "DECERR");
    case Kind::kHang:
      return fmt::format("the {} port never answers again", port_name(fault));
  }
  return {};
}

}  // namespace gemm64
