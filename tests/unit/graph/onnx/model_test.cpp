// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/model.hpp"

#include <unistd.h>

#include "host/graph/onnx/graph_check.hpp"
#include "host/kernels/tensor.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

using ::testing::ElementsAre;

const char* const kOpenBatch = "(float[N,3,8,8] x) => (float[N,3,8,8] y) {y = Relu(x)}";
const char* const kFixedBatch = "(float[1,3,8,8] x) => (float[1,3,8,8] y) {y = Relu(x)}";

Dims output_dims(const char* graph, const ImportOptions& options) {
  return load_text(graph, {}, 13, options).type("y")->dims;
}

TEST(OnnxModel, TakesAnOpenBatchAsOne) {
  EXPECT_EQ(output_dims(kOpenBatch, {}), (Dims{1, 3, 8, 8}));
}

// What is too new is for ONNX Runtime to say.
TEST(OnnxModel, SaysWhichOpsetIsTooNew) {
  const std::string error = message_of([&] { load_text(kFixedBatch, {}, 99); });
  EXPECT_THAT(error, Says("(Relu): ONNX Runtime 1.", "has no Relu of opset 99", "older opset",
                          "GEMM64_ONNXRUNTIME"));
}

TEST(OnnxModel, SetsBatch) {
  ImportOptions options;
  options.batch = 5;
  EXPECT_EQ(output_dims(kOpenBatch, options), (Dims{5, 3, 8, 8}));
  EXPECT_EQ(output_dims(kFixedBatch, options), (Dims{5, 3, 8, 8}));
}

TEST(OnnxModel, KeepsInputsWithoutBatch) {
  ImportOptions options;
  options.batch = 5;
  const OnnxModel model = load_text(
      "(float[N,3] x, float[7,3] z) => (float[N,3] y) {y = Relu(x) t = Relu(z)}", {}, 13, options);
  EXPECT_EQ(model.type("y")->dims, (Dims{5, 3}));
  EXPECT_EQ(model.type("t")->dims, (Dims{7, 3}));
}

TEST(OnnxModel, PrefersAGivenShape) {
  ImportOptions options;
  options.batch = 5;
  options.input_shapes["x"] = {2, 3, 16, 16};
  EXPECT_EQ(output_dims(kFixedBatch, options), (Dims{2, 3, 16, 16}));
}

TEST(OnnxModel, RefusesShapesForInputsThatAreNone) {
  ImportOptions options;
  options.input_shapes["z"] = {2};
  const std::string error = message_of([&] { load_text(kFixedBatch, {}, 13, options); });
  EXPECT_THAT(error, Says("has no input 'z'; its inputs are: x"));
  options.input_shapes = {{"x", {2}}};
  EXPECT_THAT(message_of([&] { load_text(kFixedBatch, {}, 13, options); }),
              Says("has 4 dimensions"));
}

TEST(OnnxModel, NamesNodeThatFixesBatch) {
  ImportOptions options;
  options.batch = 2;
  const std::string error = message_of([&] {
    load_text("(float[1,4] x) => (float[2,2] y) <int64[2] s = {2, 2}> {y = Reshape(x, s)}", {}, 13,
              options);
  });
  EXPECT_THAT(error, Says("Reshape", "2x4 cannot become 2x2"));
}

TEST(OnnxModel, IgnoresWrongDeclaredShapes) {
  const OnnxModel model = load_text("(float[2,3] x) => (float[9,9] y) {y = Relu(x)}", {}, 13);
  EXPECT_EQ(model.type("y")->dims, (Dims{2, 3}));
}

TEST(OnnxModel, TakesShapesOfValues) {
  const std::string graph = "(float[2,3] x) => (int64[2,5] y) {y = NonZero(x)}";
  EXPECT_EQ(load_text(graph).type("y")->dims, (Dims{2, 5}));
  ImportOptions options;
  options.batch = 4;  // then what the file says no longer holds
  const OnnxModel model = load_text(graph, {}, 13, options);
  EXPECT_FALSE(model.type("y"));
  EXPECT_THAT(model.why_unknown("y"), Says("NonZero"));
}

TEST(OnnxModel, FollowsShapesThatTheGraphComputes) {
  const OnnxModel model = load_text(
      "(float[N,6,4] x) => (float[A,B] y) <int64 zero = {0}, int64[1] rest = {-1}, int64[1] axis = "
      "{0}>"
      "{s = Shape(x) n = Gather<axis=0>(s, zero) n1 = Unsqueeze(n, axis)"
      " shape = Concat<axis=0>(n1, rest) y = Reshape(x, shape)}");
  EXPECT_EQ(model.type("y")->dims, (Dims{1, 24}));
  EXPECT_EQ(model.integers("shape"), (Dims{1, -1}));
}

