// SPDX-License-Identifier: Apache-2.0
// Writes random legal programs for the cocotb agent, those of the tests in tests/system:
//   gemm64_random_programs --array N --seed FIRST --count COUNT --longest CYCLES FOLDER
// For each, FOLDER/program-NUMBER.json (seed, commands, bytes by port, addresses of snapshots),
// .before (memory) and .after (what the reference device leaves; zeros at the end are left out).
// Kinds take turns: products, element-wise unit, windows, depthwise. Programs that take longer on
// the RTL, with a latency of one cycle, are passed over.

#include <CLI/CLI.hpp>
#include <exception>

#include "host/device/reference_device.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/random_program.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

using MakeProgram = std::vector<Command> (*)(std::mt19937&, const Geometry&, unsigned);
struct Kind {
  const char* name;
  MakeProgram make;
};
constexpr Kind kKinds[] = {{"products", random_program},
                           {"vectors", random_vector_program},
                           {"windows", random_window_program},
                           {"depthwise", random_depthwise_program}};

void write_file(const std::string& file, std::vector<std::uint8_t> bytes) {
  while (!bytes.empty() && bytes.back() == 0) bytes.pop_back();
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + file);
}

std::string hex(const Command& command) {
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

class Writer {
 public:
  Writer(int array, std::uint64_t longest, std::string folder)
      : rig_(options(array)),
        reference_(rig_.driver.geometry(), kMemoryBytes),
        reference_driver_(reference_),
        longest_(longest),
        folder_(std::move(folder)) {}

  /// False if the program takes longer.
  bool write(unsigned seed, unsigned number) {
    std::mt19937 random(seed);
    const Geometry geometry = rig_.driver.geometry();
    const std::vector<std::uint8_t> operands = operand_memory(random, geometry.n);
    const std::vector<std::uint8_t> nothing(kMemoryBytes);
    for (Device* device :
         {static_cast<Device*>(rig_.device.get()), static_cast<Device*>(&reference_)}) {
      device->write_memory(0, nothing.data(), nothing.size());
      device->write_memory(kOperands, operands.data(), operands.size());
    }
    const Kind& kind = kKinds[number % std::size(kKinds)];
    const std::vector<Command> program = kind.make(random, geometry, 1);
    if (program.size() * kCommandBytes > kOperands) return false;
    try {
      rig_.driver.run_program(0, program, longest_);
    } catch (const DeviceError&) {  // the driver's limit
      rig_.device->reset();
      return false;
    }
    if (rig_.driver.read_counters()[counter::kTotalClocks] > longest_) return false;

    const std::vector<std::uint8_t> before = before_start(operands, program);
    reference_driver_.run_program(0, program, longest_);
    const Counters counted = reference_driver_.read_counters();
    nlohmann::json facts{{"array", geometry.n},
                         {"kind", kind.name},
                         {"seed", seed},
                         {"ignored", {kSnapshots, kResults}}};
    for (const Command& command : program) {
      facts["commands"].push_back(to_string(command));
      facts["program"].push_back(hex(command));
    }
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (std::string(kCounters[i].engine) == "bytes") {
        facts["bytes"][kCounters[i].cause] = counted[i];
      }
    }
    const std::string file = fmt::format("{}/program-{:03}", folder_, number);
    std::ofstream(file + ".json") << facts.dump(1) << '\n';
    write_file(file + ".before", before);
    write_file(file + ".after", image(reference_));
    return true;
  }

 private:
  static RtlOptions options(int array) {
    RtlOptions options = Rig::options(array);
    options.memory_bytes = kMemoryBytes;
    options.memory.latency = 1;
    return options;
  }

  static std::vector<std::uint8_t> before_start(const std::vector<std::uint8_t>& operands,
                                                const std::vector<Command>& program) {
    std::vector<std::uint8_t> bytes(kMemoryBytes);
    for (std::size_t i = 0; i < program.size(); ++i) program[i].encode(&bytes[i * kCommandBytes]);
    std::copy(operands.begin(), operands.end(), bytes.begin() + kOperands);
    return bytes;
  }

  Rig rig_;
  ReferenceDevice reference_;
  Driver reference_driver_;
  std::uint64_t longest_;
  std::string folder_;
};

}  // namespace
}  // namespace gemm64::system_test

int main(int argc, char** argv) {
  int array = 4;
  unsigned seed = 1, count = 4;
  std::uint64_t longest = 2000;
  std::string folder;
  CLI::App app("Writes random legal programs for the cocotb agent.");
  app.add_option("--array", array, "N");
  app.add_option("--seed", seed, "the first program's; each that is drawn has the next");
  app.add_option("--count", count, "programs");
  app.add_option("--longest", longest, "cycles of a program");
  app.add_option("folder", folder, "where they are written")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    gemm64::system_test::Writer writer(array, longest, folder);
    unsigned number = 0;
    for (const unsigned last = seed + 1000 * count; number < count && seed < last; ++seed) {
      if (writer.write(seed, number)) ++number;
    }
    if (number < count) {
      throw std::runtime_error(
          fmt::format("{} of {} programs take at most {} cycles", number, count, longest));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm64_random_programs: {}\n", error.what());
    return 1;
  }
  return 0;
}
