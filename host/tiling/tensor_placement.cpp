// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/tensor_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "host/device/commands.hpp"
#include "host/tiling/job_program.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

/// Results of one job, or all parts of a map.
struct PlacedTensor {
  std::size_t writers = 0;  // jobs
  std::uint64_t words = 0;
  std::size_t first = 0, last = 0;  // jobs in which it lives
  std::uint64_t moved = 0;          // words written and read
  std::size_t reads = 0;            // jobs that read it
  bool of_stripe = false;           // it has the rows of one stripe, of a chain that needs it
  std::string why;                  // it cannot be placed
  std::optional<std::uint64_t> word;
  std::optional<std::size_t> replaces;  // the tensor whose words it takes
};

std::uint64_t words_of(const Job& job) {
  return divide_up(job.plan.result_columns(), job.plan.array) * job.plan.result_rows();
}

/// Why results cannot stay in the tensor memory; empty if they can.
std::string why_in_memory(const Job& job, const Geometry& geometry) {
  const Plan& plan = job.plan;
  if (!job.internal) return "the host reads it";
  if (plan.output.part && plan.output.part->has_shared_tiles(plan.shape.n, plan.array)) {
    return "a word holds channels of several layers";
  }
  const std::uint64_t words = words_of(job);
  if (words <= geometry.tensor_words) return "";
  return fmt::format("it has {} words, the tensor memory {}", words, geometry.tensor_words);
}

class Placement {
 public:
  Placement(const std::vector<Job>& jobs, const Geometry& geometry,
            const std::vector<JobStripes>& stripes)
      : jobs_(jobs), geometry_(geometry), stripes_(stripes), tensor_of_(jobs.size()) {
    find_tensors();
    find_lives();
    find_replacements();
  }

  std::vector<TensorPlace> place() {
    // No order is the best for all networks.
    using Before = bool (*)(const Group&, const Group&);
    constexpr Before kOrders[] = {
        [](const Group& a, const Group& b) {
          return a.moved * b.words * b.jobs() > b.moved * a.words * a.jobs();
        },
        [](const Group& a, const Group& b) { return a.moved * b.words > b.moved * a.words; },
        [](const Group& a, const Group& b) { return a.words > b.words; },
        [](const Group& a, const Group& b) { return a.first < b.first; }};
    std::vector<PlacedTensor> best;
    for (const Before before : kOrders) {
      put_all(before);
      if (best.empty() || saved_words(tensors_) > saved_words(best)) best = tensors_;
    }
    tensors_ = std::move(best);
    std::vector<TensorPlace> places(jobs_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const PlacedTensor& tensor = tensors_[tensor_of_[i]];
      places[i] = {tensor.word, tensor.why};
      if (!tensor.word && tensor.why.empty()) places[i].why = "no space among those that live then";
    }
    return places;
  }

 private:
  /// Tensors that take the same words one after the other.
  struct Group {
    std::vector<std::size_t> tensors;
    std::uint64_t words = 0, moved = 0;
    std::size_t first = 0, last = 0;
    bool of_stripe = false;

    std::uint64_t jobs() const { return last - first + 1; }
  };

  /// Places all groups in an order, those of stripes first.
  template <class Before>
  void put_all(const Before& before) {
    placed_.clear();
    for (PlacedTensor& tensor : tensors_) tensor.word.reset();
    std::vector<Group> groups = make_groups();
    std::stable_sort(groups.begin(), groups.end(), [&before](const Group& a, const Group& b) {
      if (a.of_stripe != b.of_stripe) return a.of_stripe;
      if (a.of_stripe) return a.words > b.words;  // their pairs fit if none is in the middle
      return before(a, b);
    });
    for (const Group& group : groups) {
      if (put(group) || group.tensors.size() == 1) continue;
      for (const std::size_t tensor : group.tensors) put(group_of({tensor}));
    }
  }

  static std::uint64_t saved_words(const std::vector<PlacedTensor>& tensors) {
    std::uint64_t words = 0;
    for (const PlacedTensor& tensor : tensors) words += tensor.word ? tensor.moved : 0;
    return words;
  }

  /// The stripes that a job runs in; nullptr: it does not.
  const JobStripes* stripes_of(std::size_t job) const {
    for (const JobStripes& group : stripes_) {
      if (group.has(job)) return &group;
    }
    return nullptr;
  }

