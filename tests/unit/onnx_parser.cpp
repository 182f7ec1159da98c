// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/onnx_parser.hpp"

#include <cctype>
#include <map>
#include <stdexcept>
#include <vector>

namespace gemm64 {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  onnx::GraphProto graph() {
    onnx::GraphProto graph;
    values(graph.mutable_input());
    expect("=>");
    values(graph.mutable_output());
    if (take("<")) {
      do {
        initializer(*graph.add_initializer());
      } while (take(","));
      expect(">");
    }
    expect("{");
    while (!take("}")) *graph.add_node() = node();
    return graph;
  }

  onnx::NodeProto node() {
    onnx::NodeProto node;
    do {
      node.add_output(name());
    } while (take(","));
    expect("=");
    std::string type = name();
    while (take(".")) {
      node.set_domain(node.domain() + (node.domain().empty() ? "" : ".") + type);
      type = name();
    }
    node.set_op_type(type);
    if (take("<")) {
      do {
        attribute(*node.add_attribute());
      } while (take(","));
      expect(">");
    }
    expect("(");
    if (take(")")) return node;
    do {
      node.add_input(at_name() ? name() : "");
    } while (take(","));
    expect(")");
    return node;
  }

  void end() {
    if (peek() != '\0') fail("the end");
  }

 private:
  [[noreturn]] void fail(const std::string& expected) {
    throw std::runtime_error(expected + " expected at: " + text_.substr(at_));
  }
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(const std::string& token) {
    peek();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  void expect(const std::string& token) {
    if (!take(token)) fail("'" + token + "'");
  }
  bool at_name() { return std::isalpha(static_cast<unsigned char>(peek())) != 0 || peek() == '_'; }
  std::string name() {
    if (!at_name()) fail("a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  std::string number() {
    peek();
    const std::size_t end = text_.find_first_not_of("+-.0123456789eE", at_);
    if (end == at_) fail("a number");
    const std::string word = text_.substr(at_, end - at_);
    at_ += word.size();
    return word;
  }

  int element_type() {
    static const std::map<std::string, int> types{
        {"float", TensorProto::FLOAT},     {"double", TensorProto::DOUBLE},
        {"float16", TensorProto::FLOAT16}, {"bfloat16", TensorProto::BFLOAT16},
        {"int8", TensorProto::INT8},       {"uint8", TensorProto::UINT8},
        {"int32", TensorProto::INT32},     {"int64", TensorProto::INT64},
        {"bool", TensorProto::BOOL},       {"string", TensorProto::STRING},
        {"uint64", TensorProto::UINT64},   {"int4", TensorProto::INT4}};
    const auto found = types.find(name());
    if (found == types.end()) fail("an element type before this");
    return found->second;
  }
  void type(onnx::TypeProto::Tensor& tensor) {
    tensor.set_elem_type(element_type());
    if (!take("[")) {
      tensor.mutable_shape();
      return;
    }
    if (take("]")) return;
    do {
      onnx::TensorShapeProto::Dimension& dim = *tensor.mutable_shape()->add_dim();
      if (take("?")) continue;
      if (at_name()) {
        dim.set_dim_param(name());
      } else {
        dim.set_dim_value(std::stoll(number()));
      }
    } while (take(","));
    expect("]");
  }
  void values(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>* list) {
    expect("(");
    if (take(")")) return;
    do {
      onnx::ValueInfoProto& value = *list->Add();
      type(*value.mutable_type()->mutable_tensor_type());
      value.set_name(name());
    } while (take(","));
    expect(")");
  }
  void initializer(TensorProto& tensor) {
    onnx::TypeProto::Tensor form;
    type(form);
    tensor.set_name(name());
    expect("=");
    contents(form, tensor);
  }
  void contents(const onnx::TypeProto::Tensor& form, TensorProto& tensor) {
    tensor.set_data_type(form.elem_type());
    for (const auto& dim : form.shape().dim()) tensor.add_dims(dim.dim_value());
    expect("{");
    if (take("}")) return;
    do {
      const std::string word = number();
      switch (form.elem_type()) {
        case TensorProto::FLOAT:
          tensor.add_float_data(std::stof(word));
          break;
        case TensorProto::DOUBLE:
          tensor.add_double_data(std::stod(word));
          break;
        case TensorProto::INT64:
          tensor.add_int64_data(std::stoll(word));
          break;
        default:
          tensor.add_int32_data(std::stoi(word));
      }
    } while (take(","));
    expect("}");
  }

  std::string quoted() {
    expect("\"");
    const std::size_t end = text_.find('"', at_);
    const std::string word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  void attribute(AttributeProto& attribute) {
    attribute.set_name(name());
    expect("=");
    if (peek() == '"') {
      attribute.set_type(AttributeProto::STRING);
      attribute.set_s(quoted());
    } else if (take("[")) {
      list(attribute);
    } else if (at_name()) {
      onnx::TypeProto::Tensor form;
      type(form);
      attribute.set_type(AttributeProto::TENSOR);
      contents(form, *attribute.mutable_t());
    } else if (peek() == '(') {
      attribute.set_type(AttributeProto::GRAPH);
      *attribute.mutable_g() = graph();
    } else {
      const std::string word = number();
      const bool whole = word.find_first_of(".eE") == std::string::npos;
      attribute.set_type(whole ? AttributeProto::INT : AttributeProto::FLOAT);
      if (whole) attribute.set_i(std::stoll(word));
      if (!whole) attribute.set_f(std::stof(word));
    }
  }
  void list(AttributeProto& attribute) {
    attribute.set_type(AttributeProto::INTS);
    if (take("]")) return;
    std::vector<std::string> words;
    do {
      if (peek() == '"') {
        attribute.set_type(AttributeProto::STRINGS);
        attribute.add_strings(quoted());
        continue;
      }
      words.push_back(number());
      if (words.back().find_first_of(".eE") != std::string::npos) {
        attribute.set_type(AttributeProto::FLOATS);
      }
    } while (take(","));
    expect("]");
    for (const std::string& word : words) {
      if (attribute.type() == AttributeProto::INTS) attribute.add_ints(std::stoll(word));
      if (attribute.type() == AttributeProto::FLOATS) attribute.add_floats(std::stof(word));
    }
  }

  const std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

onnx::GraphProto parse_graph(const std::string& text) {
  Parser parser(text);
  onnx::GraphProto graph = parser.graph();
  parser.end();
  return graph;
}

onnx::NodeProto parse_node(const std::string& text) {
  Parser parser(text);
  onnx::NodeProto node = parser.node();
  parser.end();
  return node;
}

}  // namespace gemm64
