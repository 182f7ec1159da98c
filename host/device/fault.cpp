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

const char* port_name(const Fault& fault) { return kPorts[static_cast<std::size_t>(fault.port)]; }
const char* channel_name(const Fault& fault) {
  return kChannels[static_cast<std::size_t>(fault.channel)];
}
bool has_port(Kind kind) {
  return kind == Kind::kHang || kind == Kind::kSlaveError || kind == Kind::kDecodeError;
}
bool has_channel(Kind kind) { return kind == Kind::kLost || kind == Kind::kRepeated; }

/// A number of a place: its word, the member of Fault that holds it, and how many there are.
struct Index {
  const char* what;
  unsigned Fault::*member;
  std::uint64_t (*count)(const Geometry&);
};

/// A place that a fault names by numbers, and one of its bits.
struct Place {
  Kind kind;
  unsigned bits;
  std::vector<Index> indices;
  const char* words;  // {0} to {2}: the numbers
};

template <std::uint64_t kCount>
std::uint64_t fixed(const Geometry&) {
  return kCount;
}
std::uint64_t array(const Geometry& geometry) { return geometry.n; }
std::uint64_t stages(const Geometry& geometry) { return geometry.n / geometry.stage_rows; }
std::uint64_t scratchpad(const Geometry& geometry) { return scratchpad_places(geometry); }
std::uint64_t accumulator(const Geometry& geometry) { return geometry.accumulator_rows; }
std::uint64_t operands(const Geometry& geometry) { return geometry.operand_words(); }
std::uint64_t sets(const Geometry& geometry) { return geometry.parameter_sets; }
std::uint64_t weights(const Geometry& geometry) {
  return std::uint64_t{geometry.weight_tiles} * geometry.n;
}

const std::vector<Place>& places() {
  using F = Fault;
  const Index row{"row", &F::row, array}, column{"column", &F::column, array},
      lane{"lane", &F::column, array}, only_lane{"lane", &F::place, array},
      only_byte{"byte", &F::place, array}, only_column{"column", &F::place, array},
      set{"set", &F::row, sets};
  static const std::vector<Place> all{
      {Kind::kWeight, 8, {row, column}, "the weight at row {0}, column {1}"},
      {Kind::kActivation, 8, {row, column}, "the activation at row {0}, column {1}"},
      {Kind::kPartialSum,
       32,
       {{"stage", &F::row, stages}, column},
       "the partial sum after stage {0}, column {1}"},
      {Kind::kAccumulator,
       32,
       {{"bank", &F::bank, fixed<2>}, {"row", &F::row, accumulator}, column},
       "the accumulator's bank {0}, row {1}, column {2}"},
      {Kind::kResult, 8, {only_byte}, "byte {0} in the next beat of results"},
      {Kind::kCommand,
       32,
       {{"word", &F::place, fixed<kCommandBytes / 4>}},
       "word {0} in the next command fetched"},
      {Kind::kBias, 32, {only_column}, "column {0}'s bias in the next set of parameters"},
      {Kind::kScale, 32, {only_column}, "column {0}'s scale in the next set of parameters"},
      {Kind::kOperand, 8, {only_byte}, "byte {0} in the next word of second operands"},
      {Kind::kTable,
       8,
       {{"entry", &F::place, fixed<kTableBytes>}},
       "entry {0} in the element-wise unit's table"},
      {Kind::kVector, 11, {only_lane}, "lane {0}'s rounded sum in the element-wise unit"},
      {Kind::kLaneWeight,
       8,
       {{"half", &F::bank, fixed<2>}, {"tap", &F::row, fixed<kLaneWindow * kLaneWindow>}, lane},
       "lane {2}'s weight at tap {1}, half {0}"},
      {Kind::kLaneValue,
       8,
       {{"row", &F::bank, fixed<kLaneWindow>}, {"column", &F::row, fixed<kLaneWindow>}, lane},
       "lane {2}'s value at row {0}, column {1} of the window"},
      {Kind::kLaneSum, kLaneSumBits, {only_lane}, "lane {0}'s depthwise sum"},
      {Kind::kLaneLine,
       8,
       {{"line", &F::bank, fixed<kLaneLines>}, {"column", &F::row, fixed<kLaneLineWords>}, lane},
       "lane {2}'s value at column {1} of line memory {0}"},
      {Kind::kScratchpad,
       8,
       {{"word", &F::row, scratchpad}, column},
       "the scratchpad's word {0}, column {1}"},
      {Kind::kStoredWeight,
       8,
       {{"word", &F::row, weights}, {"row", &F::column, array}},
       "the weight buffer's word {0}, row {1}"},
      {Kind::kStoredBias,
       32,
       {set, column},
       "column {1}'s bias in set {0} of the parameter buffer"},
      {Kind::kStoredScale,
       32,
       {set, column},
       "column {1}'s scale in set {0} of the parameter buffer"},
      {Kind::kStoredOperand,
       8,
       {{"word", &F::row, operands}, lane},
       "the operand buffer's word {0}, lane {1}"}};
  return all;
}

const Place& place_of(Kind kind) {
  for (const Place& place : places()) {
    if (place.kind == kind) return place;
  }
  throw std::logic_error("a kind of fault whose place has no numbers");
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
  const std::vector<Index>& indices = place_of(fault.kind).indices;
  std::vector<unsigned> values;
  if (!numbers(place, indices.size(), values)) return false;
  for (std::size_t i = 0; i < values.size(); ++i) fault.*indices[i].member = values[i];
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
  if (fault.kind == Kind::kRegister) {
    check("bit", fault.bit, kFaultRegisters[fault.place].bits);
    return;
  }
  const Place& place = place_of(fault.kind);
  for (const Index& index : place.indices) {
    check(index.what, fault.*index.member, index.count(geometry));
  }
  check("bit", fault.bit, place.bits);
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
  } else {
    for (const Index& index : place_of(fault.kind).indices) {
      place += fmt::format("{}{}", place.empty() ? "" : ",", fault.*index.member);
    }
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
    default:
      break;
  }
  const Place& place = place_of(fault.kind);
  unsigned numbers[3] = {};
  for (std::size_t i = 0; i < place.indices.size(); ++i) {
    numbers[i] = fault.*place.indices[i].member;
  }
  return fmt::format("bit {} of {}", fault.bit,
                     fmt::format(fmt::runtime(place.words), numbers[0], numbers[1], numbers[2]));
}

}  // namespace gemm64
