// SPDX-License-Identifier: Apache-2.0
#include "sim/web/bench.hpp"

#include "host/driver/driver.hpp"
#include "sim/web/origin.hpp"
#include "sim/web/requests.hpp"
#include "tests/test.hpp"

namespace gemm64::web {
namespace {

using Json = nlohmann::json;

TEST(Bench, StepsCountWhatADriverCountsInOneGo) {
  for (const int array : {4, 8}) {
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
      const Drawn drawn = draw_work(seed, static_cast<std::uint32_t>(array));
      Bench bench(array, drawn.memory, drawn.work);
      std::uint64_t cycles = 1;
      while (bench.step(cycles) == Bench::State::kGoing) cycles = cycles % 97 + 1;
      ASSERT_EQ(bench.state(), Bench::State::kEnded) << drawn.work;
      const Json outcome = bench.outcome();
      EXPECT_EQ(outcome["counters"], bench.standing()["counters"]) << drawn.work;
      EXPECT_EQ(outcome["counters"], bench.description()["predicted"]) << drawn.work;
      for (const Json& job : outcome["jobs"]) EXPECT_EQ(job["wrong"], 0) << drawn.work;

      RtlOptions options;
      options.n = array;
      options.memory = drawn.memory;
      const auto device = make_rtl_device(options);
      Driver driver(*device, Timeouts{drawn.memory.latency, 0});
      const Work work = make_work(drawn.work, driver.geometry());
      driver.run(work.list, work.for_driver());
      const Counters counters = driver.read_counters();
      EXPECT_EQ(outcome["counters"], std::vector<std::uint64_t>(counters.begin(), counters.end()));
    }
  }
}

TEST(Bench, StopsAtEngineAndSignalEvents) {
  Bench bench(4, MemoryTiming{}, {{"kind", "product"}, {"m", 4}, {"k", 8}, {"n", 4}});
  bench.stop_at(static_cast<int>(counter::kCommandsDispatch), "", 0);
  const std::size_t commands = bench.description()["commands"].size();
  for (std::size_t i = 1; i <= commands; ++i) {
    const Bench::State state = bench.step(10000);
    EXPECT_EQ(bench.standing()["dispatched"], i);
    if (state == Bench::State::kEnded) break;
    EXPECT_EQ(state, Bench::State::kStopped);
  }
  Bench again(4, MemoryTiming{}, {{"kind", "product"}, {"m", 4}, {"k", 8}, {"n", 4}});
  again.stop_at(-1, "m_weights_rvalid_i", 1);
  EXPECT_EQ(again.step(10000), Bench::State::kStopped);
  EXPECT_EQ(again.standing()["counters"][counter::kWeightsTransfer], 1);
  const std::uint32_t second =
      bench.description()["jobs"][0]["addresses"]["weights"].get<std::uint32_t>() + 4;
  again.stop_at(-1, "", second + 3, 0);
  EXPECT_EQ(again.step(10000), Bench::State::kStopped);
  EXPECT_EQ(again.standing()["counters"][counter::kWeightsTransfer], 2);
  EXPECT_THROW(again.stop_at(-1, "no_such", 1), UsageError);
  EXPECT_THROW(again.stop_at(-1, "", 1, 3), UsageError);
}

TEST(Bench, AFlippedWeightSpoilsAColumn) {
  Bench bench(4, MemoryTiming{}, {{"kind", "product"}, {"m", 8}, {"k", 4}, {"n", 4}});
  const auto computes = static_cast<int>(counter::kComputeCompute);
  bench.stop_at(computes, "", 0);
  ASSERT_EQ(bench.step(10000), Bench::State::kStopped);
  bench.stop_at(-1, "", 0);
  bench.step(4);
  bench.flip("weight:0,0:6");
  EXPECT_EQ(bench.step(10000), Bench::State::kEnded);
  const int wrong = bench.outcome()["jobs"][0]["wrong"];
  EXPECT_GT(wrong, 0);
  EXPECT_LE(wrong, 8);
}

/// Results of the work's last job.
Json results(const Json& work) {
  Bench bench(4, MemoryTiming{}, work);
  EXPECT_EQ(bench.step(100000), Bench::State::kEnded) << work;
  const Json outcome = bench.outcome();
  for (const Json& job : outcome["jobs"]) EXPECT_EQ(job["wrong"], 0) << work;
  EXPECT_EQ(outcome["counters"], bench.description()["predicted"]) << work;
  return outcome["jobs"].back()["results"];
}

TEST(Bench, AResidualBlockAddsWhatEnteredIt) {
  // The first convolution has no weights, so that what entered reaches the results next to it
  // alone.
  Json work = {{"kind", "residual"}, {"channels", 5}, {"out_channels", 3}, {"height", 4},
               {"width", 4},         {"kernel", 3},   {"pad", 1}};
  work["w"] = std::vector<std::vector<int>>(3, std::vector<int>(5 * 9, 0));
  work["a"] = std::vector<std::vector<int>>(16, std::vector<int>(5, 0));
  const Json without = results(work);
  for (int pixel = 0; pixel < 16; ++pixel) {
    for (int channel = 0; channel < 5; ++channel) {
      work["a"][pixel][channel] = 37 * pixel * (channel + 1) % 256 - 128;
    }
  }
  const Json with = results(work);
  for (int pixel = 0; pixel < 16; ++pixel) {
    for (int channel = 0; channel < 5; ++channel) {
      const int sum = without[pixel][channel].get<int>() + work["a"][pixel][channel].get<int>();
      EXPECT_EQ(with[pixel][channel], std::clamp(sum, -128, 127)) << pixel << ", " << channel;
    }
  }
}

TEST(Bench, APoolGivesTheLargestValueUnderItsWindow) {
  Json work = {{"kind", "pool"}, {"channels", 2}, {"height", 4}, {"width", 4},
               {"kernel", 2},    {"stride", 2},   {"pad", 0},    {"results", "int8"}};
  for (int pixel = 0; pixel < 16; ++pixel) work["a"].push_back({pixel, -pixel});
  EXPECT_EQ(results(work), (Json{{5, 0}, {7, -2}, {13, -8}, {15, -10}}));
  // Beyond the border nothing is larger than the least value.
  work["kernel"] = 3;
  work["pad"] = 1;
  EXPECT_EQ(results(work), (Json{{5, 0}, {7, -1}, {13, -4}, {15, -5}}));
}

TEST(Bench, ADepthwiseConvolutionKeepsChannelsApart) {
  Json work = {{"kind", "depthwise"}, {"channels", 2}, {"height", 4}, {"width", 4},
               {"kernel", 3},         {"stride", 1},   {"pad", 0}};
  for (int pixel = 0; pixel < 16; ++pixel) work["a"].push_back({pixel, 1});
  work["w"] = {std::vector<int>(9, 1), {0, 0, 0, 0, 0, 0, 0, 0, 3}};
  EXPECT_EQ(results(work), (Json{{45, 3}, {54, 3}, {81, 3}, {90, 3}}));
}

TEST(Bench, AnyRegisterThatItShowsCanBeFlipped) {
  Bench bench(4, MemoryTiming{}, {{"kind", "residual"}, {"channels", 4}, {"kernel", 3}});
  const std::string rounded = "u_output.u_results.u_vector.whole_10";
  bench.stop_at(static_cast<int>(counter::kOperandsTransfer), "", 0);
  ASSERT_EQ(bench.step(100000), Bench::State::kStopped);
  bench.stop_at(-1, "", 0);
  while (bench.step(1) == Bench::State::kGoing) bench.flip(rounded, 2, 6);
  ASSERT_EQ(bench.state(), Bench::State::kEnded);
  const Json outcome = bench.outcome();
  EXPECT_EQ(outcome["jobs"][0]["wrong"], 0);
  EXPECT_GT(outcome["jobs"][1]["wrong"], 0);
  EXPECT_THROW(bench.flip(rounded, 4, 6), UsageError);
  EXPECT_THROW(bench.flip(rounded, 2, 11), UsageError);
  EXPECT_THROW(bench.flip("irq_o", 0, 0), UsageError);
}

/// Works of every kind.
std::vector<Json> works() {
  const Json map = {{"channels", 6}, {"out_channels", 5}, {"height", 4}, {"width", 5},
                    {"kernel", 3},   {"stride", 1},       {"pad", 1}};
  std::vector<Json> all = {
      {{"kind", "product"}, {"m", 9}, {"k", 11}, {"n", 6}},
      {{"kind", "product"}, {"m", 5}, {"k", 3}, {"n", 9}, {"results", "int8"}}};
  for (const char* kind : {"convolution", "chain", "residual", "depthwise", "pool"}) {
    all.push_back(map);
    all.back()["kind"] = kind;
  }
  return all;
}

TEST(Origin, EveryElementLiesWhereItIsSaidTo) {
  for (const Json& said : works()) {
    Bench bench(4, MemoryTiming{}, said);
    ASSERT_EQ(bench.step(100000), Bench::State::kEnded) << said;
    const Json outcome = bench.outcome();
    const Work& work = bench.work();
    std::map<std::pair<std::size_t, Element::Matrix>, std::int64_t> found;
    const std::vector<std::uint8_t> memory = bench.memory(0, work.list.end);
    for (std::uint64_t address = 0; address < work.list.end; ++address) {
      const std::optional<Element> element = element_at(work, address);
      if (!element) continue;
      const Operands& operands = work.operands[element->job];
      const Plan& plan = work.list.jobs[element->job].plan;
      const auto row = static_cast<Eigen::Index>(element->row);
      const auto column = static_cast<Eigen::Index>(element->column);
      int value = 0;
      unsigned byte = 0;
      switch (element->matrix) {
        case Element::Matrix::kActivations:
          value = operands.activations(row, column);
          break;
        case Element::Matrix::kWeights:
          value = operands.weights(row, column);
          break;
        case Element::Matrix::kSecond:
          value = operands.second(row, column);
          break;
        case Element::Matrix::kResults:
          value = outcome["jobs"][element->job]["results"][element->row][element->column];
          byte = static_cast<unsigned>(address % plan.results().bytes());
          break;
      }
      ++found[{element->job, element->matrix}];
      ASSERT_EQ(memory[address], static_cast<std::uint8_t>(value >> 8 * byte))
          << said << ": " << in_words(work, *element);
    }
    for (std::size_t j = 0; j < work.operands.size(); ++j) {
      const Operands& operands = work.operands[j];
      const Plan& plan = work.list.jobs[j].plan;
      EXPECT_EQ((found[{j, Element::Matrix::kActivations}]), operands.activations.size()) << said;
      EXPECT_EQ((found[{j, Element::Matrix::kWeights}]), operands.weights.size()) << said;
      EXPECT_EQ((found[{j, Element::Matrix::kSecond}]), operands.second.size()) << said;
      EXPECT_EQ((found[{j, Element::Matrix::kResults}]),
                static_cast<std::int64_t>(plan.shape.m * plan.shape.n * plan.results().bytes()));
    }
  }
}

TEST(Origin, FollowsAddressesAcrossPorts) {
  for (const Json& said : works()) {
    MemoryTiming memory;
    memory.stall_probability = 0.85;
    Bench bench(4, memory, said);
    const Json about = bench.description();
    const std::size_t words = about["past_words"];
    std::uint64_t stored = 0;
    while (bench.step(1) == Bench::State::kGoing) {
      const Json standing = bench.standing();
      const std::uint32_t* const now =
          bench.past().data() + standing["device_clock"].get<std::size_t>() % Bench::kPast * words;
      const auto shown = [&](const char* name) {
        for (const Json& one : about["signals"]) {
          if (one[0] == name) return bench.view().data() + one[1].get<std::size_t>();
        }
        throw std::logic_error(name);
      };
      const auto check = [&](std::uint32_t address, const char* port, const char* name) {
        const std::string prefix = port;
        const bool moves =
            *shown((prefix + "valid_i").c_str()) != 0 && *shown((prefix + "ready_o").c_str()) != 0;
        ASSERT_EQ(address != PortTrail::kNoBeat, moves) << name;
        if (!moves) return;
        EXPECT_EQ(bench.memory(address, 4),
                  std::vector<std::uint8_t>(shown(name), shown(name) + 4));
      };
      check(now[3], "m_weights_r", "m_weights_rdata_i");
      check(now[4], "m_data_r", "m_data_rdata_i");
      const Json row = row_leaving(bench.work(), stored);
      if (standing["stored"] != stored && now[5] != PortTrail::kNoBeat) {
        EXPECT_EQ(row["address"], now[5]) << said;
      }
      stored = standing["stored"];
    }
    EXPECT_EQ(bench.state(), Bench::State::kEnded);
    EXPECT_TRUE(row_leaving(bench.work(), stored).is_null()) << said;
    EXPECT_FALSE(row_leaving(bench.work(), stored - 1).is_null()) << said;
  }
}

TEST(Requests, SayInASentenceWhatWasWrong) {
  Requests requests;
  const auto error = [&requests](const std::string& work) {
    return Json::parse(requests.answer(R"({"do": "open", "array": 4, "work": )" + work + "}"))
        .value("error", "");
  };
  EXPECT_EQ(error(R"({"m": 0})"), "m is 0; give a whole number from 1 to 512");
  EXPECT_EQ(error(R"({"m": 1, "k": 2, "n": 1, "a": [[1, 200]]})"),
            "a has 200 in row 1, column 2; give 1 rows of 2 whole numbers from -128 to 127");
  EXPECT_EQ(error(R"({"kind": "convolution", "kernel": 3, "pad": 5})"),
            "pad is 5 and the kernel 3x3; give a pad below 3");
  EXPECT_NE(error(R"({"kind": "residual", "kernel": 3, "pad": 0})").find("cannot be added"),
            std::string::npos);
  EXPECT_NE(requests.answer("{").find("error"), std::string::npos);
  EXPECT_NE(requests.answer(R"({"do": "standing"})").find("nothing is open"), std::string::npos);
}

}  // namespace
}  // namespace gemm64::web
