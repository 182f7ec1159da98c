// SPDX-License-Identifier: Apache-2.0
#include "host/dut/conformance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "host/dut/conformance_cases.hpp"
#include "host/dut/diagnosis.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

constexpr const char* kUnknownRule = "x-after-reset";

/// Rules that hold in every run; a run that breaks one is a failure of it, whatever it tried.
const std::vector<std::pair<std::string, std::string>> kEverywhere{
    {"sum-width", "sum_bits holds the largest sum"},
    {"stability", "TVALID, TDATA and TLAST hold until TREADY"},
    {"tlast", "TLAST comes with the last row of each tile, and only there"},
    {kUnknownRule, "no handshake and no result is X, in Icarus"},
};

Values matrix_of(const std::vector<ResultBeat>& beats, std::size_t first, std::size_t count,
                 unsigned columns) {
  const std::size_t some = first >= beats.size() ? 0 : std::min(count, beats.size() - first);
  Values values(static_cast<Eigen::Index>(some), columns);
  for (std::size_t i = 0; i < some; ++i) {
    for (unsigned c = 0; c < columns; ++c) {
      values(static_cast<Eigen::Index>(i), c) = beats[first + i].values[c];
    }
  }
  return values;
}

/// A reset while tiles are in flight, and then one tile.
Stimulus after_reset(const Stimulus& stimulus) {
  Stimulus after = stimulus;
  after.reset_at = 0;
  after.tiles = {stimulus.tiles.front()};
  return after;
}

/// A diagnosis without its numbers.
std::string kind_of(std::string diagnosis) {
  diagnosis.erase(std::remove_if(diagnosis.begin(), diagnosis.end(),
                                 [](char c) { return c >= '0' && c <= '9'; }),
                  diagnosis.end());
  return diagnosis;
}

class Suite {
 public:
  Suite(const Description& description, const MakeBench& bench,
        Simulator simulator = Simulator::kVerilator)
      : of_(description), bench_(bench), simulator_(simulator) {}

