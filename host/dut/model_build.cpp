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
#include "host/dut/yosys.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

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
  constexpr std::string_view kOwn = "Internal Error: ";
  const bool own = first.compare(0, kOwn.size(), kOwn) == 0;
  if (own) first.erase(0, kOwn.size());
  throw UsageError(fmt::format("{}: {}: {}", description.file,
                               own ? "an internal error of Verilator; write this line differently, "
                                     "or leave it out by defines"
                                   : "does not compile",
                               printable(first, 400)));
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
  // Some bits of a vector registers, others continuous: legal, and an error without this.
  words.emplace_back("-Wno-BLKANDNBLK");
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

constexpr const char* kVerilatedModel =
    "#include <verilated.h>\n#include \"Vdut.h\"\nnamespace gemm64::dut {\n"
    "template <class T> bool set_unknown(T&, bool) { return false; }\n"
    "inline const char* unknown_handshake(const Vdut&) { return nullptr; }\n"
    "inline bool unknown_result(const Vdut&) { return false; }\n";

/// The class of a design in Icarus.
std::string icarus_model(const Description& of, const std::vector<Port>& ports) {
  std::string text =
      "#define GEMM64_DUT_ICARUS\n#include \"icarus_model.hpp\"\nnamespace gemm64::dut {\n"
      "template <unsigned kBits> bool set_unknown(Bits<kBits>& port, bool unknown) { return "
      "port.unknown = unknown; }\nstruct Vdut : IcarusModel {\n";
  std::string binds, handshakes;
  const auto has = [](const std::string& name, const char* end) {
    return name.find(end) != std::string::npos;
  };
  for (const Port& port : ports) {
    const bool bit = port.bits == 1 && !has(port.name, "_tdata");
    text +=
        fmt::format("  {} {}{{}};\n", bit ? "Bit" : fmt::format("Bits<{}>", port.bits), port.name);
    binds += fmt::format("    bind(\"{0}.{1}\", {2}, {1});\n", of.top, port.name, port.input);
    if (!port.input && (has(port.name, "_tvalid") || has(port.name, "_tready"))) {
      handshakes += fmt::format("  if (m.{0} == kUnknownBit) return \"{0}\";\n", port.name);
    }
  }
  return text +
         fmt::format(
             "  explicit Vdut(VerilatedContext*) {{\n{}  }}\n}};\n"
             "inline const char* unknown_handshake(const Vdut& m) {{\n{}  return nullptr;\n}}\n"
             "inline bool unknown_result(const Vdut& m) {{ return "
             "m.m_axis_results_tdata.unknown{}; }}\n",
             binds, handshakes,
             of.results_tlast ? " || m.m_axis_results_tlast == kUnknownBit" : "");
}

