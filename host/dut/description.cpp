// SPDX-License-Identifier: Apache-2.0
#include "host/dut/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <functional>
#include <map>

#include "host/dut/near_word.hpp"
#include "host/util/error.hpp"
#include "host/util/input_file.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 1U << 20;
constexpr std::int64_t kMostSide = 1024;

const std::map<std::string, Dataflow> kDataflows{{"weight-stationary", Dataflow::kWeightStationary},
                                                 {"output-stationary", Dataflow::kOutputStationary},
                                                 {"input-stationary", Dataflow::kInputStationary}};
const std::map<std::string, Overflow> kOverflows{{"refuse", Overflow::kRefuse},
                                                 {"wrap", Overflow::kWrap},
                                                 {"saturate", Overflow::kSaturate},
                                                 {"saturate-each", Overflow::kSaturateEach}};
const std::map<std::string, Stream> kPorts{
    {"weights", kWeights}, {"activations", kActivations}, {"sums", kSums}, {"results", kResults}};

template <class T>
std::vector<std::string> words_of(const std::map<std::string, T>& values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  return words;
}

/// One key of the file, read with messages that name file and key.
class Field {
 public:
  Field(const std::string& file, const std::string& key, const Json& value)
      : file_(file), key_(key), value_(value) {}

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(fmt::format("{}: {} {}", file_, key_, problem));
  }
  std::int64_t whole(std::int64_t low, std::int64_t high) const {
    if (!value_.is_number_integer()) {
      fail(fmt::format("must be a whole number from {} to {}", low, high));
    }
    const auto number = value_.get<std::int64_t>();
    if (number < low || number > high) {
      fail(fmt::format("is {}; it must be from {} to {}", number, low, high));
    }
    return number;
  }
  bool flag() const {
    if (!value_.is_boolean()) fail("must be true or false");
    return value_.get<bool>();
  }
  std::string text() const {
    if (!value_.is_string() || value_.get<std::string>().empty()) fail("must be a text");
    return value_.get<std::string>();
  }
  std::vector<std::string> texts() const {
    if (value_.is_string()) return {text()};
    if (!value_.is_array()) fail("must be a list of texts");
    std::vector<std::string> all;
    for (const Json& one : value_) all.push_back(Field(file_, key_, one).text());
    return all;
  }
  template <class T>
  T one_of(const std::map<std::string, T>& values) const {
    const auto found = values.find(text());
    if (found != values.end()) return found->second;
    fail(fmt::format("is \"{}\"; it must be one of {}", printable(text()),
                     fmt::join(words_of(values), ", ")));
  }
  /// Parameters or defines: numbers, texts and flags.
  std::vector<std::pair<std::string, std::string>> assignments() const {
    if (!value_.is_object()) fail("must be a table, such as { N = 8 }");
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [name, value] : value_.items()) {
      if (name.find_first_not_of(
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") !=
          std::string::npos) {
        fail(fmt::format("has \"{}\", which is no Verilog name", printable(name)));
      }
      if (value.is_string()) {
        all.emplace_back(name, value.get<std::string>());
      } else if (value.is_boolean()) {
        all.emplace_back(name, value.get<bool>() ? "1" : "0");
      } else if (value.is_number_integer()) {
        all.emplace_back(name, std::to_string(value.get<std::int64_t>()));
      } else {
        fail(fmt::format("{} must be a whole number, a text, true or false", name));
      }
    }
    return all;
  }

 private:
  const std::string& file_;
  std::string key_;
  const Json& value_;
};

/// Files that a pattern such as rtl/*.v names, in alphabetical order.
std::vector<fs::path> matching(const fs::path& pattern) {
  glob_t found{};
  std::vector<fs::path> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return files;
}

struct Reader {
  Description& out;
  fs::path folder;

