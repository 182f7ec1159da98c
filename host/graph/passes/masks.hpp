// SPDX-License-Identifier: Apache-2.0
// Masks: numbers far below all others, which a Softmax takes for nothing.
#pragma once

#include <set>
#include <string>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/ranges.hpp"

namespace gemm64 {

/// The values that are a mask, or scores with one in them: constants and inputs of the graph that
/// reach -1,000 or below, and what is made of them one element by one (Mul, Where, Add, Cast, ...)
/// or by moving elements. 8 bits of that range cannot represent the scores next to them; and a
/// mask that hid nothing in the calibration's inputs has a range that cuts off what it hides later.
std::set<std::string> find_masks(const OnnxModel& model, const Ranges& ranges);

}  // namespace gemm64
