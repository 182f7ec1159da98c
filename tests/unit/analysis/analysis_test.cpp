// SPDX-License-Identifier: Apache-2.0

#include "host/analysis/analysis_report.hpp"
#include "host/analysis/open_model.hpp"
#include "host/cycles/cycle_model.hpp"
#include "host/graph/onnx/shapes.hpp"
#include "host/tiling/program.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

using ::testing::ElementsAre;

Analysis analyze_text(const std::string& graph, const std::vector<std::string>& weights = {},
                      const ImportOptions& options = {}) {
  return analyze(load_text(graph, weights, 13, options), Geometry(), {});
}

TEST(Analysis, CountsConvolutionsByGroup) {
  const Analysis analysis = analyze_text(
      "(float[2,8,10,10] x, float[12,2,3,3] w) => (float[2,12,8,8] y) {y = Conv<group=4>(x, w)}",
      {"w"});
  const LayerAnalysis& conv = analysis.layers.at(0);
  EXPECT_EQ(conv.macs, 2U * 12 * 8 * 8 * (2 * 3 * 3));
  ASSERT_TRUE(conv.array);
  EXPECT_EQ(conv.array->products.count, 4U);
  EXPECT_EQ(conv.array->products.shape.m, 2U * 8 * 8);
  EXPECT_EQ(conv.array->products.shape.k, 2U * 3 * 3);
  EXPECT_EQ(conv.array->products.shape.n, 3U);
  EXPECT_DOUBLE_EQ(conv.array->padding_waste, 1 - 18.0 * 3 / (64 * 64));
}

TEST(Analysis, LeavesAFirstSizeOpenThatCannotBeOne) {
  const ModelLoader load = [](const ImportOptions& import) {
    return load_text(
        "(float[N,2] x, float[2,3] w) => (float[M,3] y) "
        "<int64[3] s = {2, 3, 2}> {a = Reshape(x, s) b = MatMul(a, w) y = Relu(b)}",
        {"w"}, 13, import);
  };
  ImportOptions import;
  const OnnxModel model = load_to_analyze(load, import);
  EXPECT_EQ(import.batch, kOpenBatch);
  const Analysis analysis = analyze(model, Geometry(), {});
  EXPECT_TRUE(analysis.totals.macs_known);  // those after the constant shape
  EXPECT_THAT(analysis.open_inputs, ElementsAre("x=Ax2"));
  import = {};
  import.batch = 2;
  EXPECT_THROW(load_to_analyze(load, import), UsageError) << "asked for";
}

TEST(Analysis, CountsDilatedConvolutions) {
  // A kernel of 3 dilated by 4 spans 9 values: 16 - 9 + 1 positions.
  const Analysis analysis = analyze_text(
      "(float[1,1,16] x, float[1,1,3] w) => (float[1,1,N] y) {y = Conv<dilations=[4]>(x, w)}",
      {"w"});
  EXPECT_THAT(analysis.layers.at(0).outputs, ElementsAre("1x1x8"));
  EXPECT_EQ(analysis.totals.macs, 8U * 3);
}

TEST(Analysis, CountsTransposedConvolutions) {
  const Analysis analysis = analyze_text(
      "(float[1,6,5,5] x, float[6,4,3,3] w) => (float[1,4,11,11] y)"
      "{y = ConvTranspose<strides=[2,2]>(x, w)}",
      {"w"});
  EXPECT_THAT(analysis.layers.at(0).outputs, ElementsAre("1x4x11x11"));
  EXPECT_EQ(analysis.totals.macs, 6U * 25 * 4 * 9);
}

TEST(Analysis, CountsBatchedMatrixProducts) {
  const Analysis analysis = analyze_text(
      "(float[3,5,7,11] a, float[3,5,11,13] b) => (float[3,5,7,13] y) {y = MatMul(a, b)}");
  const LayerAnalysis& matmul = analysis.layers.at(0);
  EXPECT_EQ(matmul.macs, 15U * 7 * 11 * 13);
  EXPECT_EQ(matmul.array->products.count, 15U);
  EXPECT_EQ(matmul.array->products.shape.m, 7U);
}

