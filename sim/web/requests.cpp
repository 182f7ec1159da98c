// SPDX-License-Identifier: Apache-2.0
#include "sim/web/requests.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "host/util/error.hpp"
#include "sim/web/origin.hpp"

namespace gemm64::web {
namespace {

using Json = nlohmann::json;

double within(const Json& said, const char* name, double least, double most, double otherwise) {
  const Json value = said.contains(name) ? said.at(name) : Json(otherwise);
  if (!value.is_number() || value.get<double>() < least || value.get<double>() > most) {
    throw UsageError(
        fmt::format("{} is {}; give a number from {} to {}", name, value.dump(), least, most));
  }
  return value.get<double>();
}

MemoryTiming timing_of(const Json& said) {
  MemoryTiming timing;
  timing.latency = static_cast<std::uint32_t>(within(said, "latency", 1, 1000, 20));
  timing.bytes_per_cycle = static_cast<std::uint32_t>(within(said, "bytes_per_cycle", 0, 64, 0));
  timing.stall_probability = within(said, "stalls", 0, 0.9, 0);
  const std::string sharing = said.value("sharing", "independent");
  if (!set_memory(timing, sharing)) {
    throw UsageError(fmt::format(
        "ports are '{}'; they can be independent, shared, exclusive or before a DRAM channel",
        sharing));
  }
  check(timing);
  return timing;
}

}  // namespace

Json Requests::element(std::uint64_t address) const {
  const std::optional<Element> found = element_at(bench_->work(), address);
  if (!found) return nullptr;
  return {{"job", found->job},
          {"row", found->row},
          {"column", found->column},
          {"text", in_words(bench_->work(), *found)}};
}

Json Requests::bursts() const {
  Json said = Json::array();
  for (const auto& port : bench_->trail().under_way()) {
    said.push_back(Json::array());
    for (const auto& [next, left] : port) said.back().push_back({next, left});
  }
  return said;
}

Json Requests::carry_out(const Json& request) {
  const std::string what = request.at("do");
  if (what == "draw") {
    const auto array = request.at("array").get<std::uint32_t>();
    const Drawn drawn = draw_work(request.at("seed").get<std::uint32_t>(), array);
    return {{"do", "open"},
            {"array", array},
            {"memory", {{"latency", drawn.memory.latency}, {"sharing", drawn.memory.word()}}},
            {"work", drawn.work}};
  }
  if (what == "open") {
    const Json memory = request.value("memory", Json::object());
    bench_.reset();  // there is room for one
    bench_ = std::make_unique<Bench>(request.at("array").get<int>(), timing_of(memory),
                                     request.at("work"));
    return bench_->description();
  }
  if (!bench_) throw UsageError("nothing is open; open a work first");
  if (what == "standing") return bench_->standing();
  if (what == "stop_at") {
    bench_->stop_at(request.value("counter", -1), request.value("signal", ""),
                    request.value("value", std::uint64_t{1}), request.value("port", -1));
    return Json::object();
  }
  if (what == "flip") {
    if (request.contains("signal")) {
      bench_->flip(request.at("signal").get<std::string>(), request.value("word", std::size_t{0}),
                   request.at("bit").get<std::size_t>());
    } else {
      bench_->flip(request.at("fault").get<std::string>());
    }
    return Json::object();
  }
  if (what == "outcome") return bench_->outcome();
  if (what == "element") return element(request.at("address").get<std::uint64_t>());
  if (what == "filled") {
    const auto& words = bench_->trail().filled(request.at("buffer").get<std::string>());
    const auto word = request.at("word").get<std::size_t>();
    if (word >= words.size() || words[word].address == PortTrail::kNoBeat) return nullptr;
    return {{"address", words[word].address}, {"clock", words[word].clock}};
  }
  if (what == "memory") {
    return bench_->memory(request.at("address").get<std::uint64_t>(), request.at("bytes"));
  }
  if (what == "bursts") return bursts();
  if (what == "result") {
    return in_words(bench_->work(), {Element::Matrix::kResults, request.at("job"),
                                     request.at("row"), request.at("column")});
  }
  if (what == "entering") return row_entering(bench_->work(), request.at("row"));
  if (what == "leaving") return row_leaving(bench_->work(), request.at("beat"));
  if (what == "block") return block_of_results(bench_->work(), request.at("block"));
  throw UsageError(fmt::format("no request is called '{}'", what));
}

std::string Requests::answer(const std::string& request) {
  Json said;
  try {
    said = carry_out(Json::parse(request));
  } catch (const std::exception& error) {
    said = {{"error", error.what()}};
  }
  return said.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int Requests::step(std::uint64_t cycles) {
  return bench_ ? static_cast<int>(bench_->step(cycles)) : -1;
}

}  // namespace gemm64::web
