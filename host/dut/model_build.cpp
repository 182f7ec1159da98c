// SPDX-License-Identifier: Apache-2.0
#include "host/dut/model_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#include "host/dut/assets.hpp"
#include "host/dut/scratch.hpp"
#include "host/dut/subprocess.hpp"
#include "host/error.hpp"
#include "host/text.hpp"

namespace gemm64::dut {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    value_ = (value_ ^ 0xff) * 1099511628211ULL;
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

std::vector<std::string> lines_with(const std::string& text, const std::string& start) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(start, 0) == 0) found.push_back(line);
  }
  return found;
}

/// "%Error: wrapper.v:3:5: syntax error" of Verilator's output.
[[noreturn]] void fail_compile(const Description& description, const std::string& output) {
  std::string first = "the compiler reports no reason";
  for (const std::string& line : lines_with(output, "%Error")) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || line.find("Exiting due to") != std::string::npos) continue;
    first = line.substr(colon + 2);
    break;
  }
  throw UsageError(
      fmt::format("{}: does not compile: {}", description.file, printable(first, 400)));
}

std::vector<std::string> verilator_words(const Description& of, const fs::path& out, bool trace) {
  std::vector<std::string> words{"verilator",      "--cc",
                                 "--exe",          "--prefix",
                                 "Vdut",           "--top-module",
                                 of.top,           "--Mdir",
                                 out.string(),     "-O3",
                                 "-Wno-fatal",     "--no-timing",
                                 "--noassert",     "-fno-const-bit-op-tree",
                                 "--unroll-count", "256",
                                 "--unroll-stmts", "100000",
                                 "--x-assign",     "fast",
                                 "--x-initial",    "unique",
                                 "--output-split", "20000",
                                 "-CFLAGS",        "-DVL_USER_FATAL -std=gnu++17 -w"};
  if (trace) {
    words.insert(words.end(), {"--trace-fst", "--trace-structs", "--trace-max-array", "300",
                               "--trace-max-width", "4096"});
  }
  for (const auto& [name, value] : of.parameters)
    words.push_back(fmt::format("-G{}={}", name, value));
  for (const auto& [name, value] : of.defines)
    words.push_back(fmt::format("+define+{}={}", name, value));
  std::set<fs::path> folders(of.include.begin(), of.include.end());
  for (const fs::path& source : of.sources) folders.insert(source.parent_path());
  for (const fs::path& folder : folders) words.push_back("-I" + folder.string());
  for (const fs::path& source : of.sources) words.push_back(source.string());
  words.emplace_back("harness.cpp");
  return words;
}

const Port* find_port(const std::vector<Port>& ports, const std::string& name) {
  for (const Port& port : ports) {
    if (port.name == name) return &port;
  }
  return nullptr;
}

unsigned width_of(const std::vector<Port>& ports, const std::string& name) {
  const Port* const port = find_port(ports, name);
  return port == nullptr ? 0 : port->bits;
}

/// bench_config.hpp of the harness.
std::string bench_config(const Description& of, const std::vector<Port>& ports) {
  std::string text = "#pragma once\nnamespace gemm64::dut {\n";
  const auto constant = [&text](const char* type, const char* name, auto value) {
    text += fmt::format("inline constexpr {} {} = {};\n", type, name, value);
  };
  constant("unsigned", "kWeightBits", width_of(ports, "s_axis_weights_tdata"));
  constant("unsigned", "kActivationBits", width_of(ports, "s_axis_activations_tdata"));
  constant("unsigned", "kSumBits", width_of(ports, "s_axis_sums_tdata"));
  constant("unsigned", "kResultBits", width_of(ports, "m_axis_results_tdata"));
  constant("unsigned", "kRows", of.rows);
  constant("unsigned", "kResetCycles", of.reset_cycles);
  constant("bool", "kTogether", of.output_stationary());
  constant("bool", "kWeightsMove", of.dataflow == Dataflow::kInputStationary);
  constant("bool", "kLockstep", of.output_stationary() && !of.overlaps());
  constant("bool", "kAlwaysTaken", !of.backpressure[kResults]);
  if (of.partial_sums) text += "#define GEMM64_DUT_SUMS\n";
  if (find_port(ports, kMutantPort) != nullptr) {
    text += fmt::format("#define GEMM64_DUT_MUTANT {}\n", kMutantPort);
  }
  if (of.results_tlast) text += "#define GEMM64_DUT_RESULTS_TLAST\n";
  const auto ready = [&](const char* name, Stream stream, const char* port) {
    text += fmt::format("template <class M> bool {}(const M& m) {{ (void)m; return {}; }}\n", name,
                        of.backpressure[stream] ? fmt::format("(m.{} & 1) != 0", port) : "true");
  };
  ready("weights_ready", kWeights, "s_axis_weights_tready");
  ready("activations_ready", kActivations, "s_axis_activations_tready");
  ready("sums_ready", kSums, "s_axis_sums_tready");
  text +=
      "template <class M, class Hold> void hold_others(M& m, Hold hold) { (void)m; (void)hold; ";
  for (const HeldInput& held : held_inputs(of, ports)) {
    text += fmt::format("hold(m.{}, {}); ", held.port.name, held.ones ? held.port.bits : 0);
  }
  text += "}\n";
  const bool taken = find_port(ports, "m_axis_results_tready") != nullptr;
  text += fmt::format(
      "template <class M> void set_results_ready(M& m, bool ready) {{ (void)m; (void)ready; {} "
      "}}\n",
      taken ? "m.m_axis_results_tready = ready;" : "");
  return text + "}\n";
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Verilator's own objects, which take longer to compile than a small array and are the same for
/// all. make finds them newer than their sources.
class Runtime {
 public:
  Runtime(const fs::path& cache, const std::string& kind) {
    Hash hash;
    hash.add(run_program_in("", {"verilator", "--version"}).output);
    hash.add(kind);
    hash.add(fmt::format("{}", kProtocol));
    folder_ = cache / ("runtime-" + hash.text());
  }
  void restore(const fs::path& to) const {
    if (!fs::exists(folder_)) return;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      fs::copy_file(entry.path(), to / entry.path().filename());
    }
  }
  void keep(const fs::path& from) const {
    if (fs::exists(folder_)) return;
    // Under a name of its own first: other processes may do the same.
    const fs::path own = from / "runtime";
    fs::create_directory(own);
    for (const auto& entry : fs::directory_iterator(from)) {
      const std::string name = entry.path().filename();
      if (name.rfind("verilated", 0) == 0 && entry.path().extension() == ".o") {
        fs::copy_file(entry.path(), own / name);
      }
    }
    std::error_code exists;
    fs::rename(own, folder_, exists);
  }

 private:
  fs::path folder_;
};

