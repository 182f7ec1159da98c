// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/icarus/icarus.hpp"

namespace gemm64::icarus_test {
namespace {

/// Runs a shell command; true where it succeeded. What it prints is added to `output`.
bool run(const std::string& command, std::string& output) {
  const std::string file = work_file("log");
  const int status = std::system((command + " > '" + file + "' 2>&1").c_str());
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  output += text.str();
  return status == 0;
}

}  // namespace

std::string work_file(const std::string& name) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  std::string path = std::string(test.test_suite_name()) + "." + test.name() + "." + name;
  std::replace(path.begin(), path.end(), '/', '-');  // of parameterized tests
  return std::string(GEMM64_WORK_DIR "/") + path;
}

std::string hex_word(const std::uint8_t* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string word;
  for (std::size_t i = count; i-- > 0;) {
    word += kDigits[bytes[i] >> 4];
    word += kDigits[bytes[i] & 15];
  }
  return word;
}

void write_lines(const std::string& file, const std::vector<std::string>& lines) {
  std::ofstream stream(file);
  for (const std::string& line : lines) stream << line << '\n';
  if (!stream.flush()) throw std::runtime_error("cannot write " + file);
}

std::string run_bench(const std::string& bench, const std::map<std::string, unsigned>& parameters,
                      const std::map<std::string, std::string>& plusargs) {
  const std::string program = work_file("vvp");
  std::string compile = "iverilog -g2005 -Wall -DGEMM64_CHECKS -y '" GEMM64_BENCH_DIR
                        "' -y '" GEMM64_RTL_DIR "' -I '" GEMM64_RTL_DIR "' -o '" +
                        program + "'";
  for (const auto& [name, value] : parameters) {
    compile += " -P" + bench + "." + name + "=" + std::to_string(value);
  }
  std::string output;
  if (!run(compile + " '" GEMM64_BENCH_DIR "/" + bench + ".v'", output) || !output.empty()) {
    throw std::runtime_error("iverilog (Debian package iverilog) must compile " + bench +
                             " without a word, but said:\n" + output);
  }
  std::string simulate = "vvp -n '" + program + "'";
  for (const auto& [name, value] : plusargs) simulate += " '+" + name + "=" + value + "'";
  if (!run(simulate, output)) throw std::runtime_error("vvp failed on " + bench + ":\n" + output);
  return output;
}

bool elaborate(const std::string& parameters, std::string& said) {
  std::string icarus = "iverilog -g2005 -s gemm64 -o /dev/null";
  std::string verilator = "verilator --lint-only -Wno-fatal -Wno-lint --top-module gemm64";
  std::istringstream words(parameters);
  for (std::string word; words >> word;) {
    icarus += " -Pgemm64." + word;
    verilator += " -G" + word;
  }
  const std::string sources =
      " -y '" GEMM64_RTL_DIR "' -I'" GEMM64_RTL_DIR "' '" GEMM64_RTL_DIR "/gemm64.v'";
  const bool in_icarus = run(icarus + sources, said);
  const bool in_verilator = run(verilator + sources, said);
  if (in_icarus != in_verilator) {
    throw std::runtime_error("of Icarus Verilog and Verilator only one takes " + parameters +
                             ":\n" + said);
  }
  return in_icarus;
}

}  // namespace gemm64::icarus_test
