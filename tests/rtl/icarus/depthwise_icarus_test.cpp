// SPDX-License-Identifier: Apache-2.0
// The depthwise unit gives in Icarus Verilog what it gives in Verilator, whose values tests/system
// checks, and nothing unknown reaches an output.
#include "host/device/depthwise.hpp"
#include "host/device/result_format.hpp"
#include "tests/rtl/icarus/run_image.hpp"

namespace gemm64::icarus_test {
namespace {

struct DepthwiseCase {
  unsigned array, kernel, stride, planes, images;
  std::uint32_t flags = 0;  // of DEPTHWISE
  ResultCode format = ResultCode::kInt8;
  unsigned self_check = 0;  // in Icarus
  unsigned dilation = 1;
};

/// A border of half a kernel on all sides; blocks of 16 rows, the last of a plane shorter.
class DepthwiseImage : public ProgramImage {
 public:
  explicit DepthwiseImage(const DepthwiseCase& test) : ProgramImage(0x4000, test.kernel) {
    const std::uint32_t n = test.array;
    for (std::uint32_t i = 0; i < 4 * n; i += 4) {  // small biases
      memory[kParameters + i + 2] = memory[kParameters + i + 3] = 0;
    }
    set_scales(kParameters, n);
    DepthwiseCommand c;
    c.flags = test.flags;
    c.kernel_height = test.kernel;
    c.stride_height = c.stride_width = test.stride;
    c.dilation_height = c.dilation_width = test.dilation;
    c.pad_top = c.pad_left = test.kernel / 2 * test.dilation;
    c.height = 8;
    c.width = 9;
    c.out_height = (c.height - 1) / test.stride + 1;
    c.out_width = (c.width - 1) / test.stride + 1;
    c.zero = 0x85;
    c.count = test.planes;
    c.passes = test.images;
    c.rows = kRows;
    set_steps(c);

    Command weights, activations, parameters;
    weights.opcode = Opcode::kLoadWeights;
    weights.count = static_cast<std::uint32_t>(weight_words(c)) * c.count;
    weights.passes = 1;
    weights.set_address(kWeights);
    activations.opcode = Opcode::kLoadActivations;
    activations.rows = activations.stride = activations.passes = activations.blocks = 1;
    activations.count = static_cast<std::uint32_t>(image_words(c)) * c.passes * c.count;
    activations.set_address(kActivations);
    std::vector<Command> commands{weights, activations, c};
    const auto rows = static_cast<std::uint32_t>(image_rows(c) * c.passes);
    const ResultFormat format(test.format);
    std::uint32_t blocks = 0;
    for (std::uint32_t plane = 0; plane < c.count; ++plane) {
      for (std::uint32_t row = 0; row < rows; row += kRows, ++blocks) {
        StoreCommand store;
        store.rows = store.stride = std::min(kRows, rows - row);
        store.count = store.blocks = 1;
        store.format = format.number();
        store.low = test.format == ResultCode::kUint8 ? 0 : 0x80;
        store.high = test.format == ResultCode::kUint8 ? 0xff : 0x7f;
        store.address = first() + result_bytes_;
        result_bytes_ += format.block_bytes(store.rows, n);
        commands.push_back(store);
      }
    }
    if (format.takes_parameters()) {
      parameters.opcode = Opcode::kLoadParameters;
      parameters.count = kParameterSetWords;
      parameters.passes = blocks;
      parameters.set_address(kParameters);
      commands.insert(commands.begin(), parameters);
    }
    finish(std::move(commands));
  }

 private:
  static constexpr std::uint32_t kRows = 16;
  static constexpr std::uint64_t kWeights = 0x1000, kActivations = 0x2000, kParameters = 0x3f00;
};

class DepthwiseInIcarus : public testing::TestWithParam<DepthwiseCase> {};

TEST_P(DepthwiseInIcarus, EqualsVerilator) {
  const DepthwiseCase& test = GetParam();
  const DepthwiseImage image(test);
  const Outcome icarus = run_in_icarus(test.array, image, 20, 0, kMemoryBytes, test.self_check);
  const Outcome verilator = run_in_verilator(test.array, image, 20);
  EXPECT_EQ(icarus.results, verilator.results);
  EXPECT_NE(icarus.results, image.before()) << "nothing was written";
  EXPECT_EQ(icarus.counters, verilator.counters);
  EXPECT_EQ(run_in_icarus(test.array, image, 20, 60, kMemoryBytes, test.self_check).results,
            icarus.results)
      << "every channel stalls";
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DepthwiseInIcarus,
    testing::Values(DepthwiseCase{8, 3, 1, 2, 1}, DepthwiseCase{8, 5, 1, 1, 1},
                    DepthwiseCase{8, 7, 1, 1, 1},
                    DepthwiseCase{8, 5, 1, 1, 1, 0, ResultCode::kInt8, 0, 2},
                    DepthwiseCase{8, 5, 2, 2, 2, 0, ResultCode::kInt32},
                    DepthwiseCase{8, 7, 2, 3, 1, flag::kMaximum, ResultCode::kUint8},
                    DepthwiseCase{4, 5, 1, 2, 1, 0, ResultCode::kInt8, 2},
                    DepthwiseCase{4, 7, 1, 1, 2, flag::kAccumulate, ResultCode::kInt32, 1},
                    DepthwiseCase{2, 7, 3, 3, 2, 0, ResultCode::kInt8, 2}),
    [](const auto& test) {
      const DepthwiseCase& c = test.param;
      return "N" + std::to_string(c.array) + "Kernel" + std::to_string(c.kernel) + "Stride" +
             std::to_string(c.stride) + "Planes" + std::to_string(c.planes) + "Images" +
             std::to_string(c.images) + (c.flags != 0 ? "Flags" + std::to_string(c.flags) : "") +
             "Format" + std::to_string(static_cast<unsigned>(c.format)) +
             (c.dilation != 1 ? "Dilation" + std::to_string(c.dilation) : "") +
             (c.self_check != 0 ? "SelfCheck" + std::to_string(c.self_check) : "");
    });

}  // namespace
}  // namespace gemm64::icarus_test
