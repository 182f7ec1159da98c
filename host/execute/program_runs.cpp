// SPDX-License-Identifier: Apache-2.0
#include "host/execute/program_runs.hpp"

#include "host/execute/device_schedule.hpp"

namespace gemm64 {

void ProgramRuns::add(const Step& step, const Tensors& inputs, const Tensor& results) {
  waiting_[static_cast<int>(index_of(executor_, step))] = {inputs, results};
}

void ProgramRuns::advance(const Step& step) {
  const auto node = static_cast<int>(index_of(executor_, step));
  for (; next_ < plan_.programs.size() && plan_.programs[next_].last_node <= node; ++next_) {
    const DeviceProgram& program = plan_.programs[next_];
    std::vector<ProgramLayer> layers;
    for (const DeviceLayer& layer : program.layers) {
      const auto found = waiting_.find(layer.node);
      const Step& of_layer = executor_.steps()[static_cast<std::size_t>(layer.node)];
      layers.push_back(
          program_layer(layer, of_layer.context, found->second.inputs, found->second.results));
      waiting_.erase(found);
    }
    run_(program, std::move(layers));
  }
}

}  // namespace gemm64