TEST(Analysis, CountsRowsOfSharedWeightsOnce) {
  const Analysis analysis = analyze_text(
      "(float[3,5,7,11] a, float[11,13] w) => (float[3,5,7,13] y) {y = MatMul(a, w)}", {"w"});
  EXPECT_EQ(analysis.layers.at(0).array->products.count, 1U);
  EXPECT_EQ(analysis.layers.at(0).array->products.shape.m, 105U);
}

TEST(Analysis, CountsTransposedGemm) {
  const Analysis analysis = analyze_text(
      "(float[11,7] a, float[13,11] w, float[13] c) => (float[7,13] y)"
      "{y = Gemm<transA=1, transB=1>(a, w, c)}",
      {"w", "c"});
  const LayerAnalysis& gemm = analysis.layers.at(0);
  EXPECT_EQ(gemm.macs, 7U * 11 * 13);
  EXPECT_EQ(gemm.bias_adds, 7U * 13);
  EXPECT_EQ(gemm.parameters, 13U * 11 + 13);
  EXPECT_EQ(gemm.weight_bytes, 4U * 13 * 11);
  // Values read and written, the bias left out.
  EXPECT_DOUBLE_EQ(gemm.intensity, 1001.0 / (77 + 143 + 91));
}

TEST(Analysis, PredictsWhatTheCycleModelSays) {
  const Analysis analysis = analyze_text(
      "(float[64,1000] a, float[1000,300] w) => (float[64,300] y) {y = MatMul(a, w)}", {"w"});
  const Geometry geometry;
  const Plan plan = make_plan({64, 1000, 300}, Accumulate::kDevice, geometry);
  const Counters counters =
      predict_counters(make_program(plan, make_layout(plan)), geometry, MemoryTiming{});
  const ArrayCost& cost = *analysis.layers.at(0).array;
  EXPECT_EQ(cost.cycles, counters[counter::kTotalClocks]);
  EXPECT_EQ(cost.tiles, 16U * 5);
  EXPECT_EQ(cost.bytes.weights, counters[counter::kBytesWeights]);
  EXPECT_DOUBLE_EQ(cost.utilization,
                   64.0 * 1000 * 300 / 4096 / static_cast<double>(counters[counter::kTotalClocks]));
  EXPECT_EQ(cost.bound(), "weights");
}

TEST(Analysis, NamesTheRoofThatBoundsALayer) {
  const auto bound = [](const std::string& m, const std::string& k, const std::string& n) {
    const Analysis analysis =
        analyze_text("(float[" + m + "," + k + "] a, float[" + k + "," + n + "] w) => (float[" + m +
                         "," + n + "] y) {y = MatMul(a, w)}",
                     {"w"});
    return analysis.layers.at(0).array->bound();
  };
  EXPECT_EQ(bound("128", "1024", "512"), "MACs");
  EXPECT_EQ(bound("1", "1024", "512"), "weights");
  EXPECT_EQ(bound("4096", "64", "64"), "results");
  EXPECT_EQ(bound("4096", "1024", "16"), "activations");
}

TEST(Analysis, LeavesCyclesOfManyTilesOpen) {
  const OnnxModel model = load_text(
      "(float[64,640] a, float[640,640] w, float[640,64] v) => (float[64,64] y)"
      "{t = MatMul(a, w) y = MatMul(t, v)}",
      {"w", "v"});
  const Analysis analysis = analyze(model, Geometry(), {}, true, 50);
  EXPECT_FALSE(analysis.layers.at(0).array->cycles);
  EXPECT_TRUE(analysis.layers.at(1).array->cycles);
  EXPECT_EQ(analysis.totals.array_unpredicted, 1U);
  EXPECT_EQ(analysis.layers.at(0).array->published.double_buffered, 64U + 100 * 64 + 126);
}

TEST(Analysis, CountsASharedParameterOnce) {
  const Analysis analysis = analyze_text(
      "(float[4,6] a, float[6,6] w) => (float[4,6] y) {t = MatMul(a, w) y = MatMul(t, w)}", {"w"});
  EXPECT_EQ(analysis.totals.parameters, 36U);
  EXPECT_EQ(analysis.totals.read_bytes, 2U * 4 * (24 + 36));
}

