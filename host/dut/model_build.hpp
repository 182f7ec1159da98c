// SPDX-License-Identifier: Apache-2.0
// A user's array compiled by Verilator into a bench of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/dut/description.hpp"

namespace gemm64::dut {

/// A port of the top module, as Verilator's header declares it.
struct Port {
  std::string name;
  bool input = false;
  unsigned bits = 1;
  bool vector = false;  // an unpacked array
};

/// The ports that `header`, the text of a Verilated class, declares.
std::vector<Port> read_ports(const std::string& header);

/// Throws UsageError, which names every port that is missing, of the wrong direction or width, and
/// the one that is expected.
void check_ports(const Description& description, const std::vector<Port>& ports);

/// Inputs of the top module that the contract does not know, and the value at which they are held:
/// TKEEP and TSTRB at ones, as AXI4-Stream has it for streams without them, others at 0.
struct HeldInput {
  Port port;
  bool ones = false;
};
std::vector<HeldInput> held_inputs(const Description& description, const std::vector<Port>& ports);

/// Verilog's connections of the ports that not every module has, to the nets of a bench:
/// ".s_axis_weights_tready (weights_tready), ".
std::string optional_connections(const Description& description, const std::vector<Port>& ports);

enum class Simulator {
  kVerilator,
  kIcarus  // slower, and knows unknown values: registers without a reset begin as X
};

struct BuiltModel {
  std::vector<std::string> command;  // which runs the bench
  std::vector<Port> ports;
  std::vector<std::string> warnings;  // Verilator's, a line each
  bool cached = false;
};

struct BuildOptions {
  bool trace = false;           // a build of its own, which can write waveforms
  std::filesystem::path cache;  // empty: default_cache()
  Simulator simulator = Simulator::kVerilator;
  bool brief = false;  // for few cycles: compiled sooner, and slower
};

/// $XDG_CACHE_HOME/gemm64/dut, or ~/.cache/gemm64/dut.
std::filesystem::path default_cache();

/// The ports of module `top` in what Icarus compiled.
std::vector<Port> read_icarus_ports(const std::string& compiled, const std::string& top);

/// Compiles the sources, checks the ports, and compiles the bench unless one of the same content is
/// in the cache. Sources that Icarus cannot read are read by slang and Yosys. Throws UsageError:
/// the compiler's first error with its file and line, or ports.
BuiltModel build_model(const Description& description, const BuildOptions& options);

}  // namespace gemm64::dut
