// SPDX-License-Identifier: Apache-2.0
#include "host/check/beat_watch.hpp"

#include "host/device/registers.hpp"

namespace gemm64 {
namespace {

/// Rows that a job on the lanes stores before one of a channel block.
std::uint64_t stored_before(const Job& job, std::uint64_t plane, std::uint64_t row) {
  const Plan* plan = &job.plan;
  std::uint64_t stored = 0, first_row = 0;
  for (const JobStripe& stripe : job.stripes) {
    if (stripe.first_row > row) break;
    if (&stripe != &job.stripes.front()) stored += plan->shape.m * plan->result_blocks();
    plan = &stripe.plan;
    first_row = stripe.first_row;
  }
  return stored + plan->lanes->rows_before(plane, row - first_row);
}

}  // namespace

BeatWatch::BeatWatch(const Job& job, std::uint64_t row, std::uint64_t column,
                     const JobProgram* list, std::size_t place)
    : lane_(column % job.plan.array) {
  const std::uint64_t beats = job.plan.results().beats_per_row();
  const std::uint64_t stored = stored_before(job, column / job.plan.array, row);
  beats_ = (list != nullptr ? beats_before(*list, place, stored) : stored * beats) + beats;
}

void BeatWatch::clock(std::uint64_t clock, const Probe& probe) {
  if (beats_ == 0 || !probe.counts(counter::kResultsTransfer)) return;
  if (--beats_ != 0) return;
  finding_.place = Finding::Place::kLanes;
  finding_.clock = finding_.wrong_clock = clock;
  finding_.column = lane_;
}

}  // namespace gemm64
