// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_faults.hpp"

#include <algorithm>
#include <utility>

#include "host/ep/network_session.hpp"
#include "host/faults/network_campaign_run.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/kernels/tensor.hpp"
#include "host/report/progress.hpp"
#include "host/runtime/session.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {
namespace {

/// Appends the index of each image's largest value, where T is the tensor's type.
template <class T>
void add_best(const Tensor& tensor, std::int64_t images, std::vector<std::int64_t>& best) {
  if (tensor.type() != data_type_of<T>()) return;
  const std::int64_t each = tensor.elements() / images;
  for (std::int64_t image = 0; image < images; ++image) {
    const T* const own = tensor.values<T>() + image * each;
    best.push_back(std::max_element(own, own + each) - own);
  }
}

/// Of each image of the first output, a row of its first axis.
std::vector<std::int64_t> best_of(const Tensor& tensor) {
  std::vector<std::int64_t> best;
  if (!tensor.present() || tensor.elements() == 0) return best;
  const std::int64_t images = tensor.rank() < 2 ? 1 : tensor.dim(0);
  add_best<float>(tensor, images, best);
  add_best<double>(tensor, images, best);
  add_best<std::int8_t>(tensor, images, best);
  add_best<std::uint8_t>(tensor, images, best);
  add_best<std::int32_t>(tensor, images, best);
  add_best<std::int64_t>(tensor, images, best);
  return best;
}

OutputDigest outputs_of(const NetworkRun& run) {
  OutputDigest outputs;
  outputs.error = run.report.error;
  if (!outputs.error.empty()) return outputs;
  for (const auto& [name, tensor] : run.outputs) {
    outputs.digest = digest_of(name.data(), name.size(), outputs.digest);
    outputs.digest = digest_of(tensor.raw(), tensor.bytes(), outputs.digest);
  }
  outputs.best = best_of(run.first);
  return outputs;
}

/// Runs it from nothing, so that no state stays from one run to the next.
OutputDigest run_once(const NetworkFaultsOptions& options, const NetworkSource& source,
                      Device& device, const Timeouts& timeouts) {
  RunOptions run;
  run.memory = options.network.memory;
  RunSettings settings = options.network;
  settings.check = CheckLevel::kNone;  // outputs are compared with those without a fault
  Session session(device, "rtl", timeouts, settings, std::move(run));
  ep::NetworkSession network(session);
  network.open(source.model, nullptr, {}, source.executable.get());
  return outputs_of(network.run(source.inputs, session.report(source.name, source.batch), nullptr));
}

}  // namespace

NetworkCampaignReport network_faults(const NetworkFaultsOptions& options) {
  // A copy of a process has none of its threads.
  set_host_threads(1);
  const DeviceKind rtl = devices().find_inspectable("rtl", "faults");
  const DeviceKind fast = devices().find("tlm", options.network);
  ClaimedFiles files;
  claim_inputs(options.network, files);
  const NetworkSource source = open_network(options.network, files, [](const OnnxModel&) {});

  NetworkCampaignOptions campaign;
  campaign.model = source.name;
  campaign.array = static_cast<std::uint32_t>(options.network.array);
  campaign.seed = options.network.seed;
  campaign.latency = options.network.memory.latency;
  campaign.self_check = options.network.self_check;
  campaign.first = options.first;
  campaign.count = options.count;
  campaign.repeat = options.repeat;
  campaign.jobs = options.jobs;
  ProgressBar bar;
  return run_network_campaign(
      campaign,
      {[&] { return rtl.make_inspectable(options.network, TraceOptions()); },
       [&] { return fast.make(options.network); }},
      [&](Device& device, const Timeouts& timeouts) {
        return run_once(options, source, device, timeouts);
      },
      [&bar](std::uint64_t ended, std::uint64_t of) {
        bar.show("faults", static_cast<double>(ended) / static_cast<double>(of));
      });
}

}  // namespace gemm64
