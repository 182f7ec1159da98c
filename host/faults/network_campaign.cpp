// SPDX-License-Identifier: Apache-2.0
#include "host/faults/network_campaign.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

#include "host/faults/campaign.hpp"

namespace gemm64 {
namespace {

constexpr double kNormal95 = 1.959963984540054;  // the normal distribution's quantile of 97.5 %

bool flips_a_bit(Fault::Kind kind) {
  using Kind = Fault::Kind;
  return kind != Kind::kLost && kind != Kind::kRepeated && kind != Kind::kSlaveError &&
         kind != Kind::kDecodeError && kind != Kind::kHang;
}

}  // namespace

const std::vector<Fault::Kind>& network_fault_kinds() {
  static const std::vector<Fault::Kind> kinds = [] {
    std::vector<Fault::Kind> found;
    for (const FaultKind& known : kFaultKinds) {
      if (flips_a_bit(known.kind)) found.push_back(known.kind);
    }
    return found;
  }();
  return kinds;
}

NetworkTry draw_network_try(std::uint32_t seed, std::uint64_t index, const Geometry& geometry,
                            const std::vector<ProgramWindow>& programs) {
  std::seed_seq seeds{seed, static_cast<std::uint32_t>(index),
                      static_cast<std::uint32_t>(index >> 32)};
  std::mt19937_64 cycles(seeds);
  std::mt19937 places(seeds);
  NetworkTry drawn;
  drawn.index = index;
  drawn.fault.kind = network_fault_kinds()[index % network_fault_kinds().size()];
  draw_any_place(places, geometry, drawn.fault);
  std::uint64_t all = 0;
  for (const ProgramWindow& program : programs) all += program.end - program.begin;
  if (all == 0) throw std::invalid_argument("draw_network_try: the programs take no cycles");
  std::uint64_t clock = cycles() % all;
  for (const ProgramWindow& program : programs) {
    const std::uint64_t own = program.end - program.begin;
    if (clock < own) {
      drawn.fault.clock = program.begin + clock;
      break;
    }
    clock -= own;
    ++drawn.program;
  }
  return drawn;
}

const char* name(NetworkOutcome outcome) {
  constexpr std::array kNames{"masked", "detected", "stopped", "silent"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

Interval wilson_interval(std::uint64_t hits, std::uint64_t tries) {
  if (tries == 0) return {};
  const auto n = static_cast<double>(tries);
  const double share = static_cast<double>(hits) / n;
  const double square = kNormal95 * kNormal95;
  const double middle = (share + square / (2 * n)) / (1 + square / n);
  const double half =
      kNormal95 / (1 + square / n) * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  return {hits == 0 ? 0 : std::max(0.0, middle - half),
          hits == tries ? 1 : std::min(1.0, middle + half)};
}

std::uint64_t NetworkCampaignReport::count(Kind kind) const {
  return static_cast<std::uint64_t>(std::count_if(
      tries.begin(), tries.end(),
      [&](const TriedNetworkFault& tried) { return !kind || tried.drawn.fault.kind == *kind; }));
}

std::uint64_t NetworkCampaignReport::count(Kind kind, NetworkOutcome outcome) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(), [&](const TriedNetworkFault& tried) {
        return (!kind || tried.drawn.fault.kind == *kind) && tried.outcome == outcome;
      }));
}

std::uint64_t NetworkCampaignReport::top1_changed(Kind kind) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(), [&](const TriedNetworkFault& tried) {
        return (!kind || tried.drawn.fault.kind == *kind) && tried.top1_changed;
      }));
}

std::uint64_t NetworkCampaignReport::cycles() const {
  std::uint64_t all = 0;
  for (const ProgramWindow& program : programs) all += program.end - program.begin;
  return all;
}

}  // namespace gemm64
