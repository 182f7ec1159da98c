// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/model.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "host/graph/onnx/control_flow.hpp"
#include "host/graph/onnx/functions.hpp"
#include "host/graph/onnx/shapes.hpp"
#include "host/graph/onnx/wire.hpp"
#include "host/util/error.hpp"
#include "host/util/file_kind.hpp"

namespace gemm64 {
namespace {

/// More than any network has: nodes, attributes, names, dimensions. Each takes some hundred bytes.
constexpr std::uint64_t kMaxObjects = 4'000'000;
/// External data of a model whose weights are not wanted are still read up to this size, since they
/// may be shapes.
constexpr std::int64_t kSmallTensor = 1024;

/// Closes a file when it is left.
class File {
 public:
  explicit File(const std::filesystem::path& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Reads a model from two streams over the same bytes, which begin with `head`: one to look at, one
/// to parse.
onnx::ModelProto parse(google::protobuf::io::ZeroCopyInputStream& first,
                       google::protobuf::io::ZeroCopyInputStream& second, std::string_view head,
                       const std::string& name) {
  // The exception reports the error once.
  const google::protobuf::LogSilencer silence;
  if (count_objects(first, *onnx::ModelProto::descriptor(), kMaxObjects) > kMaxObjects) {
    throw UsageError(
        fmt::format("{}: more than {} nodes, names and attributes; no real network has that many",
                    name, kMaxObjects));
  }
  onnx::ModelProto proto;
  const bool parsed = proto.ParseFromZeroCopyStream(&second);
  if (!parsed || !proto.has_graph()) {
    const std::string_view kind = file_kind(head);
    if (kind != kUnknownKind) {
      throw UsageError(fmt::format("{}: is not an ONNX model: the file is {}", name, kind));
    }
    if (!parsed) throw UsageError(fmt::format("{}: is not an ONNX model, or is cut off", name));
  }
  return proto;
}

void check_size(std::uintmax_t size, std::uint64_t max_bytes, const std::string& name) {
  // protobuf reads no more than that in one message; larger networks keep weights in other files.
  const std::uint64_t most = std::min<std::uint64_t>(max_bytes, 0x7fffffff);
  if (size > most) {
    throw UsageError(fmt::format("{}: {} bytes; a model may have at most {}", name, size, most));
  }
}

onnx::ModelProto parse_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const std::string name = printable(path.string());
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw UsageError(fmt::format("{}: no such file", name));
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw UsageError(fmt::format("{}: is not a file", name));
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) check_size(size, max_bytes, name);
  const File first(path);
  const File second(path);
  if (error || first.descriptor() < 0 || second.descriptor() < 0) {
    throw UsageError(fmt::format("{}: cannot be read", name));
  }
  google::protobuf::io::FileInputStream look(first.descriptor());
  google::protobuf::io::FileInputStream read(second.descriptor());
  return parse(look, read, file_head(path), name);
}

/// The files that initializers name as holding their data, each once.
std::vector<std::string> files_outside(const onnx::GraphProto& graph,
                                       const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) continue;
    if (const auto file = external_file(tensor, folder)) files.insert(file->string());
  }
  return {files.begin(), files.end()};
}

/// Brings external data in, as far as they are wanted.
void read_weights(onnx::GraphProto& graph, const ImportOptions& options,
                  const std::filesystem::path& folder, const std::filesystem::path& linked_folder,
                  const std::string& name) {
  std::uint64_t bytes = 0;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) continue;
    const std::string where = fmt::format("{}: initializer '{}'", name, printable(tensor.name()));
    const TensorType type = checked_type(tensor, where);
    if (options.shapes_only && type.bytes() > kSmallTensor) continue;
    bytes += static_cast<std::uint64_t>(type.bytes());
    if (bytes > options.max_bytes) {
      throw UsageError(
          fmt::format("{}: its external data are more than {} bytes", name, options.max_bytes));
    }
    try {
      read_external_data(tensor, folder, linked_folder, where);
    } catch (const UsageError&) {
      if (!options.shapes_only) throw;
    }
  }
}

