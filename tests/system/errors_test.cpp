// SPDX-License-Identifier: Apache-2.0
// Errors are reported with code, command and engine; then the same driver runs a correct job, to
// the value and to the clock.

#include "host/device/depthwise.hpp"
#include "host/device/reference_device.hpp"
#include "host/device/registers.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kClockLimit = 1'000'000;

/// The start of DeviceError's message after the device's name.
std::string message(ErrorCode code, std::size_t command, const std::string& opcode, Engine engine) {
  return fmt::format("{} at command {} ({}", name(code), command, opcode) + "|" +
         fmt::format("found by engine '{}'", name(engine));
}

void expect_message(const std::string& found, const std::string& expected) {
  const std::size_t bar = expected.find('|');
  EXPECT_THAT(found, Says(expected.substr(0, bar), expected.substr(bar + 1)));
}

void expect_works(Rig& rig, std::mt19937& random) {
  SCOPED_TRACE("a correct job afterwards");
  expect_exact(rig, {{19, 2 * rig.driver.geometry().n + 1, 21}, Accumulate::kDevice, 40}, random);
}

// Two blocks of rows of different heights: two groups of four commands, and FINISH.
Workload two_groups(const Rig& rig) {
  return {{131, 3 * rig.driver.geometry().n + 1, 2 * rig.driver.geometry().n + 1},
          Accumulate::kDevice,
          30};
}

enum class Port { kWeights, kCommands, kActivations, kResults };

std::uint64_t commands_of(const Rig& rig, const Workload& work) {
  return make_job(rig, work).program.size();
}

std::uint64_t bursts_of(Rig& rig, const Workload& work, const Operands& operands, Port port) {
  RtlPorts ports = rig.device->ports();
  ports.weights.clear_statistics();
  ports.data.clear_statistics();
  ports.results.clear_statistics();
  run(rig, work, operands);
  switch (port) {
    case Port::kWeights:
      return ports.weights.statistics().bursts;
    case Port::kCommands:
      return commands_of(rig, work);
    case Port::kActivations:
      return ports.data.statistics().bursts - commands_of(rig, work);
    default:
      return ports.results.statistics().bursts;
  }
}

/// Lets burst number `burst` of the next run be answered with SLVERR.
void fail_burst(Rig& rig, const Workload& work, Port port, std::uint64_t burst,
                AxiReadPort::FailedBeat beat) {
  RtlPorts ports = rig.device->ports();
  if (port == Port::kWeights) ports.weights.fail_burst(burst, beat);
  if (port == Port::kCommands) ports.data.fail_burst(burst, beat);
  if (port == Port::kActivations) ports.data.fail_burst(commands_of(rig, work) + burst, beat);
  if (port == Port::kResults) ports.results.fail_burst(burst);
}

/// Fails each burst of a port in turn; `last` fails the last beat of a read instead of the first.
void expect_errors_told(int n, Port port, bool last) {
  SCOPED_TRACE(fmt::format("N = {}, {} beat", n, last ? "last" : "first"));
  Rig rig(n);
  std::mt19937 random(800);
  const Workload work = two_groups(rig);
  const Operands operands = random_operands(random, work.shape);
  const std::uint64_t bursts = bursts_of(rig, work, operands, port);
  ASSERT_GE(bursts, 2u);
  const std::uint64_t step = std::max<std::uint64_t>(1, bursts / 24);
  const auto beat = last ? AxiReadPort::FailedBeat::kLast : AxiReadPort::FailedBeat::kFirst;
  for (std::uint64_t burst = 0; burst < bursts; burst += burst + step < bursts ? step : 1) {
    SCOPED_TRACE(fmt::format("burst {} of {}", burst, bursts));
    fail_burst(rig, work, port, burst, beat);
    const std::string found = message_of<DeviceError>([&] { run(rig, work, operands); });
    for (const std::uint32_t offset : {reg::kFaultTile, reg::kFaultRow, reg::kFaultMemory}) {
      EXPECT_EQ(rig.device->read_register(offset), 0u) << "it finds no faults of its own";
    }
    switch (port) {
      case Port::kWeights:
        // Both groups load the same bursts.
        expect_message(found, message(ErrorCode::kBusSlave, burst < bursts / 2 ? 0 : 4,
                                      "LOAD_WEIGHTS", Engine::kWeights));
        break;
      case Port::kCommands:
        expect_message(found, message(ErrorCode::kBusSlave, burst, "", Engine::kCommands));
        break;
      default: {
        const bool stored = port == Port::kResults;
        const std::string opcode = stored ? "STORE" : "LOAD_ACTIVATIONS";
        const Engine engine = stored ? Engine::kResults : Engine::kActivations;
        EXPECT_THAT(found, Says(opcode));
        if (burst != 0 && burst != bursts - 1) break;
        const std::size_t command = (stored ? 3 : 1) + (burst == 0 ? 0 : 4);
        expect_message(found, message(ErrorCode::kBusSlave, command, opcode, engine));
      }
    }
    expect_works(rig, random);
    if (testing::Test::HasFailure()) return;
  }
}