  CheckResult run(const std::function<void(const std::string&, double)>& progress) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t done = 0;
    for (const RuleCases& rule : rules_with_cases()) {
      progress(rule.rule,
               static_cast<double>(done++) / static_cast<double>(rules_with_cases().size()));
      RuleResult result{rule.rule, rule.title, 0, {}, why_skipped(rule.rule)};
      if (result.skipped.empty()) try_rule(rule, result);
      results_.push_back(std::move(result));
    }
    CheckResult all;
    for (const auto& [rule, title] : kEverywhere) {
      if (rule == kUnknownRule && simulator_ != Simulator::kIcarus) continue;
      RuleResult result{rule, title, runs_, {}, why_skipped(rule)};
      const auto found = elsewhere_.find(rule);
      if (found != elsewhere_.end()) result.failure = found->second;
      if (rule == "sum-width") result.failure = sum_width();
      all.rules.push_back(std::move(result));
    }
    for (RuleResult& result : results_) all.rules.push_back(std::move(result));
    all.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return all;
  }

  std::string defect() {
    for (const RuleCases& rule : rules_with_cases()) {
      if (rule.rule != "cells" && rule.rule != "values" && rule.rule != "tiles") continue;
      for (const Case& one : rule.cases(of_)) {
        const std::optional<Failure> failure = attempt(rule.rule, one.stimulus, one.seed);
        if (failure && names_defect(failure->diagnosis)) return failure->diagnosis;
      }
    }
    return "";
  }

  std::optional<Failure> first() {
    for (const RuleCases& rule : rules_with_cases()) {
      if (!why_skipped(rule.rule).empty()) continue;
      for (const Case& one : rule.cases(of_)) {
        if (std::optional<Failure> failure = attempt(rule.rule, one.stimulus, one.seed)) {
          return failure;
        }
      }
    }
    return std::nullopt;
  }

 private:
  std::string why_skipped(const std::string& rule) const {
    if (rule == "stalls-sums" && !of_.partial_sums) return "no partial sums enter";
    const bool results_wait = of_.backpressure[kResults];
    if (!results_wait &&
        (rule == "stalls-results" || rule == "stability" || rule == "valid-first")) {
      return "results have no backpressure";
    }
    if (rule == "tlast" && !of_.results_tlast) return "results have no TLAST";
    return "";
  }

  void try_rule(const RuleCases& rule, RuleResult& result) {
    for (const Case& one : rule.cases(of_)) {
      ++result.cases;
      std::optional<Failure> failure = attempt(rule.rule, one.stimulus, one.seed);
      if (!failure) continue;
      if (failure->rule != rule.rule && elsewhere_.count(failure->rule) != 0) continue;
      failure = smallest(*failure, rule.rule, one);
      failure->holds_from = length_that_holds(rule);
      if (failure->rule == rule.rule) {
        result.failure = failure;
        return;
      }
      elsewhere_.emplace(failure->rule, *failure);
    }
  }

  std::optional<Failure> attempt(const std::string& rule, const Stimulus& stimulus,
                                 std::uint32_t seed) {
    ++runs_;
    std::optional<Failure> failure;
    try {
      VerilatedBench& bench = bench_(seed);
      if (stimulus.reset_at == 0) {
        failure = evaluate(of_, rule, stimulus, bench.run(stimulus),
                           before_.weights.size() == 0 ? nullptr : &before_);

      } else {
        bench.run(stimulus);
        const Stimulus after = after_reset(stimulus);
        failure = evaluate(of_, rule, after, bench.run(after));
        if (failure) failure->stimulus = stimulus;
      }
    } catch (const DeviceError& error) {
      failure = Failure{rule, error.what(), "", stimulus};
    }
    before_ = stimulus.tiles.back();
    if (failure) failure->seed = seed;
    return failure;
  }

  /// Fewer tiles, then fewer beats, as long as the same rule fails.
  Failure smallest(Failure failure, const std::string& rule, const Case& one) {
    unsigned attempts = 120;
    const auto try_smaller = [&](const Stimulus& smaller) {
      if (attempts == 0) return false;
      --attempts;
      const std::optional<Failure> again = attempt(rule, smaller, one.seed);
      if (!again || again->rule != failure.rule) return false;
      // A smaller input that no longer shows what is wrong is of less use.
      if (kind_of(again->diagnosis) != kind_of(failure.diagnosis) &&
          names_defect(failure.diagnosis)) {
        return false;
      }
      failure = *again;
      return true;
    };
    for (bool smaller = true; smaller && failure.stimulus.tiles.size() > 1;) {
      smaller = false;
      for (std::size_t i = 0; i < failure.stimulus.tiles.size() && !smaller; ++i) {
        Stimulus fewer = failure.stimulus;
        fewer.tiles.erase(fewer.tiles.begin() + static_cast<std::ptrdiff_t>(i));
        smaller = try_smaller(fewer);
      }
    }
    for (std::size_t i = 0; i < failure.stimulus.tiles.size(); ++i) {
      for (bool smaller = true; smaller;) {
        smaller = false;
        const std::int64_t length = length_of(failure.stimulus.tiles[i]);
        for (const std::int64_t shorter : {length / 2, length - 1}) {
          if (shorter < of_.min_length || shorter >= length || shorter < 1) continue;
          Stimulus less = failure.stimulus;
          shorten(less.tiles[i], shorter);
          smaller = try_smaller(less);
          if (smaller) break;
        }
      }
    }
    return failure;
  }

  bool holds(const RuleCases& rule, std::int64_t length) {
    Description longer = of_;
    longer.min_length = static_cast<std::uint32_t>(length);
    for (const Case& one : rule.cases(longer)) {
      if (attempt(rule.rule, one.stimulus, one.seed)) return false;
    }
    return true;
  }

  /// Many arrays need that a tile is longer than their pipeline.
  std::int64_t length_that_holds(const RuleCases& rule) {
    const std::int64_t most = 4 * std::int64_t{of_.rows + of_.columns};
    constexpr unsigned kVain = 3;
    if (of_.max_length != 0 || vain_ == kVain) return 0;
    std::int64_t below = of_.min_length;
    // What one rule needs, another often needs too.
    std::int64_t length = std::max(longest_, below + 1);
    while (!holds(rule, length)) {
      below = length;
      length *= 2;
      if (length <= most) continue;
      ++vain_;
      return 0;
    }
    while (length - below > 1 && length != longest_) {
      const std::int64_t middle = (below + length) / 2;
      (holds(rule, middle) ? length : below) = middle;
    }
    longest_ = std::max(longest_, length);
    return length;
  }

  std::int64_t length_of(const Tile& tile) const {
    return of_.dataflow == Dataflow::kInputStationary ? tile.weights.rows()
                                                      : tile.activations.rows();
  }

  void shorten(Tile& tile, std::int64_t length) const {
    const auto cut = [length](Values& values) { values = values.topRows(length).eval(); };
    if (of_.dataflow != Dataflow::kWeightStationary) cut(tile.weights);
    if (of_.dataflow != Dataflow::kInputStationary) cut(tile.activations);
    if (tile.sums.size() != 0 && !of_.output_stationary()) cut(tile.sums);
  }

  std::optional<Failure> sum_width() const {
    const std::uint64_t needed = of_.output_stationary() ? 1 : of_.rows;
    if (of_.overflow != Overflow::kRefuse || of_.longest_sum() >= needed) return std::nullopt;
    return Failure{"sum-width",
                   fmt::format("sum_bits is {}, which holds {} of the {} products of a sum; make "
                               "sums wider, or state overflow = \"wrap\" or \"saturate\"",
                               of_.sums.bits, of_.longest_sum(), needed),
                   "",
                   {}};
  }

  const Description& of_;
  const MakeBench& bench_;
  Simulator simulator_;
  std::vector<RuleResult> results_;
  std::map<std::string, Failure> elsewhere_;
  std::uint64_t runs_ = 0;
  std::int64_t longest_ = 0;  // that a rule needed
  unsigned vain_ = 0;         // rules that no length helped
  Tile before_;
};

