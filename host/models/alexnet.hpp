// SPDX-License-Identifier: Apache-2.0
// torchvision's AlexNet: five convolutions on the host, three Linear layers for the accelerator.
#pragma once

#include <cstdint>
#include <vector>

#include "host/models/conv.hpp"
#include "host/models/image.hpp"
#include "host/models/linear_layer.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {

/// AlexNet for inference (dropout is the identity), with weights drawn from a seed as PyTorch
/// initialises them: each layer's from its own name and the seed.
class AlexNet {
 public:
  /// Makes the weights of the convolutions (2.5 million).
  explicit AlexNet(std::uint32_t seed);

  /// `features` and `avgpool` (the identity at this size), flattened in NCHW order: images
  /// [batch][3][224][224] to [batch x 9216]. Throws std::invalid_argument for other shapes.
  MatrixF features(const ImageBatch& images) const;

  /// Makes the 58.6 million weights of classifier.1, classifier.4 and classifier.6, in this order.
  std::vector<LinearLayer> linear_layers() const;

  /// The stages that features() runs.
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  std::uint32_t seed_;
  std::vector<Stage> stages_;
};

}  // namespace gemm64