TEST(OnnxModel, PutsNodesInAnOrderInWhichTheyCanRun) {
  onnx::ModelProto proto =
      parse_model("(float[2] x) => (float[2] y) {a = Relu(x) b = Neg(a) c = Abs(b) y = Exp(c)}");
  auto& nodes = *proto.mutable_graph()->mutable_node();
  nodes.SwapElements(0, 3);
  nodes.SwapElements(1, 2);
  const OnnxModel model = OnnxModel::from_proto(proto, "m");
  std::vector<std::string> order;
  for (const auto& node : model.graph().node()) order.push_back(node.op_type());
  EXPECT_THAT(order, ElementsAre("Relu", "Neg", "Abs", "Exp"));
  EXPECT_EQ(model.type("y")->dims, (Dims{2}));
}

TEST(OnnxModel, KeepsTheFilesOrderWhereItIsOne) {
  const OnnxModel model =
      load_text("(float[2] x) => (float[2] y) {a = Neg(x) b = Relu(x) y = Add(b, a)}");
  EXPECT_EQ(model.graph().node(0).op_type(), "Neg");
}

TEST(OnnxModel, KnowsConstantsFromInputs) {
  const OnnxModel model = load_text(
      "(float[2,2] x, float[2,2] w) => (float[2,2] y)"
      "{c = Constant<value = float[2] {1, 2}>() i = Identity(w) t = MatMul(x, i) y = Add(t, c)}",
      {"w"});
  EXPECT_THAT(model.inputs(), ElementsAre("x"));
  EXPECT_TRUE(model.is_graph_input("x"));
  EXPECT_FALSE(model.is_graph_input("w"));
  ASSERT_NE(model.constant("w"), nullptr);
  ASSERT_NE(model.constant("c"), nullptr);
  EXPECT_EQ(model.constant("i"), nullptr);
  EXPECT_TRUE(model.is_constant("i"));
  EXPECT_FALSE(model.is_constant("t"));
}

TEST(OnnxModel, KeepsItsConstantsWhenItMoves) {
  OnnxModel first = load_text("(float[2] x, float[2] w) => (float[2] y) {y = Add(x, w)}", {"w"});
  const OnnxModel second = std::move(first);
  ASSERT_NE(second.constant("w"), nullptr);
  EXPECT_EQ(second.constant("w"), &second.graph().initializer(0));
}

TEST(OnnxModel, NeedsWeightsUnlessShapesAreEnough) {
  onnx::ModelProto proto =
      parse_model("(float[2] x, float[2] w) => (float[2] y) {y = Add(x, w)}", {"w"});
  proto.mutable_graph()->mutable_initializer(0)->clear_raw_data();
  EXPECT_THAT(message_of([&] { OnnxModel::from_proto(proto, "m"); }),
              Says("initializer 'w': the file holds its shape, 2, but not its data"));
  ImportOptions options;
  options.shapes_only = true;
  EXPECT_EQ(OnnxModel::from_proto(proto, "m", options).type("y")->dims, (Dims{2}));
}

/// A model whose weights, 1 and 2, lie in another file.
std::string external_model(const std::string& location, const std::string& offset,
                           const std::string& length) {
  onnx::ModelProto proto =
      parse_model("(float[2] x, float[2] w) => (float[2] y) {y = Add(x, w)}", {"w"});
  onnx::TensorProto& tensor = *proto.mutable_graph()->mutable_initializer(0);
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&tensor](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
  return proto.SerializeAsString();
}

TEST(OnnxModel, ReadsExternalData) {
  const TestFolder folder;
  const float values[] = {9, 1, 2};
  folder.write("weights.bin", std::string(reinterpret_cast<const char*>(values), sizeof(values)));
  const OnnxModel model =
      OnnxModel::load(folder.write("m.onnx", external_model("weights.bin", "4", "8")));
  const onnx::TensorProto& tensor = *model.constant("w");
  EXPECT_EQ(tensor.raw_data(), std::string(reinterpret_cast<const char*>(values + 1), 8));
  EXPECT_FALSE(tensor.has_data_location());
  EXPECT_EQ(tensor.external_data_size(), 0);
  ASSERT_EQ(model.external_files().size(), 1U);
  EXPECT_EQ(std::filesystem::path(model.external_files()[0]).filename(), "weights.bin");
}