/// The folder of the file that a link leads to: download caches (Hugging Face's) store a model and
/// its data in one folder under other names, and link to both. Empty if the file is no link.
std::filesystem::path folder_of_link(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_symlink(file, error)) return {};
  return std::filesystem::weakly_canonical(file, error).parent_path();
}

/// The first names of many.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (text.size() < 200) text += (text.empty() ? "" : ", ") + printable(name);
  }
  return text;
}

/// Does the node make the same whatever the network's inputs are, only from `fixed` values?
bool is_folded(const onnx::NodeProto& node, const std::set<std::string>& fixed) {
  const std::string& op = node.op_type();
  if (op.rfind("Random", 0) == 0 || op == "Bernoulli" || op == "Multinomial" || op == "Dropout") {
    return false;
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g() || attribute.graphs_size() != 0) return false;
  }
  if (node.input().empty()) return op == "Constant" && node.domain().empty();
  return std::all_of(node.input().begin(), node.input().end(), [&fixed](const std::string& input) {
    return input.empty() || fixed.count(input) != 0;
  });
}

/// Nodes of control flow that wait for others of it are unfolded at most this many times.
constexpr int kMaxRounds = 100;

/// Makes inputs whose values are known constants of the graph.
void bind_inputs(onnx::ModelProto& proto, const ImportOptions& options, const std::string& file) {
  for (const auto& [name, tensor] : options.input_values) {
    const auto& inputs = proto.graph().input();
    const bool is_input = std::any_of(
        inputs.begin(), inputs.end(),
        [&name = name](const onnx::ValueInfoProto& input) { return input.name() == name; });
    if (!is_input) throw UsageError(fmt::format("{}: has no input '{}'", file, printable(name)));
    const auto& tensors = proto.graph().initializer();
    if (std::any_of(tensors.begin(), tensors.end(), [&name = name](const onnx::TensorProto& known) {
          return known.name() == name;
        })) {
      continue;  // the model was made from one in which it is
    }
    onnx::TensorProto& constant = *proto.mutable_graph()->add_initializer();
    constant = tensor;
    constant.set_name(name);
  }
}

}  // namespace

OnnxModel OnnxModel::load(const std::filesystem::path& path, const ImportOptions& options) {
  return build(parse_file(path, options.max_bytes), path.string(), path.parent_path(), options);
}

OnnxModel OnnxModel::from_bytes(std::string_view bytes, const std::string& name,
                                const ImportOptions& options) {
  check_size(bytes.size(), options.max_bytes, printable(name));
  const int size = static_cast<int>(bytes.size());
  google::protobuf::io::ArrayInputStream look(bytes.data(), size);
  google::protobuf::io::ArrayInputStream read(bytes.data(), size);
  return build(parse(look, read, bytes.substr(0, kKindBytes), printable(name)), name,
               std::filesystem::path(name).parent_path(), options);
}

OnnxModel OnnxModel::from_proto(onnx::ModelProto proto, const std::string& name,
                                const ImportOptions& options) {
  return build(std::move(proto), name, std::filesystem::path(name).parent_path(), options);
}

/// Checks the graph as it stands, and reads its data.
void OnnxModel::check(const std::filesystem::path& folder, const ImportOptions& options) {
  opsets_ = check_graph(proto_, options.shapes_only, name_);
  onnx::GraphProto& graph = *proto_.mutable_graph();
  for (const std::string& file : files_outside(graph, folder)) {
    const auto known = std::find(external_files_.begin(), external_files_.end(), file);
    if (known == external_files_.end()) external_files_.push_back(file);
  }
  read_weights(graph, options, folder, linked_folder_, name_);
}