/// A rule of the streams that ended the run.
Failure broken(const Description& of, const std::string& rule, const Stimulus& stimulus,
               const Observation& seen) {
  Failure failure{rule, ending_in_words(of, seen), "", stimulus};
  failure.cycle = seen.answer.rule_cycle;
  if (seen.answer.rule == kResultInReset) failure.rule = "reset";
  if (seen.answer.rule == kUnknown) failure.rule = kUnknownRule;
  if (seen.answer.rule == kValidDropped || seen.answer.rule == kDataChanged ||
      seen.answer.rule == kLastChanged) {
    failure.rule = "stability";
  }
  return failure;
}

std::string operands_in_words(const char* name, const Values& values) {
  if (values.size() == 0 || values.size() > 64) return "";
  std::vector<std::string> rows;
  for (Eigen::Index r = 0; r < values.rows(); ++r) {
    std::vector<std::int64_t> row(static_cast<std::size_t>(values.cols()));
    for (Eigen::Index c = 0; c < values.cols(); ++c)
      row[static_cast<std::size_t>(c)] = values(r, c);
    rows.push_back(fmt::format("[{}]", fmt::join(row, " ")));
  }
  return fmt::format("\n{} {}", name, fmt::join(rows, " "));
}

}  // namespace

std::size_t CheckResult::passed() const {
  return static_cast<std::size_t>(std::count_if(
      rules.begin(), rules.end(), [](const RuleResult& rule) { return rule.passed(); }));
}

std::size_t CheckResult::tried() const {
  return static_cast<std::size_t>(std::count_if(
      rules.begin(), rules.end(), [](const RuleResult& rule) { return rule.skipped.empty(); }));
}

CheckResult check_conformance(const Description& description, const MakeBench& bench,
                              const std::function<void(const std::string&, double)>& progress,
                              Simulator simulator) {
  return Suite(description, bench, simulator).run(progress);
}

std::optional<Failure> first_failure(const Description& description, const MakeBench& bench) {
  return Suite(description, bench).first();
}

std::string defect_of_suite(const Description& description, const MakeBench& bench) {
  return Suite(description, bench).defect();
}

bool names_defect(const std::string& diagnosis) {
  return !diagnosis.empty() && diagnosis.find("values differ") == std::string::npos;
}