  std::vector<fs::path> files(const Field& field) const {
    std::vector<fs::path> all;
    for (const std::string& name : field.texts()) {
      const fs::path path = folder / name;
      const std::vector<fs::path> some =
          fs::exists(path) ? std::vector<fs::path>{path} : matching(path);
      if (some.empty()) field.fail(fmt::format("names {}, which does not exist", printable(name)));
      for (const fs::path& one : some) {
        if (fs::is_directory(one)) {
          field.fail(fmt::format("names {}, which is a directory", printable(name)));
        }
        all.push_back(fs::absolute(one));
      }
    }
    if (all.empty()) field.fail("must name at least one file");
    return all;
  }
  std::vector<fs::path> directories(const Field& field) const {
    std::vector<fs::path> all;
    for (const std::string& name : field.texts()) {
      if (!fs::is_directory(folder / name)) {
        field.fail(fmt::format("names {}, which is no directory", printable(name)));
      }
      all.push_back(fs::absolute(folder / name));
    }
    return all;
  }
  void ports(const Field& field, const Json& value) const {
    if (value.is_boolean()) {
      std::fill(std::begin(out.backpressure), std::end(out.backpressure), field.flag());
      return;
    }
    std::fill(std::begin(out.backpressure), std::end(out.backpressure), false);
    for (const std::string& name : field.texts()) {
      const auto port = kPorts.find(name);
      if (port == kPorts.end()) {
        field.fail(fmt::format("names \"{}\"; it must be true, false, or a list of {}",
                               printable(name), fmt::join(words_of(kPorts), ", ")));
      }
      out.backpressure[port->second] = true;
    }
  }
};

using Setter = std::function<void(Reader&, const Field&, const Json&)>;

const std::map<std::string, Setter>& setters() {
  using R = Reader;
  using F = Field;
  using J = Json;
  const auto bits = [](Operand Description::*operand, std::int64_t most) {
    return [operand, most](R& r, const F& f, const J&) {
      (r.out.*operand).bits = static_cast<int>(f.whole(1, most));
    };
  };
  const auto sign = [](Operand Description::*operand) {
    return [operand](R& r, const F& f, const J&) { (r.out.*operand).is_signed = f.flag(); };
  };
  const auto flag = [](bool Description::*member) {
    return [member](R& r, const F& f, const J&) { r.out.*member = f.flag(); };
  };
  static const std::map<std::string, Setter> all{
      {"top", [](R& r, const F& f, const J&) { r.out.top = f.text(); }},
      {"sources", [](R& r, const F& f, const J&) { r.out.sources = r.files(f); }},
      {"include", [](R& r, const F& f, const J&) { r.out.include = r.directories(f); }},
      {"parameters", [](R& r, const F& f, const J&) { r.out.parameters = f.assignments(); }},
      {"defines", [](R& r, const F& f, const J&) { r.out.defines = f.assignments(); }},
      {"rows", [](R& r, const F& f,
                  const J&) { r.out.rows = static_cast<unsigned>(f.whole(1, kMostSide)); }},
      {"columns", [](R& r, const F& f,
                     const J&) { r.out.columns = static_cast<unsigned>(f.whole(1, kMostSide)); }},
      {"dataflow", [](R& r, const F& f, const J&) { r.out.dataflow = f.one_of(kDataflows); }},
      {"weight_bits", bits(&Description::weights, 16)},
      {"activation_bits", bits(&Description::activations, 16)},
      {"sum_bits", bits(&Description::sums, 48)},
      {"signed",
       [](R& r, const F& f, const J&) {
         r.out.weights.is_signed = r.out.activations.is_signed = r.out.sums.is_signed = f.flag();
       }},
      {"weights_signed", sign(&Description::weights)},
      {"activations_signed", sign(&Description::activations)},
      {"sums_signed", sign(&Description::sums)},
      {"overflow", [](R& r, const F& f, const J&) { r.out.overflow = f.one_of(kOverflows); }},
      {"product_shift",
       [](R& r, const F& f, const J&) {
         r.out.product_shift = static_cast<unsigned>(f.whole(0, 31));
       }},
      {"round_products", flag(&Description::round_products)},
      {"double_buffered", flag(&Description::double_buffered)},
      {"partial_sums", flag(&Description::partial_sums)},
      {"backpressure", [](R& r, const F& f, const J& j) { r.ports(f, j); }},
      {"results_tlast", flag(&Description::results_tlast)},
      {"min_length",
       [](R& r, const F& f, const J&) {
         r.out.min_length = static_cast<std::uint32_t>(f.whole(1, 1 << 20));
       }},
      {"max_length",
       [](R& r, const F& f, const J&) {
         r.out.max_length = static_cast<std::uint32_t>(f.whole(0, 1 << 20));
       }},
      {"reset_cycles",
       [](R& r, const F& f, const J&) {
         r.out.reset_cycles = static_cast<std::uint32_t>(f.whole(1, 10000));
       }},
      {"timeout", [](R& r, const F& f, const J&) {
         r.out.timeout = static_cast<std::uint64_t>(f.whole(1, 100000000));
       }}};
  return all;
}

