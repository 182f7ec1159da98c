// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/shared_planes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gemm64 {
namespace {

constexpr std::uint64_t kMostCapacity = 0xffff;  // of its field in a command

/// What shares planes: all of a convolution in one strip.
WindowPlan* shared_plan(Job& job) {
  if (!job.plan.window || job.plan.window->in_strips()) return nullptr;
  return &job.plan.window->strips[0].plan;
}

std::uint64_t least_capacity(const WindowPlan& plan) {
  return std::max({roomy_capacity(plan), std::uint64_t{plan.window.stride_width},
                   std::uint64_t{plan.window.dilation_width}, std::uint64_t{1}});
}

}  // namespace

void share_planes(std::vector<Job>& jobs, const Geometry& geometry) {
  for (std::size_t first = 0; first < jobs.size();) {
    std::uint64_t planes = 1, least = 1;
    std::size_t end = first;
    for (; end < jobs.size(); ++end) {
      const WindowPlan* const plan = shared_plan(jobs[end]);
      if (plan == nullptr) break;
      const std::uint64_t most = std::max<std::uint64_t>(planes, plan->window.planes);
      const std::uint64_t needed = std::max(least, least_capacity(*plan));
      if (geometry.scratchpad_words / most < needed) break;
      planes = most;
      least = needed;
    }
    // One that needs more by itself has what it was planned with.
    const auto capacity =
        static_cast<std::uint32_t>(std::min(geometry.scratchpad_words / planes, kMostCapacity));
    std::uint64_t slot = 0;
    bool starts = true;
    for (std::size_t i = first; i < end; ++i) {
      WindowPlan& plan = *shared_plan(jobs[i]);
      plan.starts = starts;
      plan.capacity = capacity;
      plan.first_slot = static_cast<std::uint32_t>(slot);
      if (plan.blocks.back().loaded() != 0) starts = false;
      const std::uint32_t times = plan.reads_again ? plan.window.passes() : 1;
      slot = (slot + times * plan.blocks.back().loaded()) % capacity;
    }
    first = std::max(end, first + 1);
  }
}

}  // namespace gemm64
