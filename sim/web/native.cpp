// SPDX-License-Identifier: Apache-2.0
// What the page must give: random works on this machine's own simulation, driven in one go. A line
// of JSON for each.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/driver/driver.hpp"
#include "sim/models/rtl_device.hpp"
#include "sim/web/work.hpp"

namespace gemm64::web {
namespace {

nlohmann::json run(std::uint32_t seed, int array) {
  const Drawn drawn = draw_work(seed, static_cast<std::uint32_t>(array));
  RtlOptions options;
  options.n = array;
  options.memory = drawn.memory;
  const std::unique_ptr<RtlDevice> device = make_rtl_device(options);
  Driver driver(*device, Timeouts{drawn.memory.latency, 0});
  const Work work = make_work(drawn.work, driver.geometry());
  const std::vector<GemmResult> results = driver.run(work.list, work.for_driver());
  const Counters counters = driver.read_counters();
  nlohmann::json said = {{"seed", seed}, {"array", array}, {"work", drawn.work}};
  said["counters"] = std::vector<std::uint64_t>(counters.begin(), counters.end());
  for (const GemmResult& result : results) {
    said["results"].push_back(
        std::vector<std::int32_t>(result.sums.data(), result.sums.data() + result.sums.size()));
  }
  return said;
}

}  // namespace
}  // namespace gemm64::web

int main(int count, char** values) {
  if (count < 3) {
    std::cerr << "usage: gemm64_web_native WORKS ARRAY...\n";
    return 2;
  }
  try {
    const int works = std::atoi(values[1]);
    for (int seed = 1; seed <= works; ++seed) {
      const int array = std::atoi(values[2 + seed % (count - 2)]);
      std::cout << gemm64::web::run(static_cast<std::uint32_t>(seed), array) << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