TEST(Analysis, TakesAddedBiasAsBias) {
  const Analysis analysis = analyze_text(
      "(float[4,6] a, float[6,5] w, float[5] b) => (float[4,5] y) {t = MatMul(a, w) y = Add(t, b)}",
      {"w", "b"});
  EXPECT_EQ(analysis.totals.parameters, 35U);
  EXPECT_EQ(analysis.totals.weight_bytes, 4U * 30);
}

TEST(Analysis, CountsNoActivationsForViews) {
  const Analysis analysis = analyze_text(
      "(float[2,3,4] x) => (float[2,12] y) {a = Relu(x) b, mask = Dropout(a) y = Flatten(b)}");
  EXPECT_EQ(analysis.totals.activation_bytes, 2U * 96);
  EXPECT_EQ(analysis.totals.written_bytes, 3U * 96);
}

TEST(Analysis, FindsPeakOfLiveActivations) {
  // x lives until the Add at the end: at ReduceSum x, a and b are alive, 10 + 40 + 1 values.
  const Analysis analysis = analyze_text(
      "(float[10] x) => (float[10] y)"
      "{a = Concat<axis=0>(x, x, x, x) b = ReduceSum<keepdims=1>(a) y = Add(x, b)}");
  EXPECT_EQ(analysis.totals.peak_live_bytes, 4U * 51);
  EXPECT_EQ(analysis.totals.peak_layer_bytes, 4U * 80);  // x read four times
}

TEST(Analysis, ShowsTheRangeOfEachAttribute) {
  const Analysis analysis = analyze_text(
      "(float[1,1,9,9] x) => (float[1,1,N,M] y)"
      "{a = MaxPool<kernel_shape=[3,2], strides=[1,1]>(x) y = MaxPool<kernel_shape=[5,5]>(a)}");
  const OperatorKind& kind = analysis.kinds.at("MaxPool");
  EXPECT_EQ(kind.count, 2U);
  const OperatorKind::Attribute& kernel = kind.attributes.at("kernel_shape");
  EXPECT_EQ(kernel.count, 2U);
  EXPECT_EQ(kernel.range, (std::pair<double, double>(2, 5)));
  EXPECT_THAT(kernel.values, ElementsAre("3x2", "5x5"));
  EXPECT_EQ(kind.attributes.at("strides").count, 1U);
}

TEST(Analysis, NamesWhatItCannotKnow) {
  const Analysis analysis = analyze_text(
      "(float[4,H] x, float[3,5] w) => (float[4,5] y) {a = Relu(x) b = Relu(w) c = NonZero(w)"
      " d = Abs(c) y = MatMul(a, w)}",
      {"w"});
  ASSERT_EQ(analysis.unknown.size(), 5U);
  EXPECT_THAT(analysis.unknown[0],
              Says("dimension 1 of input 'x' is open; give it with --input-shape x="));
  EXPECT_THAT(analysis.unknown[1], Says("dimension 1 of input 'x' is open"));
  EXPECT_THAT(analysis.unknown[2], Says("operator NonZero"));
  EXPECT_THAT(analysis.unknown[3], Says("operator NonZero"));
  EXPECT_THAT(analysis.unknown[4], Says("dimension 1 of input 'x' is open"));
  EXPECT_EQ(analysis.totals.macs, 0U);  // never a guess
  ImportOptions options;
  options.input_shapes["x"] = {4, 3};
  const Analysis known = analyze_text(
      "(float[4,H] x, float[3,5] w) => (float[4,5] y) {y = MatMul(x, w)}", {"w"}, options);
  EXPECT_TRUE(known.unknown.empty());
  EXPECT_EQ(known.totals.macs, 60U);
}