void expect_errors_reported(Port port) {
  for (const int n : {2, 8}) {
    expect_errors_told(n, port, false);
    if (port != Port::kResults) expect_errors_told(n, port, true);
  }
}

TEST(BusErrors, OfWeightsAreReported) { expect_errors_reported(Port::kWeights); }
TEST(BusErrors, OfCommandsAreReported) { expect_errors_reported(Port::kCommands); }
TEST(BusErrors, OfActivationsAreReported) { expect_errors_reported(Port::kActivations); }
TEST(BusErrors, OfResultsAreReported) { expect_errors_reported(Port::kResults); }

/// The data port's third burst: the first two bring the commands.
TEST(BusErrors, OfParametersAndOperandsAreReported) {
  for (const int n : {2, 8}) {
    SCOPED_TRACE(fmt::format("N = {}", n));
    Rig rig(n);
    std::mt19937 random(805);
    for (const Command& load :
         std::initializer_list<Command>{load_parameters(0x1000, 8), load_operands(0x1000, 8)}) {
      const Engine engine =
          load.opcode == Opcode::kLoadParameters ? Engine::kParameters : Engine::kOperands;
      RtlPorts ports = rig.device->ports();
      ports.data.fail_burst(2, AxiReadPort::FailedBeat::kFirst);
      const std::string found = message_of<DeviceError>([&] {
        rig.driver.run_program(0, {load, finish()}, kClockLimit);
      });
      expect_message(found, message(ErrorCode::kBusSlave, 0, name(load.opcode), engine));
      expect_works(rig, random);
    }
  }
}

TEST(BusErrors, UnderStallsAreReported) {
  for_seeds(810, 60, [](std::mt19937& random) {
    Rig rig(8, 0.5, static_cast<std::uint32_t>(random()));
    const Workload work = two_groups(rig);
    const Operands operands = random_operands(random, work.shape);
    const Port port = static_cast<Port>(draw(random, 0, 3));
    const auto bursts = static_cast<unsigned>(bursts_of(rig, work, operands, port));
    fail_burst(rig, work, port, draw(random, 0, bursts - 1), AxiReadPort::FailedBeat::kFirst);
    const std::string found = message_of<DeviceError>([&] { run(rig, work, operands); });
    EXPECT_THAT(found, Says("BUS_SLAVE"));
    expect_values(rig, work, operands);
  });
}

/// A device small enough that its end can be reached, as RTL and as reference.
struct Pair {
  explicit Pair(int n, std::uint64_t bytes = 1 << 20)
      : rig(options(n, bytes)),
        reference(rig.driver.geometry(), bytes),
        reference_driver(reference) {}
  static RtlOptions options(int n, std::uint64_t bytes) {
    RtlOptions options = Rig::options(n);
    options.memory_bytes = bytes;
    return options;
  }

  /// Both must fail with the same words.
  void expect_error(const std::vector<Command>& program, const std::string& expected) {
    const std::string rtl =
        message_of<DeviceError>([&] { rig.driver.run_program(0, program, kClockLimit); });
    const std::string other =
        message_of<DeviceError>([&] { reference_driver.run_program(0, program, kClockLimit); });
    expect_message(rtl, expected);
    const std::string prefix = "device 'rtl'", other_prefix = "device 'reference'";
    ASSERT_EQ(rtl.compare(0, prefix.size(), prefix), 0) << rtl;
    ASSERT_EQ(other.compare(0, other_prefix.size(), other_prefix), 0) << other;
    EXPECT_EQ(rtl.substr(prefix.size()), other.substr(other_prefix.size()));
  }

  Rig rig;
  ReferenceDevice reference;
  Driver reference_driver;
};

class Faults : public testing::TestWithParam<int> {
 protected:
  const std::uint32_t n = static_cast<std::uint32_t>(GetParam());
  const std::uint64_t end = 1 << 20;
  Pair pair{GetParam()};
  std::mt19937 random{820};
};

