// SPDX-License-Identifier: Apache-2.0
// A library of ONNX Runtime through its C API, and the provider in it. GEMM64_ONNXRUNTIME is a
// folder below which the library is, GEMM64_EP the provider's library.
#include "host/ort/library.hpp"

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

constexpr const char* kProvider = "Gemm64ExecutionProvider";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const ort::Library& library() {
  static const ort::Library loaded([] {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(variable("GEMM64_ONNXRUNTIME"))) {
      if (entry.path().filename().string().rfind("libonnxruntime.so", 0) == 0) {
        return entry.path().string();
      }
    }
    return std::string("libonnxruntime.so");
  }());
  return loaded;
}

/// 8-bit products, with floats around them.
std::string network() {
  onnx::ModelProto model = parse_model(
      "(float[3,8] x) => (float[3,4] y) {"
      "one = Constant<value_float = 0.05>()\n"
      "zero = Constant<value = uint8 {128}>()\n"
      "w = Constant<value = int8[8,4] {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, "
      "-16, 17, -18, 19, -20, 21, -22, 23, -24, 25, -26, 27, -28, 29, -30, 31, -32}>()\n"
      "none = Constant<value = int8 {0}>()\n"
      "q = QuantizeLinear(x, one, zero)\n"
      "d = DequantizeLinear(q, one, zero)\n"
      "v = DequantizeLinear(w, one, none)\n"
      "m = MatMul(d, v)\n"
      "r = QuantizeLinear(m, one, zero)\n"
      "f = DequantizeLinear(r, one, zero)\n"
      "y = Relu(f)}",
      {}, 13, 8);
  return model.SerializeAsString();
}

std::map<std::string, Tensor> inputs() {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i) values.push_back(0.1F * static_cast<float>(i % 7) - 0.3F);
  return {{"x", Tensor::of<float>({3, 8}, values)}};
}

bool are_equal(const Tensor& one, const Tensor& other) {
  return one.dims() == other.dims() && std::equal(one.raw(), one.raw() + one.bytes(), other.raw());
}

/// An environment in which the provider is registered, as long as this lives. ONNX Runtime has one
/// environment in a process, which all share.
struct WithProvider {
  WithProvider() : environment(library()) {
    environment.register_provider("gemm64", variable("GEMM64_EP"));
  }
  ~WithProvider() { environment.unregister_provider("gemm64"); }
  ort::Session session(const ort::Options& options, GraphOptimizationLevel level = ORT_ENABLE_ALL) {
    ort::SessionOptions session(environment);
    session.set_optimization(level);
    session.add_provider(environment.devices(kProvider), options);
    return {environment, std::string_view(model), session};
  }
  ort::Environment environment;
  const std::string model = network();
};

std::string refusal(const ort::Options& options) {
  try {
    WithProvider().session(options).run(inputs());
  } catch (const ort::Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(OrtLibrary, RunsModel) {
  const ort::Environment environment(library());
  const std::string model = network();
  const ort::Session session(environment, std::string_view(model),
                             ort::SessionOptions(environment));
  EXPECT_EQ(session.inputs(), std::vector<std::string>{"x"});
  EXPECT_EQ(session.outputs(), std::vector<std::string>{"y"});
  EXPECT_EQ(session.run(inputs()).at("y").dims(), (Dims{3, 4}));
}

TEST(OrtLibrary, ThrowsWhenModelIsDamaged) {
  const ort::Environment environment(library());
  EXPECT_THROW(
      ort::Session(environment, std::string_view("no model"), ort::SessionOptions(environment)),
      ort::Error);
}

TEST(OrtLibrary, ThrowsWhenFileIsNoLibrary) {
  EXPECT_THROW(ort::Library("/nothing/libonnxruntime.so"), ort::Error);
  EXPECT_THROW(ort::Library("libz.so.1"), ort::Error);
}

TEST(OrtProvider, ReturnsResultsOfCpu) {
  const ort::Environment environment(library());
  const std::string model = network();
  const auto expected =
      ort::Session(environment, std::string_view(model), ort::SessionOptions(environment))
          .run(inputs());
  for (const char* const device : {"reference", "tlm", "rtl"}) {
    for (const auto level :
         {ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_ALL}) {
      WithProvider own;
      const auto found = own.session({{"device", device}, {"array", "4"}}, level).run(inputs());
      EXPECT_TRUE(are_equal(found.at("y"), expected.at("y"))) << device << " at level " << level;
    }
  }
}

TEST(OrtProvider, RefusesOptionByName) {
  EXPECT_TRUE(
      has(refusal({{"arary", "4"}}), "no option 'arary'; its options are accumulate, array"));
  EXPECT_TRUE(has(refusal({{"array", "5"}}), "no array of 5x5"));
  EXPECT_TRUE(has(refusal({{"array", "four"}}), "option array is \"four\""));
  EXPECT_TRUE(has(refusal({{"check", "all"}}), "option check is 'all'; it may be 'layers'"));
  EXPECT_TRUE(has(refusal({{"device", "fpga"}}), "fpga"));
  EXPECT_TRUE(has(refusal({{"inject", "nothing"}}), "nothing"));
  EXPECT_TRUE(has(refusal({{"device", "tlm"}, {"inject", "weight:0,0:7@500"}}), "inject"));
  EXPECT_TRUE(has(refusal({{"report", "/nothing/report.json"}}), "/nothing/report.json"));
  EXPECT_TRUE(has(refusal({{"trace_window", "1:2"}}), "trace_window needs option trace"));
}

TEST(OrtProvider, ThrowsWhenDeviceFails) {
  EXPECT_TRUE(has(refusal({{"array", "4"}, {"inject", "slverr:data@200"}}), "SLVERR"))
      << refusal({{"array", "4"}, {"inject", "slverr:data@200"}});
  EXPECT_TRUE(has(refusal({{"array", "4"}, {"inject", "hang:weights@200"}, {"watchdog", "5000"}}),
                  "WATCHDOG"))
      << refusal({{"array", "4"}, {"inject", "hang:weights@200"}, {"watchdog", "5000"}});
}

TEST(OrtProvider, RunsAgainAfterDeviceHasHung) {
  WithProvider own;
  const ort::Session session =
      own.session({{"array", "4"}, {"inject", "hang:weights@200"}, {"watchdog", "5000"}});
  EXPECT_THROW(session.run(inputs()), ort::Error);
  const ort::Session sound = own.session({{"device", "reference"}, {"array", "4"}});
  EXPECT_TRUE(are_equal(session.run(inputs()).at("y"), sound.run(inputs()).at("y")));
}

TEST(OrtProvider, ThrowsWhenValueIsWrong) {
  const std::string why = refusal({{"array", "4"}, {"inject", "result:1:6@200"}});
  EXPECT_TRUE(has(why, "result")) << why;
}

TEST(OrtProvider, RegistersAgain) {
  const ort::Environment environment(library());
  for (int i = 0; i < 3; ++i) {
    ort::Environment again(library());
    again.register_provider("gemm64", variable("GEMM64_EP"));
    EXPECT_EQ(again.devices(kProvider).size(), 1U);
    again.unregister_provider("gemm64");
    EXPECT_TRUE(again.devices(kProvider).empty());
  }
}

}  // namespace
}  // namespace gemm64
