// SPDX-License-Identifier: Apache-2.0
#include "tests/signoff/netlist/programs.hpp"

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "host/ep/network_session.hpp"
#include "host/faults/broken_campaign.hpp"
#include "host/sweep/networks.hpp"
#include "tests/system/convolution_programs.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/unit/device/wrapped_device.hpp"
#include "tests/unit/tiling/known_programs.hpp"

namespace gemm64::netlist_test {
namespace {

using namespace system_test;

constexpr unsigned kLatency = 20;
constexpr Timeouts kPatience{kLatency, 2000};
constexpr std::uint64_t kClockLimit = 100'000;  // of a work, the longest of which takes 50,000

RtlOptions options(const Geometry& geometry) {
  RtlOptions options = Rig::options(static_cast<int>(geometry.n));
  options.memory_bytes = kMemoryBytes;
  options.memory.latency = kLatency;
  return options;
}

/// Throws where a device goes on and on.
void check_patience(const Device& device) {
  if (device.cycles() > kClockLimit) throw std::runtime_error("the program never ends");
}

/// `begin`: the cycle in which the work began.
void look_at(Device& device, std::uint64_t begin, Outcome& outcome) {
  outcome.cycles = device.cycles() - begin;
  outcome.memory.resize(device.memory_bytes());
  device.read_memory(0, outcome.memory.data(), outcome.memory.size());
}

Output int8_output(int zero, int low) {
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.zero = zero, output.low = low, output.high = 127;
  return output;
}

/// Half of each result and half of what is added to it.
Output halves(Output output) {
  output.vector.emplace();
  output.vector->add = 1;
  output.vector->result_scale = output.vector->operand_scale = 0x3f000000;
  output.vector->function_min = 0x80;
  output.vector->function_max = 0x7f;
  return output;
}

/// One program of layers.
Work layers(const std::string& name, const std::vector<ProgramPart>& parts,
            const Geometry& geometry) {
  std::vector<Job> jobs;
  std::vector<Operands> operands;
  std::vector<MatrixI32> expected;
  for (const ProgramPart& part : parts) {
    jobs.push_back(part.job);
    operands.push_back(part.operands);
    expected.push_back(part.expected);
  }
  const auto run = [list = make_job_program(jobs, geometry), operands, geometry](const Make& make) {
    const auto device = make(options(geometry));
    const std::uint64_t begin = device->cycles();
    Driver driver(*device, kPatience);
    std::vector<Packed> packed;
    std::vector<JobOperands> given;
    const MatrixI8 none;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      packed.emplace_back(list.jobs[i], operands[i]);
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      given.push_back(
          {packed[i].weights, list.jobs[i].source ? none : operands[i].a, &packed[i].parameters});
    }
    Outcome outcome;
    for (GemmResult& result : driver.run(list, given, [&](double) { check_patience(*device); })) {
      outcome.values.push_back(std::move(result.sums));
    }
    outcome.counters = driver.read_counters();
    look_at(*device, begin, outcome);
    return outcome;
  };
  return {name, run, expected};
}

Work product(std::mt19937& random, const Geometry& geometry, const std::string& name,
             const GemmShape& shape, const Output& output) {
  ProgramParts parts(random, geometry);
  parts.add(shape, output, {});
  return layers(name, parts.parts, geometry);
}

Work layer(std::mt19937& random, const Geometry& geometry, const std::string& name,
           const Convolution& convolution) {
  ProgramParts parts(random, geometry);
  parts.add(convolution, int8_output(3, 3), {}, convolution.groups > 1);
  return layers(name, parts.parts, geometry);
}

/// AlexNet's first layer where its map ends: its 363 rows of weights leave three for the last tile
/// (of 4 or of 8), its columns, which are not all taken, one.
Convolution alexnet_corner(const Geometry& geometry) {
  Convolution c = square(3, 19, geometry.n + 1, 11, 4);
  c.pad_top = c.pad_left = 0;
  c.out_height = c.out_width = 4;
  return c;
}

/// Adds the results of `to` to those of the last layer, by halves.
void add_to_last(std::size_t to, const Convolution& last, const Geometry& geometry,
                 std::vector<ProgramPart>& parts) {
  ProgramPart& part = parts.back();
  const std::optional<std::size_t> source = part.job.source;
  part.job = gemm64::make_job("sum", last, geometry, halves(int8_output(3, 3)));
  part.job.source = source;
  part.job.operand = to;
  for (Eigen::Index i = 0; i < part.expected.size(); ++i) {
    std::int32_t& value = part.expected.data()[i];
    value = static_cast<std::int32_t>(std::nearbyint((value + parts[to].expected.data()[i]) / 2.0));
  }
}

/// Two convolutions of one map; the second one's results are added to the first one's.
Work addition(std::mt19937& random, const Geometry& geometry) {
  const Convolution first = square(5, 6, 6), second = square(6, 6, 6);
  ProgramParts parts(random, geometry);
  parts.add(first, int8_output(3, 3), {});
  parts.add(second, int8_output(3, 3), {});
  add_to_last(0, second, geometry, parts.parts);
  return layers("residual addition", parts.parts, geometry);
}

/// A 3x3 convolution, a depthwise one of it on the lanes, and a 1x1 one of that to which the first
/// one's results are added.
Work inverted_residual(std::mt19937& random, const Geometry& geometry) {
  Convolution first = square(5, 7, 6, 3), depthwise = square(6, 7, 6, 3, 1, 6),
              last = square(6, 7, 6);
  first.zero = depthwise.zero = last.zero = 3;
  ProgramParts parts(random, geometry);
  parts.add(first, int8_output(3, 3), {});
  parts.add(depthwise, int8_output(3, 3), 0, true);
  parts.add(last, int8_output(3, 3), 1);
  add_to_last(0, last, geometry, parts.parts);
  return layers("inverted residual", parts.parts, geometry);
}

/// LeNet-5, one image, quantized as `gemm64 sweep` quantizes it: all of it is the device's.
Work lenet(const Geometry& geometry) {
  Sweep sweep;
  sweep.networks.push_back({"lenet", true, {}});
  const auto network = std::make_shared<RunnableNetwork>(SweepNetworks(sweep).runnable({0, 0, 1}));
  const auto run = [network, geometry](const Make& make) {
    const RtlOptions own = options(geometry);
    const auto device = make(own);
    const std::uint64_t begin = device->cycles();
    RunOptions run;
    run.memory = own.memory;
    Session session(*device, "rtl", kPatience, RunSettings(), run);
    ep::NetworkSession in_onnxruntime(session);
    in_onnxruntime.open(network->model, nullptr);
    const NetworkRun found =
        in_onnxruntime.run(network->inputs, session.report("lenet", 1),
                           [&](const std::string&, double) { check_patience(*device); });
    if (!found.report.verified()) throw std::runtime_error("a layer is wrong");
    if (found.report.device_macs() != found.report.all_macs()) {
      throw std::logic_error("layers run on the host");
    }
    Outcome outcome;
    const Tensor& output = found.first;
    MatrixI32 bits(1, static_cast<Eigen::Index>(output.elements()));
    std::memcpy(bits.data(), output.values<float>(), sizeof(float) * output.elements());
    outcome.values.push_back(bits);
    outcome.counters = session.runner().driver().read_counters();
    look_at(*device, begin, outcome);
    return outcome;
  };
  return {"LeNet", run, {}};
}

using MakeProgram = std::vector<Command> (*)(std::mt19937&, const Geometry&, unsigned);

/// Programs that no plan makes, with a memory that stalls now and then.
Work random_programs(const std::string& name, unsigned seed, MakeProgram program,
                     const Geometry& geometry) {
  const auto run = [seed, program, geometry](const Make& make) {
    RtlOptions own = options(geometry);
    own.memory.stall_probability = 0.2;
    const auto device = make(own);
    const std::uint64_t begin = device->cycles();
    Driver driver(*device, kPatience);
    std::mt19937 random(seed);
    const std::vector<std::uint8_t> operands = operand_memory(random, geometry.n);
    device->write_memory(kOperands, operands.data(), operands.size());
    for (int i = 0; i < 3; ++i) {
      driver.run_program(0, program(random, geometry, 2), kClockLimit);
      check_patience(*device);
    }
    Outcome outcome;
    outcome.counters = driver.read_counters();
    look_at(*device, begin, outcome);
    return outcome;
  };
  return {name, run, {}};
}

/// A device that others hold, too.
class Shared : public WrappedDevice<Device&> {
 public:
  explicit Shared(std::shared_ptr<Device> device)
      : WrappedDevice(*device), device_(std::move(device)) {}