void check_whole(const Description& description) {
  const auto fail = [&description](const std::string& problem) {
    throw UsageError(description.file + ": " + problem);
  };
  if (description.max_length != 0 && description.max_length < description.min_length) {
    fail(fmt::format("max_length is {}, min_length {}: it must not be less", description.max_length,
                     description.min_length));
  }
  const bool negative = description.weights.is_signed || description.activations.is_signed;
  if (negative && !description.sums.is_signed) {
    fail("sums_signed is false, but an operand is signed; leave sums_signed out");
  }
  if (description.longest_sum() < 1 && description.overflow == Overflow::kRefuse) {
    fail(
        fmt::format("sum_bits is {}, which does not hold the product of {}-bit weights and "
                    "{}-bit activations; make sums wider, or state overflow = \"wrap\" or "
                    "\"saturate\"",
                    description.sums.bits, description.weights.bits, description.activations.bits));
  }
}

}  // namespace

const char* name_of(Dataflow dataflow) {
  for (const auto& [name, value] : kDataflows) {
    if (value == dataflow) return name.c_str();
  }
  return "";
}

unsigned Description::beat_bits(Stream stream) const {
  const auto bits = [](unsigned lanes, const Operand& operand) {
    return lanes * static_cast<unsigned>(operand.bits);
  };
  switch (stream) {
    case kWeights:
      return bits(dataflow == Dataflow::kInputStationary ? rows : columns, weights);
    case kActivations:
      return bits(dataflow == Dataflow::kInputStationary ? columns : rows, activations);
    default:
      return bits(columns, sums);
  }
}

bool Description::overlaps() const {
  return backpressure[kWeights] && backpressure[kActivations] &&
         (!partial_sums || backpressure[kSums]);
}

std::uint64_t Description::idle_limit() const {
  return timeout != 0 ? timeout : 10000 + 50 * std::uint64_t{rows + columns};
}

std::uint64_t Description::longest_sum() const {
  const auto most = [](std::int64_t a, std::int64_t b) {
    return std::max(std::abs(a), std::abs(b));
  };
  const std::int64_t product =
      most(weights.low(), weights.high()) * most(activations.low(), activations.high());
  return static_cast<std::uint64_t>(
      sums.high() / std::max<std::int64_t>(1, (product >> product_shift) + round_products));
}

Description description_from(const Json& json, const std::string& file, const fs::path& folder) {
  if (!json.is_object()) throw UsageError(file + ": must be a table of keys and values");
  Description out;
  out.file = file;
  Reader reader{out, folder};
  // Signs of single operands overrule `signed`, which therefore comes first.
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key == "signed"; });
  for (const std::string& key : keys) {
    const auto setter = setters().find(key);
    if (setter == setters().end()) {
      const std::vector<std::string> known = words_of(setters());
      const std::string near = near_word(key, known);
      throw UsageError(fmt::format("{}: unknown key \"{}\"; {}", file, printable(key),
                                   near.empty()
                                       ? fmt::format("known are {}", fmt::join(known, ", "))
                                       : fmt::format("did you mean \"{}\"?", near)));
    }
    setter->second(reader, Field(file, key, json[key]), json[key]);
  }
  for (const char* key : {"top", "sources", "rows", "columns"}) {
    if (!json.contains(key)) throw UsageError(fmt::format("{}: {} is missing", file, key));
  }
  check_whole(out);
  return out;
}

Description read_description(const fs::path& file) {
  const std::string text = read_file(file.string(), kMostBytes);
  const std::string name = file.string();
  Json json;
  if (file.extension() == ".json") {
    try {
      json = Json::parse(text);
    } catch (const Json::parse_error& error) {
      throw UsageError(fmt::format("{}: {}", name, printable(error.what(), 300)));
    }
  } else {
    json = parse_toml(text, name);
  }
  return description_from(json, name, fs::absolute(file).parent_path());
}

}  // namespace gemm64::dut