/// Finds out what is known of the values of a checked graph.
ValueFacts OnnxModel::infer(const ImportOptions& options, const ValueFacts* known) {
  constants_.clear();
  sparse_.clear();
  fixed_.clear();
  const onnx::GraphProto& graph = proto_.graph();
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    constants_[tensor.name()] = &tensor;
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    sparse_.insert(tensor.values().name());
  }
  for (const auto& constant : constants_) fixed_.insert(constant.first);
  fixed_.insert(sparse_.begin(), sparse_.end());
  for (const onnx::NodeProto& node : graph.node()) {
    if (is_folded(node, fixed_)) {
      fixed_.insert(node.output().begin(), node.output().end());
    }
    if (node.op_type() != "Constant" || !node.domain().empty() || node.output_size() != 1) continue;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() == "value" && attribute.has_t()) {
        constants_[node.output(0)] = &attribute.t();
      }
    }
  }
  for (const auto& [name, shape] : options.input_shapes) {
    const std::vector<std::string> open = open_dimensions();
    const bool is_dimension =
        shape.size() == 1 && std::find(open.begin(), open.end(), name) != open.end();
    if (is_graph_input(name) || is_dimension) continue;
    throw UsageError(fmt::format("{}: has no input '{}'; its inputs are: {}{}", name_,
                                 printable(name), listed(inputs()),
                                 open.empty() ? "" : "; names of open sizes: " + listed(open)));
  }
  return infer_shapes(proto_, constants_, options, name_, known);
}

/// Infers a checked graph's shapes, and puts in what follows from them.
void OnnxModel::settle(const std::filesystem::path& folder, const ImportOptions& options,
                       const ValueFacts* known) {
  ValueFacts facts = infer(options, known);
  for (int round = 0; round < kMaxRounds; ++round) {
    const Unfolded unfolded = unfold_control_flow(proto_, facts, fixed_, opset(), kept_);
    if (!unfolded.any) break;
    is_unfolded_by_shapes_ = is_unfolded_by_shapes_ || unfolded.by_shapes;
    check(folder, options);
    facts = infer(options, nullptr);
  }
  onnx::GraphProto& graph = *proto_.mutable_graph();
  for (const ValueFacts::Replacement& replacement : facts.replacements) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor = integer_tensor(replacement.constant, facts.integers.at(replacement.constant));
    graph.mutable_node(replacement.node)->set_input(replacement.input, replacement.constant);
    constants_[replacement.constant] = &tensor;
    fixed_.insert(replacement.constant);
  }
  is_for_its_sizes_ = options.its_sizes_alone || !facts.replacements.empty();
  kept_.insert(facts.refused.begin(), facts.refused.end());
  types_ = std::move(facts.types);
  integers_ = std::move(facts.integers);
  unknown_ = std::move(facts.unknown);
}

OnnxModel OnnxModel::build(onnx::ModelProto proto, const std::string& name,
                           const std::filesystem::path& folder, const ImportOptions& options) {
  OnnxModel model;
  model.proto_ = std::move(proto);
  model.name_ = printable(name);
  model.linked_folder_ = folder_of_link(name);
  inline_functions(model.proto_, model.name_);
  bind_inputs(model.proto_, options, model.name_);
  model.check(folder, options);
  model.settle(folder, options, nullptr);
  return model;
}

OnnxModel OnnxModel::rewritten(onnx::ModelProto proto, const ImportOptions& options) const {
  OnnxModel other;
  other.proto_ = std::move(proto);
  other.name_ = name_;
  other.opsets_ = order_graph(other.proto_, name_);
  other.external_files_ = external_files_;
  bind_inputs(other.proto_, options, name_);
  const bool is_bound =
      std::all_of(options.input_values.begin(), options.input_values.end(),
                  [this](const auto& input) { return constants_.count(input.first) != 0; });
  ValueFacts known;
  known.types = types_;
  known.integers = integers_;
  known.unknown = unknown_;
  for (const onnx::NodeProto& node : graph().node()) {
    const std::string why = is_control_flow(node) ? "" : why_kept(node);
    if (!why.empty()) known.refused[node.output(0)] = why;
  }
  other.settle(std::filesystem::path(name_).parent_path(), options, is_bound ? &known : nullptr);
  return other;
}

bool OnnxModel::can_be_reread() const {
  const auto& nodes = graph().node();
  return !is_for_its_sizes_ && !is_unfolded_by_shapes_ &&
         std::none_of(nodes.begin(), nodes.end(), is_control_flow);
}