TEST(Analysis, MarksTheSumsThatLackWhatIsUnknown) {
  // The shapes are known here, but not what Einsum multiplies.
  const Analysis einsum = analyze_text(
      "(float[4,3] a, float[3,5] b) => (float[4,5] y) {y = Einsum<equation=\"ij,jk->ik\">(a, b)}");
  EXPECT_FALSE(einsum.totals.macs_known);
  EXPECT_FALSE(einsum.totals.array_known);
  EXPECT_TRUE(einsum.totals.bytes_known);
  EXPECT_TRUE(einsum.totals.parameters_known);
  EXPECT_FALSE(einsum.kinds.at("Einsum").macs_known);
  const Analysis open = analyze_text("(float[4,H] x) => (float[4,H] y) {y = Relu(x)}");
  EXPECT_FALSE(open.totals.bytes_known);
  EXPECT_TRUE(open.totals.macs_known);
  EXPECT_THAT(open.open_inputs, ElementsAre("x=4xA"));
  const Analysis known = analyze_text("(float[4,2] x) => (float[4,2] y) {y = Relu(x)}");
  EXPECT_TRUE(known.totals.bytes_known && known.totals.macs_known && known.totals.array_known);
}

TEST(Analysis, UsesShapesAfterUnknownOperators) {
  onnx::ModelProto proto = parse_model(
      "(float[4,8] x, float[3,5] w) => (float[4,5] y) {t = com.example.Odd(x) y = MatMul(t, w)}",
      {"w"});
  proto.add_opset_import()->set_domain("com.example");
  proto.mutable_opset_import(2)->set_version(1);
  const auto analyzed = [&proto] {
    return analyze(OnnxModel::from_proto(proto, "test.onnx"), Geometry(), {});
  };
  EXPECT_EQ(analyzed().totals.macs, 0U);
  onnx::ValueInfoProto& value = *proto.mutable_graph()->add_value_info();
  value.set_name("t");
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_value(4);
  tensor.mutable_shape()->add_dim()->set_dim_value(3);
  const Analysis analysis = analyzed();
  EXPECT_EQ(analysis.totals.macs, 4U * 3 * 5);
  EXPECT_TRUE(analysis.totals.bytes_known);
  EXPECT_FALSE(analysis.totals.macs_known);  // the odd operator's own
}

TEST(Analysis, FoldsConstantSubgraphs) {
  const Analysis analysis = analyze_text(
      "(float[4,6] x, float[5,6] w) => (float[4,5] y)"
      "{two = Constant<value_float=2.0>() scaled = Mul(w, two) t = Transpose(scaled)"
      " y = MatMul(x, t)}",
      {"w"});
  EXPECT_EQ(analysis.totals.activation_bytes, 4U * 20);
  EXPECT_EQ(analysis.totals.read_bytes, 4U * (24 + 30));
  EXPECT_EQ(analysis.totals.written_bytes, 4U * 20);
  EXPECT_EQ(analysis.totals.parameters, 30U);
  EXPECT_EQ(analysis.totals.peak_live_bytes, 4U * (24 + 20));
  EXPECT_EQ(analysis.layers.at(3).parameters, 30U);
  EXPECT_TRUE(analysis.layers.at(1).folded);
  EXPECT_FALSE(analysis.layers.at(3).folded);
}

TEST(Analysis, TracesWeightsToTheTensorsOfTheFile) {
  // Two layers read the same int8 weights, one of them transposed.
  onnx::ModelProto proto = parse_model(
      "(float[6,6] x, float[6,6] w) => (float[6,6] y)"
      "{scale = Constant<value_float=0.5>() zero = Constant<value_int=0>() z = Cast<to=3>(zero)"
      " d = DequantizeLinear(w, scale, z) t = Transpose(d) a = MatMul(x, d) y = MatMul(a, t)}",
      {"w"});
  onnx::TensorProto& w = *proto.mutable_graph()->mutable_initializer(0);
  w.set_data_type(onnx::TensorProto::INT8);
  w.set_raw_data(std::string(36, '\1'));
  const Analysis analysis = analyze(OnnxModel::from_proto(proto, "test"), Geometry(), {});
  EXPECT_EQ(analysis.totals.parameters, 36U);
  EXPECT_EQ(analysis.totals.parameter_bytes, 36U);
  EXPECT_EQ(analysis.totals.macs, 2U * 216);
}