 private:
  const std::shared_ptr<Device> device_;
};

/// Programs with mistakes: they are refused, wait for ever, or do something else; a right one
/// comes after each.
Work broken_programs(const Geometry& geometry) {
  const auto run = [geometry](const Make& make) {
    BrokenOptions broken;
    broken.array = geometry.n;
    broken.count = 12;
    const auto make_one = [&](std::uint32_t array, const MemoryTiming& memory, std::uint32_t seed,
                              std::uint64_t bytes) {
      RtlOptions own;
      own.n = static_cast<int>(array);
      own.memory = memory;
      own.seed = seed;
      own.memory_bytes = bytes;
      return std::make_unique<Shared>(make(own));
    };
    const BrokenReport report = run_broken_programs(broken, make_one);
    if (!report.holds()) throw std::runtime_error("a program ended in another way");
    Outcome outcome;
    for (const TriedProgram& tried : report.tries) outcome.text += tried.rtl + "\n";
    return outcome;
  };
  return {"programs with mistakes", run, {}};
}

}  // namespace

std::vector<Work> all_work(const Geometry& geometry) {
  std::mt19937 random(2900);
  std::vector<Work> all;
  Convolution odd = square(5, 7, 6, 3, 2), depthwise = square(6, 7, 6, 3, 1, 6);
  odd.zero = depthwise.zero = -5;
  all.push_back(product(random, geometry, "int8 product", {37, 30, 23}, int8_output(-7, -100)));
  all.push_back(product(random, geometry, "int32 product", {37, 30, 23}, {}));
  all.push_back(layer(random, geometry, "convolution", odd));
  all.push_back(layer(random, geometry, "depthwise layer", depthwise));
  all.push_back(addition(random, geometry));
  all.push_back(inverted_residual(random, geometry));
  // AlexNet's last 40 columns, which make no tile of 64, its map of 13 rows, and its first layer.
  all.push_back(product(random, geometry, "AlexNet's last columns", {1, 64, 40}, {}));
  all.push_back(layer(random, geometry, "AlexNet's 13x13", square(5, 13, geometry.n + 2, 3)));
  all.push_back(layer(random, geometry, "AlexNet's corner", alexnet_corner(geometry)));
  all.push_back(random_programs("random products", 3100, random_program, geometry));
  all.push_back(random_programs("random vectors", 3101, random_vector_program, geometry));
  all.push_back(random_programs("random windows", 3102, random_window_program, geometry));
  all.push_back(random_programs("random lanes", 3103, random_depthwise_program, geometry));
  all.push_back(broken_programs(geometry));
  all.push_back(lenet(geometry));
  return all;
}

}  // namespace gemm64::netlist_test