TEST_P(Faults, FormatsOfResultsAreChecked) {
  Command bad = store(0x3000, n);
  bad.format = 15;
  pair.expect_error({bad, finish()},
                    message(ErrorCode::kBadOperand, 0, "STORE", Engine::kCommands));
  expect_works(pair.rig, random);
}

TEST_P(Faults, AddressesOutsideMemoryAreReported) {
  const auto rest = [&](Command weights, Command activations, Command results) {
    return std::vector<Command>{weights, activations, matmul(n), results, finish()};
  };
  const Command weights = load_weights(0x1000, n), activations = load_activations(0x2000, n),
                results = store(0x3000, n);
  // At the end, far beyond it, and a burst of which only the last word is outside.
  for (const std::uint64_t address : {end, std::uint64_t{1} << 39, end - n * (n - 1)}) {
    pair.expect_error(rest(load_weights(address, n), activations, results),
                      message(ErrorCode::kBusDecode, 0, "LOAD_WEIGHTS", Engine::kWeights));
    pair.expect_error(rest(weights, load_activations(address, n), results),
                      message(ErrorCode::kBusDecode, 1, "LOAD_ACTIVATIONS", Engine::kActivations));
    pair.expect_error({load_operands(address, n), finish()},
                      message(ErrorCode::kBusDecode, 0, "LOAD_OPERANDS", Engine::kOperands));
  }
  for (const std::uint64_t address : {end, std::uint64_t{1} << 39, end - 4 * n * n + n}) {
    pair.expect_error(rest(weights, activations, store(address, n)),
                      message(ErrorCode::kBusDecode, 3, "STORE", Engine::kResults));
  }
  for (const std::uint64_t address : {end, std::uint64_t{1} << 39, end - kSnapshotBytes + n}) {
    pair.expect_error({weights, snapshot(address), finish()},
                      message(ErrorCode::kBusDecode, 1, "FENCE", Engine::kResults));
  }
  expect_works(pair.rig, random);
}

TEST_P(Faults, RingOutsideMemoryIsReported) {
  Device& device = *pair.rig.device;
  for (const std::uint64_t base : {end, end - 64}) {
    device.write_register(reg::kRingBaseLow, static_cast<std::uint32_t>(base));
    put(device, end - 64, load_weights(0x1000, 1));
    device.write_register(reg::kRingTail, 2);
    ASSERT_TRUE(device.wait_interrupt(10000));
    const std::uint32_t error = device.read_register(reg::kError);
    EXPECT_EQ(error, field::kErrorCode.put(static_cast<std::uint32_t>(ErrorCode::kBusDecode)) |
                         field::kErrorCommand.put(base == end ? 0 : 1));
    pair.rig.driver.reset();
  }
  expect_works(pair.rig, random);
}

TEST_P(Faults, UnknownOpcodesAreReported) {
  for (const unsigned opcode : {0u, 11u, 12u, 0x81u, 255u}) {
    Command bad = finish();
    bad.opcode = static_cast<Opcode>(opcode);
    pair.expect_error({bad}, message(ErrorCode::kBadOpcode, 0, "", Engine::kCommands));
    pair.expect_error({load_weights(0x1000, n), matmul(1), bad, finish()},
                      message(ErrorCode::kBadOpcode, 2, "", Engine::kCommands));
  }
  expect_works(pair.rig, random);
}

