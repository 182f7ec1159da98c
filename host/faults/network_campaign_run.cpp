// SPDX-License-Identifier: Apache-2.0
#include "host/faults/network_campaign_run.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>

#include "host/device/registers.hpp"
#include "host/faults/watchdog.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

// A program that takes kMostTimes of its cycles and kMostWatchdogs waits of the watchdog, does not
// end.
constexpr std::uint64_t kMostTimes = 2;
constexpr std::uint64_t kMostWatchdogs = 8;
constexpr std::chrono::milliseconds kBetweenLooks{20};

Timeouts timeouts_of(const NetworkCampaignOptions& options) {
  return {options.latency, campaign_watchdog(options.latency)};
}

/// What a process leaves of a try, in memory that all share.
struct Slot {
  bool ended = false;
  NetworkOutcome outcome = NetworkOutcome::kMasked;
  bool top1_changed = false;
  std::uint64_t clock = 0;  // of the fault
  std::uint64_t outputs = 0, results = 0, cycles = 0;
  char error[240] = "";
};

void set_text(char* to, std::size_t size, const std::string& text) {
  const std::string line = text.substr(0, std::min(text.find('\n'), size - 1));
  std::memcpy(to, line.c_str(), line.size() + 1);
}

/// An array that processes share.
template <class T>
class Shared {
 public:
  explicit Shared(std::size_t size) : size_(size) {
    void* const memory = mmap(nullptr, std::max<std::size_t>(size, 1) * sizeof(T),
                              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    items_ = static_cast<T*>(memory);
    for (std::size_t i = 0; i < size; ++i) new (items_ + i) T();
  }
  ~Shared() { munmap(items_, std::max<std::size_t>(size_, 1) * sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return items_[index]; }

 private:
  const std::size_t size_;
  T* items_;
};

/// A copy of this process, which ends with it and does not catch its signals. Returns as fork()
/// does.
pid_t fork_process() {
  const pid_t parent = getpid();
  const pid_t copy = fork();
  if (copy < 0) {
    throw UsageError(
        fmt::format("no process can be made ({}); give fewer --jobs", std::strerror(errno)));
  }
  if (copy != 0) return copy;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  return 0;
}

/// Throws DeviceError where it did not end by itself.
void wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw DeviceError("a process of a try was ended from outside");
}

/// What is known of the network without a fault.
struct Survey {
  std::vector<ProgramWindow> programs;
  std::vector<std::uint64_t> results;  // digests of what the host reads after each
  OutputDigest outputs;
};

/// Passes all on to a device; what the accesses between two resets have in common is a program.
class ProgramDevice : public Device {
 public:
  std::uint32_t read_register(std::uint32_t offset) override {
    const std::uint32_t value = active().read_register(offset);
    if (offset == reg::kError && field::kErrorCode.get(value) != 0) reported_ = true;
    return value;
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    active().write_register(offset, value);
  }
  std::uint64_t memory_bytes() const override { return active().memory_bytes(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override {
    active().write_memory(address, data, bytes);
  }
  void place_memory(std::uint64_t address, const SharedBytes& bytes) override {
    active().place_memory(address, bytes);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    active().read_memory(address, data, bytes);
    results_ = digest_of(data, bytes, results_);
    results_read_ = true;
  }
  std::uint64_t cycles() const override { return active().cycles(); }
  std::string name() const override { return "rtl"; }

  /// Did the device report an error?
  bool reported() const { return reported_; }

 protected:
  virtual Device& active() const = 0;
  std::uint64_t now() const { return cycles(); }
  void begin_results() {
    results_ = 0;
    results_read_ = false;
  }

  std::uint64_t results_ = 0;  // digest of what was read since the reset
  bool results_read_ = false;

 private:
  bool reported_ = false;
};

/// The fast device, all programs of which are noted.
class SurveyDevice final : public ProgramDevice {
 public:
  explicit SurveyDevice(Device& fast) : fast_(fast) {}

  void reset() override {
    note_results();
    fast_.reset();
    survey_.programs.emplace_back();
    begin_ = now();
  }
  bool wait_interrupt(std::uint64_t max_cycles) override {
    ProgramWindow& window = survey_.programs.back();
    if (window.begin == 0) window.begin = now() - begin_;
    const bool ended = fast_.wait_interrupt(max_cycles);
    window.end = now() - begin_;
    return ended;
  }
  Survey finish() {
    note_results();
    return std::move(survey_);
  }

 private:
  Device& active() const override { return fast_; }
  void note_results() {
    if (!survey_.programs.empty()) survey_.results.push_back(results_);
    begin_results();
  }

  Device& fast_;
  Survey survey_;
  std::uint64_t begin_ = 0;  // clock
};

struct Endless {};      // the program does not end
struct AllTried {};     // no fault is left for this process
struct SameResults {};  // of the program that was hit, and so of all after it

/// The device of tries: the RTL where a fault is in the program that runs.
class TryDevice : public ProgramDevice {
 public:
  TryDevice(DebugDevice& rtl, const Survey& survey, const Timeouts& timeouts)
      : rtl_(rtl), survey_(survey), watchdog_(timeouts.watchdog) {}

  bool is_try() const { return injected_.has_value(); }
  /// The device found the fault in itself, and the program ran again.
  bool ran_again() const { return ran_again_; }
  /// Of the program that was hit.
  std::uint64_t results() const { return is_hit_ ? results_ : hit_results_; }
  std::uint64_t cycles_of_try() const { return (is_hit_ ? now() : hit_end_) - *injected_; }
  std::uint64_t clock_of_fault() const { return fault_clock_; }

 protected:
  void begin_program() {
    ++program_;
    rtl_.reset();
    begin_ = now();
  }
  /// The RTL has a fault from now on, which counts from the reset.
  void inject(Fault fault) {
    injected_ = now();
    fault_clock_ = fault.clock;
    is_hit_ = true;
    fault.clock += begin_;
    rtl_.inject(fault);
  }
  /// A reset: the program that was hit has ended, or begins again where nothing was read after it.
  void end_hit() {
    if (!is_hit_) return;
    is_hit_ = false;
    ran_again_ = !results_read_;
    hit_results_ = results_;
    hit_end_ = now();
  }
  bool wait_with_fault(std::uint64_t max_cycles) {
    const std::uint64_t most =
        kMostTimes * survey_.programs.at(program_ - 1).end + kMostWatchdogs * watchdog_;
    const std::uint64_t spent = now() - begin_;
    if (spent >= most) throw Endless();
    return rtl_.wait_interrupt(std::min(most - spent, max_cycles));
  }
  bool is_hit() const { return is_hit_; }

  DebugDevice& rtl_;
  const Survey& survey_;
  std::size_t program_ = 0;  // that runs, from 1
  std::uint64_t begin_ = 0;  // clock after its reset

 private:
  const std::uint64_t watchdog_;
  std::optional<std::uint64_t> injected_;  // clock
  std::uint64_t fault_clock_ = 0;
  bool is_hit_ = false;  // the program that runs
  bool ran_again_ = false;
  std::uint64_t hit_results_ = 0, hit_end_ = 0;
};

/// All programs on the RTL, with a fault in one.
class WholeDevice final : public TryDevice {
 public:
  WholeDevice(DebugDevice& rtl, const Survey& survey, const Timeouts& timeouts,
              const NetworkTry& drawn)
      : TryDevice(rtl, survey, timeouts), drawn_(drawn) {}

  void reset() override {
    end_hit();
    begin_results();
    begin_program();
    if (!is_try() && program_ == drawn_.program + 1) inject(drawn_.fault);
  }
  bool wait_interrupt(std::uint64_t max_cycles) override {
    return is_hit() ? wait_with_fault(max_cycles) : rtl_.wait_interrupt(max_cycles);
  }

 private:
  Device& active() const override { return rtl_; }

  const NetworkTry& drawn_;
};

using Numbers = std::vector<std::size_t>;

/// The RTL for programs that are hit, and the fast device for all others. Where a fault is due a
/// copy of the process goes on with it.
class ForkingDevice final : public TryDevice {
 public:
  /// `numbers`: of the tries that are this process', by program and clock.
  ForkingDevice(DebugDevice& rtl, Device& fast, const Survey& survey, const Timeouts& timeouts,
                const std::vector<NetworkTry>& tries, const Numbers& numbers)
      : TryDevice(rtl, survey, timeouts), fast_(fast), tries_(tries), numbers_(numbers) {}

  /// The try of this process, where it is the copy for one.
  std::size_t number() const { return numbers_[next_]; }

  void reset() override {
    end_hit();
    if (is_try() && !ran_again() && results() == survey_.results.at(program_ - 1)) {
      throw SameResults();
    }
    begin_results();
    on_rtl_ = false;
    if (is_try()) return fast_.reset();
    while (is_due(program_)) ++next_;  // after the end of the program
    if (next_ == numbers_.size()) throw AllTried();
    if (!is_due(program_ + 1)) {
      ++program_;
      return fast_.reset();
    }
    on_rtl_ = true;
    begin_program();
  }

  bool wait_interrupt(std::uint64_t max_cycles) override {
    if (is_hit()) return wait_with_fault(max_cycles);
    if (!on_rtl_) return fast_.wait_interrupt(max_cycles);
    const std::uint64_t limit = now() + max_cycles;
    for (; is_due(program_); ++next_) {
      Fault fault = tries_[number()].fault;
      // What is flipped is so from the start of a cycle on.
      const std::uint64_t at = std::max(begin_ + fault.clock, now() + 1);
      if (at > limit) break;
      if (rtl_.wait_interrupt(at - 1 - now())) return true;
      const pid_t copy = fork_process();
      if (copy == 0) {
        fault.clock = at - begin_;
        inject(fault);
        return wait_with_fault(limit - now());
      }
      wait_for(copy);
    }
    return rtl_.wait_interrupt(limit - now());
  }

 private:
  Device& active() const override { return on_rtl_ ? static_cast<Device&>(rtl_) : fast_; }
  bool is_due(std::size_t program) const {
    return program != 0 && next_ < numbers_.size() && tries_[number()].program + 1 == program;
  }

  Device& fast_;
  const std::vector<NetworkTry>& tries_;
  const Numbers& numbers_;
  std::size_t next_ = 0;  // of numbers_
  bool on_rtl_ = true;    // before the first program, too: the driver asks it for its sizes
};

/// Runs the network on a device of a try and notes how that ended.
void judge(TryDevice& device, const RunNetwork& run, const Timeouts& timeouts,
           const OutputDigest& expected, Slot& slot) {
  OutputDigest outputs;
  std::string stopped;
  try {
    outputs = run(device, timeouts);
  } catch (const SameResults&) {
    outputs = expected;
  } catch (const Endless&) {
    stopped = "the program does not end";
  } catch (const AllTried&) {
    return;
  } catch (const std::exception& error) {
    stopped = error.what();
  }
  if (!device.is_try()) {
    // Nothing was to go wrong.
    if (stopped.empty()) stopped = outputs.error;
    set_text(slot.error, sizeof slot.error, stopped);
    return;
  }
  slot.clock = device.clock_of_fault();
  slot.results = device.results();
  slot.cycles = device.cycles_of_try();
  const std::string& error = stopped.empty() ? outputs.error : stopped;
  set_text(slot.error, sizeof slot.error, error);
  if (!error.empty()) {
    slot.outcome = device.reported() ? NetworkOutcome::kDetected : NetworkOutcome::kStopped;
  } else {
    slot.outputs = outputs.digest;
    slot.top1_changed = outputs.best != expected.best;
    const bool again = device.ran_again() || device.reported();
    slot.outcome = again                               ? NetworkOutcome::kDetected
                   : outputs.digest != expected.digest ? NetworkOutcome::kSilent
                                                       : NetworkOutcome::kMasked;
  }
  slot.ended = true;
}

/// Runs body(i) for each i below `count` in processes, at most `jobs` at once, and looks now and
/// then. Returns how many did not end by themselves.
std::size_t in_processes(std::size_t count, unsigned jobs,
                         const std::function<void(std::size_t)>& body,
                         const std::function<void()>& look) {
  std::size_t failed = 0;
  std::vector<pid_t> running;
  for (std::size_t next = 0; next < count || !running.empty();) {
    if (next < count && running.size() < jobs) {
      const pid_t copy = fork_process();
      if (copy == 0) {
        body(next);
        _exit(0);
      }
      running.push_back(copy);
      ++next;
      continue;
    }
    running.erase(std::remove_if(running.begin(), running.end(),
                                 [&](pid_t process) {
                                   int status = 0;
                                   if (waitpid(process, &status, WNOHANG) != process) return false;
                                   failed += status != 0;
                                   return true;
                                 }),
                  running.end());
    look();
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return failed;
}

TriedNetworkFault tried_of(const NetworkTry& drawn, const Slot& slot, const Survey& survey) {
  TriedNetworkFault tried;
  tried.drawn = drawn;
  if (!slot.ended) {  // the program had ended before the fault
    tried.outputs = survey.outputs.digest;
    tried.results = survey.results.at(drawn.program);
    return tried;
  }
  tried.drawn.fault.clock = slot.clock;
  tried.outcome = slot.outcome;
  tried.top1_changed = slot.top1_changed;
  tried.error = slot.error;
  tried.outputs = slot.outputs;
  tried.results = slot.results;
  tried.cycles = slot.cycles;
  return tried;
}

/// Are they the same? Messages of what stopped a run name cycles of the whole run.
bool is_same(const TriedNetworkFault& a, const TriedNetworkFault& b) {
  return a.outcome == b.outcome && a.top1_changed == b.top1_changed && a.outputs == b.outputs &&
         a.results == b.results && (a.outcome == NetworkOutcome::kStopped || a.error == b.error);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Of all processes that have ended.
double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Survey survey_of(const NetworkCampaignOptions& options, const NetworkCampaignDevices& devices,
                 const RunNetwork& run) {
  const std::unique_ptr<Device> fast = devices.fast();
  SurveyDevice device(*fast);
  OutputDigest outputs = run(device, timeouts_of(options));
  if (!outputs.error.empty()) throw DeviceError(outputs.error);
  Survey survey = device.finish();
  survey.outputs = std::move(outputs);
  if (survey.programs.empty()) {
    throw UsageError(fmt::format(
        "{}: none of its layers runs on the device; quantize it with gemm64 quantize, or give "
        "--calibrate",
        options.model));
  }
  return survey;
}

class Campaign {
 public:
  Campaign(const NetworkCampaignOptions& options, const NetworkCampaignDevices& devices,
           const RunNetwork& run)
      : options_(options),
        devices_(devices),
        run_(run),
        timeouts_(timeouts_of(options)),
        survey_(survey_of(options, devices, run)),
        slots_(options.count) {
    const Geometry geometry = read_geometry(*devices.rtl());
    for (std::uint64_t i = 0; i < options.count; ++i) {
      tries_.push_back(
          draw_network_try(options.seed, options.first + i, geometry, survey_.programs));
    }
  }

  NetworkCampaignReport carry_out(const NetworkCampaignProgress& progress) {
    NetworkCampaignReport report;
    report.model = options_.model;
    report.array = options_.array;
    report.seed = options_.seed;
    report.self_check = options_.self_check;
    report.programs = survey_.programs;
    report.jobs = std::max(options_.jobs, 1U);
    const auto begin = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    try_all(report.jobs, progress);
    for (std::size_t i = 0; i < tries_.size(); ++i) {
      report.tries.push_back(tried_of(tries_[i], slots_[i], survey_));
    }
    report.seconds = seconds_since(begin);
    report.processor_seconds = processor_seconds() - processor;
    repeat(report);
    return report;
  }

 private:
  void try_all(unsigned jobs, const NetworkCampaignProgress& progress) {
    Numbers order(tries_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return std::make_tuple(tries_[a].program, tries_[a].fault.clock, a) <
             std::make_tuple(tries_[b].program, tries_[b].fault.clock, b);
    });
    const std::size_t parts = std::min<std::size_t>(jobs, tries_.size());
    Shared<Slot> own(parts);  // of each process, for what must not be
    const auto look = [&] {
      std::uint64_t ended = 0;
      for (std::size_t i = 0; i < slots_.size(); ++i) ended += slots_[i].ended;
      if (progress) progress(ended, slots_.size());
    };
    const auto part_begin = [&](std::size_t part) {
      return order.begin() + static_cast<std::ptrdiff_t>(part * order.size() / parts);
    };
    const std::size_t failed = in_processes(
        parts, jobs,
        [&](std::size_t part) {
          try_some({part_begin(part), part_begin(part + 1)}, own[part]);
        },
        look);
    for (std::size_t part = 0; part < parts; ++part) {
      if (own[part].error[0] != '\0') throw DeviceError(own[part].error);
    }
    if (failed != 0) throw DeviceError("a process of the campaign was ended from outside");
  }

  void try_some(const Numbers& numbers, Slot& own) {
    const std::unique_ptr<DebugDevice> rtl = devices_.rtl();
    const std::unique_ptr<Device> fast = devices_.fast();
    ForkingDevice device(*rtl, *fast, survey_, timeouts_, tries_, numbers);
    Slot slot;
    judge(device, run_, timeouts_, survey_.outputs, slot);
    if (device.is_try()) {
      slots_[device.number()] = slot;
      _exit(0);
    }
    own = slot;
  }

  void repeat(NetworkCampaignReport& report) {
    const auto begin = std::chrono::steady_clock::now();
    report.repeated = std::min<std::size_t>(options_.repeat, report.tries.size());
    Shared<Slot> slots(report.repeated);
    const auto number = [&](std::size_t i) { return i * report.tries.size() / report.repeated; };
    const std::size_t failed = in_processes(
        report.repeated, report.jobs,
        [&](std::size_t i) {
          const std::unique_ptr<DebugDevice> rtl = devices_.rtl();
          WholeDevice device(*rtl, survey_, timeouts_, report.tries[number(i)].drawn);
          judge(device, run_, timeouts_, survey_.outputs, slots[i]);
        },
        [] {});
    if (failed != 0) throw DeviceError("a process of a repeated try was ended from outside");
    for (std::size_t i = 0; i < report.repeated; ++i) {
      TriedNetworkFault whole = tried_of(report.tries[number(i)].drawn, slots[i], survey_);
      if (!is_same(report.tries[number(i)], whole)) {
        report.otherwise.push_back({number(i), std::move(whole)});
      }
    }
    report.repeat_seconds = seconds_since(begin);
  }

  const NetworkCampaignOptions& options_;
  const NetworkCampaignDevices& devices_;
  const RunNetwork& run_;
  const Timeouts timeouts_;
  const Survey survey_;
  std::vector<NetworkTry> tries_;
  Shared<Slot> slots_;  // of each try
};

}  // namespace

std::uint64_t digest_of(const void* data, std::size_t bytes, std::uint64_t from) {
  constexpr std::uint64_t kFactor = 0x9fb21c651e98df25U;
  const auto mixed = [](std::uint64_t digest, std::uint64_t word) {
    digest = (digest ^ word) * kFactor;
    return digest ^ digest >> 32;
  };
  const auto* next = static_cast<const std::uint8_t*>(data);
  std::uint64_t digest = mixed(from, bytes);
  for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, sizeof word);
    digest = mixed(digest, word);
    next += sizeof word;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, next, bytes);
  return mixed(digest, rest);
}

NetworkCampaignReport run_network_campaign(const NetworkCampaignOptions& options,
                                           const NetworkCampaignDevices& devices,
                                           const RunNetwork& run,
                                           const NetworkCampaignProgress& progress) {
  return Campaign(options, devices, run).carry_out(progress);
}

}  // namespace gemm64
