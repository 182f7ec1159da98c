// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/stripes.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "host/tiling/overlap.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kMostJobs = 24;  // of a group

/// Rows [first, end) of a map.
struct Rows {
  std::uint32_t first = 0, end = 0;

  std::uint32_t count() const { return end - first; }
  void add(const Rows& other) {
    first = count() == 0 ? other.first : std::min(first, other.first);
    end = std::max(end, other.end);
  }
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

/// Words of whole results.
std::uint64_t words_of(const Plan& plan) {
  return divide_up(plan.result_columns(), plan.array) * plan.result_rows();
}

double cycles_of(const Plan& plan) {
  if (plan.lanes) return static_cast<double>(plan.lanes->cycles());
  std::uint64_t cycles = 0;
  for (const RowGroup& group : plan.groups) {
    cycles += std::uint64_t{std::max(group.rows, plan.array)} * group.blocks * plan.tiles();
  }
  return static_cast<double>(cycles);
}

LaneSum sum_of(const Plan& plan) {
  if (plan.shape.k != 0) return LaneSum::kProducts;
  const bool maximum = (plan.lanes->command().flags & flag::kMaximum) != 0;
  return maximum ? LaneSum::kMaximum : LaneSum::kValues;
}

/// Rows of a job's results as a convolution of these rows; nothing if it cannot be.
std::optional<Plan> plan_of(const Plan& whole, Convolution c, const Rows& out,
                            const Geometry& geometry, const Output& output) {
  const Rows in = rows_read(c, out);
  const std::int64_t top = std::int64_t{out.first} * c.stride_height - c.pad_top;
  if (top > in.first) return std::nullopt;  // a window beyond the map
  c.height = in.count();
  c.out_height = out.count();
  c.pad_top = static_cast<std::uint32_t>(in.first - top);
  try {
    if (!whole.lanes) {
      Plan plan = make_plan(c, geometry, output);
      if (plan.window->in_strips()) return std::nullopt;
      return plan;
    }
    std::optional<Plan> plan = make_lanes_plan(c, geometry, output, sum_of(whole));
    if (!plan || plan->lanes->in_strips() || plan->lanes->transposed) return std::nullopt;
    // Its weights are those of the whole.
    const DepthwiseCommand &own = plan->lanes->command(), &all = whole.lanes->command();
    const bool same = own.kernel_height == all.kernel_height &&
                      own.dilation_height == all.dilation_height &&
                      own.dilation_width == all.dilation_width;
    if (!same) return std::nullopt;
    return plan;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Jobs [first, last] in a number of stripes.
struct Cut {
  std::size_t first = 0, last = 0;
  std::uint32_t stripes = 0;
  std::vector<std::vector<Rows>> rows;  // of each job, of each stripe
  std::vector<std::size_t> others;      // jobs whose whole results are in the tensor memory, too
  double cost = 0;
};

class Finder {
 public:
  Finder(const std::vector<Job>& jobs, const Geometry& geometry, const RefusedStripes& refused)
      : jobs_(jobs),
        geometry_(geometry),
        refused_(refused),
        places_(place_tensors(jobs, geometry)),
        last_reader_(jobs.size()),
        readers_(jobs.size()),
        maps_(jobs.size()) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (const auto& from : {jobs[i].source, jobs[i].operand}) {
        if (!from) continue;
        last_reader_[*from] = i;
        readers_[*from].push_back(i);
      }
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) maps_[i] = map_of(i);
  }

  std::vector<StripeGroup> find() {
    for (;;) {
      std::vector<StripeGroup> groups;
      bool all = true;
      for (const Cut& cut : cheapest_cuts()) {
        std::optional<StripeGroup> group = group_of(cut);
        if (group) groups.push_back(*std::move(group));
        if (!group) refused_.emplace_back(cut.first, cut.last);
        all = all && group;
      }
      if (all) return groups;
    }
  }

 private:
  /// A job as a convolution over rows of a map, if it can run in stripes. A product that is the
  /// first layer's packed windows has as many rows as its reader's map.
  std::optional<Convolution> map_of(std::size_t i) const {
    const Job& job = jobs_[i];
    const Plan& plan = job.plan;
    if (job.map || job.source_row || job.source_tile != 0 || plan.output.part) return {};
    if (plan.output.broadcasts() || plan.results().code() != ResultCode::kInt8) return {};
    std::optional<Convolution> c;
    if (plan.convolution() != nullptr) {
      c = *plan.convolution();
      if (plan.window && plan.window->in_strips()) return {};
      const bool lanes = plan.lanes && (plan.lanes->transposed || plan.lanes->in_strips() ||
                                        plan.lanes->repeats() != 1);
      if (lanes) return {};
    } else if (plan.products == 1 && plan.accumulate == Accumulate::kDevice) {
      for (const std::size_t reader : readers_[i]) {
        const Convolution* const next = jobs_[reader].plan.convolution();
        if (next == nullptr || jobs_[reader].source != i || next->images != 1) continue;
        if (next->pixels() != plan.shape.m) continue;
        c.emplace();
        c->channels = static_cast<std::uint32_t>(plan.shape.k);
        c->out_channels = static_cast<std::uint32_t>(plan.shape.n);
        c->height = c->out_height = next->height;
        c->width = c->out_width = next->width;
      }
    }
    if (!c || c->images != 1 || c->width < 2 || c->out_height < 2) return {};
    return c;
  }

  /// Do only jobs up to `last` read a job's results, so that they are never whole?
  bool is_inner(std::size_t i, std::size_t last) const {
    return jobs_[i].internal && !readers_[i].empty() && last_reader_[i] <= last;
  }

  /// Do a job's results replace its second operand? Of results that are whole no row is written
  /// twice, since none of the group reads them.
  bool is_in_place(std::size_t i, std::size_t first, std::size_t last) const {
    const Job& job = jobs_[i];
    if (!job.operand || last_reader_[*job.operand] != i || job.source == job.operand) return false;
    if (jobs_[*job.operand].map || !jobs_[i].internal || !jobs_[*job.operand].internal)
      return false;
    const bool inner = is_inner(i, last), own = *job.operand >= first;
    if (inner != own) return false;
    if (inner) return true;
    if (words_of(job.plan) > geometry_.tensor_words) return false;
    const auto in_group = [&](std::size_t reader) { return first <= reader && reader <= last; };
    const auto& own_readers = readers_[i];
    const auto& others = readers_[*job.operand];
    return std::none_of(own_readers.begin(), own_readers.end(), in_group) &&
           std::count_if(others.begin(), others.end(), in_group) == 1;
  }

  bool on_chip(std::optional<std::size_t> job) const { return job && places_[*job].word; }

  bool keeps_pass(const Plan& plan) const {
    return plan.window && gemm64::keeps_pass(plan.window->window, geometry_);
  }

  /// May blocks fill both banks of the accumulator?
  static bool fills_both_banks(const Plan& plan) {
    return plan.window && plan.window->window.planes == plan.window->window.group_planes;
  }

  /// Bytes of memory that a job moves when it runs whole.
  double bytes_alone(std::size_t i) const {
    const Job& job = jobs_[i];
    const Traffic traffic = predict_traffic(job.plan);
    const bool reads_again = on_chip(job.source) && keeps_pass(job.plan);
    std::uint64_t bytes = reads_again ? job.plan.weight_bytes() : traffic.weights;
    bytes += traffic.parameters;
    if (!on_chip(job.source)) bytes += traffic.activations;
    if (!on_chip(job.operand)) bytes += traffic.operands;
    if (!places_[i].word) bytes += traffic.results;
    return static_cast<double>(bytes);
  }

  /// Cycles that work of these cycles and bytes costs, if memory moves a quarter of a word a cycle.
  double time_of(double cycles, double bytes) const {
    const double moved = 4 * bytes / geometry_.n;
    return std::max(cycles, moved) + std::min(cycles, moved) / 8;
  }

  /// Groups of the least cost, in order.
  std::vector<Cut> cheapest_cuts() const {
    const std::size_t n = jobs_.size();
    std::vector<double> least(n + 1, 0);
    std::vector<std::optional<Cut>> chosen(n + 1);
    for (std::size_t end = 1; end <= n; ++end) {
      least[end] = least[end - 1] + time_of(cycles_of(jobs_[end - 1].plan), bytes_alone(end - 1));
      if (!maps_[end - 1]) continue;
      for (std::size_t first = end - 1; first-- != 0 && end - first <= kMostJobs;) {
        if (!maps_[first]) break;
        std::optional<Cut> cut = fewest_stripes(first, end - 1);
        if (!cut || least[first] + cut->cost >= least[end]) continue;
        least[end] = least[first] + cut->cost;
        chosen[end] = std::move(cut);
      }
    }
    std::vector<Cut> cuts;
    for (std::size_t end = n; end != 0; end = chosen[end] ? chosen[end]->first : end - 1) {
      if (chosen[end]) cuts.push_back(*chosen[end]);
    }
    std::reverse(cuts.begin(), cuts.end());
    return cuts;
  }

  /// The group in the fewest stripes whose maps fit; nothing if there are none, or if none of its
  /// maps needs stripes.
  std::optional<Cut> fewest_stripes(std::size_t first, std::size_t last) const {
    const auto refused = std::find(refused_.begin(), refused_.end(), std::pair{first, last});
    if (refused != refused_.end()) return std::nullopt;
    if (!are_maps_equal(first, last)) return std::nullopt;
    bool saves = false;
    std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = first; i <= last; ++i) {
      saves = saves || (is_inner(i, last) && !places_[i].word);
      if (!is_inner(i, last)) most = std::min(most, maps_[i]->out_height);
    }
    if (!saves) return std::nullopt;
    // Results that are whole give way to stripes, the largest first, where that costs less.
    std::vector<std::size_t> others = others_of(first, last);
    std::optional<Cut> best;
    for (;;) {
      Cut cut{first, last, 0, {}, others, 0};
      const std::vector<std::uint64_t> words = words_of_others(cut);
      for (cut.stripes = 2; cut.stripes <= most; cut.stripes += 1 + cut.stripes / 8) {
        cut.rows = rows_of(first, last, cut.stripes);
        if (!fits(cut, words)) continue;
        cut.cost = cost_of(cut);
        if (!best || cut.cost < best->cost) best = cut;
        break;
      }
      if (others.empty()) return best;
      others.erase(others.begin());
    }
  }

