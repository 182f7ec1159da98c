// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/stripes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

// Bytes that memory moves in a cycle, to weigh cycles of rows that are computed twice.
constexpr std::uint64_t kBytesPerCycle = 16;

/// Words of results, with those of other parts of the same map.
std::uint64_t words_of(const Plan& plan) {
  return divide_up(plan.result_columns(), plan.array) * plan.result_rows();
}

std::uint64_t cycles_of(const Plan& plan) {
  if (plan.lanes) return plan.lanes->cycles();
  std::uint64_t cycles = 0;
  for (const RowGroup& group : plan.groups) {
    cycles += std::uint64_t{std::max(group.rows, plan.array)} * group.blocks * plan.tiles();
  }
  return cycles;
}

/// Can a job run in stripes at all?
bool may_have_stripes(const Job& job) {
  const Plan& plan = job.plan;
  const Convolution* const c = plan.convolution();
  if (c == nullptr || c->images != 1 || c->width < 2 || c->out_height < 2) return false;
  if (job.map || job.source_row || job.source_tile != 0 || plan.output.part) return false;
  if (plan.output.broadcasts() || plan.results().code() != ResultCode::kInt8) return false;
  if (plan.window) return !plan.window->in_strips();
  return plan.shape.k != 0 && !plan.lanes->transposed && !plan.lanes->in_strips() &&
         plan.lanes->repeats() == 1;
}

/// Rows [first, end) of a map.
struct Rows {
  std::uint32_t first = 0, end = 0;
};

/// The rows that results of these rows are made of.
Rows rows_read(const Convolution& c, const Rows& out) {
  const auto met = [&c](std::uint32_t row) {  // by the first tap
    return std::int64_t{row} * c.stride_height - c.pad_top;
  };
  const std::int64_t span = std::int64_t{c.kernel_height - 1} * c.dilation_height + 1;
  const std::int64_t first = std::clamp<std::int64_t>(met(out.first), 0, c.height - 1);
  const std::int64_t end = std::clamp<std::int64_t>(met(out.end - 1) + span, first + 1, c.height);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)};
}

/// Rows `out` of a job's results; nothing if these cannot be made by themselves. `whole`: they are
/// written to the whole map.
std::optional<StripePart> part_of(const Job& job, const Geometry& geometry, const Rows& out,
                                  bool whole) {
  const Plan& plan = job.plan;
  Convolution c = *plan.convolution();
  const Rows in = rows_read(c, out);
  const std::int64_t top = std::int64_t{out.first} * c.stride_height - c.pad_top;
  if (top > in.first) return std::nullopt;  // a window beyond the map
  StripePart part;
  part.in_pixel = std::uint64_t{in.first} * c.width;
  part.out_row = std::uint64_t{out.first} * c.out_width;
  c.height = in.end - in.first;
  c.out_height = out.end - out.first;
  c.pad_top = static_cast<std::uint32_t>(in.first - top);
  Output output = plan.output;
  if (whole) output.part = ResultPart{0, plan.shape.n, part.out_row, plan.shape.m};
  try {
    if (plan.window) {
      part.plan = make_plan(c, geometry, output);
      if (part.plan.window->in_strips()) return std::nullopt;
    } else {
      std::optional<Plan> lanes = make_lanes_plan(c, geometry, output);
      if (!lanes || lanes->lanes->in_strips() || lanes->lanes->transposed) return std::nullopt;
      // Its weights are those of the whole.
      const DepthwiseCommand &own = lanes->lanes->command(), &all = plan.lanes->command();
      if (own.kernel_height != all.kernel_height || own.dilation_height != all.dilation_height ||
          own.dilation_width != all.dilation_width) {
        return std::nullopt;
      }
      part.plan = *std::move(lanes);
    }
  } catch (const UsageError&) {
    return std::nullopt;
  }
  return part;
}

class Finder {
 public:
  Finder(const std::vector<Job>& jobs, const Geometry& geometry)
      : jobs_(jobs), geometry_(geometry), readers_(jobs.size()) {
    for (const Job& job : jobs) {
      if (job.source) ++readers_[*job.source];
      if (job.operand) ++readers_[*job.operand];
    }
  }

  std::vector<StripeGroup> find() const {
    std::vector<StripeGroup> groups;
    for (std::size_t first = 0; first < jobs_.size();) {
      std::size_t last = first;
      while (is_too_large(last)) ++last;
      std::optional<StripeGroup> group;
      if (last != first) group = cut(first, last);
      if (group) groups.push_back(*std::move(group));
      first = last + 1;
    }
    return groups;
  }