TEST(Analysis, CountsWeightsOfConstantOfShape) {
  const Analysis analysis = analyze_text(
      "(float[4,6] x) => (float[4,5] y)"
      "{s = Constant<value_ints=[6,5]>() w = ConstantOfShape(s) y = MatMul(x, w)}");
  EXPECT_EQ(analysis.totals.parameters, 30U);
  EXPECT_EQ(analysis.totals.activation_bytes, 4U * 20);
  EXPECT_EQ(analysis.layers.at(2).on_host, "");
}

TEST(Analysis, CountsIntegerProducts) {
  const Analysis analysis = analyze_text(
      "(uint8[4,6] x, int8[6,5] w, uint8[1,3,8,8] i, int8[2,3,3,3] f, float s, uint8 z, int8 v)"
      " => (int32[4,5] a, int32[1,2,6,6] b, uint8[4,5] c, uint8[1,2,6,6] d, uint8[4,5] e)"
      "{a = MatMulInteger(x, w) b = ConvInteger(i, f) c = QLinearMatMul(x, s, z, w, s, v, s, z)"
      " d = QLinearConv(i, s, z, f, s, v, s, z)"
      " e = com.microsoft.QGemm<transB=0>(x, s, z, w, s, v, , s, z)}");
  const std::vector<std::uint64_t> macs{120, 36 * 2 * 27, 120, 36 * 2 * 27, 120};
  for (std::size_t i = 0; i < macs.size(); ++i) {
    const LayerAnalysis& layer = analysis.layers.at(i);
    EXPECT_EQ(layer.macs, macs[i]) << layer.op_type;
    EXPECT_TRUE(layer.array) << layer.op_type;
    EXPECT_EQ(layer.on_host.value_or("") == "", i == 0) << layer.op_type;
  }
  EXPECT_TRUE(analysis.unknown.empty());
}

TEST(Analysis, SeparatesDeviceAndHostLayers) {
  const Analysis analysis = analyze_text(
      "(float[1,1,8,8] x, float[2,1,3,3] f, float[6,70] w, float[1,70,3] v) => (float[1,2,6,3] y)"
      "{c = Conv(x, f) s = MatMul(c, c) a = MatMul(s, w) y = MatMul(a, v)}",
      {"f", "w", "v"});
  EXPECT_EQ(analysis.layers.at(0).on_host,
            "convolutions run on the device only where their values are of 8 bits");
  EXPECT_EQ(analysis.layers.at(1).on_host, "its weights depend on the input");
  EXPECT_EQ(analysis.layers.at(2).on_host, "");
  EXPECT_EQ(analysis.layers.at(3).on_host, "");  // a stack of one matrix is one
  EXPECT_EQ(analysis.layers.at(3).array->products.count, 1U);
  const AnalysisTotals& totals = analysis.totals;
  EXPECT_EQ(totals.on_device.layers, 2U);
  EXPECT_EQ(totals.on_device.macs, 12U * (6 * 70 + 70 * 3));
  EXPECT_EQ(totals.on_device.tiles, 2U + 2);
  EXPECT_EQ(totals.if_on_device.layers, 2U);
  EXPECT_EQ(totals.on_device.cycles + totals.if_on_device.cycles, totals.cycles);
  EXPECT_EQ(totals.on_device.macs + totals.if_on_device.macs, totals.array_macs);
}

TEST(Analysis, EstimatesTheEnergyOfOneTile) {
  const Analysis analysis =
      analyze_text("(int8[4,6] x, int8[6,5] w) => (int32[4,5] y) {y = MatMulInteger(x, w)}", {"w"});
  const auto energy = energy_of(analysis);
  ASSERT_TRUE(energy);
  // 64 words of weights written and read, 4 of activations, and 4 rows of sums written and read.
  EXPECT_EQ(energy->sram_bits, 8U * 64 * (2 * 64 + 2 * 4) + 2 * 4 * 64 * 32);
  const LayerAnalysis& layer = analysis.layers.at(0);
  const std::uint64_t ports = layer.array->bytes.weights + layer.array->bytes.activations +
                              layer.array->bytes.results + layer.array->bytes.commands;
  EXPECT_EQ(energy->dram_bits, 8 * ports);
  EXPECT_DOUBLE_EQ(energy->dram_mj, static_cast<double>(energy->dram_bits) * 20.3125e-9);
  EXPECT_DOUBLE_EQ(energy->sram_mj, static_cast<double>(energy->sram_bits) * 2.5e-9);
  const double cells = 4096 * static_cast<double>(*layer.array->cycles);
  EXPECT_DOUBLE_EQ(energy->logic_mj, (4 * 6 * 5 * 36.7 + cells * 1.55) * 1e-9);
  EXPECT_FALSE(energy_of(analyze_text("(float[2] x) => (float[2] y) {y = Relu(x)}")));
}