std::optional<Failure> evaluate(const Description& of, const std::string& rule,
                                const Stimulus& stimulus, const Observation& seen,
                                const Tile* before) {
  std::size_t first = 0;
  std::optional<Failure> misplaced;  // TLAST, which matters less than a value
  for (std::size_t t = 0; t < stimulus.tiles.size(); ++t) {
    const Tile& tile = stimulus.tiles[t];
    TileResult result{tile, before == nullptr ? Tile{} : *before, product(of, tile), {}};
    const auto rows = static_cast<std::size_t>(result.expected.rows());
    result.got = matrix_of(seen.results, first, rows, of.columns);
    Failure failure{rule, "", "", stimulus, static_cast<std::int64_t>(t)};
    for (Eigen::Index r = 0; r < result.got.rows(); ++r) {
      const ResultBeat& beat = seen.results[first + static_cast<std::size_t>(r)];
      for (Eigen::Index c = 0; c < result.got.cols(); ++c) {
        const std::int64_t expected = fitted(of, result.expected(r, c));
        if (result.got(r, c) == expected && !beat.unknown) continue;
        // What follows a broken rule need not be right.
        if (seen.status() == kBroken &&
            first + static_cast<std::size_t>(r) >= seen.answer.rule_beat) {
          return broken(of, rule, stimulus, seen);
        }
        failure.row = r;
        failure.column = c;
        failure.cycle = beat.cycle;
        failure.expected = expected;
        failure.got = beat.unknown ? "X" : std::to_string(result.got(r, c));
        failure.problem = beat.unknown ? "unknown value" : "wrong value";
        if (beat.unknown) failure.rule = kUnknownRule;
        failure.diagnosis = beat.unknown ? "" : diagnose(of, result);
        return failure;
      }
      const bool ends = static_cast<std::size_t>(r) + 1 == rows;
      if (!of.results_tlast || beat.last == ends || misplaced) continue;
      misplaced = failure;
      misplaced->rule = "tlast";
      misplaced->row = r;
      misplaced->cycle = beat.cycle;
      misplaced->expected = ends ? 1 : 0;
      misplaced->got = beat.last ? "1" : "0";
      misplaced->problem = fmt::format("TLAST is {} with row {} of the tile's {}",
                                       beat.last ? 1 : 0, r, counted(rows, "row"));
      misplaced->diagnosis =
          beat.last ? fmt::format("TLAST comes {} early",
                                  counted(rows - 1 - static_cast<std::size_t>(r), "row"))
                    : "TLAST is missing";
    }
    first += rows;
    before = &tile;
    if (first > seen.results.size()) break;
  }
  if (seen.status() == kBroken) return broken(of, rule, stimulus, seen);
  const std::string ending = ending_in_words(of, seen);
  if (!ending.empty()) {
    Failure failure{rule, ending, "", stimulus};
    failure.cycle = seen.answer.cycles;
    std::size_t expected = 0;
    for (const Tile& tile : stimulus.tiles)
      expected += static_cast<std::size_t>(product(of, tile).rows());
    if (seen.status() == kTimeout && seen.results.size() < expected && !seen.results.empty()) {
      failure.diagnosis =
          fmt::format("{} of {} rows of results came", seen.results.size(), expected);
    }
    return failure;
  }
  return misplaced;
}

std::string stimulus_in_words(const Description& of, const Stimulus& stimulus) {
  std::string text = counted(stimulus.tiles.size(), "tile");
  std::vector<std::int64_t> lengths;
  for (const Tile& tile : stimulus.tiles) {
    lengths.push_back(of.dataflow == Dataflow::kInputStationary ? tile.weights.rows()
                                                                : tile.activations.rows());
  }
  if (lengths.size() > 12) lengths.resize(12);
  text += fmt::format(" of length {}", fmt::join(lengths, ", "));
  static constexpr const char* kNames[] = {"weights", "activations", "sums", "results"};
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    if (i == kSums && !of.partial_sums) continue;
    if (stimulus.stalls[i].probability != 0) text += fmt::format(", stalls of {}", kNames[i]);
  }
  if (stimulus.reset_at != 0) text += fmt::format(", reset in cycle {}", stimulus.reset_at);
  if (stimulus.tiles.size() != 1) return text;
  const Tile& tile = stimulus.tiles.front();
  return text + operands_in_words("weights", tile.weights) +
         operands_in_words("activations", tile.activations) + operands_in_words("sums", tile.sums);
}

}  // namespace gemm64::dut