TEST(OnnxModel, RefusesExternalDataThatAreNotThere) {
  const TestFolder folder;
  folder.write("weights.bin", std::string(12, 'x'));
  const auto error = [&folder](const std::string& location, const std::string& offset,
                               const std::string& length) {
    const auto path = folder.write("m.onnx", external_model(location, offset, length));
    return message_of([&path] { OnnxModel::load(path); });
  };
  EXPECT_THAT(error("missing.bin", "", ""), Says("cannot be read"));
  EXPECT_THAT(error("weights.bin", "8", ""), Says("which has only 12"));
  EXPECT_THAT(error("weights.bin", "9223372036854775807", ""), Says("which has only 12"));
  EXPECT_THAT(error("weights.bin", "", "12"), Says("12 bytes, but its shape needs 8"));
  EXPECT_THAT(error("weights.bin", "-4", ""), Says("offset of its external data is '-4'"));
  EXPECT_THAT(error("weights.bin", "4x", ""), Says("not a number"));
  for (const char* outside : {"../weights.bin", "/etc/passwd", "a/../../weights.bin", "", ".."}) {
    EXPECT_THAT(error(outside, "", ""), Says("they must lie below the model")) << outside;
  }
  EXPECT_THAT(error(".", "", ""), Says("cannot be read"));
}

TEST(OnnxModel, FollowsNoLinkOutOfItsFolder) {
  const TestFolder folder;
  const auto inside = folder.write("inside.bin", std::string(16, '1'));
  std::filesystem::create_symlink("inside.bin", inside.parent_path() / "good.bin");
  EXPECT_NO_THROW(OnnxModel::load(folder.write("m.onnx", external_model("good.bin", "4", "8"))));
  const TestFolder other;
  const auto outside = other.write("outside", std::string(16, '1'));
  std::filesystem::create_symlink(outside, inside.parent_path() / "bad.bin");
  std::filesystem::create_directory_symlink(outside.parent_path(), inside.parent_path() / "folder");
  for (const std::string& location :
       {std::string("bad.bin"), "folder/" + outside.filename().string()}) {
    EXPECT_THAT(
        [&] { OnnxModel::load(folder.write("m.onnx", external_model(location, "4", "8"))); },
        Fails("lead out of the model's folder"));
  }
}

TEST(OnnxModel, NeedsNoExternalDataForShapes) {
  const TestFolder folder;
  ImportOptions options;
  options.shapes_only = true;
  const OnnxModel model =
      OnnxModel::load(folder.write("m.onnx", external_model("missing.bin", "", "")), options);
  EXPECT_EQ(model.type("y")->dims, (Dims{2}));
}

TEST(OnnxModel, RefusesWhatIsNoFileOrTooLarge) {
  const TestFolder folder;
  EXPECT_THAT(message_of([] { OnnxModel::load("/nonexistent/m.onnx"); }),
              Says("/nonexistent/m.onnx: no such file"));
  EXPECT_THAT(message_of([&] { OnnxModel::load(folder.path()); }), Says("is not a file"));
  EXPECT_THAT(message_of([] { OnnxModel::load("/dev/zero"); }), Says("is not a file"));
  ImportOptions options;
  options.max_bytes = 20;
  const auto path = folder.write("m.onnx", parse_model(kFixedBatch).SerializeAsString());
  EXPECT_THAT(message_of([&] { OnnxModel::load(path, options); }),
              Says("a model may have at most 20"));
}

TEST(OnnxModel, RefusesMillionsOfNodes) {
  // Two bytes each, some hundred in memory.
  const std::size_t count = 4'100'000;
  std::string nodes;
  for (std::size_t i = 0; i < count; ++i) nodes += std::string("\x0a\x00", 2);
  std::string file = "\x3a";
  for (std::size_t size = nodes.size(); size != 0; size >>= 7) {
    file += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
  }
  file += nodes;
  EXPECT_THAT(message_of([&] { OnnxModel::from_bytes(file, "bomb"); }),
              Says("no real network has that many"));
}

TEST(Attribute, HasADefaultAndAType) {
  onnx::NodeProto node;
  node.set_name("conv");
  auto* group = node.add_attribute();
  group->set_name("group");
  group->set_type(onnx::AttributeProto::INT);
  group->set_i(4);
  EXPECT_EQ(attribute(node, "group", std::int64_t{1}), 4);
  EXPECT_EQ(attribute(node, "other", std::int64_t{7}), 7);
  EXPECT_EQ(attribute(node, "other", Dims{1, 2}), (Dims{1, 2}));
  const std::string error = message_of([&node] { attribute(node, "group", 1.0F); });
  EXPECT_THAT(error, Says("'conv'", "is of type INT; it must be of type FLOAT"));
}

TEST(Printable, MakesOneLineOfUtf8) {
  EXPECT_EQ(printable("a\nb\x1b[0m"), "a?b?[0m");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(printable("\xff\xc3"), "??");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");  // half of a surrogate pair
  EXPECT_EQ(printable("\xc2\x9b"
                      "0m"),
            "??0m");  // a control character in two bytes
  EXPECT_EQ(printable(std::string(500, 'a')), std::string(80, 'a') + "...");
}