TEST(Analysis, PredictsIdealPortsAndDram) {
  const OnnxModel model = load_text(
      "(int8[4,70] x, int8[70,65] w) => (int32[4,65] y) {y = MatMulInteger(x, w)}", {"w"});
  MemoryTiming dram;
  ASSERT_TRUE(set_memory(dram, "dram:lpddr4"));
  MemoryTiming shared;
  shared.sharing = MemorySharing::kShared;
  shared.bytes_per_cycle = 12;
  const Analysis ideal = analyze(model, Geometry(), {}), own = analyze(model, Geometry(), dram);
  EXPECT_EQ(ideal.compute_bound, ideal.totals.cycles);
  EXPECT_EQ(own.dram_cycles, own.totals.cycles);
  EXPECT_EQ(ideal.dram_cycles, own.dram_cycles);
  EXPECT_EQ(own.compute_bound, ideal.compute_bound);
  EXPECT_GT(own.dram_cycles, 2 * ideal.compute_bound);
  EXPECT_EQ(analyze(model, Geometry(), shared).dram_cycles, own.dram_cycles);
}

TEST(Analysis, PutsNothingOnDeviceWithoutRun) {
  onnx::ModelProto proto = parse_model(
      "(float[4,6] x, float[6,5] w) => (float[4,5] y) {t = MatMul(x, w) y = other.Unknown(t)}",
      {"w"});
  onnx::OperatorSetIdProto& opset = *proto.add_opset_import();
  opset.set_domain("other");
  opset.set_version(1);
  const Analysis analysis = analyze(OnnxModel::from_proto(proto, "test.onnx"), Geometry(), {});
  EXPECT_THAT(analysis.why_not_run, Says("other.Unknown"));
  EXPECT_EQ(analysis.layers.at(0).on_host, "gemm64 run refuses the network");
  EXPECT_EQ(analysis.totals.on_device.layers, 0U);
}

TEST(Analysis, SaysWhichOpsetsTheFileNames) {
  onnx::ModelProto proto = parse_model("(float[4] x) => (float[4] y) {y = Relu(x)}");
  const auto opsets = [&proto] {
    return analyze(OnnxModel::from_proto(proto, "test"), Geometry(), {});
  };
  EXPECT_EQ(opsets().opsets, "opset 13, com.microsoft 1");
  EXPECT_EQ(opsets().opset, 13);
  proto.clear_opset_import();
  proto.set_ir_version(2);
  EXPECT_EQ(opsets().opsets, "names no opset (read as opset 1)");
  EXPECT_FALSE(opsets().opset);
  proto.set_ir_version(7);
  proto.add_opset_import()->set_domain("com.microsoft");
  proto.mutable_opset_import(0)->set_version(1);
  proto.mutable_graph()->mutable_node(0)->set_op_type("QuickGelu");
  proto.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  EXPECT_EQ(opsets().opsets, "names no opset of ONNX, com.microsoft 1");
  EXPECT_FALSE(opsets().opset);
}

TEST(Analysis, NamesOperatorsWithoutMacs) {
  const Analysis analysis = analyze_text(
      "(float[4,3] a, float[3,5] b) => (float[4,5] y) {y = Einsum<equation=\"ij,jk->ik\">(a, b)}");
  ASSERT_FALSE(analysis.unknown.empty());
  EXPECT_THAT(analysis.unknown[0], Says("Einsum"));
}

}  // namespace
}  // namespace gemm64
