// SPDX-License-Identifier: Apache-2.0
// The bench of a user's array: compiled with the Verilated model when `gemm64 dut` runs. A process
// of its own, so that nothing the design does can harm the program. Requests come by standard
// input, answers go to standard output; time stands still in between.
//
// bench_config.hpp is written for each design: the model, Verilated or in Icarus Verilog
// (icarus_model.hpp), widths of TDATA as kWeightBits and its kin, and access to the ports that a
// design may lack.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_config.hpp"
#include "bench_protocol.hpp"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

#ifdef GEMM64_DUT_ICARUS
#define VM_TRACE 0
#else
/// The simulator's own fatal errors end the run, not the process.
void vl_fatal(const char* file, int line, const char*, const char* message) {
  throw std::runtime_error(std::string(file == nullptr ? "" : file) + ":" + std::to_string(line) +
                           ": " + message);
}
#endif

namespace gemm64::dut {
namespace {

int answers = STDOUT_FILENO;

void read_all(void* to, std::size_t bytes) {
  char* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = read(STDIN_FILENO, next, bytes);
    if (got <= 0) std::_Exit(0);  // the program has ended
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

void write_all(const void* from, std::size_t bytes) {
  const char* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = write(answers, next, bytes);
    if (put <= 0) std::_Exit(0);
    next += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

class Staller {
 public:
  explicit Staller(const Stall& stall = {0, 1})
      : probability_(stall.probability), state_(stall.seed * 2654435761U | 1U) {}

  bool stalls() {
    if (probability_ == 0) return false;
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return (state_ >> 16) < probability_;
  }

 private:
  std::uint32_t probability_;
  std::uint32_t state_;
};

constexpr std::size_t bytes_of(unsigned bits) { return (bits + 7) / 8; }

/// An input stream. Data are noise, or unknown, while TVALID is low, so that a design which ignores
/// it fails.
template <unsigned kBits>
class Sender {
 public:
  Staller staller;
  StreamState state{};

  void add(std::uint64_t beats) {
    data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(index_ * kBytes));
    last_.erase(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(index_));
    index_ = 0;
    const std::size_t before = last_.size();
    data_.resize((before + beats) * kBytes);
    last_.resize(before + beats);
    read_all(data_.data() + before * kBytes, beats * kBytes);
    read_all(last_.data() + before, beats);
  }
  void clear() {
    data_.clear();
    last_.clear();
    index_ = 0;
    valid_ = false;
    changed_ = true;
    state = {};
  }
  std::uint64_t left() const { return last_.size() - index_; }
  bool empty() const { return index_ == last_.size(); }

  template <class Data, class Bit>
  void drive(Data& tdata, Bit& tvalid, Bit& tlast, bool allowed) {
    if (!valid_ && allowed && !empty() && !staller.stalls()) valid_ = changed_ = true;
    if (!changed_) return;
    changed_ = false;
    tvalid = valid_;
    if (valid_) {
      std::memcpy(&tdata, data_.data() + index_ * kBytes, kBytes);
      tlast = last_[index_];
      set_unknown(tdata, false);
    } else {
      // Bits above the port's width stay 0, as Verilator requires.
      std::uint8_t noise[kBytes];
      std::memset(noise, 0x5a, kBytes);
      if (kBits % 8 != 0) noise[kBytes - 1] &= static_cast<std::uint8_t>((1U << (kBits % 8)) - 1U);
      std::memcpy(&tdata, noise, kBytes);
      tlast = set_unknown(tdata, true) ? 2 : 1;
    }
  }

  /// After the evaluation: did the beat move? `last`: was it its tile's last one?
  bool accept(bool ready, std::uint64_t cycle, bool& last) {
    state.valid = valid_;
    state.ready = ready;
    if (!valid_) return false;
    if (!ready) {
      ++state.refused;
      return false;
    }
    last = last_[index_] != 0;
    if (state.beats++ == 0) state.first = cycle;
    state.last = cycle;
    ++index_;
    valid_ = false;
    changed_ = true;
    return true;
  }

 private:
  static constexpr std::size_t kBytes = bytes_of(kBits);
  std::vector<std::uint8_t> data_, last_;
  std::size_t index_ = 0;  // of the next beat
  bool valid_ = false, changed_ = true;
};

class Bench {
 public:
  /// `mutant`: the one that is active in a design that has some.
  explicit Bench(unsigned mutant) : mutant_(mutant) {}

  void run(const Request& request) {
    request_ = request;
    answer_ = {};
    trace_path_.resize(request.trace_bytes);
    results_.clear();
    lasts_.clear();
    cycles_.clear();
    unknown_ = nullptr;
    std::string text;
    try {
      if (!model_) {
        context_.randReset(2);
        context_.randSeed(static_cast<int>(request.random_seed));
        context_.fatalOnError(false);
        model_ = std::make_unique<Vdut>(&context_);
        // Verilator has given them random values, as it does to registers.
        hold_others(*model_, [](auto& port, unsigned ones) {
          auto* const bytes = reinterpret_cast<std::uint8_t*>(&port);
          std::memset(bytes, 0, sizeof port);
          for (unsigned bit = 0; bit < ones; ++bit) {
            bytes[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
          }
        });
#ifdef GEMM64_DUT_MUTANT
        model_->GEMM64_DUT_MUTANT = mutant_;
#endif
      }
      if ((request.flags & kReset) != 0) clear();
      read_beats();
      open_trace();
      if ((request.flags & kReset) != 0) reset();
      answer_.status = kWaiting;
      if (answer_.rule != kNoRule) answer_.status = kBroken;
      while (answer_.status == kWaiting && !ended()) cycle();
      if (answer_.status == kDone && (request.flags & kQuiet) != 0) {
        answer_.status = kWaiting;
        for (std::uint64_t i = 0; i < request.quiet_cycles && answer_.status == kWaiting; ++i) {
          cycle();
        }
        if (answer_.status == kWaiting) answer_.status = kDone;
      }
    } catch (const std::exception& error) {
      answer_.status = kFatal;
      text = error.what();
    }
    close_trace();
    if (unknown_ != nullptr) text = unknown_;
    reply(text);
    // Verilated models do not recover from this.
    if (answer_.status == kFatal || answer_.status == kFinished) std::_Exit(0);
  }

 private:
  void read_beats() {
    weights_.add(request_.beats[kWeights]);
    activations_.add(request_.beats[kActivations]);
#ifdef GEMM64_DUT_SUMS
    sums_.add(request_.beats[kSums]);
#endif
    read_all(trace_path_.data(), trace_path_.size());
    if ((request_.flags & kKeepStalls) == 0) {
      lockstep_ = Staller(request_.stalls[kWeights]);
      weights_.staller = kLockstep ? Staller() : Staller(request_.stalls[kWeights]);
      activations_.staller = kLockstep ? Staller() : Staller(request_.stalls[kActivations]);
#ifdef GEMM64_DUT_SUMS
      sums_.staller = Staller(request_.stalls[kSums]);
#endif
      taker_ = Staller(request_.stalls[kResults]);
    }
    expected_ += request_.results;
  }

  void clear() {
    weights_.clear();
    activations_.clear();
#ifdef GEMM64_DUT_SUMS
    sums_.clear();
#endif
    expected_ = received_ = cycle_ = idle_ = owed_ = 0;
    held_ = false;
    in_tile_ = false;
    phase_ = 0;
    between_ = within_ = gap_ = {};
    result_state_ = {};
  }

  void reset() {
    model_->aresetn = 0;
    for (unsigned i = 0; i < kResetCycles; ++i) {
      drive_inputs(false);
      set_results_ready(*model_, true);
      low();
      // A reset may pass through some registers.
      if (i >= kResetCycles / 2 && i >= 1 && (model_->m_axis_results_tvalid & 1) != 0)
        break_rule(kResultInReset);
      high();
    }
    model_->aresetn = 1;
  }

  void drive_inputs(bool allowed) {
    if (kLockstep && allowed && lockstep_.stalls()) allowed = false;
    const bool staying = allowed && (!serial() || (phase_ == 0 && (both_ & 1U) == 0));
    const bool moving =
        allowed && (!serial() || (kTogether ? phase_ == 0 && (both_ & 2U) == 0 : phase_ == 1));
    weights_.drive(model_->s_axis_weights_tdata, model_->s_axis_weights_tvalid,
                   model_->s_axis_weights_tlast, kWeightsMove ? moving : staying);
    activations_.drive(model_->s_axis_activations_tdata, model_->s_axis_activations_tvalid,
                       model_->s_axis_activations_tlast, kWeightsMove ? staying : moving);
#ifdef GEMM64_DUT_SUMS
    sums_.drive(model_->s_axis_sums_tdata, model_->s_axis_sums_tvalid, model_->s_axis_sums_tlast,
                moving);
#endif
  }

  bool serial() const { return (request_.flags & kOneTile) != 0; }

  bool ended() {
    const bool sent = weights_.empty() && activations_.empty() && sums_empty();
    if (received_ == expected_ && sent) {
      answer_.status = kDone;
    } else if ((request_.flags & kMore) != 0 && (weights_.empty() || activations_.empty())) {
      return true;
    } else if (idle_ >= request_.idle_limit) {
      answer_.status = kTimeout;
    } else if (request_.reset_at != 0 && cycle_ >= request_.reset_at) {
      answer_.status = kStopped;
    } else {
      return false;
    }
    return true;
  }

  bool sums_empty() const {
#ifdef GEMM64_DUT_SUMS
    return sums_.empty();
#else
    return true;
#endif
  }

  void cycle() {
    drive_inputs(true);
    bool ready = true;
    if ((request_.flags & kWithhold) != 0) {
      ready = held_;
    } else {
      ready = !taker_.stalls();
    }
    set_results_ready(*model_, ready);
    low();
    sample(ready || kAlwaysTaken);
    high();
    ++cycle_;
    if (context_.gotFinish()) answer_.status = kFinished;
  }

  void sample(bool ready) {
    if (unknown_ == nullptr) unknown_ = unknown_handshake(*model_);
    if (unknown_ != nullptr) break_rule(kUnknown);
    bool weights_last = false, activations_last = false, sums_last = false;
    const bool weights = weights_.accept(weights_ready(*model_), cycle_, weights_last);
    const bool activations =
        activations_.accept(activations_ready(*model_), cycle_, activations_last);
    bool moved = weights || activations;
#ifdef GEMM64_DUT_SUMS
    moved |= sums_.accept(sums_ready(*model_), cycle_, sums_last);
#endif
    (void)sums_last;
    const bool move = kWeightsMove ? weights : activations;
    const bool move_last = kWeightsMove ? weights_last : activations_last;
    const bool stay = kWeightsMove ? activations : weights;
    const bool stay_last = kWeightsMove ? activations_last : weights_last;
    if (!move) count_idle(stay);
    if (move) {
      end_gap();
      in_tile_ = !move_last;
      owed_ += kTogether ? (move_last ? kRows : 0) : 1;
    }
    moved |= take_result(ready);
    idle_ = moved ? 0 : idle_ + 1;
    if (serial()) step_phase(stay && stay_last, move && move_last);
  }

  /// 0: the operand that stays (of output-stationary arrays both), 1: the one that moves, 2:
  /// results.
  void step_phase(bool staying_ends, bool moving_ends) {
    if (kTogether) {
      both_ |= (staying_ends ? 1U : 0U) | (moving_ends ? 2U : 0U);
      if (both_ == 3) phase_ = 2;
      if (phase_ == 2 && owed_ == 0) phase_ = both_ = 0;
      return;
    }
    if (phase_ == 0 && staying_ends) phase_ = 1;
    if (phase_ == 1 && moving_ends) phase_ = 2;
    if (phase_ == 2 && owed_ == 0) phase_ = 0;
  }

  /// A cycle in which the moving operand stood still. It belongs to a gap once that moves again.
  void count_idle(bool staying_moved) {
    const StreamState& state = kWeightsMove ? weights_.state : activations_.state;
    if (state.beats == 0) return;  // fill
    if (staying_moved) {
      ++gap_.idle[kLoading];
    } else if (!state.valid) {
      ++gap_.idle[serial() && owed_ > 0 ? kDraining : kNotSent];
    } else {
      ++gap_.idle[owed_ > 0 && !in_tile_ ? kDraining : kNotReady];
    }
  }

  void end_gap() {
    auto& counts = in_tile_ ? within_ : between_;
    for (unsigned i = 0; i < kIdles; ++i) counts.idle[i] += gap_.idle[i];
    gap_ = {};
  }

  /// Checks the rules of the results' stream; true if a beat moved.
  bool take_result(bool ready) {
    const bool valid = (model_->m_axis_results_tvalid & 1) != 0;
    result_state_.valid = valid;
    result_state_.ready = ready;
    if (held_ && !kAlwaysTaken) {
      if (!valid) {
        break_rule(kValidDropped);
      } else if (std::memcmp(held_data_, &model_->m_axis_results_tdata, sizeof held_data_) != 0) {
        break_rule(kDataChanged);
      } else if (held_last_ != last()) {
        break_rule(kLastChanged);
      }
    }
    held_ = false;
    if (!valid) return false;
    if (!ready) {
      ++result_state_.refused;
      held_ = true;
      held_last_ = last();
      std::memcpy(held_data_, &model_->m_axis_results_tdata, sizeof held_data_);
      return false;
    }
    if (received_ == expected_ || owed_ == 0) {
      break_rule(kExtraResult);
      if (received_ == expected_) return false;
    } else {
      --owed_;
    }
    const std::size_t at = results_.size();
    results_.resize(at + kResultBytes);
    std::memcpy(results_.data() + at, &model_->m_axis_results_tdata, kResultBytes);
    lasts_.push_back(static_cast<std::uint8_t>((last() ? kLastBeat : 0U) |
                                               (unknown_result(*model_) ? kUnknownBeat : 0U)));
    cycles_.push_back(cycle_);
    if (result_state_.beats++ == 0) result_state_.first = cycle_;
    result_state_.last = cycle_;
    ++received_;
    return true;
  }

  bool last() const {
#ifdef GEMM64_DUT_RESULTS_TLAST
    return (model_->m_axis_results_tlast & 1) != 0;
#else
    return false;
#endif
  }

  void break_rule(Rule rule) {
    if (answer_.rule != kNoRule) return;
    answer_.rule = rule;
    answer_.rule_cycle = cycle_;
    answer_.rule_beat = received_;
    answer_.status = kBroken;
  }

  void low() {
    model_->aclk = 0;
    model_->eval();
    dump();
  }
  void high() {
    model_->aclk = 1;
    model_->eval();
    dump();
  }

#if VM_TRACE
  void open_trace() {
    if (trace_path_.empty()) return;
    if (!trace_) {
      context_.traceEverOn(true);
      trace_ = std::make_unique<VerilatedFstC>();
      model_->trace(trace_.get(), 99);
    }
    time_ = 0;
    trace_->open(trace_path_.c_str());
  }
  void close_trace() {
    if (trace_ && trace_->isOpen()) trace_->close();
  }
  /// A cycle is 2 ns, as in all waveforms of this project: clock low, then its rising edge.
  void dump() {
    context_.time(time_);
    if (trace_ && trace_->isOpen()) trace_->dump(time_);
    ++time_;
  }
#else
  void open_trace() {}
  void close_trace() {}
  void dump() { context_.timeInc(1); }
#endif

  void reply(const std::string& text) {
    answer_.protocol = kProtocol;
    answer_.cycles = cycle_;
    answer_.results = lasts_.size();
    answer_.streams[kWeights] = weights_.state;
    answer_.streams[kWeights].pending = weights_.left();
    answer_.streams[kActivations] = activations_.state;
    answer_.streams[kActivations].pending = activations_.left();
#ifdef GEMM64_DUT_SUMS
    answer_.streams[kSums] = sums_.state;
    answer_.streams[kSums].pending = sums_.left();
#endif
    answer_.streams[kResults] = result_state_;
    answer_.streams[kResults].pending = expected_ - received_;
    for (unsigned i = 0; i < kIdles; ++i) {
      answer_.between[i] = between_.idle[i];
      answer_.within[i] = within_.idle[i];
    }
    answer_.text_bytes = static_cast<std::uint32_t>(text.size());
    write_all(&answer_, sizeof answer_);
    write_all(results_.data(), results_.size());
    write_all(lasts_.data(), lasts_.size());
    write_all(cycles_.data(), cycles_.size() * sizeof(std::uint64_t));
    write_all(text.data(), text.size());
  }

  struct IdleCounts {
    std::uint64_t idle[kIdles] = {};
  };
  static constexpr std::size_t kResultBytes = bytes_of(kResultBits);

  [[maybe_unused]] const unsigned mutant_;
  VerilatedContext context_;
  std::unique_ptr<Vdut> model_;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> trace_;
  std::uint64_t time_ = 0;
#endif
  Request request_{};
  Answer answer_{};
  const char* unknown_ = nullptr;  // the handshake signal that is
  std::string trace_path_;
  Sender<kWeightBits> weights_;
  Sender<kActivationBits> activations_;
#ifdef GEMM64_DUT_SUMS
  Sender<kSumBits> sums_;
#endif
  Staller taker_, lockstep_;
  StreamState result_state_{};
  std::uint64_t expected_ = 0, received_ = 0, cycle_ = 0, idle_ = 0;
  std::uint64_t owed_ = 0;  // results that beats sent so far lead to
  bool in_tile_ = false;
  unsigned phase_ = 0, both_ = 0;
  IdleCounts between_, within_, gap_;
  bool held_ = false, held_last_ = false;
  std::uint8_t held_data_[kResultBytes] = {};
  std::vector<std::uint8_t> results_, lasts_;
  std::vector<std::uint64_t> cycles_;
};

void serve(unsigned mutant) {
  // What the design prints by $display must not end up among the answers.
  answers = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Bench bench(mutant);
  for (;;) {
    Request request;
    read_all(&request, sizeof request);
    bench.run(request);
  }
}

}  // namespace
}  // namespace gemm64::dut

#ifdef GEMM64_DUT_ICARUS
extern "C" {
void (*vlog_startup_routines[])() = {
    [] { gemm64::dut::Simulator::start([] { gemm64::dut::serve(0); }); }, nullptr};
}
#else
int main(int argc, char** argv) {
  gemm64::dut::serve(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0);
}
#endif