TEST_P(Faults, BadOperandsAreReported) {
  std::vector<Command> bad;
  bad.push_back(load_weights(0, 0));
  bad.push_back(load_weights(0, 1, 0));
  bad.push_back(load_activations(0, 0));
  bad.push_back(load_activations(0, 1, 0));
  bad.push_back(load_activations(0, 1, 1, 0));
  bad.push_back(load_parameters(0, 0));
  bad.push_back(load_parameters(0, 8, 0));
  for (std::uint32_t Command::*const field :
       {&Command::rows, &Command::count, &Command::passes, &Command::blocks}) {
    bad.push_back(load_operands(0, 1));
    bad.back().*field = 0;
  }
  for (const std::uint32_t rows : {0u, 129u, 0x8001u, 0xffffu}) {
    bad.push_back(matmul(rows));
    bad.push_back(store(0x3000, rows));
    bad.push_back(load_activations(0, 1));
    bad.back().rows = rows;
  }
  bad.push_back(store(0x3000, 1));
  bad.back().blocks = 0;
  // The least result above the largest, by sign.
  for (const auto& [code, low, high] : {std::tuple{ResultCode::kInt8, 0u, 0xffu},
                                        {ResultCode::kInt8, 0x7fu, 0x80u},
                                        {ResultCode::kUint8, 0x80u, 0x7fu},
                                        {ResultCode::kUint8, 1u, 0u}}) {
    bad.push_back(store(0x3000, 1));
    bad.back().format = ResultFormat(code).number();
    bad.back().low = low;
    bad.back().high = high;
  }
  bad.push_back(matmul(1, 0));
  bad.push_back(matmul(1, 1, 0));
  bad.push_back(matmul(1, 1, 1, 0));
  bad.push_back(store(0x3000, 1, 0));
  for (const Command& command : bad) {
    SCOPED_TRACE(to_string(command));
    pair.expect_error({load_activations(0x2000, 1), command, finish()},
                      message(ErrorCode::kBadOperand, 1, name(command.opcode), Engine::kCommands));
  }
  expect_works(pair.rig, random);
}

/// What is found two cycles after the dispatch names the STORE, not the command after it.
TEST_P(Faults, SettingsOfTheVectorPathAreChecked) {
  StoreCommand keep = store(0x3000, n);
  keep.format = ResultFormat(ResultCode::kInt8).number();
  keep.flags = flag::kVector;
  keep.keep = 1;  // no settings were loaded
  StoreCommand lanes = keep;
  lanes.keep = 0;
  lanes.first_lane = n;
  for (const StoreCommand& bad : {keep, lanes}) {
    pair.expect_error({load_activations(0x2000, 1), bad, load_weights(0x1000, n), finish()},
                      message(ErrorCode::kBadOperand, 1, "STORE", Engine::kCommands));
  }
  expect_works(pair.rig, random);
}

/// 3x3 over a 5x4 image with a border of one: 20 rows of sums.
DepthwiseCommand depthwise() {
  DepthwiseCommand c;
  c.rows = 20;
  c.count = c.passes = 1;
  c.kernel_height = 3;
  c.stride_height = c.stride_width = c.pad_top = c.pad_left = 1;
  c.dilation_height = c.dilation_width = 1;
  c.height = c.out_height = 5;
  c.width = c.out_width = 4;
  set_steps(c);
  return c;
}

