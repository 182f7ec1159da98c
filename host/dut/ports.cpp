// SPDX-License-Identifier: Apache-2.0
// Which ports the contract requires, and which a module has.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

#include "host/dut/model_build.hpp"
#include "host/dut/near_word.hpp"
#include "host/util/error.hpp"

namespace gemm64::dut {
namespace {

struct Required {
  std::string name;
  bool input;
  unsigned bits;
};

std::vector<Required> required_ports(const Description& of) {
  std::vector<Required> all{{"aclk", true, 1}, {"aresetn", true, 1}};
  const std::pair<Stream, const char*> streams[] = {{kWeights, "s_axis_weights"},
                                                    {kActivations, "s_axis_activations"},
                                                    {kSums, "s_axis_sums"},
                                                    {kResults, "m_axis_results"}};
  for (const auto& [stream, prefix] : streams) {
    if (stream == kSums && !of.partial_sums) continue;
    const bool input = stream != kResults;
    const auto name = [p = prefix](const char* end) { return fmt::format("{}_{}", p, end); };
    all.push_back({name("tdata"), input, of.beat_bits(stream)});
    all.push_back({name("tvalid"), input, 1});
    if (of.backpressure[stream]) all.push_back({name("tready"), !input, 1});
    if (input || of.results_tlast) all.push_back({name("tlast"), input, 1});
  }
  return all;
}

std::string declared(bool input, unsigned bits, const std::string& name) {
  const std::string range = bits == 1 ? "" : fmt::format("[{}:0] ", bits - 1);
  return fmt::format("{} {}{}", input ? "input" : "output", range, name);
}

std::string remedy(const Required& port) {
  if (port.name == "m_axis_results_tlast") return ", or state results_tlast = false";
  if (port.name.find("tready") != std::string::npos) {
    return ", or list in backpressure the streams that have it";
  }
  return "";
}

}  // namespace

std::vector<Port> read_ports(const std::string& header) {
  static const std::regex line(
      R"(VL_(IN|OUT|INOUT)(?:8|16|64|W)?\(\(?&?(\w+)(\)?\[\d+\])?(?:\[\d+\])*,\s*(\d+),\s*(\d+)(?:,\s*\d+)?\))");
  std::vector<Port> ports;
  for (std::sregex_iterator i(header.begin(), header.end(), line), end; i != end; ++i) {
    const std::smatch& match = *i;
    ports.push_back({match[2], match[1] == "IN",
                     static_cast<unsigned>(std::stoul(match[4]) - std::stoul(match[5]) + 1),
                     match[3].matched});
  }
  return ports;
}

std::vector<Port> read_icarus_ports(const std::string& compiled, const std::string& top) {
  static const std::regex line(R"re(\.port_info \d+ /(\w+) (\d+) "([^"]+)")re");
  const std::size_t begin =
      std::min(compiled.find(fmt::format(".scope module, \"{}\" ", top)), compiled.size());
  const std::size_t end = std::min(compiled.find(".scope ", begin + 1), compiled.size());
  const std::string own = compiled.substr(begin, end - begin);
  std::vector<Port> ports;
  for (std::sregex_iterator i(own.begin(), own.end(), line), last; i != last; ++i) {
    const std::smatch& match = *i;
    ports.push_back(
        {match[3], match[1] == "INPUT", static_cast<unsigned>(std::stoul(match[2])), false});
  }
  return ports;
}

std::vector<HeldInput> held_inputs(const Description& description, const std::vector<Port>& ports) {
  const std::vector<Required> required = required_ports(description);
  const auto ends = [](const std::string& name, std::string_view end) {
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  std::vector<HeldInput> held;
  for (const Port& port : ports) {
    // Every bench drives these if there are such ports, whatever the description needs.
    const bool driven = port.name == kMutantPort || port.name == "m_axis_results_tready" ||
                        port.name.rfind("s_axis_sums_t", 0) == 0;
    if (!port.input || driven ||
        std::any_of(required.begin(), required.end(),
                    [&port](const Required& one) { return one.name == port.name; })) {
      continue;
    }
    held.push_back({port, ends(port.name, "_tkeep") || ends(port.name, "_tstrb")});
  }
  return held;
}

std::string optional_connections(const Description& description, const std::vector<Port>& ports) {
  static constexpr std::pair<const char*, const char*> kOptional[] = {
      {"s_axis_weights_tready", "weights_tready"},
      {"s_axis_activations_tready", "activations_tready"},
      {"m_axis_results_tready", "results_tready"},
      {"m_axis_results_tlast", "results_tlast"},
      {"s_axis_sums_tdata", "sums_tdata"},
      {"s_axis_sums_tvalid", "sums_tvalid"},
      {"s_axis_sums_tlast", "sums_tlast"},
      {"s_axis_sums_tready", "sums_tready"}};
  std::string connected;
  for (const auto& [port, net] : kOptional) {
    if (std::any_of(ports.begin(), ports.end(),
                    [name = port](const Port& one) { return one.name == name; })) {
      connected += fmt::format(".{} ({}), ", port, net);
    }
  }
  for (const HeldInput& held : held_inputs(description, ports)) {
    connected +=
        fmt::format(".{} ({{{}{{1'b{}}}}}), ", held.port.name, held.port.bits, held.ones ? 1 : 0);
  }
  return connected;
}

void check_ports(const Description& description, const std::vector<Port>& ports) {
  std::vector<std::string> problems;
  const std::vector<Required> required = required_ports(description);
  for (const Required& port : required) {
    const auto found = std::find_if(ports.begin(), ports.end(),
                                    [&port](const Port& one) { return one.name == port.name; });
    const std::string expected = declared(port.input, port.bits, port.name);
    if (found == ports.end()) {
      std::vector<std::string> names;
      for (const Port& one : ports) names.push_back(one.name);
      std::string near = near_word(port.name, names);
      for (const Required& other : required) {
        if (other.name == near) near.clear();
      }
      problems.push_back(fmt::format("{} is missing: expected `{}`{}{}", port.name, expected,
                                     remedy(port),
                                     near.empty() ? "" : fmt::format(" (is {} meant?)", near)));
      continue;
    }
    const unsigned whole_bytes = (port.bits + 7) / 8 * 8;  // AXI4-Stream counts in bytes
    if (found->vector) {
      problems.push_back(
          fmt::format("{} is an unpacked array: expected the vector `{}`", port.name, expected));
    } else if (found->input != port.input) {
      problems.push_back(fmt::format("{} is an {}: expected `{}`", port.name,
                                     found->input ? "input" : "output", expected));
    } else if (found->bits != port.bits && (port.bits == 1 || found->bits != whole_bytes)) {
      problems.push_back(fmt::format("{} has {} bit{}: expected `{}`", port.name, found->bits,
                                     found->bits == 1 ? "" : "s", expected));
    }
  }
  if (problems.empty()) return;
  throw UsageError(fmt::format("{}: module {}: {}", description.file, description.top,
                               fmt::join(problems, "; ")));
}

}  // namespace gemm64::dut
