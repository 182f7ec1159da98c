// SPDX-License-Identifier: Apache-2.0
// Faults of every kind, each with the end that is known of it, and campaigns of them.

#include "host/faults/fault_campaign.hpp"
#include "sim/models/devices.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"

namespace gemm64::system_test {
namespace {

std::unique_ptr<DebugDevice> make_rtl(const DeviceOptions& options) {
  return devices().find("rtl").make_inspectable(options, TraceOptions());
}

/// 8 x 24 x 8 on 8 x 8: three tiles of weights, one block of results. The reset takes 8 cycles, and
/// the commands start within 100.
FaultTry example(const char* fault, std::uint64_t clock) {
  FaultTry t;
  t.array = 8;
  t.shape = {8, 24, 8};
  t.memory.latency = 7;
  t.seed = 3;
  t.watchdog = 1500;
  t.fault = parse_fault(std::string(fault) + "@" + std::to_string(clock));
  return t;
}

constexpr std::uint64_t kStarted = 100;

TriedFault outcome(const char* fault, std::uint64_t clock) {
  return carry_out(example(fault, clock), make_rtl);
}

/// The outcomes of a fault in each cycle of the run.
std::set<FaultOutcome> outcomes(const char* fault) {
  std::set<FaultOutcome> found;
  for (std::uint64_t clock = 8; clock < 190; clock += 3)
    found.insert(outcome(fault, clock).outcome);
  return found;
}

/// What the run says that such a fault stops, from a cycle before its commands start.
std::string stop(const char* fault) {
  const TriedFault tried = outcome(fault, 8);
  EXPECT_TRUE(tried.outcome == FaultOutcome::kDeviceError ||
              tried.outcome == FaultOutcome::kStopped)
      << fault << ": " << name(tried.outcome);
  return tried.error;
}

TEST(FaultKinds, FlippedOperandsAreMaskedOrFound) {
  const std::set<FaultOutcome> both{FaultOutcome::kMasked, FaultOutcome::kWrongSums};
  EXPECT_EQ(outcomes("weight:3,5:6"), both);
  EXPECT_EQ(outcomes("activation:3,0:6"), both);
  EXPECT_EQ(outcomes("partial-sum:1,5:9"), both);
  EXPECT_EQ(outcomes("accumulator:0,2,3:9"), both);
}

TEST(FaultKinds, AFlippedBitOfAResultIsAlwaysFound) {
  EXPECT_EQ(outcome("result:0:0", 8).outcome, FaultOutcome::kWrongSums);
  EXPECT_EQ(outcome("result:7:7", 8).outcome, FaultOutcome::kWrongSums);
}

TEST(FaultKinds, FlippedBitOfCommandIsFound) {
  EXPECT_THAT(stop("command:0:7"), Says("BAD_OPCODE"));
  EXPECT_THAT(stop("command:4:0"), Says("BAD_ADDRESS"));
  // Words 6 to 15 have no meaning.
  EXPECT_EQ(outcome("command:6:0", 8).outcome, FaultOutcome::kMasked);
  // The first command loads; 32 bytes further lie other operands.
  EXPECT_EQ(outcome("command:4:5", 8).outcome, FaultOutcome::kWrongSums);
}

TEST(FaultKinds, FlippedBitOfRegisterActsAsWrite) {
  // A base above the bus, between the writes of its halves: the second one is refused.
  std::string refused;
  for (std::uint64_t clock = 1; clock < kStarted && refused.empty(); ++clock) {
    refused = outcome("register:RING_BASE_HIGH:31", clock).error;
  }
  EXPECT_THAT(refused, Says("answered with SLVERR"));
  // Later the bits above the bus lead nowhere, and those below it away from the ring.
  EXPECT_EQ(outcome("register:RING_BASE_HIGH:31", kStarted).outcome, FaultOutcome::kMasked);
  EXPECT_THAT(outcomes("register:RING_BASE_HIGH:7"), testing::Contains(FaultOutcome::kDeviceError));
  // Without DONE in INTERRUPT_ENABLE only its own limit ends the driver's wait.
  EXPECT_THAT(stop("register:INTERRUPT_ENABLE:0"), Says("no interrupt"));
  EXPECT_EQ(outcome("register:INTERRUPT_ENABLE:1", 8).outcome, FaultOutcome::kMasked);
  // The driver believes that all is done; whether sums are missing when it reads them, or counters
  // only, depends on how soon it does.
  EXPECT_THAT(
      outcomes("register:INTERRUPT:0"),
      testing::Contains(testing::AnyOf(FaultOutcome::kWrongSums, FaultOutcome::kWrongCounters)));
  // The device reports an error that it does not have.
  EXPECT_THAT(outcomes("register:INTERRUPT:1"), testing::Contains(FaultOutcome::kStopped));
  EXPECT_THAT(outcomes("register:CONTROL:1"), testing::Contains(FaultOutcome::kWrongCounters));
  // Two commands more than there are: they are fetched, after the last one.
  EXPECT_THAT(outcomes("register:RING_TAIL:1"), testing::Contains(FaultOutcome::kWrongCounters));
  EXPECT_EQ(outcome("register:WATCHDOG:30", 8).outcome, FaultOutcome::kMasked);
}

TEST(FaultKinds, ALostHandshakeStopsTheWork) {
  for (const char* fault :
       {"lost:weights.ar", "lost:weights.r", "lost:data.ar", "lost:results.aw", "lost:results.b"}) {
    EXPECT_THAT(stop(fault), Says("WATCHDOG")) << fault;
  }
  // The first beat of a command: its second one is taken for it.
  EXPECT_THAT(stop("lost:data.r"), Says("BAD_OPCODE"));
  EXPECT_THAT(stop("lost:results.w"), Says("AXI port results"));
}

TEST(FaultKinds, RepeatedHandshakeIsFound) {
  for (const char* fault :
       {"repeated:weights.ar", "repeated:weights.r", "repeated:data.ar", "repeated:data.r"}) {
    const FaultOutcome found = outcome(fault, 8).outcome;
    EXPECT_TRUE(found == FaultOutcome::kWrongSums || found == FaultOutcome::kDeviceError ||
                found == FaultOutcome::kWrongCounters)
        << fault << ": " << name(found);
  }
  EXPECT_THAT(stop("repeated:results.w"), Says("wlast"));
  // The only block's data are all written when these come.
  EXPECT_EQ(outcome("repeated:results.aw", 8).outcome, FaultOutcome::kMasked);
  EXPECT_EQ(outcome("repeated:results.b", 8).outcome, FaultOutcome::kMasked);
}

TEST(FaultKinds, BusErrorStopsTheWork) {
  for (const char* port : {"weights", "data", "results"}) {
    EXPECT_THAT(stop((std::string("slverr:") + port).c_str()), Says("BUS_SLAVE")) << port;
    EXPECT_THAT(stop((std::string("decerr:") + port).c_str()), Says("BUS_DECODE")) << port;
  }
}

TEST(FaultKinds, AHangIsStoppedByTheWatchdog) {
  for (const char* fault : {"hang:weights", "hang:data", "hang:results"}) {
    EXPECT_THAT(stop(fault), Says("WATCHDOG")) << fault;
  }
}

/// A check that finds nothing.
bool blind(const RunReport&) { return true; }

TEST(Campaign, CallsUnnoticedWhatBlindCheckPasses) {
  EXPECT_EQ(carry_out(example("result:0:0", 8), make_rtl).outcome, FaultOutcome::kWrongSums);
  EXPECT_EQ(carry_out(example("result:0:0", 8), make_rtl, blind).outcome, FaultOutcome::kUnnoticed);
  EXPECT_EQ(carry_out(example("command:6:0", 8), make_rtl, blind).outcome, FaultOutcome::kMasked);
}

/// Everything as the device after it, but for what a test changes.
class Wrapped : public WrappedDevice<DebugDevice&, DebugDevice> {
 public:
  explicit Wrapped(std::unique_ptr<DebugDevice> inner)
      : WrappedDevice(*inner), inner_(std::move(inner)) {}
  void observe(Observer& observer) override { inner_->observe(observer); }
  void trace(std::uint64_t begin, std::uint64_t end) override { inner_->trace(begin, end); }
  void inject(const Fault& fault) override { inner_->inject(fault); }

