// SPDX-License-Identifier: Apache-2.0
// Functions that a model brings along, and branches that are known.
#include "host/graph/onnx/functions.hpp"

#include "tests/test.hpp"
#include "tests/unit/run_on_cpu.hpp"

namespace gemm64 {
namespace {

onnx::NodeProto& add_node(onnx::NodeProto& node, const std::string& type,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
  node.set_op_type(type);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

void add_value(onnx::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
}

void add_opset(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& sets,
               const std::string& domain, std::int64_t version) {
  onnx::OperatorSetIdProto& set = *sets.Add();
  set.set_domain(domain);
  set.set_version(version);
}

/// x -> y, float32 of 2 values, without nodes.
onnx::ModelProto empty_model() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  add_opset(*model.mutable_opset_import(), "", 20);
  add_opset(*model.mutable_opset_import(), "local", 1);
  model.mutable_graph()->set_name("graph");
  add_value(*model.mutable_graph()->add_input(), "x");
  add_value(*model.mutable_graph()->add_output(), "y");
  return model;
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name,
                                  std::int64_t opset = 20) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_domain("local");
  function.set_name(name);
  function.add_input("a");
  function.add_output("b");
  add_opset(*function.mutable_opset_import(), "", opset);
  return function;
}

void call(onnx::NodeProto& node, const std::string& function, const std::string& from,
          const std::string& to) {
  add_node(node, function, {from}, {to}).set_domain("local");
}

std::vector<float> run(onnx::ModelProto proto) {
  const OnnxModel model = OnnxModel::from_proto(std::move(proto), "test.onnx");
  const Tensor y = run_on_cpu(model, {{"x", Tensor::of<float>({2}, {-3, 5})}}).at("y");
  return {y.values<float>(), y.values<float>() + 2};
}

std::string refusal(onnx::ModelProto proto) {
  return message_of([&] { run(std::move(proto)); });
}

TEST(Functions, StandWhereTheyAreCalled) {
  onnx::ModelProto model = empty_model();
  onnx::FunctionProto& outer = add_function(model, "Outer");
  call(*outer.add_node(), "Inner", "a", "t");
  add_node(*outer.add_node(), "Add", {"t", "t"}, {"b"});
  onnx::FunctionProto& inner = add_function(model, "Inner");
  add_node(*inner.add_node(), "Relu", {"a"}, {"t"});
  add_node(*inner.add_node(), "Neg", {"t"}, {"b"});
  call(*model.mutable_graph()->add_node(), "Outer", "x", "t");
  call(*model.mutable_graph()->add_node(), "Outer", "t", "u");
  add_node(*model.mutable_graph()->add_node(), "Sub", {"u", "t"}, {"y"});
  EXPECT_THAT(run(model), testing::ElementsAre(0, 10));  // of t = {0, -10} and u = {0, 0}
}

TEST(Functions, TakeTheCallersAttributesOrTheirOwn) {
  onnx::ModelProto model = empty_model();
  onnx::FunctionProto& function = add_function(model, "Leaky");
  onnx::AttributeProto& own = *function.add_attribute_proto();
  own.set_name("slope");
  own.set_type(onnx::AttributeProto::FLOAT);
  own.set_f(0.5F);
  onnx::NodeProto& node = add_node(*function.add_node(), "LeakyRelu", {"a"}, {"b"});
  onnx::AttributeProto& alpha = *node.add_attribute();
  alpha.set_name("alpha");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  alpha.set_ref_attr_name("slope");
  call(*model.mutable_graph()->add_node(), "Leaky", "x", "y");
  EXPECT_THAT(run(model), testing::ElementsAre(-1.5, 5));
  onnx::AttributeProto& given = *model.mutable_graph()->mutable_node(0)->add_attribute();
  given = own;
  given.set_f(2);
  EXPECT_THAT(run(model), testing::ElementsAre(-6, 5));
}

TEST(Functions, ThatPassAnInputOnReturnIt) {
  onnx::ModelProto model = empty_model();
  onnx::FunctionProto& function = add_function(model, "Same");
  function.set_output(0, "a");
  call(*model.mutable_graph()->add_node(), "Same", "x", "y");
  EXPECT_THAT(run(model), testing::ElementsAre(-3, 5));
}

TEST(Functions, ThatCannotBeInlinedAreRefusedByName) {
  onnx::ModelProto itself = empty_model();
  call(*add_function(itself, "Round").add_node(), "Round", "a", "b");
  call(*itself.mutable_graph()->add_node(), "Round", "x", "y");
  EXPECT_THAT(refusal(itself), Says("test.onnx: function local.Round: it calls itself"));

  onnx::ModelProto opset = empty_model();
  add_node(*add_function(opset, "Old", 17).add_node(), "Relu", {"a"}, {"b"});
  call(*opset.mutable_graph()->add_node(), "Old", "x", "y");
  EXPECT_THAT(refusal(opset), Says("it is for opset 17, the file for opset 20"));

  onnx::ModelProto more = empty_model();
  add_node(*add_function(more, "F").add_node(), "Relu", {"a"}, {"b"});
  call(*more.mutable_graph()->add_node(), "F", "x", "y");
  more.mutable_graph()->mutable_node(0)->add_input("x");
  EXPECT_THAT(refusal(more), Says("is called with 2 and 1"));
}

TEST(Functions, ThatGrowWithoutEndAreRefused) {
  onnx::ModelProto model = empty_model();
  for (int i = 0; i < 40; ++i) {
    onnx::FunctionProto& function = add_function(model, "F" + std::to_string(i));
    const std::string next = "F" + std::to_string(i + 1);
    call(*function.add_node(), next, "a", "t");
    call(*function.add_node(), next, "t", "b");
  }
  add_node(*add_function(model, "F40").add_node(), "Relu", {"a"}, {"b"});
  call(*model.mutable_graph()->add_node(), "F0", "x", "y");
  EXPECT_THAT(refusal(model), Says("more than 200000"));
}

TEST(Branches, ThatAreKnownAreTaken) {
  for (const bool first : {true, false}) {
    onnx::ModelProto model = empty_model();
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::TensorProto& known = *graph.add_initializer();
    known.set_name("c");
    known.set_data_type(onnx::TensorProto::BOOL);
    known.add_int32_data(first ? 1 : 0);
    onnx::NodeProto& node = add_node(*graph.add_node(), "If", {"c"}, {"z"});
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto& branch = *node.add_attribute();
      branch.set_name(name);
      branch.set_type(onnx::AttributeProto::GRAPH);
      branch.mutable_g()->set_name(name);
      add_node(*branch.mutable_g()->add_node(), name[0] == 't' ? "Relu" : "Neg", {"x"}, {"t"});
      add_value(*branch.mutable_g()->add_output(), "t");
    }
    add_node(*graph.add_node(), "Add", {"z", "z"}, {"y"});
    EXPECT_THAT(run(model), first ? testing::ElementsAre(0, 10) : testing::ElementsAre(6, -10));
  }
}

}  // namespace
}  // namespace gemm64
