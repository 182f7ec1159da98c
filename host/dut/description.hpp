// SPDX-License-Identifier: Apache-2.0
// The description of a user's array: a TOML or JSON file of a few lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/dut/bench_protocol.hpp"

namespace gemm64::dut {

enum class Dataflow { kWeightStationary, kOutputStationary, kInputStationary };

/// What a sum beyond `sum_bits` becomes.
enum class Overflow {
  kRefuse,
  kWrap,
  kSaturate,
  kSaturateEach  // each product and each addition by itself, in the order of K
};

struct Operand {
  int bits = 8;
  bool is_signed = true;

  std::int64_t low() const { return is_signed ? -(std::int64_t{1} << (bits - 1)) : 0; }
  std::int64_t high() const { return (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
};

struct Description {
  std::string file;  // for messages
  std::string top;
  std::vector<std::filesystem::path> sources, include;
  std::vector<std::pair<std::string, std::string>> parameters, defines;
  unsigned rows = 0, columns = 0;
  Dataflow dataflow = Dataflow::kWeightStationary;
  Operand weights, activations;
  Operand sums{32, true};
  Overflow overflow = Overflow::kRefuse;
  unsigned product_shift = 0;   // low bits that each product drops, as in fixed-point arithmetic
  bool round_products = false;  // to the nearest, halves upwards; else downwards
  bool double_buffered = false;
  bool partial_sums = false;
  bool backpressure[kStreams] = {true, true, true, true};
  bool results_tlast = true;
  std::uint32_t min_length = 1, max_length = 0;  // beats of the moving operand in a tile; 0: any
  std::uint32_t reset_cycles = 8;
  std::uint64_t timeout = 0;  // cycles without a handshake; 0: default_timeout()

  /// Bits of TDATA that carry values.
  unsigned beat_bits(Stream stream) const;
  /// The stream of the operand that does not stay in the cells; of two, the activations'.
  Stream moving() const { return dataflow == Dataflow::kInputStationary ? kWeights : kActivations; }
  bool output_stationary() const { return dataflow == Dataflow::kOutputStationary; }
  /// Can a tile follow the one before without waiting for its results?
  bool overlaps() const;
  std::uint64_t idle_limit() const;
  /// Longest sum of products, in beats of K, that `sums` holds for all operands.
  std::uint64_t longest_sum() const;
};

const char* name_of(Dataflow dataflow);

/// Reads a file. `.json` is JSON, everything else TOML. Throws UsageError, which names the file,
/// the key and the values that are possible; for an unknown key the nearest known one.
Description read_description(const std::filesystem::path& file);

/// The same from parsed JSON. Paths are relative to `folder`.
Description description_from(const nlohmann::json& json, const std::string& file,
                             const std::filesystem::path& folder);

/// TOML as JSON. Throws UsageError with file, line and column.
nlohmann::json parse_toml(const std::string& text, const std::string& file);

}  // namespace gemm64::dut
