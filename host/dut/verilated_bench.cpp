// SPDX-License-Identifier: Apache-2.0
#include "host/dut/verilated_bench.hpp"

#include <fmt/format.h>

#include "host/util/error.hpp"

namespace gemm64::dut {
namespace {

/// Wall time without an answer after which the design is taken to be in an endless loop.
constexpr int kPatience = 600;

void add_stream(Chunk& chunk, Stream stream, const Values& values, int bits) {
  append_beats(chunk.data[stream], values, bits);
  const auto beats = static_cast<std::size_t>(values.rows());
  chunk.request.beats[stream] += beats;
  chunk.last[stream].resize(chunk.last[stream].size() + beats);
  if (beats > 0) chunk.last[stream].back() = 1;
}

}  // namespace

void Chunk::add(const Description& description, const Tile& tile) {
  add_stream(*this, kWeights, tile.weights, description.weights.bits);
  add_stream(*this, kActivations, tile.activations, description.activations.bits);
  const Eigen::Index rows = description.dataflow == Dataflow::kWeightStationary
                                ? tile.activations.rows()
                            : description.output_stationary() ? Eigen::Index{description.rows}
                                                              : tile.weights.rows();
  request.results += static_cast<std::uint64_t>(rows);
  if (!description.partial_sums) return;
  const Values zeros = Values::Zero(rows, description.columns);
  add_stream(*this, kSums, tile.sums.size() == 0 ? zeros : tile.sums, description.sums.bits);
}

Chunk chunk_of(const Description& description, const Stimulus& stimulus) {
  Chunk chunk;
  for (const Tile& tile : stimulus.tiles) chunk.add(description, tile);
  chunk.request.flags = stimulus.flags | (description.overlaps() ? 0U : kOneTile);
  chunk.request.reset_at = stimulus.reset_at;
  chunk.request.quiet_cycles = stimulus.quiet_cycles;
  for (std::uint32_t i = 0; i < kStreams; ++i) chunk.request.stalls[i] = stimulus.stalls[i];
  return chunk;
}

VerilatedBench::VerilatedBench(const Description& description, const BuiltModel& model)
    : description_(description), command_(model.command) {
  for (const std::string& warning : model.warnings) {
    const std::size_t at = warning.find(": ");
    if (warning.find("UNOPTFLAT") == std::string::npos || at == std::string::npos) continue;
    loop_ = warning.substr(at + 2) + "; ";
    break;
  }
}

void VerilatedBench::restart(std::uint32_t seed) {
  seed_ = seed;
  child_.reset();
}

Observation VerilatedBench::run(const Stimulus& stimulus) {
  return exchange(chunk_of(description_, stimulus));
}

Observation VerilatedBench::exchange(const Chunk& chunk) {
  if (!child_) {
    std::vector<std::string> words = command_;
    words.push_back(std::to_string(mutant_));
    child_ = std::make_unique<Child>(words);
  }
  const auto fail = [this](const std::string& what) {
    const std::string end = child_->end();
    child_.reset();
    throw DeviceError(fmt::format("{}: the simulation {} ({})", description_.file, what, end));
  };
  Request request = chunk.request;
  request.protocol = kProtocol;
  request.idle_limit = description_.idle_limit();
  request.random_seed = seed_;
  request.trace_bytes = static_cast<std::uint32_t>(trace_.size());
  bool sent = child_->send(&request, sizeof request);
  for (std::uint32_t i = 0; i < kInputs; ++i) {
    sent = sent && child_->send(chunk.data[i].data(), chunk.data[i].size()) &&
           child_->send(chunk.last[i].data(), chunk.last[i].size());
  }
  sent = sent && child_->send(trace_.data(), trace_.size());
  trace_.clear();
  Observation seen;
  if (!sent || !child_->receive(&seen.answer, sizeof seen.answer, kPatience) ||
      seen.answer.protocol != kProtocol) {
    fail("gave no answer");
  }
  const std::size_t columns = description_.columns;
  const std::size_t bytes = (description_.beat_bits(kResults) + 7) / 8;
  std::vector<std::uint8_t> data(seen.answer.results * bytes), last(seen.answer.results);
  std::vector<std::uint64_t> cycles(seen.answer.results);
  seen.text.resize(seen.answer.text_bytes);
  if (!child_->receive(data.data(), data.size(), kPatience) ||
      !child_->receive(last.data(), last.size(), kPatience) ||
      !child_->receive(cycles.data(), cycles.size() * sizeof(std::uint64_t), kPatience) ||
      !child_->receive(seen.text.data(), seen.text.size(), kPatience)) {
    fail("ended in its answer");
  }
  if (seen.status() == kFatal && seen.text.find("converge") != std::string::npos) {
    seen.text.insert(0, loop_);
  }
  seen.results.resize(last.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    seen.results[i] = {values_of(data.data() + i * bytes, columns, description_.sums),
                       (last[i] & kLastBeat) != 0, cycles[i], (last[i] & kUnknownBeat) != 0};
  }
  if (seen.status() == kFatal || seen.status() == kFinished) child_.reset();
  return seen;
}

}  // namespace gemm64::dut