  /// Has each map of a group the same rows for the job that makes it and those that read it?
  bool are_maps_equal(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i <= last; ++i) {
      const auto differs = [&](std::optional<std::size_t> from, std::uint32_t height,
                               std::uint32_t width) {
        return from && *from >= first &&
               (maps_[*from]->out_height != height || maps_[*from]->out_width != width);
      };
      const Convolution& c = *maps_[i];
      if (differs(jobs_[i].source, c.height, c.width)) return false;
      if (differs(jobs_[i].operand, c.out_height, c.out_width)) return false;
    }
    return true;
  }

  /// The rows of each job of a group in each stripe.
  std::vector<std::vector<Rows>> rows_of(std::size_t first, std::size_t last,
                                         std::uint32_t stripes) const {
    std::vector<std::vector<Rows>> rows(last - first + 1, std::vector<Rows>(stripes));
    for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
      for (std::size_t i = last + 1; i-- != first;) {
        Rows& own = rows[i - first][stripe];
        const std::uint64_t height = maps_[i]->out_height;
        if (!is_inner(i, last)) {
          own.add({static_cast<std::uint32_t>(height * stripe / stripes),
                   static_cast<std::uint32_t>(height * (stripe + 1) / stripes)});
        }
        const Job& job = jobs_[i];
        if (job.source && *job.source >= first) {
          rows[*job.source - first][stripe].add(rows_read(*maps_[i], own));
        }
        if (job.operand && *job.operand >= first) rows[*job.operand - first][stripe].add(own);
      }
    }
    return rows;
  }

  /// Words of a stripe of a job's results, those of the longest.
  std::uint64_t stripe_words(const Cut& cut, std::size_t i) const {
    const Plan& plan = jobs_[i].plan;
    return divide_up(plan.result_columns(), plan.array) * stripe_pixels(cut, i);
  }
  std::uint64_t stripe_pixels(const Cut& cut, std::size_t i) const {
    std::uint32_t most = 0;
    for (const Rows& rows : cut.rows[i - cut.first]) most = std::max(most, rows.count());
    return std::uint64_t{most} * maps_[i]->out_width;
  }
  /// The job whose results a job's replace, over several steps.
  std::size_t root_of(const Cut& cut, std::size_t i) const {
    while (is_inner(i, cut.last) && is_in_place(i, cut.first, cut.last)) i = *jobs_[i].operand;
    return i;
  }

  /// Jobs whose results are whole and in the tensor memory, if all run whole, while a group runs;
  /// those with the most words first.
  std::vector<std::size_t> others_of(std::size_t first, std::size_t last) const {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i <= last; ++i) {
      if (!places_[i].word || last_reader_[i] < first) continue;
      if (i < first || !is_inner(i, last)) others.push_back(i);
    }
    std::stable_sort(others.begin(), others.end(), [this](std::size_t a, std::size_t b) {
      return words_of(jobs_[a].plan) > words_of(jobs_[b].plan);
    });
    return others;
  }

  /// The words of these at each job of a group.
  std::vector<std::uint64_t> words_of_others(const Cut& cut) const {
    std::vector<std::uint64_t> words(cut.last - cut.first + 1);
    for (const std::size_t i : cut.others) {
      const bool member = cut.first <= i;
      if (member && is_in_place(i, cut.first, cut.last)) continue;
      bool is_read = member;  // by the group, or written: it is there as long as that runs
      for (const std::size_t reader : readers_[i]) {
        is_read = is_read || (cut.first <= reader && reader <= cut.last);
      }
      const std::size_t end = is_read ? cut.last : std::min(cut.last, last_reader_[i]);
      for (std::size_t k = cut.first; k <= end; ++k) {
        words[k - cut.first] += words_of(jobs_[i].plan);
      }
    }
    return words;
  }

  bool fits(const Cut& cut, const std::vector<std::uint64_t>& others) const {
    std::vector<std::uint64_t> words = others;
    for (std::size_t i = cut.first; i <= cut.last; ++i) {
      if (!is_inner(i, cut.last)) continue;
      const bool in_place = is_in_place(i, cut.first, cut.last);
      const std::uint64_t own = stripe_words(cut, in_place ? root_of(cut, i) : i);
      for (std::size_t k = in_place ? i + 1 : i; k <= last_reader_[i]; ++k) {
        words[k - cut.first] += own;
      }
    }
    return *std::max_element(words.begin(), words.end()) <= geometry_.tensor_words;
  }

  /// Bytes that jobs outside of a group write and read since results give way to it.
  double bytes_of_evicted(const Cut& cut) const {
    std::uint64_t bytes = 0;
    for (const std::size_t i : others_of(cut.first, cut.last)) {
      if (std::find(cut.others.begin(), cut.others.end(), i) != cut.others.end()) continue;
      if (i < cut.first) bytes += jobs_[i].plan.result_bytes();
      for (const std::size_t reader : readers_[i]) {
        if (cut.first <= reader && reader <= cut.last) continue;
        const Traffic traffic = predict_traffic(jobs_[reader].plan);
        bytes += jobs_[reader].source == i ? traffic.activations : traffic.operands;
      }
    }
    return static_cast<double>(bytes);
  }

  double cost_of(const Cut& cut) const {
    double cycles = 0, bytes = bytes_of_evicted(cut);
    const auto on_chip_then = [&cut](std::optional<std::size_t> job) {
      return job && std::find(cut.others.begin(), cut.others.end(), *job) != cut.others.end();
    };
    for (std::size_t i = cut.first; i <= cut.last; ++i) {
      const Job& job = jobs_[i];
      const Plan& plan = job.plan;
      const Traffic whole = predict_traffic(plan);
      const std::uint64_t result_planes = divide_up(plan.result_columns(), plan.array);
      const bool reads = !(job.source && *job.source >= cut.first) && !on_chip_then(job.source);
      for (const Rows& rows : cut.rows[i - cut.first]) {
        const double part = rows.count() / static_cast<double>(maps_[i]->out_height);
        const std::uint64_t pixels = std::uint64_t{rows.count()} * maps_[i]->out_width;
        const std::uint64_t blocks = divide_up(pixels, geometry_.accumulator_rows);
        const bool once =
            plan.lanes || plan.tiles() <= geometry_.weight_tiles || (!reads && keeps_pass(plan));
        const std::uint64_t loads = once ? 1 : divide_up(blocks, fills_both_banks(plan) ? 2 : 1);
        bytes +=
            static_cast<double>(plan.weight_bytes() * loads + plan.parameter_set_bytes() * blocks);
        if (plan.lanes) {
          cycles += static_cast<double>(plan.lanes->cycles()) * part;
        } else {
          cycles += static_cast<double>(
              blocks * std::max<std::uint64_t>(divide_up(pixels, blocks), plan.array) *
              plan.tiles());
        }
        const Rows in = rows_read(*maps_[i], rows);
        if (reads) {
          bytes += static_cast<double>(plan.activation_bytes()) * in.count() / maps_[i]->height;
        }
        const bool takes =
            !(job.operand && *job.operand >= cut.first) && !on_chip_then(job.operand);
        if (takes) bytes += static_cast<double>(whole.operands) * part;
        if (!is_inner(i, cut.last) && !on_chip_then(i)) {
          bytes += static_cast<double>(result_planes * pixels * plan.array);
        }
      }
    }
    return time_of(cycles, bytes) +
           static_cast<double>((geometry_.pipeline() + kThroughTensorMemory) * cut.stripes *
                               (cut.last - cut.first));
  }

  /// Where a job's results are stored for a stripe, from a row of this width on.
  StripeView view_of(const Cut& cut, std::size_t from, std::size_t stripe, std::uint32_t row,
                     std::uint64_t width) const {
    if (from < cut.first || !is_inner(from, cut.last)) {
      return {row * width, jobs_[from].plan.result_rows()};
    }
    const std::size_t root = root_of(cut, from);
    const std::uint32_t first = cut.rows[root - cut.first][stripe].first;
    return {(row - first) * width, stripe_pixels(cut, root)};
  }

  std::optional<StripeGroup> group_of(const Cut& cut) const {
    StripeGroup group;
    group.jobs.first = cut.first;
    group.jobs.last = cut.last;
    for (std::size_t i = cut.first; i <= cut.last; ++i) {
      const Job& job = jobs_[i];
      const Convolution& c = *maps_[i];
      const bool inner = is_inner(i, cut.last), in_place = is_in_place(i, cut.first, cut.last);
      group.jobs.words.push_back(inner ? stripe_words(cut, root_of(cut, i)) : 0);
      group.jobs.in_place.push_back(in_place);
      std::vector<StripePart>& parts = group.parts.emplace_back();
      for (std::size_t stripe = 0; stripe < cut.stripes; ++stripe) {
        const Rows& rows = cut.rows[i - cut.first][stripe];
        const std::uint32_t in = rows_read(c, rows).first;
        StripePart part;
        const StripeView results = view_of(cut, i, stripe, rows.first, c.out_width);
        part.first_row = std::uint64_t{rows.first} * c.out_width;
        part.out_row = results.first;
        Output output = job.plan.output;
        output.part = ResultPart{0, job.plan.shape.n, inner ? 0 : results.first, results.pixels};
        std::optional<Plan> plan = plan_of(job.plan, c, rows, geometry_, output);
        if (!plan) return std::nullopt;
        part.plan = *std::move(plan);
        part.read = {std::uint64_t{in} * c.width, c.pixels()};
        if (job.source) part.read = view_of(cut, *job.source, stripe, in, c.width);
        part.operand = {part.first_row, job.plan.result_rows()};
        if (job.operand) {
          part.operand = view_of(cut, *job.operand, stripe, rows.first, c.out_width);
        }
        parts.push_back(std::move(part));
      }
    }
    return group;
  }

  const std::vector<Job>& jobs_;
  const Geometry& geometry_;
  RefusedStripes refused_;
  const std::vector<TensorPlace> places_;          // if all run whole
  std::vector<std::size_t> last_reader_;           // of each job's results
  std::vector<std::vector<std::size_t>> readers_;  // likewise
  std::vector<std::optional<Convolution>> maps_;   // of jobs that can run in stripes
};

}  // namespace

std::vector<StripeGroup> find_stripes(const std::vector<Job>& jobs, const Geometry& geometry,
                                      const RefusedStripes& refused) {
  return Finder(jobs, geometry, refused).find();
}

}  // namespace gemm64