TEST(OpenSizes, AreGivenByNameOrShape) {
  const std::string graph =
      "(float[batch,sequence] x, float[batch,sequence] m) => "
      "(float[batch,sequence] y) {y = Mul(x, m)}";
  const OnnxModel open = load_text(graph);
  EXPECT_FALSE(open.type("y"));
  EXPECT_EQ(open.shape_to_give("x"), "x=AxB");
  EXPECT_EQ(open.open_dimensions(), (std::vector<std::string>{"batch", "sequence"}));
  ImportOptions options;
  options.input_shapes = {{"batch", {2}}, {"sequence", {5}}};
  EXPECT_EQ(load_text(graph, {}, 13, options).type("y")->dims, (std::vector<std::int64_t>{2, 5}));
  options.input_shapes = {{"x", {3, 4}}, {"batch", {2}}};  // what is said of an input wins
  EXPECT_EQ(load_text(graph, {}, 13, options).type("y")->dims, (std::vector<std::int64_t>{3, 4}));
  options.input_shapes = {{"length", {5}}};
  EXPECT_THAT([&] { load_text(graph, {}, 13, options); },
              Fails("has no input 'length'; its inputs are: x, m; names of "
                    "open sizes: batch, sequence"));
}

TEST(OpenSizes, MayBeMinusOneAndQuestionMarks) {
  onnx::ModelProto proto = parse_model("(float[1,3,H,W] x) => (float[1,3,H,W] y) {y = Relu(x)}");
  auto& shape = *proto.mutable_graph()
                     ->mutable_input(0)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape();
  shape.mutable_dim(0)->set_dim_value(-1);
  shape.mutable_dim(2)->set_dim_param("?");
  shape.mutable_dim(3)->set_dim_param("?");
  proto.mutable_graph()->clear_output();
  proto.mutable_graph()->add_output()->set_name("y");
  const OnnxModel open = OnnxModel::from_proto(proto, "test.onnx");
  EXPECT_EQ(open.shape_to_give("x"), "x=Ax3xBxC");
  EXPECT_TRUE(open.open_dimensions().empty());
  ImportOptions options;
  options.input_shapes["x"] = {2, 3, 48, 192};
  const OnnxModel known = OnnxModel::from_proto(proto, "test.onnx", options);
  EXPECT_EQ(known.type("y")->dims, (std::vector<std::int64_t>{2, 3, 48, 192}));
}

TEST(Reread, InfersShapesForOtherSizesWithoutACheck) {
  OnnxModel model = load_text("(float[N,4] x) => (float[N,4] y) {y = Relu(x)}");
  const std::uint64_t checks = graphs_checked();
  ImportOptions options;
  options.batch = 3;
  ASSERT_TRUE(model.can_be_reread());
  model.reread(options);
  EXPECT_EQ(model.type("y")->dims, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(graphs_checked(), checks);
}

TEST(Reread, KeepsModelIfSizesDoNotFit) {
  OnnxModel model = load_text(
      "(float[1,4] x, float[1] c) => (float[2,2] y) <int64[2] s = {2, 2}> "
      "{r = Reshape(x, s) y = Add(r, c)}");
  ImportOptions options;
  options.batch = 3;  // of which two rows would be of several images
  options.input_values["c"].set_data_type(onnx::TensorProto::FLOAT);
  options.input_values["c"].add_dims(1);
  options.input_values["c"].add_float_data(1);
  EXPECT_THROW(model.reread(options), UsageError);
  EXPECT_EQ(model.graph().initializer_size(), 1);
  EXPECT_TRUE(model.is_graph_input("c"));
  EXPECT_EQ(model.type("y")->dims, (std::vector<std::int64_t>{2, 2}));
  options.batch = 0;
  model.reread(options);
  EXPECT_TRUE(model.is_constant("c"));
}

TEST(Reread, IsNotForWhatWasMadeForItsSizes) {
  const std::string graph =
      "(float[1,2,2] x) => (float[1,4] y) <int64[2] s = {1, 4}> {y = Reshape(x, s)}";
  ImportOptions options;
  EXPECT_TRUE(load_text(graph, {}, 13, options).can_be_reread());
  options.batch = 3;  // [1, 4] becomes [3, 4]
  EXPECT_FALSE(load_text(graph, {}, 13, options).can_be_reread());
  options.batch = 0;
  options.its_sizes_alone = true;
  OnnxModel model = load_text(graph, {}, 13, options);
  EXPECT_FALSE(model.can_be_reread());
  EXPECT_THROW(model.reread({}), std::logic_error);
}

}  // namespace
}  // namespace gemm64
