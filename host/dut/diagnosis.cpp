// SPDX-License-Identifier: Apache-2.0
#include "host/dut/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "host/util/text.hpp"

namespace gemm64::dut {
namespace {

using Index = Eigen::Index;

/// All dataflows in one form: got = x * s + sums. x: rows of results by K.
struct Form {
  Values x, s, sums, s_before;
  const char* x_name;
  const char* s_name;
  bool s_stays = true;  // a cell holds a value of s; else it holds a sum
  Operand x_type, s_type;
};

Form form_of(const Description& of, const TileResult& result) {
  Form form;
  form.sums = result.tile.sums.size() != 0
                  ? result.tile.sums
                  : Values(Values::Zero(result.expected.rows(), result.expected.cols()));
  const bool input = of.dataflow == Dataflow::kInputStationary;
  form.s_stays = !of.output_stationary();
  form.x = input ? result.tile.weights : result.tile.activations;
  form.s = input ? result.tile.activations : result.tile.weights;
  form.s_before = input ? result.before.activations : result.before.weights;
  if (of.output_stationary()) form.x = form.x.transpose().eval();
  form.x_name = input ? "weight" : "activation";
  form.s_name = input ? "activation" : "weight";
  form.x_type = input ? of.weights : of.activations;
  form.s_type = input ? of.activations : of.weights;
  return form;
}

class Diagnosis {
 public:
  Diagnosis(const Description& of, const TileResult& result)
      : of_(of),
        got_(result.got),
        expected_(fit(result.expected)),
        exact_(result.expected),
        form_(form_of(of, result)) {}

  std::string run() {
    if (got_.rows() != expected_.rows()) return rows_missing();
    for (Index c = 0; c < got_.cols(); ++c) {
      if ((got_.col(c).array() != expected_.col(c).array()).any()) columns_.push_back(c);
    }
    if (columns_.empty()) return "";
    for (const auto& hypothesis :
         {&Diagnosis::overflow, &Diagnosis::arranged, &Diagnosis::swapped,
          &Diagnosis::shifted_column, &Diagnosis::shifted_row, &Diagnosis::cells}) {
      const std::string found = (this->*hypothesis)();
      if (!found.empty()) return found;
    }
    return extent();
  }

 private:
  Values fit(const Values& values) const {
    return values.unaryExpr([this](std::int64_t v) { return fitted(of_, v); });
  }
  bool explains(const Values& exact) const { return fit(exact) == got_; }
  bool explains(const Values& exact, Index column) const {
    return fit(exact.col(column)) == got_.col(column);
  }

  std::string rows_missing() const {
    return fmt::format("{} of {} rows of results came", got_.rows(), expected_.rows());
  }

  /// Sums of fewer bits.
  std::string overflow() const {
    // Fewer bits than a product has would be another defect.
    const int product = of_.weights.bits + of_.activations.bits - 1;
    for (int bits = of_.sums.bits - 1; bits >= product; --bits) {
      Description narrow = of_;
      narrow.sums.bits = bits;
      for (const Overflow overflow : {Overflow::kWrap, Overflow::kSaturate}) {
        narrow.overflow = overflow;
        const auto narrowed = [&narrow](std::int64_t v) { return fitted(narrow, v); };
        const char* const does = overflow == Overflow::kWrap ? "wrap" : "saturate";
        if (exact_.unaryExpr(narrowed) == got_) {
          return fmt::format("sums {} at {} bits", does, bits);
        }
        if (columns_.size() == static_cast<std::size_t>(got_.cols())) continue;
        bool all = true;
        for (const Index c : columns_) all &= exact_.col(c).unaryExpr(narrowed) == got_.col(c);
        if (all)
          return fmt::format("{}: sums {} at {} bits", names("column", columns_), does, bits);
      }
    }
    return "";
  }

  /// The whole operand in another order, or unsigned.
  std::string arranged() const {
    const Values& s = form_.s;
    const std::string name = form_.s_name;
    const auto is = [this](const Values& x, const Values& other) {
      return explains(multiplied(of_, x, other, form_.sums));
    };
    if (s.rows() == s.cols() && is(form_.x, s.transpose())) return name + "s are transposed";
    if (is(form_.x, s.colwise().reverse())) return name + "s: rows are in reverse order";
    if (is(form_.x, s.rowwise().reverse())) return "columns are in reverse order";
    if (form_.s_before.size() == s.size() && form_.s_stays && is(form_.x, form_.s_before)) {
      return fmt::format("all cells still hold the {}s of the tile before", name);
    }
    if (is(form_.x, unsigned_of(s, form_.s_type))) return name + "s are taken as unsigned";
    if (is(unsigned_of(form_.x, form_.x_type), s)) {
      return std::string(form_.x_name) + "s are taken as unsigned";
    }
    if (form_.sums.size() != 0 && explains(multiplied(of_, form_.x, s, {})))
      return "partial sums are not added";
    return "";
  }