// What the lanes could not do, or what is no picture, is refused: each field by itself.
TEST_P(Faults, BadDepthwiseCommandsAreReported) {
  const auto with = [](const std::function<void(DepthwiseCommand&)>& change, bool steps = true) {
    DepthwiseCommand c = depthwise();
    change(c);
    if (steps) set_steps(c);
    return c;
  };
  using Bad = DepthwiseCommand&;
  // One output without a border, whose steps fit but for the field that is bad.
  const auto one_output = [&](const std::function<void(Bad)>& change) {
    return with(
        [&change](Bad c) {
          c.pad_top = c.pad_left = 0;
          c.out_height = c.out_width = 1;
          set_steps(c);
          change(c);
        },
        false);
  };
  std::vector<DepthwiseCommand> bad{
      one_output([](Bad c) { c.dilation_height = 0, c.lead = 2; }),
      one_output([](Bad c) { c.dilation_width = 0, c.lead = 2 * 4; }),
      one_output([](Bad c) { c.height = 0, c.image_step = 0; }),
      one_output([](Bad c) { c.out_width = 0, c.stride_width = 0; }),
      one_output([](Bad c) { c.pad_top = 3, c.dilation_width = 6, c.lead = 2 * 4 + 12 - 3 * 4; }),
      with([](Bad c) { c.rows = 0; }),
      with([](Bad c) { c.rows = 129; }),
      with([](Bad c) { c.count = 0; }),
      with([](Bad c) { c.passes = 0; }),
      with([](Bad c) { c.dilation_height = 0; }, false),
      with([](Bad c) { c.dilation_width = 0; }, false),
      with([](Bad c) { c.dilation_height = 2; }, false),
      with([](Bad c) { c.dilation_width = 2; }, false),
      // More than a line, or the window, has words for.
      with([](Bad c) { c.dilation_height = 33; }),
      with([](Bad c) { c.dilation_height = 255; }),
      with([](Bad c) { c.dilation_width = 7; }),
      with([](Bad c) { c.kernel_height = 5, c.dilation_width = 3; }),
      with([](Bad c) { c.kernel_height = 7, c.dilation_width = 2; }),
      // A lead that is right but for a sign.
      with([](Bad c) { c.pad_top = 3, c.lead = 0x10000 - 4 + 1; }, false),
      with([](Bad c) { c.pad_left = 3, c.lead = 1 * 4 - 1; }, false),
      with(
          [](Bad c) { c.pad_left = 2, c.pad_top = 5, c.dilation_height = 2, c.lead = 0x10000 - 4; },
          false),
      with([](Bad c) { c.pad_left = 13, c.dilation_width = 6; }),
      with([](Bad c) { c.height = c.out_height = 0; }),
      with([](Bad c) { c.width = c.out_width = 1; }),
      with([](Bad c) { c.width = c.out_width = 129; }),
      with([](Bad c) { c.out_height = 0; }, false),
      with([](Bad c) { c.out_width = 0; }, false),
      // Its steps fit, since 65,535 lines of output would be one less than none.
      with(
          [](Bad c) {
            c.height = 65535, c.width = 2, c.out_height = 0, c.out_width = 1;
            c.row_step = 2, c.image_step = 0, c.lead = 1 * 2 + 1;
          },
          false),
      with([](Bad c) { ++c.row_step; }, false),
      with([](Bad c) { --c.row_step; }, false),
      with([](Bad c) { ++c.image_step; }, false),
      with([](Bad c) { --c.image_step; }, false),
      with([](Bad c) { ++c.lead; }, false),
      with([](Bad c) { --c.lead; }, false),
      with([](Bad c) { ++c.height; }, false),
      with([](Bad c) { ++c.out_height; }, false),
      with([](Bad c) { c.stride_width = 2; }, false),
  };
  for (const std::uint32_t kernel : {0u, 1u, 2u, 4u, 6u, 8u, 9u, 255u}) {
    bad.push_back(with([](Bad c) {
      c.pad_top = c.pad_left = 0;
      c.out_height = c.out_width = 1;
    }));
    bad.back().kernel_height = kernel;
    bad.back().lead = (kernel - 1 & 0xff) * 5;
  }
  for (const DepthwiseCommand& command : bad) {
    SCOPED_TRACE(to_string(Command(command)));
    pair.expect_error({load_activations(0x2000, 1), command, finish()},
                      message(ErrorCode::kBadOperand, 1, "DEPTHWISE", Engine::kCommands));
  }
  const std::vector<Command> good{load_weights(0x1000, 9), load_activations(0x2000, 20),
                                  depthwise(), store(0x3000, 20), finish()};
  pair.rig.driver.run_program(0, good, kClockLimit);
  expect_works(pair.rig, random);
}

// A memory error while the lanes are at work ends them too, and nothing of it stays.
TEST_P(Faults, TheLanesEndWithABusError) {
  const Command weights = load_weights(0x1000, 9), results = store(0x3000, 20);
  pair.expect_error({weights, load_activations(end - 12 * n, 20), depthwise(), results, finish()},
                    message(ErrorCode::kBusDecode, 1, "LOAD_ACTIVATIONS", Engine::kActivations));
  pair.expect_error(
      {weights, load_activations(0x2000, 20), depthwise(), store(end - 4 * n * 3, 20), finish()},
      message(ErrorCode::kBusDecode, 3, "STORE", Engine::kResults));
  const std::vector<Command> good{weights, load_activations(0x2000, 20), depthwise(), results,
                                  finish()};
  pair.rig.driver.run_program(0, good, kClockLimit);
  pair.reference_driver.run_program(0, good, kClockLimit);
  std::vector<std::uint8_t> found(20 * 4 * n), expected(found.size());
  pair.rig.device->read_memory(0x3000, found.data(), found.size());
  pair.reference.read_memory(0x3000, expected.data(), expected.size());
  EXPECT_EQ(found, expected);
  expect_works(pair.rig, random);
}

TEST_P(Faults, BadAddressesAreReported) {
  const std::uint64_t addresses[] = {1,          n / 2,      0x1000 + n - 1,
                                     1ull << 40, 1ull << 63, (1ull << 41) + n};
  for (const std::uint64_t address : addresses) {
    for (const Command& command : std::initializer_list<Command>{
             load_weights(address, n), load_activations(address, n), load_parameters(address, 8),
             load_operands(address, 1), store(address, 1), snapshot(address)}) {
      SCOPED_TRACE(to_string(command));
      pair.expect_error({command, finish()}, message(ErrorCode::kBadAddress, 0,
                                                     name(command.opcode), Engine::kCommands));
    }
  }
  expect_works(pair.rig, random);
}