std::string hash_of(const fs::path& folder, const Description& description) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".h" || extension == ".hpp" || extension == ".mk") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  Hash hash;
  for (const fs::path& file : files) {
    hash.add(file.filename().string());
    // The build's own directory differs each time.
    const std::string text = contents(file);
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t at = std::min(text.find(folder.string(), from), text.size());
      hash.add(std::string_view(text).substr(from, at - from));
      from = at + folder.string().size();
    }
  }
  hash.add(description.top);
  return hash.text();
}

}  // namespace

fs::path default_cache() {
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "gemm64" / "dut";
  }
  const char* const home = std::getenv("HOME");
  const fs::path root =
      home == nullptr || *home == '\0' ? fs::temp_directory_path() : fs::path(home) / ".cache";
  return root / "gemm64" / "dut";
}

BuiltModel build_model(const Description& description, const BuildOptions& options) {
  if (!has_program("verilator")) {
    throw UsageError(
        "verilator is not installed; type scripts/setup build, or apt-get install verilator");
  }
  const fs::path cache = options.cache.empty() ? default_cache() : fs::absolute(options.cache);
  const Scratch scratch(cache);
  const fs::path& folder = scratch.path();
  write(folder / "harness.cpp", asset("harness.cpp"));
  write(folder / "bench_protocol.hpp", asset("bench_protocol.hpp"));
  const Finished verilated =
      run_program_in(folder, verilator_words(description, folder, options.trace));
  if (verilated.code != 0) fail_compile(description, verilated.output);
  BuiltModel built;
  built.warnings = lines_with(verilated.output, "%Warning");
  built.ports = read_ports(contents(folder / "Vdut.h"));
  check_ports(description, built.ports);
  write(folder / "bench_config.hpp", bench_config(description, built.ports));
  built.program = cache / hash_of(folder, description);
  if (fs::exists(built.program)) {
    built.cached = true;
    return built;
  }
  const bool clang = has_program("clang++");
  const Runtime runtime(cache, fmt::format("{}-{}", clang ? "clang" : "gcc", options.trace));
  runtime.restore(folder);
  // A waveform is written once, so that build is not worth optimizing.
  const std::string fast = options.trace ? "-O1" : "-O3 -march=native";
  const Finished made = run_program_in(
      folder, {"env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "-f", "Vdut.mk",
               clang ? "CXX=clang++" : "CXX=g++", clang ? "LINK=clang++" : "LINK=g++",
               "OPT_FAST=" + fast, "OPT_SLOW=-O0", "OPT_GLOBAL=-O2",
               fmt::format("-j{}", std::max(1U, std::thread::hardware_concurrency())), "Vdut"});
  if (made.code != 0 || !fs::exists(folder / "Vdut")) {
    const std::vector<std::string> lines = lines_with(made.output, "");
    std::string reason = lines.empty() ? "no output" : lines.back();
    for (const std::string& line : lines) {
      if (line.find("error") == std::string::npos) continue;
      reason = line;
      break;
    }
    throw UsageError(fmt::format("{}: the C++ that Verilator wrote does not compile: {}",
                                 description.file, printable(reason, 300)));
  }
  runtime.keep(folder);
  fs::rename(folder / "Vdut", built.program);
  return built;
}

}  // namespace gemm64::dut