 private:
  /// Are a job's results read by the next one only, and too many for the tensor memory, with those
  /// of its neighbors that fit?
  bool is_too_large(std::size_t i) const {
    if (i + 1 >= jobs_.size()) return false;
    const Job &job = jobs_[i], &next = jobs_[i + 1];
    if (!may_have_stripes(job) || !may_have_stripes(next) || next.source != i) return false;
    if (!job.internal || readers_[i] != 1 || job.plan.output.takes_operands()) return false;
    if (next.operand && *next.operand >= i) return false;
    const std::uint64_t own = words_of(job.plan);
    const auto neighbor = [&](const Job& other) {
      const std::uint64_t words = words_of(other.plan);
      return other.internal && words <= geometry_.tensor_words ? words : 0;
    };
    const std::uint64_t before = job.source ? neighbor(jobs_[*job.source]) : 0;
    return own + std::max(before, neighbor(next)) > geometry_.tensor_words;
  }

  /// The chain in as few stripes as fit; nothing if none save bytes.
  std::optional<StripeGroup> cut(std::size_t first, std::size_t last) const {
    const std::uint64_t all = geometry_.tensor_words;
    const auto kept = [&](std::size_t job) {
      const std::uint64_t words = words_of(jobs_[job].plan);
      return jobs_[job].internal && words <= all ? words : 0;
    };
    const std::uint64_t given = kept(last);
    const std::uint64_t read = jobs_[first].source ? kept(*jobs_[first].source) : 0;
    for (const std::uint64_t other : {given + read, std::max(given, read), std::uint64_t{0}}) {
      if (other >= all) continue;
      if (auto group = cut(first, last, all - other)) return group;
    }
    return std::nullopt;
  }

  /// The same if the chain's maps may have this number of words.
  std::optional<StripeGroup> cut(std::size_t first, std::size_t last, std::uint64_t words) const {
    const std::uint32_t height = jobs_[last].plan.convolution()->out_height;
    for (std::uint32_t stripes = 2; stripes <= height; stripes += 1 + stripes / 8) {
      std::optional<StripeGroup> group = cut_into(first, last, stripes);
      if (!group) return std::nullopt;
      std::uint64_t most = 0;
      for (std::size_t i = 0; i + 1 < group->jobs.words.size(); ++i) {
        most = std::max(most, group->jobs.words[i] + group->jobs.words[i + 1]);
      }
      if (std::max(most, group->jobs.words.front()) > words) continue;
      if (saves_bytes(*group)) return group;
      return std::nullopt;  // more stripes save less
    }
    return std::nullopt;
  }

  std::optional<StripeGroup> cut_into(std::size_t first, std::size_t last,
                                      std::uint32_t stripes) const {
    StripeGroup group;
    group.jobs.first = first;
    group.jobs.last = last;
    group.jobs.words.resize(last - first);
    group.parts.resize(last - first + 1);
    const std::uint64_t height = jobs_[last].plan.convolution()->out_height;
    for (std::uint64_t i = 0; i < stripes; ++i) {
      Rows rows{static_cast<std::uint32_t>(height * i / stripes),
                static_cast<std::uint32_t>(height * (i + 1) / stripes)};
      for (std::size_t job = last + 1; job-- != first;) {
        auto part = part_of(jobs_[job], geometry_, rows, job == last);
        if (!part) return std::nullopt;
        if (job != last) {
          std::uint64_t& words = group.jobs.words[job - first];
          words = std::max(words, words_of(part->plan));
        }
        group.parts[job - first].push_back(*std::move(part));
        rows = rows_read(*jobs_[job].plan.convolution(), rows);
      }
    }
    return group;
  }

  bool saves_bytes(const StripeGroup& group) const {
    std::uint64_t saved = 0, spent = 0;
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
      const Plan& whole = jobs_[group.jobs.first + i].plan;
      const Traffic once = predict_traffic(whole);
      if (i + 1 != group.parts.size()) saved += once.results;
      if (i != 0) saved += once.activations;
      saved += once.weights + once.parameters + kBytesPerCycle * cycles_of(whole);
      if (i == 0) saved += once.activations;
      for (const StripePart& part : group.parts[i]) {
        const Traffic own = predict_traffic(part.plan);
        spent += own.weights + own.parameters + kBytesPerCycle * cycles_of(part.plan);
        if (i == 0) spent += own.activations;
      }
    }
    return spent < saved;
  }

  const std::vector<Job>& jobs_;
  const Geometry& geometry_;
  std::vector<std::size_t> readers_;  // of each job's results
};

}  // namespace

std::vector<StripeGroup> find_stripes(const std::vector<Job>& jobs, const Geometry& geometry) {
  return Finder(jobs, geometry).find();
}

}  // namespace gemm64
