// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/float_network.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace gemm64 {
namespace {

LinearLayer layer(const std::string& name, const MatrixF& weights, const Eigen::VectorXf& bias,
                  bool relu) {
  return {name, weights, bias, relu};
}

TEST(FloatForward, ReturnsEveryLayersOutputAfterItsRelu) {
  MatrixF w1(3, 2);
  w1 << 1, 2, -1, 0, 0, 1;
  Eigen::VectorXf b1(3);
  b1 << 0.5f, 0.0f, -10.0f;
  MatrixF w2(1, 3);
  w2 << -2, 1, 4;
  Eigen::VectorXf b2(1);
  b2 << 1.0f;
  MatrixF input(2, 2);
  input << 1, 2, -3, 4;

  const std::vector<MatrixF> outputs =
      float_forward(input, {layer("first", w1, b1, true), layer("second", w2, b2, false)});

  ASSERT_EQ(outputs.size(), 2u);
  MatrixF hidden(2, 3);
  hidden << 5.5f, 0, 0, 5.5f, 3, 0;
  EXPECT_EQ(outputs[0], hidden);
  MatrixF last(2, 1);
  last << -10.0f, -7.0f;  // negative: the second layer has no ReLU
  EXPECT_EQ(outputs[1], last);
}

TEST(FloatForward, NamesTheLayerThatDoesNotFit) {
  const LinearLayer good = layer("good", MatrixF::Ones(3, 2), Eigen::VectorXf::Zero(3), true);
  const LinearLayer bad_k = layer("narrow", MatrixF::Ones(1, 2), Eigen::VectorXf::Zero(1), false);
  const LinearLayer bad_bias =
      layer("biased", MatrixF::Ones(1, 3), Eigen::VectorXf::Zero(2), false);
  for (const LinearLayer& bad : {bad_k, bad_bias}) {
    try {
      float_forward(MatrixF::Ones(1, 2), {good, bad});
      FAIL() << bad.name << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(bad.name), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace gemm64