  static Values unsigned_of(const Values& values, const Operand& type) {
    const std::int64_t span = std::int64_t{1} << type.bits;
    return values.unaryExpr([span](std::int64_t v) { return v < 0 ? v + span : v; });
  }

  std::string swapped() const {
    if (columns_.size() != 2) return "";
    Values exchanged = expected_;
    exchanged.col(columns_[0]).swap(exchanged.col(columns_[1]));
    return exchanged == got_
               ? fmt::format("columns {} and {} are swapped", columns_[0], columns_[1])
               : "";
  }

  /// Results of a column that leave with another row.
  std::string shifted_column() const {
    if (got_.rows() < 2) return "";
    const Index rows = got_.rows() - 1;
    std::optional<bool> late;
    for (const Index c : columns_) {
      const bool is_late = got_.col(c).tail(rows) == expected_.col(c).head(rows);
      const bool is_early = got_.col(c).head(rows) == expected_.col(c).tail(rows);
      if (is_late == is_early || (late && *late != is_late)) return "";
      late = is_late;
    }
    return fmt::format("{}: sums leave one row {}", names("column", columns_),
                       *late ? "late" : "early");
  }

  /// Operands of one row of cells that enter in another cycle. The first or last row of results
  /// meets whatever was there, so it may be anything.
  std::string shifted_row() const {
    const Values& x = form_.x;
    const Index rows = x.rows() - 1;
    if (rows < 1 || !form_.s_stays) return "";
    for (Index k = 0; k < x.cols(); ++k) {
      for (const bool late : {true, false}) {
        Values other = x;
        if (late) {
          other.col(k).tail(rows) = x.col(k).head(rows);
        } else {
          other.col(k).head(rows) = x.col(k).tail(rows);
        }
        const Values shifted = fit(multiplied(of_, other, form_.s, form_.sums));
        if (other == x || (late ? shifted.bottomRows(rows) != got_.bottomRows(rows)
                                : shifted.topRows(rows) != got_.topRows(rows))) {
          continue;
        }
        return fmt::format("row {}: its {}s enter one cycle {} (skew)", k, form_.x_name,
                           late ? "late" : "early");
      }
    }
    return "";
  }

  /// One cell for each column.
  std::string cells() const {
    std::vector<std::string> all;
    for (const Index c : columns_) {
      const std::string one = form_.s_stays ? holding_cell(c) : summing_cells(c);
      if (one.empty()) return "";
      all.push_back(one);
      if (all.size() > 8) return "";
    }
    return fmt::format("{}", fmt::join(all, "; "));
  }

  std::string holding_cell(Index c) const {
    std::vector<std::pair<Index, std::string>> found;
    for (Index k = 0; k < form_.x.cols(); ++k) {
      const std::string why = defect(c, k);
      if (!why.empty()) found.emplace_back(k, why);
    }
    if (found.size() == 1) {
      return fmt::format("cell row {}, column {}: {}", found[0].first, c, found[0].second);
    }
    return found.empty() ? stale_cell(c) : "";
  }

  /// One that switches late: only some rows still meet the old value.
  std::string stale_cell(Index c) const {
    if (form_.s_before.size() != form_.s.size()) return "";
    std::vector<Index> found;
    for (Index k = 0; k < form_.x.cols(); ++k) {
      const Values old = exact_.col(c) - term(form_.x.col(k), form_.s(k, c)) +
                         term(form_.x.col(k), form_.s_before(k, c));
      bool all = true;
      for (Index m = 0; m < got_.rows(); ++m) {
        all &= got_(m, c) == expected_(m, c) || got_(m, c) == fitted(of_, old(m));
      }
      if (all) found.push_back(k);
    }
    if (found.size() != 1) return "";
    return fmt::format(
        "cell row {}, column {}: for some rows it still holds the {} of the tile before, {}",
        found[0], c, form_.s_name, form_.s_before(found[0], c));
  }

  /// What a cell that holds `s` adds for each x.
  Values term(const Values& x, std::int64_t s) const {
    return x.unaryExpr([&](std::int64_t v) { return scaled(of_, v * s); });
  }

