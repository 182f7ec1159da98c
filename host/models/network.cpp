// SPDX-License-Identifier: Apache-2.0
#include "host/models/network.hpp"

#include <algorithm>

#include "host/error.hpp"
#include "host/models/alexnet.hpp"
#include "host/models/image.hpp"

namespace gemm64 {
namespace {

// Images that go through the convolutions at a time: bounds the memory for them (about 200 MB),
// whatever the batch.
constexpr std::size_t kImagesAtOnce = 64;

}  // namespace

std::vector<std::string> known_networks() { return {"alexnet"}; }

Workload make_workload(const std::string& network, std::size_t batch, std::uint32_t seed,
                       const std::filesystem::path& data_folder) {
  const std::vector<std::string> known = known_networks();
  if (std::find(known.begin(), known.end(), network) == known.end()) {
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    throw UsageError("unknown network '" + network + "'; known are: " + names);
  }

  const GreyImages images = read_fashion_mnist_images(batch, data_folder);
  const AlexNet alexnet(seed);
  Workload workload;
  workload.model = network;
  for (std::size_t first = 0; first < batch; first += kImagesAtOnce) {
    const std::size_t count = std::min(kImagesAtOnce, batch - first);
    const MatrixF rows = alexnet.features(imagenet_batch(images, first, count));
    if (first == 0) workload.input.resize(static_cast<Eigen::Index>(batch), rows.cols());
    workload.input.middleRows(static_cast<Eigen::Index>(first), rows.rows()) = rows;
  }
  workload.layers = alexnet.linear_layers();
  return workload;
}

}  // namespace gemm64