Command strided(Command command, std::uint32_t stride) {
  command.stride = stride;
  return command;
}

/// Two tiles of one row of 8-bit results.
Command narrow(std::uint64_t address) {
  Command command = store(address, 1, 2);
  command.format = ResultFormat(ResultCode::kInt8).number();
  return command;
}

// A walk may end with the last byte of the address space; one word more would begin again at 0.
TEST_P(Faults, WalksPastAddressSpaceAreReported) {
  const std::uint64_t top = 1ull << 40;
  const std::uint64_t word = n;
  const std::vector<std::uint8_t> before(256, 0x5a);
  for (Device* device :
       {static_cast<Device*>(pair.rig.device.get()), static_cast<Device*>(&pair.reference)}) {
    device->write_memory(0x8000, before.data(), before.size());
  }
  const std::vector<Command> bad{
      load_weights(top - word, 2),
      load_weights(top - 4096, 4096 / n + 1, 3),
      load_weights(n, 0xffffffff, 0xffffffff),  // fits: see `good`
      load_activations(top - word, 2),
      load_activations(top - 2 * word, 2, 1, 2),  // the second block begins a word later
      strided(load_activations(top - 6 * word, 2), 6),
      strided(load_activations(0, 0x80000001), 0x80000000),  // one word modulo 2^62
      strided(load_activations(0, 0xffffffff, 2, 0xffffffff), 0xffffffff),
      load_parameters(top - word, 2),
      load_operands(top - word, 2),
      store(top - 64, 64 / 4 / n + 1),
      store(top - 4 * word, 1, 2),
      strided(store(top - 4 * 4 * word, 1, 2), 4),
      strided(narrow(top - 4 * word), 4),
      store(0x40, 128, 0xffffffff),
      snapshot(top - kSnapshotBytes + word),
  };
  for (const Command& command : bad) {
    const bool passes = command.opcode != Opcode::kLoadWeights || command.address() != n;
    const bool store_fits = command.opcode == Opcode::kStore && command.address() == 0x40 &&
                            std::uint64_t{128} * 4 * 0xffffffff * n <= top - 0x40;
    if (!passes || store_fits) continue;
    SCOPED_TRACE(to_string(command));
    pair.expect_error({command, finish()},
                      message(ErrorCode::kBadAddress, 0, name(command.opcode), Engine::kCommands));
    // After commands that are good, and before one that is bad as well.
    Command other = finish();
    other.opcode = static_cast<Opcode>(77);
    pair.expect_error({load_activations(0x2000, 1), command, other},
                      message(ErrorCode::kBadAddress, 1, name(command.opcode), Engine::kCommands));
  }
  // Walks that end exactly there are taken; only that no memory is there ends them.
  const Command weights = load_weights(0x1000, n), activations = load_activations(0x2000, n);
  pair.expect_error({load_weights(top - word * n, n), finish()},
                    message(ErrorCode::kBusDecode, 0, "LOAD_WEIGHTS", Engine::kWeights));
  pair.expect_error({load_activations(top - 3 * word, 2, 1, 2), finish()},
                    message(ErrorCode::kBusDecode, 0, "LOAD_ACTIVATIONS", Engine::kActivations));
  pair.expect_error({load_parameters(top - 8 * word, 8), finish()},
                    message(ErrorCode::kBusDecode, 0, "LOAD_PARAMETERS", Engine::kParameters));
  pair.expect_error({strided(load_activations(top - 6 * word, 2), 5), finish()},
                    message(ErrorCode::kBusDecode, 0, "LOAD_ACTIVATIONS", Engine::kActivations));
  pair.expect_error({weights, activations, matmul(n), store(top - 4 * word * n, n), finish()},
                    message(ErrorCode::kBusDecode, 3, "STORE", Engine::kResults));
  expect_works(pair.rig, random);
}

TEST_P(Faults, RingPastAddressSpaceIsReported) {
  const auto error_of = [](Device& device) {
    device.write_register(reg::kControl, field::kControlReset.mask());
    device.write_register(reg::kRingBaseLow, 0xffffff80);
    device.write_register(reg::kRingBaseHigh, 0xff);
    device.write_register(reg::kRingTail, 3);
    EXPECT_TRUE(device.wait_interrupt(10000));
    return device.read_register(reg::kError);
  };
  // No memory is at the top: the first fetch fails, before the third command passes the end.
  const std::uint32_t decode =
      field::kErrorCode.put(static_cast<std::uint32_t>(ErrorCode::kBusDecode));
  EXPECT_EQ(error_of(*pair.rig.device), decode);
  EXPECT_EQ(error_of(pair.reference), decode);
  pair.rig.driver.reset();
  expect_works(pair.rig, random);
}