  std::string defect(Index c, Index k) const {
    const std::int64_t weight = form_.s(k, c);
    const Values rest = exact_.col(c) - term(form_.x.col(k), weight);
    const auto is = [&](const Values& x, std::int64_t s) {
      return fit(rest + term(x, s)) == got_.col(c);
    };
    const Values x = form_.x.col(k);
    const std::int64_t span = std::int64_t{1} << form_.s_type.bits;
    if (weight < 0 && is(x, weight + span)) {
      return fmt::format("its {} is taken as unsigned", form_.s_name);
    }
    if (is(unsigned_of(x, form_.x_type), weight)) {
      return fmt::format("its {} is taken as unsigned", form_.x_name);
    }
    if (form_.s_before.size() == form_.s.size() && is(x, form_.s_before(k, c))) {
      return fmt::format("it still holds the {} of the tile before, {}", form_.s_name,
                         form_.s_before(k, c));
    }
    if (is(-x, weight)) return "its product has the wrong sign";
    if (is(x, 0)) return "its product is not added";
    // Any other factor, if one fits all rows.
    if (of_.product_shift != 0) return "";
    for (Index m = 0; m < x.rows(); ++m) {
      if (x(m) == 0) continue;
      const std::int64_t difference = got_(m, c) - expected_(m, c);
      if (difference % x(m) != 0) return "";
      const std::int64_t factor = weight + difference / x(m);
      return is(x, factor) && std::abs(factor) <= 4 * span
                 ? fmt::format("multiplies by {} instead of {}", factor, weight)
                 : "";
    }
    return "";
  }

  std::string summing_cells(Index c) const {
    std::vector<std::string> all;
    for (Index r = 0; r < got_.rows(); ++r) {
      if (got_(r, c) == expected_(r, c)) continue;
      std::string why = "its sum differs";
      const Values x = form_.x.row(r);
      const Values s = form_.s.col(c);
      const auto is = [&](const Values& a, const Values& b) {
        const Values start = form_.sums.block(r, c, 1, 1);
        return fitted(of_, multiplied(of_, a, b, start)(0, 0)) == got_(r, c);
      };
      if (is(x, unsigned_of(s, form_.s_type))) {
        why = fmt::format("its {}s are taken as unsigned", form_.s_name);
      } else if (is(unsigned_of(x, form_.x_type), s)) {
        why = fmt::format("its {}s are taken as unsigned", form_.x_name);
      } else if (is(-x, s)) {
        why = "its products have the wrong sign";
      }
      all.push_back(fmt::format("cell row {}, column {}: {}", r, c, why));
    }
    return all.size() > 2 ? "" : fmt::format("{}", fmt::join(all, "; "));
  }

  static std::string names(const char* what, const std::vector<Index>& which) {
    const std::vector<Index> some(
        which.begin(),
        which.begin() + std::min<std::ptrdiff_t>(8, static_cast<std::ptrdiff_t>(which.size())));
    return fmt::format("{}{} {}{}", what, which.size() == 1 ? "" : "s", fmt::join(some, ", "),
                       some.size() < which.size() ? ", ..." : "");
  }

  /// No hypothesis fits: which values differ.
  std::string extent() const {
    std::set<Index> rows;
    std::uint64_t wrong = 0;
    for (Index r = 0; r < got_.rows(); ++r) {
      for (Index c = 0; c < got_.cols(); ++c) {
        if (got_(r, c) == expected_(r, c)) continue;
        rows.insert(r);
        ++wrong;
      }
    }
    return fmt::format("{} of {} values differ, in {} and {}", wrong, got_.size(),
                       names("row", {rows.begin(), rows.end()}), names("column", columns_));
  }

  const Description& of_;
  const Values got_, expected_, exact_;
  const Form form_;
  std::vector<Index> columns_;  // with a wrong value
};

std::string rule_in_words(const Observation& seen) {
  const Answer& answer = seen.answer;
  const std::string where =
      fmt::format("in cycle {}, after {} results", answer.rule_cycle, answer.rule_beat);
  switch (answer.rule) {
    case kValidDropped:
      return "m_axis_results_tvalid fell before TREADY " + where;
    case kDataChanged:
      return "m_axis_results_tdata changed while TREADY was low " + where;
    case kLastChanged:
      return "m_axis_results_tlast changed while TREADY was low " + where;
    case kResultInReset:
      return "m_axis_results_tvalid is high while aresetn is low";
    case kExtraResult:
      return "a result came that no input leads to " + where;
    case kUnknown:
      return fmt::format("{} is X or Z {}", printable(seen.text), where);
    default:
      return "";
  }
}

}  // namespace

std::string ending_in_words(const Description& description, const Observation& observation) {
  switch (observation.status()) {
    case kTimeout:
      return fmt::format("no answer: nothing moved for {} cycles until cycle {}; {}",
                         grouped(description.idle_limit()), grouped(observation.answer.cycles),
                         stream_states(description, observation));
    case kFinished:
      return fmt::format("the design called $finish in cycle {}", observation.answer.cycles);
    case kFatal:
      return observation.text.find("converge") != std::string::npos
                 ? "combinational loop: " + printable(observation.text, 300)
                 : "the simulator gave up: " + printable(observation.text, 300);
    case kBroken:
      return rule_in_words(observation);
    default:
      return "";
  }
}

std::string diagnose(const Description& description, const TileResult& result) {
  return Diagnosis(description, result).run();
}

}  // namespace gemm64::dut