void OnnxModel::reread(const ImportOptions& options) {
  if (!can_be_reread()) throw std::logic_error("OnnxModel::reread(): it is only for its sizes");
  const int known = graph().initializer_size();
  OnnxModel other;
  other.proto_.Swap(&proto_);
  other.name_ = name_;
  other.opsets_ = opsets_;
  other.external_files_ = external_files_;
  try {
    bind_inputs(other.proto_, options, name_);
    other.settle({}, options, nullptr);
  } catch (...) {
    auto& tensors = *other.proto_.mutable_graph()->mutable_initializer();
    tensors.DeleteSubrange(known, tensors.size() - known);
    proto_.Swap(&other.proto_);
    throw;
  }
  *this = std::move(other);
}

std::int64_t OnnxModel::opset() const {
  const auto found = opsets_.find("");
  return found == opsets_.end() ? kNewestOpset : found->second;
}

std::optional<TensorType> OnnxModel::type(const std::string& value) const {
  const auto found = types_.find(value);
  if (found == types_.end()) return std::nullopt;
  return found->second;
}

std::string OnnxModel::why_kept(const onnx::NodeProto& node) const {
  const auto found = node.output_size() == 0 ? kept_.end() : kept_.find(node.output(0));
  return found == kept_.end() ? "" : found->second;
}

OnnxModel OnnxModel::again(const ImportOptions& options) const {
  OnnxModel other = rewritten(proto_, options);
  if (!is_unfolded_by_shapes_) return other;
  for (const std::string& input : inputs()) {
    const std::optional<TensorType> own = type(input), its = other.type(input);
    if (own && its && own->dims == its->dims) continue;
    throw UsageError(fmt::format(
        "{}: its If, Loop or Scan was settled for an input '{}' {}; {} may take other branches",
        name_, printable(input), own ? "of " + dims_text(own->dims) : "of an open size",
        its ? dims_text(its->dims) : "another"));
  }
  return other;
}

std::string OnnxModel::why_unknown(const std::string& value) const {
  const auto found = unknown_.find(value);
  return found == unknown_.end() ? "its shape is not known" : found->second;
}

const onnx::TensorProto* OnnxModel::constant(const std::string& value) const {
  const auto found = constants_.find(value);
  return found == constants_.end() ? nullptr : found->second;
}

std::optional<std::vector<std::int64_t>> OnnxModel::integers(const std::string& value) const {
  const auto found = integers_.find(value);
  if (found == integers_.end()) return std::nullopt;
  return found->second;
}

bool OnnxModel::is_graph_input(const std::string& value) const {
  if (constants_.count(value) != 0 || sparse_.count(value) != 0) return false;
  return std::any_of(graph().input().begin(), graph().input().end(),
                     [&value](const onnx::ValueInfoProto& input) { return input.name() == value; });
}

std::vector<std::string> OnnxModel::inputs() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& input : graph().input()) {
    if (constants_.count(input.name()) == 0 && sparse_.count(input.name()) == 0) {
      names.push_back(input.name());
    }
  }
  return names;
}

std::string OnnxModel::shape_to_give(const std::string& input) const {
  std::string text = printable(input) + "=";
  for (const onnx::ValueInfoProto& value : graph().input()) {
    const auto& tensor = value.type().tensor_type();
    if (value.name() != input || !tensor.has_shape() || tensor.shape().dim_size() == 0) continue;
    char letter = 'A';
    for (const auto& dim : tensor.shape().dim()) {
      if (text.back() != '=') text += 'x';
      if (dim.dim_value() > 0) {
        text += std::to_string(dim.dim_value());
      } else {
        text += letter;
        if (letter != 'Z') ++letter;
      }
    }
    return text;
  }
  return text + "AxBxC";
}

std::vector<std::string> OnnxModel::open_dimensions() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& value : graph().input()) {
    if (!is_graph_input(value.name())) continue;
    for (const auto& dim : value.type().tensor_type().shape().dim()) {
      const std::string& name = open_name(dim);
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::string node_label(const onnx::NodeProto& node, int index) {
  if (!node.name().empty()) return printable(node.name());
  return fmt::format("{} number {}", printable(node.op_type()), index);
}

}  // namespace gemm64