/// bench_config.hpp of the harness.
std::string bench_config(const Description& of, const std::vector<Port>& ports,
                         Simulator simulator) {
  std::string text = "#pragma once\n";
  text += simulator == Simulator::kIcarus ? icarus_model(of, ports) : kVerilatedModel;
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

namespace {

/// The first line of a compiler's output that speaks of an error.
std::string first_reason(const std::string& output) {
  const std::vector<std::string> lines = lines_with(output, "");
  std::string reason = lines.empty() ? "no output" : lines.back();
  for (const std::string& line : lines) {
    if (line.find("error") == std::string::npos) continue;
    reason = line;
    break;
  }
  return printable(reason, 300);
}

BuiltModel build_verilated(const Description& description, const BuildOptions& options,
                           const fs::path& cache, const fs::path& folder) {
  if (!has_program("verilator")) {
    throw UsageError(
        "verilator is not installed; type scripts/setup/setup.sh build, or apt-get install "
        "verilator");
  }
  const Finished verilated =
      run_program_in(folder, verilator_words(description, folder, options.trace));
  if (verilated.code != 0) fail_compile(description, verilated.output);
  BuiltModel built;
  built.warnings = lines_with(verilated.output, "%Warning");
  built.ports = read_ports(contents(folder / "Vdut.h"));
  check_ports(description, built.ports);
  write(folder / "bench_config.hpp", bench_config(description, built.ports, Simulator::kVerilator));
  const fs::path program = cache / hash_of(folder, description);
  built.command = {program.string()};
  built.cached = fs::exists(program);
  if (built.cached) return built;
  const bool clang = has_program("clang++");
  const Runtime runtime(cache, fmt::format("{}-{}", clang ? "clang" : "gcc", options.trace));
  runtime.restore(folder);
  // A waveform is written once, so that build is not worth optimizing.
  const std::string fast = options.trace || options.brief ? "-O1" : "-O3 -march=native";
  const Finished made = run_program_in(
      folder, {"env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "-f", "Vdut.mk",
               clang ? "CXX=clang++" : "CXX=g++", clang ? "LINK=clang++" : "LINK=g++",
               "OPT_FAST=" + fast, "OPT_SLOW=-O0", "OPT_GLOBAL=-O2",
               fmt::format("-j{}", std::max(1U, std::thread::hardware_concurrency())), "Vdut"});
  if (made.code != 0 || !fs::exists(folder / "Vdut")) {
    throw UsageError(fmt::format("{}: the C++ that Verilator wrote does not compile: {}",
                                 description.file, first_reason(made.output)));
  }
  runtime.keep(folder);
  fs::rename(folder / "Vdut", program);
  return built;
}

std::vector<std::string> icarus_words(const Description& of) {
  std::vector<std::string> words{"iverilog", "-g2012", "-o", "design.vvp", "-s", of.top};
  for (const auto& [name, value] : of.parameters) {
    words.push_back(fmt::format("-P{}.{}={}", of.top, name, value));
  }
  for (const auto& [name, value] : of.defines) words.push_back(fmt::format("-D{}={}", name, value));
  for (const fs::path& include : of.include) words.push_back("-I" + include.string());
  for (const fs::path& source : of.sources) {
    words.push_back("-I" + source.parent_path().string());
    words.push_back("-y" + source.parent_path().string());
  }
  for (const fs::path& source : of.sources) words.push_back(source.string());
  return words;
}

void compile_for_icarus(const Description& description, const fs::path& cache,
                        const fs::path& folder) {
  const Finished compiled = run_program_in(folder, icarus_words(description));
  if (compiled.code == 0) return;
  const std::string reason = first_reason(compiled.output);
  const auto fail = [&](const std::string& other) {
    throw UsageError(
        fmt::format("{}: does not compile in Icarus: {}; {}", description.file, reason, other));
  };
  Description elaborated;
  elaborated.top = description.top;
  elaborated.sources = {folder / "elaborated.v"};
  const std::string error = elaborate(description, folder, cache);
  if (!error.empty()) fail("slang: " + error);
  const Finished again = run_program_in(folder, icarus_words(elaborated));
  if (again.code != 0) fail("as elaborated by slang: " + first_reason(again.output));
}

BuiltModel build_for_icarus(const Description& description, const fs::path& cache,
                            const fs::path& folder) {
  if (!has_program("iverilog")) {
    throw UsageError("--icarus: iverilog is not installed; type apt-get install iverilog");
  }
  compile_for_icarus(description, cache, folder);
  BuiltModel built;
  built.ports = read_icarus_ports(contents(folder / "design.vvp"), description.top);
  check_ports(description, built.ports);
  write(folder / "icarus_model.hpp", asset("icarus_model.hpp"));
  write(folder / "bench_config.hpp", bench_config(description, built.ports, Simulator::kIcarus));
  Hash hash;
  for (const char* file : {"design.vvp", "bench_config.hpp", "icarus_model.hpp", "harness.cpp"}) {
    hash.add(contents(folder / file));
  }
  const fs::path kept = cache / ("icarus-" + hash.text());
  built.command = {
      "vvp", "-n", "-M", kept.string(), "-m", "harness", (kept / "design.vvp").string()};
  built.cached = fs::exists(kept);
  if (built.cached) return built;
  const std::string flags = run_program_in("", {"iverilog-vpi", "--cflags"}).output;
  const std::size_t include = std::min(flags.find("-I"), flags.size());
  const Finished made = run_program_in(
      folder, {has_program("clang++") ? "clang++" : "g++", "-std=gnu++17", "-O2", "-w", "-fPIC",
               "-shared", flags.substr(include, flags.find_first_of(" \n", include) - include),
               "harness.cpp", "-o", "harness.vpi"});
  if (made.code != 0) {
    throw UsageError(fmt::format("{}: the bench for Icarus does not compile: {}", description.file,
                                 first_reason(made.output)));
  }
  // Under a name of its own first: other processes may do the same.
  const Scratch own(cache);
  for (const char* file : {"design.vvp", "harness.vpi"}) {
    fs::copy_file(folder / file, own.path() / file);
  }
  std::error_code other;
  fs::rename(own.path(), kept, other);
  return built;
}

}  // namespace

BuiltModel build_model(const Description& description, const BuildOptions& options) {
  const fs::path cache = options.cache.empty() ? default_cache() : fs::absolute(options.cache);
  const Scratch scratch(cache);
  write(scratch.path() / "harness.cpp", asset("harness.cpp"));
  write(scratch.path() / "bench_protocol.hpp", asset("bench_protocol.hpp"));
  return options.simulator == Simulator::kIcarus
             ? build_for_icarus(description, cache, scratch.path())
             : build_verilated(description, options, cache, scratch.path());
}

}  // namespace gemm64::dut