 private:
  const std::unique_ptr<DebugDevice> inner_;
};

/// Gives other sums than those that it has.
class Liar : public Wrapped {
 public:
  using Wrapped::Wrapped;
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    Wrapped::read_memory(address, data, bytes);
    static_cast<std::uint8_t*>(data)[bytes - 1] ^= 1;
  }
};

TEST(Campaign, FindsWrongDevice) {
  const auto make = [](const DeviceOptions& options) {
    return std::make_unique<Liar>(make_rtl(options));
  };
  EXPECT_EQ(carry_out(example("command:6:0", 8), make).outcome, FaultOutcome::kWrongSums);
  EXPECT_EQ(carry_out(example("command:6:0", 8), make, blind).outcome, FaultOutcome::kUnnoticed);
}

/// Its time stands still, so that no limit of the driver's is ever reached.
class Timeless : public Wrapped {
 public:
  using Wrapped::Wrapped;
  std::uint64_t cycles() const override { return 0; }
  bool wait_interrupt(std::uint64_t cycles) override {
    Wrapped::wait_interrupt(cycles);
    return false;
  }
};

TEST(Campaign, CallsHungWhatNothingEnds) {
  FaultTry t = example("command:6:0", 8);
  t.array = 2;  // the fastest
  t.shape = {1, 1, 1};
  EXPECT_EQ(carry_out(
                t,
                [](const DeviceOptions& options) {
                  return std::make_unique<Timeless>(make_rtl(options));
                },
                run_check, 100'000)
                .outcome,
            FaultOutcome::kHung);
}

TEST(Campaign, PassesOnWhatADeviceCannotBeBuiltFor) {
  CampaignOptions options;
  options.array = 5;
  options.jobs = 2;
  EXPECT_THROW(run_campaign(options, make_rtl), UsageError);
}

CampaignReport campaign(std::uint64_t count, unsigned jobs, FaultPrograms programs = {}) {
  CampaignOptions options;
  options.array = 4;
  options.programs = programs;
  options.count = count;
  options.seed = 11;
  options.jobs = jobs;
  return run_campaign(options, make_rtl);
}

TEST(Campaign, HoldsForAFewHundredFaults) {
  const CampaignReport report = campaign(420, 2);
  ASSERT_EQ(report.tries.size(), 420u);
  for (const TriedFault& tried : report.tries) {
    EXPECT_TRUE(tried.outcome != FaultOutcome::kHung && tried.outcome != FaultOutcome::kUnnoticed &&
                !tried.misdiagnosed)
        << name(tried.outcome) << ": " << command_of(tried.fault_try) << "\n"
        << tried.diagnosis;
  }
  EXPECT_TRUE(report.holds());
  for (const auto outcome :
       {FaultOutcome::kMasked, FaultOutcome::kWrongSums, FaultOutcome::kWrongCounters,
        FaultOutcome::kDeviceError, FaultOutcome::kStopped}) {
    EXPECT_GT(report.count(outcome), 0u) << name(outcome);
  }
  for (std::size_t i = 0; i < kFaultPrograms; ++i) {
    const auto program = static_cast<FaultProgram>(i);
    EXPECT_GT(report.count(program, {}, FaultOutcome::kWrongSums), 0u) << name(program);
    EXPECT_GT(report.count(program, {}, FaultOutcome::kDeviceError), 0u) << name(program);
  }
}

/// Every program that is drawn, without its fault: what each must give is right.
TEST(Campaign, ProgramsWithoutAFaultAreVerified) {
  for (const int array : {4, 8}) {
    DeviceOptions options;
    options.array = array;
    const Geometry geometry = read_geometry(*make_rtl(options));
    for (std::uint64_t index = 0; index < 240; ++index) {
      FaultTry drawn = draw_try(21, {}, index, geometry);
      drawn.fault = parse_fault("hang:data@100000000");
      const TriedFault tried = carry_out(drawn, make_rtl);
      EXPECT_EQ(tried.outcome, FaultOutcome::kMasked)
          << name(tried.outcome) << ": " << command_of(draw_try(21, {}, index, geometry)) << "\n"
          << tried.error << tried.diagnosis;
    }
  }
}

/// Faults of one kind in such programs until one is found by the host.
void expect_found(FaultProgram program, Fault::Kind kind) {
  SCOPED_TRACE(std::string(name(program)) + ", " + name(kind));
  DeviceOptions options;
  options.array = 4;
  const Geometry geometry = read_geometry(*make_rtl(options));
  const std::vector<Fault::Kind>& kinds = kinds_of(program);
  const auto place = std::find(kinds.begin(), kinds.end(), kind);
  ASSERT_NE(place, kinds.end());
  for (auto index = static_cast<std::uint64_t>(place - kinds.begin()); index < 120 * kinds.size();
       index += kinds.size()) {
    const TriedFault tried = carry_out(draw_try(2, program, index, geometry), make_rtl);
    ASSERT_EQ(tried.fault_try.fault.kind, kind);
    ASSERT_NE(tried.outcome, FaultOutcome::kUnnoticed);
    if (tried.outcome != FaultOutcome::kWrongSums) continue;
    EXPECT_FALSE(tried.misdiagnosed) << command_of(tried.fault_try) << "\n" << tried.diagnosis;
    // The same try with a check that finds nothing.
    EXPECT_EQ(carry_out(draw_try(2, program, index, geometry), make_rtl, blind).outcome,
              FaultOutcome::kUnnoticed);
    return;
  }
  FAIL() << "none of 120 such faults changed a result";
}

TEST(Campaign, FindsFaultsOfEveryKind) {
  using Kind = Fault::Kind;
  for (const Kind kind : {Kind::kWeight, Kind::kActivation, Kind::kPartialSum, Kind::kAccumulator,
                          Kind::kScratchpad, Kind::kBias, Kind::kScale}) {
    expect_found(FaultProgram::kConvolutions, kind);
  }
  for (const Kind kind : {Kind::kLaneWeight, Kind::kLaneLine, Kind::kLaneValue, Kind::kLaneSum,
                          Kind::kAccumulator, Kind::kScratchpad, Kind::kBias, Kind::kScale}) {
    expect_found(FaultProgram::kLanes, kind);
  }
  for (const Kind kind : {Kind::kOperand, Kind::kTable, Kind::kVector, Kind::kScale}) {
    expect_found(FaultProgram::kVector, kind);
  }
}

/// A command that turns into another one: what it was to compute or to store never comes.
TEST(Campaign, ReportsResultThatNothingStored) {
  DeviceOptions options;
  options.array = 4;
  const Geometry geometry = read_geometry(*make_rtl(options));
  for (std::uint64_t index = 0; index < 1600; ++index) {
    FaultTry drawn = draw_try(3, FaultProgram::kLanes, index, geometry);
    if (drawn.fault.kind != Fault::Kind::kCommand) continue;
    drawn.fault.place = 0;
    drawn.fault.bit = index % 2 != 0 ? 2 : 0;
    const TriedFault tried = carry_out(drawn, make_rtl);
    EXPECT_THAT(tried.diagnosis, Lacks("did not fail again"));
    if (tried.diagnosis.find("nothing computed or stored it") != std::string::npos) return;
  }
  FAIL() << "no STORE was lost";
}

TEST(Campaign, IsTheSameWithAnyNumberOfJobs) {
  const CampaignReport single = campaign(124, 1);
  const CampaignReport together = campaign(124, 3);
  ASSERT_EQ(single.tries.size(), together.tries.size());
  for (std::size_t i = 0; i < single.tries.size(); ++i) {
    EXPECT_EQ(command_of(single.tries[i].fault_try), command_of(together.tries[i].fault_try));
    EXPECT_EQ(single.tries[i].outcome, together.tries[i].outcome) << i;
    EXPECT_EQ(single.tries[i].error, together.tries[i].error) << i;
    EXPECT_EQ(single.tries[i].diagnosis, together.tries[i].diagnosis) << i;
  }
}

TEST(Campaign, BeginsAtGivenNumber) {
  CampaignOptions options;
  options.array = 4;
  options.programs = FaultProgram::kLanes;
  options.seed = 11;
  options.first = 5;
  options.count = 1;
  const CampaignReport one = run_campaign(options, make_rtl);
  const CampaignReport all = campaign(6, 2, FaultProgram::kLanes);
  ASSERT_EQ(one.tries.size(), 1u);
  EXPECT_EQ(to_string(one.tries[0].fault_try.fault), to_string(all.tries[5].fault_try.fault));
  EXPECT_EQ(one.tries[0].outcome, all.tries[5].outcome);
  EXPECT_EQ(command_of(one.tries[0].fault_try),
            "gemm64 faults --program lanes --array 4 --seed 11 --first 5 --count 1");
}

}  // namespace
}  // namespace gemm64::system_test