// Fields that an opcode does not use are not looked at.
TEST_P(Faults, UnusedFieldsMayHoldAnything) {
  std::vector<Command> program{load_weights(0x1000, n), load_activations(0x2000, 3), matmul(3),
                               store(0x3000, 3), finish()};
  program[0].rows = 0xffff;
  program[0].flags = 0xff;
  program[0].blocks = program[0].stride = 0xffffffff;
  program[1].format = 15;
  program[1].flags = 0xff & ~flag::kWindow;
  program[1].zero = program[1].low = 0xff;
  program[2].stride = 0xffffffff;
  program[2].set_address(0xffff'ffff'ffff'ffff);
  program[2].flags |= 0xfc & ~flag::kWindow;
  program[3].flags = 0xff & ~flag::kVector;
  program[3].passes = 0xffffffff;
  program[3].zero = program[3].low = 0xff;  // of 8-bit results
  program[4].rows = program[4].flags = 0xff;
  program[4].set_address(0xffff'ffff'ffff'ffff);
  Command passes = fence(0xffffffff);
  passes.flags = 0xff & ~flag::kSnapshot;
  passes.rows = passes.passes = passes.blocks = 0xffff;
  passes.set_address(0xffff'ffff'ffff'ffff);
  program.insert(program.begin() + 1, passes);
  pair.rig.driver.run_program(0, program, kClockLimit);
  pair.reference_driver.run_program(0, program, kClockLimit);
}

TEST_P(Faults, UnbalancedProgramsEndByWatchdog) {
  pair.rig.device->write_register(reg::kWatchdog, 1000);
  const Command weights = load_weights(0x1000, n), activations = load_activations(0x2000, 4);
  const std::vector<std::vector<Command>> programs{
      {matmul(4), finish()},
      {activations, matmul(4), store(0x3000, 4), finish()},
      {weights, matmul(4), store(0x3000, 4), finish()},
      {weights, activations, matmul(4), finish()},
      {weights, activations, matmul(4), store(0x3000, 4, 2), finish()},
      {weights, activations, matmul(4, 2), store(0x3000, 4), finish()},
      {weights, activations, matmul(4, 1, 2), store(0x3000, 4, 2), finish()},
      {weights, activations, matmul(4, 1, 1, 2), store(0x3000, 4, 2), finish()},
      {weights, load_activations(0x2000, 3), matmul(4), store(0x3000, 4), finish()},
      {weights, load_activations(0x2000, 5), matmul(4), store(0x3000, 4), finish()},
      {load_weights(0x1000, n - 1), activations, matmul(4), store(0x3000, 4), finish()},
      // The third block finds both banks full.
      {load_weights(0x1000, n, 3), load_activations(0x2000, 4, 3), matmul(4, 1, 3), finish()},
      {store(0x3000, 4), finish()},
      {activations, finish()},
      {load_operands(0x2000, 4), finish()},
      {load_weights(0x1000, n), finish()},
      {load_weights(0x1000, 3 * n), finish()},  // two tiles fit the buffer
      {load_weights(0x1000, n, 2), activations, matmul(4), store(0x3000, 4), finish()},
      {load_activations(0x2000, 9216 + 64), finish()},
      // The lanes lack weights, words or a place for results.
      {load_activations(0x2000, 20), depthwise(), store(0x3000, 20), finish()},
      {load_weights(0x1000, 8), load_activations(0x2000, 20), depthwise(), store(0x3000, 20),
       finish()},
      {load_weights(0x1000, 9), load_activations(0x2000, 19), depthwise(), store(0x3000, 20),
       finish()},
      {load_weights(0x1000, 9), load_activations(0x2000, 20), depthwise(), finish()},
      // A block that is to be kept and is larger than the scratchpad.
      {load_weights(0x1000, n, 73 * 2), load_activations(0x2000, 128, 73),
       matmul(128, 73, 2, 1, flag::kAccumulate | flag::kRetain), store(0x3000, 128, 2), finish()},
  };
  // A FENCE in front of the MATMUL that it waits for, by itself and after a STORE that is not
  // waited for.
  for (const std::uint32_t open : {0u, 1u}) {
    std::vector<Command> program(open, store(0x3000, 4));
    program.insert(program.end(),
                   {store(0x3400, 4), fence(open), weights, activations, matmul(4), finish()});
    pair.expect_error(program, message(ErrorCode::kWatchdog, open + 1, "FENCE", Engine::kCommands));
  }
  for (const std::vector<Command>& program : programs) {
    std::string listing;
    for (const Command& command : program) listing += "\n" + to_string(command);
    SCOPED_TRACE(listing);
    const std::uint64_t before = pair.rig.device->cycles();
    pair.expect_error(
        program, message(ErrorCode::kWatchdog, program.size() - 1, "FINISH", Engine::kCommands));
    EXPECT_GT(pair.rig.device->cycles() - before, 1000u);
    EXPECT_LT(pair.rig.device->cycles() - before, 1000u + 20000u);
  }
  expect_works(pair.rig, random);
}

// A slow memory is no reason for the watchdog, as long as something moves within its limit.
TEST_P(Faults, WatchdogWaitsForProgress) {
  Rig& rig = pair.rig;
  rig.device->write_register(reg::kWatchdog, 400);
  expect_exact(rig, {{100, 100, 50}, Accumulate::kHost, 390}, random);
  const Operands operands = random_operands(random, {3, 3, 3});
  expect_message(message_of<DeviceError>([&] {
                   run(rig, {{3, 3, 3}, Accumulate::kDevice, 410}, operands);
                 }),
                 message(ErrorCode::kWatchdog, 0, "LOAD_WEIGHTS", Engine::kCommands));
}

INSTANTIATE_TEST_SUITE_P(N, Faults, testing::Values(2, 8), testing::PrintToStringParamName());

// Between two blocks the lanes work for longer than its limit, and no port moves.
TEST(Watchdog, LetsTheLanesFinishABlock) {
  Rig rig(8);
  DepthwiseCommand c = depthwise();
  c.kernel_height = 7;
  c.pad_top = c.pad_left = 3;
  c.height = c.out_height = 16;
  c.width = c.out_width = 16;
  c.rows = 128;  // of 6 cycles each
  set_steps(c);
  StoreCommand results = store(0x30000, 128);
  results.blocks = 2;
  rig.device->write_register(reg::kWatchdog, 300);
  rig.driver.run_program(
      0, {load_weights(0x1000, 49), load_activations(0x2000, 256), c, results, finish()},
      kClockLimit);
  EXPECT_GT(rig.driver.read_counters()[counter::kTotalClocks], 6u * 256);
}

TEST(Hang, EndsByWatchdogAndNeedsHardReset) {
  const std::function<void(RtlPorts&)> hangs[] = {
      [](RtlPorts& ports) { ports.data.hang_after(0); },
      [](RtlPorts& ports) { ports.data.hang_after(9); },
      [](RtlPorts& ports) { ports.weights.hang_after(0); },
      [](RtlPorts& ports) { ports.weights.hang_after(3); },
      [](RtlPorts& ports) { ports.results.hang_after(0); },
      [](RtlPorts& ports) { ports.results.hang_after(5); },
  };
  for (const auto& hang : hangs) {
    Rig rig(Rig::options(8), Timeouts{0, 5000});
    std::mt19937 random(830);
    const Workload work = two_groups(rig);
    const Operands operands = random_operands(random, work.shape);
    RtlPorts ports = rig.device->ports();
    hang(ports);
    const std::string found = message_of<DeviceError>([&] { run(rig, work, operands); });
    EXPECT_THAT(found, Says("WATCHDOG", "a hard reset is needed"));
    EXPECT_THAT(message_of<DeviceError>([&] { run(rig, work, operands); }),
                Says("a hard reset is needed"));
    rig.device->reset();
    expect_exact(rig, work, operands);
  }
}

TEST(Hang, EndsByDriversLimitWithoutWatchdog) {
  Rig rig(8);
  rig.device->write_register(reg::kWatchdog, 0);
  rig.device->ports().weights.hang_after(0);
  const std::vector<Command> program{load_weights(0x1000, 8), load_activations(0x2000, 1),
                                     matmul(1), store(0x3000, 1), finish()};
  const std::string found =
      message_of<DeviceError>([&] { rig.driver.run_program(0, program, 100'000); });
  EXPECT_THAT(found, Says("no interrupt after", "limit 100000", "command 4"));
}

}  // namespace
}  // namespace gemm64::system_test