  void find_tensors() {
    std::map<int, std::size_t> maps;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const Job& job = jobs_[i];
      const auto known = job.map ? maps.find(*job.map) : maps.end();
      tensor_of_[i] = known == maps.end() ? tensors_.size() : known->second;
      if (known == maps.end()) {
        if (job.map) maps[*job.map] = tensors_.size();
        tensors_.emplace_back();
        tensors_.back().words = words_of(job);
        tensors_.back().first = i;
      }
      PlacedTensor& tensor = tensors_[tensor_of_[i]];
      ++tensor.writers;
      tensor.last = i;
      tensor.moved += job.plan.result_bytes() / geometry_.n;
      const JobStripes* const group = stripes_of(i);
      if (group != nullptr && group->is_inner(i)) {
        tensor.words = group->words[i - group->first];
        tensor.of_stripe = true;
        continue;
      }
      // Maps that are whole live as long as their group runs.
      if (group != nullptr) {
        tensor.first = group->first;
        tensor.last = group->last;
      }
      if (tensor.why.empty()) tensor.why = why_in_memory(job, geometry_);
    }
  }

  void find_lives() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const Traffic traffic = predict_traffic(jobs_[i].plan);
      const auto read = [&](const std::optional<std::size_t>& from, std::uint64_t bytes) {
        if (!from) return;
        PlacedTensor& tensor = tensors_[tensor_of_[*from]];
        const JobStripes* const group = stripes_of(i);
        const bool inside = group != nullptr && group->is_inner(*from);
        tensor.last = std::max(tensor.last, group == nullptr || inside ? i : group->last);
        tensor.moved += bytes / geometry_.n;
        ++tensor.reads;
      };
      read(jobs_[i].source, traffic.activations);
      read(jobs_[i].operand, traffic.operands);
    }
    for (PlacedTensor& tensor : tensors_) {
      if (tensor.reads == 0 && tensor.why.empty()) tensor.why = "no layer reads it";
    }
  }

  /// Second operands are read before the results at their place are written.
  void find_replacements() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const Job& job = jobs_[i];
      PlacedTensor& own = tensors_[tensor_of_[i]];
      if (!job.operand || job.plan.output.broadcasts() || own.writers != 1) continue;
      const std::size_t from = tensor_of_[*job.operand];
      const PlacedTensor& operand = tensors_[from];
      if (const JobStripes* const group = stripes_of(i)) {
        // Later stripes may read words that this one would replace.
        if (!group->in_place[i - group->first]) continue;
      } else if ((job.source && tensor_of_[*job.source] == from) || operand.last != i) {
        continue;
      }
      if (operand.words != own.words) continue;
      if (own.why.empty() && operand.why.empty()) own.replaces = from;
    }
  }

  Group group_of(std::vector<std::size_t> tensors) const {
    Group group;
    group.first = tensors_[tensors.front()].first;
    for (const std::size_t i : tensors) {
      group.words = tensors_[i].words;
      group.moved += tensors_[i].moved;
      group.of_stripe = tensors_[i].of_stripe;
      group.first = std::min(group.first, tensors_[i].first);
      group.last = std::max(group.last, tensors_[i].last);
    }
    group.tensors = std::move(tensors);
    return group;
  }

  std::vector<Group> make_groups() const {
    std::vector<std::vector<std::size_t>> members(tensors_.size());
    std::vector<std::size_t> group(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      group[i] = tensors_[i].replaces ? group[*tensors_[i].replaces] : i;
      if (tensors_[i].why.empty()) members[group[i]].push_back(i);
    }
    std::vector<Group> groups;
    for (std::vector<std::size_t>& one : members) {
      if (!one.empty()) groups.push_back(group_of(std::move(one)));
    }
    return groups;
  }

  /// Places a group in the smallest gap that is free while it lives; false if there is none.
  bool put(const Group& group) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> used;  // words [first, second)
    for (const Group& other : placed_) {
      if (other.last < group.first || group.last < other.first) continue;
      const std::uint64_t word = *tensors_[other.tensors.front()].word;
      used.emplace_back(word, word + other.words);
    }
    used.emplace_back(geometry_.tensor_words, geometry_.tensor_words);
    std::sort(used.begin(), used.end());
    std::optional<std::uint64_t> best;
    std::uint64_t end = 0, smallest = 0;
    for (const auto& [from, to] : used) {
      const std::uint64_t gap = from > end ? from - end : 0;
      if (gap >= group.words && (!best || gap < smallest)) {
        best = end;
        smallest = gap;
      }
      end = std::max(end, to);
    }
    if (!best) return false;
    for (const std::size_t tensor : group.tensors) tensors_[tensor].word = best;
    placed_.push_back(group);
    return true;
  }

  const std::vector<Job>& jobs_;
  const Geometry& geometry_;
  const std::vector<JobStripes>& stripes_;
  std::vector<std::size_t> tensor_of_;  // of each job
  std::vector<PlacedTensor> tensors_;
  std::vector<Group> placed_;
};

/// Calls with the first word and the number of words of each run that a command moves in the tensor
/// memory.
template <class Call>
void for_each_run(const Command& command, const Geometry& geometry, const Call& call) {
  if (!geometry.in_tensor_memory(command.address())) return;
  const std::uint64_t first = (command.address() - geometry.tensor_base()) / geometry.n;
  for (std::uint64_t block = 0; block < command.blocks; ++block) {
    for (std::uint64_t tile = 0; tile < command.count; ++tile) {
      call(first + tile * command.stride + block * command.rows, command.rows);
    }
  }
}

}  // namespace

std::vector<TensorPlace> place_tensors(const std::vector<Job>& jobs, const Geometry& geometry,
                                       const std::vector<JobStripes>& stripes) {
  return Placement(jobs, geometry, stripes).place();
}

void check_tensor_words(const JobProgram& list, const Geometry& geometry) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> writer(geometry.tensor_words, kNone);  // the job that stored each word
  const auto same = [&](std::size_t job, std::size_t from) {
    const auto& map = list.jobs[from].map;
    return job == from || (job != kNone && map && list.jobs[job].map == map);
  };
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const Command& command = list.program[i];
    const std::size_t job = list.origins[i].job;
    const bool stores = is_store(command);
    const bool loads = command.opcode == Opcode::kLoadActivations;
    if (!stores && !loads && command.opcode != Opcode::kLoadOperands) continue;
    const auto refuse = [&](const char* problem) {
      throw std::invalid_argument(fmt::format("'{}', command {} ({}): {}", list.jobs[job].name, i,
                                              to_string(command), problem));
    };
    for_each_run(command, geometry, [&](std::uint64_t first, std::uint64_t words) {
      if (first + words > writer.size()) refuse("passes the end of the tensor memory");
      for (std::uint64_t word = first; word < first + words; ++word) {
        if (stores) {
          writer[word] = job;
          continue;
        }
        const auto& from = loads ? list.jobs[job].source : list.jobs[job].operand;
        if (!from || !same(writer[word], *from)) refuse("the tensor that it reads is not there");
      }
    });
  }
}

}  // namespace gemm64
