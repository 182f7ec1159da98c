// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/repeats.hpp"

#include <algorithm>

namespace gemm64::cycles {
namespace {

std::size_t hash_of(const std::vector<Clock>& numbers) {
  std::uint64_t hash = numbers.size();
  for (const Clock number : numbers) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace

Repeats::Repeats(const Parts& parts, const std::vector<Command>& program, Clock margin)
    : parts_(parts), program_(program), margin_(margin) {}

template <class Each>
void Repeats::each_ledger(Each&& each) {
  std::size_t i = 0;
  for (const auto& engine : parts_.engines) each(i++, engine.first->ledger());
  each(i, parts_.commands.ledger());
}

/// The cycle before which no event is left to happen, up to which all ledgers account for cycles;
/// nothing where the state cannot be the same again.
std::optional<Clock> Repeats::now() {
  if (parts_.commands.done() || !parts_.bus.has_state()) return {};
  Clock now = std::min(parts_.commands.next_event(), parts_.bus.next_event());
  for (const auto& [engine, name] : parts_.engines) {
    if (!engine->has_state()) return {};
    now = std::min(now, engine->next_event());
  }
  if (!known(now)) return {};
  for (const auto& engine : parts_.engines) engine.first->account(now);
  parts_.commands.account(now);
  bool all = true;
  each_ledger([&](std::size_t, const Ledger& ledger) { all = all && ledger.accounted() >= now; });
  if (!all) return {};
  return now;
}

void Repeats::visit(State& state) {
  parts_.memories.state(state);
  for (const auto& engine : parts_.engines) engine.first->state(state);
  parts_.commands.state(state);
  parts_.bus.state(state);
}

Repeats::Node& Repeats::node_of(const std::vector<Clock>& state) {
  const std::size_t hash = hash_of(state);
  const auto [first, last] = nodes_.equal_range(hash);
  for (auto i = first; i != last; ++i) {
    if (i->second->state == state) return *i->second;
  }
  if (nodes_.size() >= kMostNodes) {
    forget();
    nodes_.clear();
  }
  auto node = std::make_unique<Node>();
  node->state = state;
  return *nodes_.emplace(hash, std::move(node))->second;
}

void Repeats::record_way(Node& to, Clock now, const std::vector<Clock>& origins) {
  if (parts_.compute.starts().size() != starts_) return;
  auto passed = parts_.commands.recorded(began_);
  if (!passed) return;
  auto way = std::make_unique<Way>();
  way->commands = std::move(*passed);
  for (std::size_t i = 0; i < parts_.engines.size(); ++i) {
    way->steps[i] = parts_.engines[i].first->recorded();
  }
  way->cycles = now - began_;
  for (std::size_t i = 0; i < origins.size(); ++i) way->origins.push_back(origins[i] - origins_[i]);
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    way->counters[i] = parts_.counters[i] - counters_[i];
  }
  each_ledger([&](std::size_t i, const Ledger& ledger) {
    way->passages[i] = ledger.passage(accounted_[i], now, spent_[i]);
  });
  const std::vector<Clock>& stored = parts_.results.stored();
  for (std::size_t i = stored_; i < stored.size(); ++i) way->stored.push_back(stored[i] - began_);
  way->to = &to;
  from_->ways.push_back(std::move(way));
}

const Repeats::Way* Repeats::find_way(const Node& node) {
  if (node.ways.empty()) return nullptr;
  for (const auto& engine : parts_.engines) engine.first->keep_position();
  for (const auto& way : node.ways) {
    if (!parts_.commands.can_follow(way->commands)) continue;
    std::size_t followed = 0;
    while (followed < parts_.engines.size() &&
           parts_.engines[followed].first->follow(way->steps[followed])) {
      ++followed;
    }
    if (followed == parts_.engines.size()) return way.get();
    for (const auto& engine : parts_.engines) engine.first->drop_position();
  }
  return nullptr;
}

void Repeats::go(const Way& way, Clock& now, std::vector<Clock>& origins) {
  parts_.commands.follow(way.commands, now);
  for (const Clock stored : way.stored) parts_.results.stored().push_back(stored + now);
  now += way.cycles;
  for (std::size_t i = 0; i < origins.size(); ++i) origins[i] += way.origins[i];
  for (std::size_t i = 0; i < way.counters.size(); ++i) parts_.counters[i] += way.counters[i];
  each_ledger([&](std::size_t i, Ledger& ledger) { ledger.repeat(way.passages[i], now); });
}

void Repeats::begin(Node& from, Clock now, const std::vector<Clock>& origins) {
  from_ = &from;
  began_ = now;
  origins_ = origins;
  counters_ = parts_.counters;
  each_ledger([&](std::size_t i, Ledger& ledger) {
    ledger.forget(now);
    accounted_[i] = ledger.accounted();
    spent_[i] = ledger.spent();
  });
  stored_ = parts_.results.stored().size();
  starts_ = parts_.compute.starts().size();
  for (const auto& engine : parts_.engines) engine.first->record();
  parts_.commands.record();
}

void Repeats::forget() {
  if (from_ == nullptr) return;
  from_ = nullptr;
  for (const auto& engine : parts_.engines) engine.first->stop_recording();
  parts_.commands.stop_recording();
}

bool Repeats::skip() {
  if (!shapes_) {
    shapes_.emplace(program_);
    for (const auto& [engine, name] : parts_.engines) engine->know(program_, *shapes_, name);
    parts_.commands.know(*shapes_);
  }
  if (pause_ != 0 && --pause_ != 0) return false;
  std::optional<Clock> now = this->now();
  if (!now) {
    forget();
    return false;
  }
  State state(*now, *now - margin_);
  visit(state);
  Node* node = &node_of(state.numbers());
  std::vector<Clock> origins = state.origins();
  if (from_ != nullptr) record_way(*node, *now, origins);
  bool moved = false;
  const bool tried = !node->ways.empty();
  while (const Way* const way = find_way(*node)) {
    go(*way, *now, origins);
    node = way->to;
    moved = true;
    credit_ = std::min(credit_ + 1, kMostCredit);
  }
  if (tried) {
    State there(node->state, origins, *now, *now - margin_);
    visit(there);
  }
  credit_ -= kCost;
  if (credit_ < 0) {
    pause_ = kPause;
    credit_ = kTrial;
    forget();
  } else {
    begin(*node, *now, origins);
  }
  return moved;
}

}  // namespace gemm64::cycles
