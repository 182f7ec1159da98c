// SPDX-License-Identifier: Apache-2.0
#include "host/compile/executable_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <string_view>
#include <utility>

#include "host/device/array_geometry.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"
#include "host/util/file_kind.hpp"
#include "host/util/input_file.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "GEMM64X\n";
constexpr std::uint32_t kFormat = 2;
constexpr std::size_t kHead = 20;  // bytes before the header
constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;

std::uint64_t aligned(std::uint64_t at) { return divide_up(at, kAlignment) * kAlignment; }

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

void put_word(std::string& to, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) to += static_cast<char>(word >> (8 * i));
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  }
  return word;
}

/// Sections of a file, numbered as they are asked for: the model, then of each program its
/// commands, then of each layer weights and parameters.
class Sections {
 public:
  std::size_t next() { return count_++; }

 private:
  std::size_t count_ = 1;  // the model is the first
};

Json to_json(const TensorRef& tensor) {
  Json json{{"name", tensor.name},
            {"address", tensor.address},
            {"bytes", tensor.bytes},
            {"layout", name(tensor.layout)}};
  if (tensor.layout == TensorLayout::kParameters) return json;
  json["type"] = tensor.is_unsigned ? "uint8" : "int8";
  if (tensor.layout == TensorLayout::kTiles || tensor.layout == TensorLayout::kTaps) return json;
  json["scale"] = tensor.scale;
  json["zero_point"] = tensor.zero;
  return json;
}

const char* operation_of(const DeviceLayer& layer) {
  if (layer.identity) return "copy";
  if (layer.factors) return "function";
  if (layer.sum == LaneSum::kMaximum) return "maximum";
  if (layer.sum == LaneSum::kValues) return "average";
  return layer.convolution && !layer.packed ? "convolution" : "product";
}

Json layer_json(const DeviceLayer& layer, const LayerTensors& tensors, Sections& sections) {
  Json json{{"name", layer.job.name},
            {"nodes", layer.nodes()},
            {"operation", operation_of(layer)},
            {"im2col", layer.packed},
            {"source", layer.source ? Json(*layer.source) : Json()},
            {"m", layer.job.plan.shape.m},
            {"k", layer.job.plan.shape.k},
            {"n", layer.job.plan.shape.n},
            {"input", to_json(tensors.input)},
            {"weights", to_json(tensors.weights)},
            {"parameters", to_json(tensors.parameters)},
            {"result", to_json(tensors.result)}};
  if (layer.part) {
    json["channels"] = {
        {"first", layer.part->first}, {"of", layer.part->channels}, {"place", layer.part->place}};
  }
  if (layer.strips) {
    json["strips"] = {{"count", layer.strips->count},
                      {"step", layer.strips->step},
                      {"rows", layer.strips->rows},
                      {"wrong", layer.strips->wrong}};
  }
  if (layer.rows) {
    json["rows"] = {
        {"first", layer.rows->first}, {"end", layer.rows->end}, {"strip", layer.rows->strip}};
  }
  if (!layer.input_order.empty()) json["input"]["order"] = layer.input_order;
  if (!layer.result_order.empty()) json["result"]["order"] = layer.result_order;
  if (tensors.operand.bytes != 0) {
    json["operand"] = to_json(tensors.operand);
    json["operand"]["source"] = layer.operand ? Json(*layer.operand) : Json();
  }
  if (layer.weights_value.empty()) {
    json["weights"]["section"] = sections.next();
    json["parameters"]["section"] = sections.next();
  } else {
    json["products"] = layer.job.plan.products;
    if (layer.shared_tiles) json["together"] = layer.shared_tiles->together;
  }
  if (layer.sum_columns != 0) json["sum_columns"] = layer.sum_columns;
  return json;
}

Json program_json(const DeviceProgram& program, const CompiledProgram& compiled,
                  Sections& sections) {
  Json json{{"memory_bytes", compiled.list.end},
            {"ring", compiled.list.ring},
            {"snapshots", compiled.list.snapshots},
            {"commands", {{"count", compiled.list.program.size()}, {"section", sections.next()}}},
            {"layers", Json::array()}};
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    json["layers"].push_back(layer_json(program.layers[i], compiled.tensors[i], sections));
  }
  return json;
}

std::string command_bytes(const std::vector<Command>& program) {
  std::string bytes(program.size() * kCommandBytes, '\0');
  for (std::size_t i = 0; i < program.size(); ++i) {
    program[i].encode(reinterpret_cast<std::uint8_t*>(bytes.data()) + i * kCommandBytes);
  }
  return bytes;
}

/// The model with inputs of the sizes that were compiled, whatever the file left open.
std::string model_bytes(const OnnxModel& model, const OutputFile& file) {
  onnx::ModelProto proto = model.proto();
  for (onnx::ValueInfoProto& input : *proto.mutable_graph()->mutable_input()) {
    const auto type = model.type(input.name());
    if (!type || !model.is_graph_input(input.name())) continue;
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const std::int64_t size : type->dims) shape.add_dim()->set_dim_value(size);
  }
  proto.mutable_graph()->clear_value_info();
  require_model_fits(proto.ByteSizeLong(), file.path());
  return proto.SerializeAsString();
}

std::string_view view_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file's bytes, which nothing is believed of.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), bytes_(read_file(path, kMostBytes)) {}

  LoadedExecutable read();

 private:
  UsageError wrong(const std::string& what) const {
    return UsageError(fmt::format("{}: {}", path_, what));
  }
  void read_header();
  void read_sections();
  Geometry geometry() const;
  CompileOptions options() const;
  std::vector<std::uint8_t> constant(std::size_t section, std::uint64_t bytes) const;

  const std::string path_;
  const std::string bytes_;
  Json header_;
  std::vector<std::string_view> sections_;
};

void Reader::read_header() {
  if (bytes_.size() < kHead || std::string_view(bytes_).substr(0, kMagic.size()) != kMagic) {
    throw wrong(fmt::format("is no compiled network: the file is {}",
                            file_kind(bytes_.substr(0, kKindBytes))));
  }
  const std::uint32_t format = word_at(bytes_, 8);
  if (format != kFormat) {
    throw wrong(fmt::format("is of format {}; this version reads {}: compile the network again",
                            format, kFormat));
  }
  const std::uint64_t size = word_at(bytes_, 12);
  if (size > bytes_.size() - kHead) throw wrong("ends within its header");
  const std::string_view header = std::string_view(bytes_).substr(kHead, size);
  if (crc_of(header) != word_at(bytes_, 16)) throw wrong("is damaged: the header's CRC differs");
  header_ = Json::parse(header);
}

void Reader::read_sections() {
  const Json& sections = header_.at("sections");
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto offset = sections.at(i).at("offset").get<std::uint64_t>();
    const auto size = sections.at(i).at("bytes").get<std::uint64_t>();
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      throw wrong(fmt::format("ends within section {}", i));
    }
    sections_.push_back(std::string_view(bytes_).substr(offset, size));
    if (crc_of(sections_.back()) != sections.at(i).at("crc32").get<std::uint32_t>()) {
      throw wrong(fmt::format("is damaged: the CRC of section {} differs", i));
    }
  }
  if (sections_.empty()) throw wrong("holds no network");
}

Geometry Reader::geometry() const {
  const Json& json = header_.at("geometry");
  DesignSizes sizes;
  sizes.array = json.at("n").get<std::int64_t>();
  sizes.scratchpad_words = json.at("scratchpad_words").get<std::int64_t>();
  sizes.tensor_words = json.at("tensor_words").get<std::int64_t>();
  sizes.accumulator_rows = json.at("accumulator_rows").get<std::int64_t>();
  sizes.weight_tiles = json.at("weight_tiles").get<std::int64_t>();
  sizes.parameter_sets = json.at("parameter_sets").get<std::int64_t>();
  const Geometry geometry = geometry_of(sizes);
  if (gemm64::to_json(geometry) != json) {
    throw wrong("was compiled for a device that this version does not know");
  }
  return geometry;
}

CompileOptions Reader::options() const {
  const Json& json = header_.at("options");
  CompileOptions options;
  options.convolutions = json.at("convolutions").get<bool>();
  options.lanes = json.at("lanes").get<bool>();
  options.rate.bytes_per_cycle = json.at("memory_bytes_per_cycle").get<double>();
  options.rate.is_shared = json.at("memory_is_shared").get<bool>();
  options.tensor_memory = json.at("tensor_memory").get<bool>();
  options.whole_parts = json.at("whole_parts").get<bool>();
  return options;
}

std::vector<std::uint8_t> Reader::constant(std::size_t section, std::uint64_t bytes) const {
  if (section >= sections_.size() || sections_[section].size() != bytes) {
    throw wrong(fmt::format("section {} should hold {} bytes", section, bytes));
  }
  return {sections_[section].begin(), sections_[section].end()};
}

LoadedExecutable Reader::read() {
  try {
    read_header();
    read_sections();
    const Geometry sizes = geometry();
    OnnxModel model = OnnxModel::from_bytes(sections_[0], path_);
    Executable executable = compile(model, sizes, options());
    // Whatever the header says must be what follows from the network: so nothing else can be in it.
    Json expected = gemm64::to_json(executable, model);
    expected["made_by"] = header_.at("made_by");
    expected["sections"] = header_.at("sections");
    bool same = expected == header_;
    std::size_t section = 1;
    for (std::size_t number = 0; number < executable.programs.size(); ++number) {
      CompiledProgram& program = executable.programs[number];
      same = same && section < sections_.size() &&
             sections_[section] == command_bytes(program.list.program);
      ++section;
      if (!same) break;
      for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        PackedLayer packed;
        if (executable.plan.programs[number].layers[i].weights_value.empty()) {
          packed.weights = constant(section++, program.tensors[i].weights.bytes);
          packed.parameters = constant(section++, program.tensors[i].parameters.bytes);
        }
        program.constants.push_back(std::move(packed));
      }
    }
    if (!same || section != sections_.size()) {
      throw wrong(
          fmt::format("its programs, by {}, are not those that this version makes of its "
                      "network: compile it again",
                      printable(header_.at("made_by").get<std::string>())));
    }
    return {std::move(model), std::move(executable)};
  } catch (const Json::exception& error) {
    throw wrong(fmt::format("its header cannot be read: {}", printable(error.what(), 200)));
  }
}

}  // namespace

Json to_json(const Executable& executable, const OnnxModel& model) {
  Sections sections;
  Json json{{"format", kFormat},
            {"made_by", ""},
            {"geometry", to_json(executable.geometry)},
            {"options",
             {{"convolutions", executable.options.convolutions},
              {"lanes", executable.options.lanes},
              {"memory_bytes_per_cycle", executable.options.rate.bytes_per_cycle},
              {"memory_is_shared", executable.options.rate.is_shared},
              {"tensor_memory", *executable.options.tensor_memory},
              {"whole_parts", executable.options.whole_parts}}},
            {"inputs", Json::array()},
            {"outputs", Json::array()},
            {"order", Json::array()},
            {"programs", Json::array()}};
  for (const std::string& input : model.inputs()) {
    const auto type = model.type(input);
    json["inputs"].push_back({{"name", input}, {"shape", type ? Json(type->dims) : Json()}});
  }
  for (const auto& output : model.graph().output()) json["outputs"].push_back(output.name());
  for (const PassItem& item : executable.order) {
    if (item.kind == PassItem::Kind::kSums) {
      json["order"].push_back({{"sums", item.nodes}});
      continue;
    }
    if (item.kind == PassItem::Kind::kProgram) {
      json["order"].push_back({{"program", item.index}});
      continue;
    }
    const onnx::NodeProto& node = model.graph().node(static_cast<int>(item.index));
    Json step{{"node", item.index}, {"operator", node.op_type()}};
    for (const auto* const reasons : {&executable.plan.on_host, &executable.plan.between}) {
      const auto why = reasons->find(static_cast<int>(item.index));
      if (why != reasons->end()) step["reason"] = why->second;
    }
    json["order"].push_back(std::move(step));
  }
  for (std::size_t i = 0; i < executable.programs.size(); ++i) {
    json["programs"].push_back(
        program_json(executable.plan.programs[i], executable.programs[i], sections));
  }
  return json;
}

std::uint64_t save_executable(const Executable& executable, const OnnxModel& model,
                              const std::string& made_by, OutputFile& file) {
  const std::string network = model_bytes(model, file);
  std::vector<std::string> commands;
  for (const CompiledProgram& program : executable.programs) {
    commands.push_back(command_bytes(program.list.program));
  }
  std::vector<std::string_view> sections{network};
  for (std::size_t i = 0; i < executable.programs.size(); ++i) {
    sections.emplace_back(commands[i]);
    for (std::size_t j = 0; j < executable.programs[i].constants.size(); ++j) {
      if (!executable.plan.programs[i].layers[j].weights_value.empty()) continue;
      const PackedLayer& layer = executable.programs[i].constants[j];
      sections.push_back(view_of(layer.weights.data(), layer.weights.size()));
      sections.push_back(view_of(layer.parameters.data(), layer.parameters.size()));
    }
  }
  Json header = to_json(executable, model);
  header["made_by"] = made_by;
  header["sections"] = Json::array();
  for (const std::string_view section : sections) {
    header["sections"].push_back(
        {{"offset", kMostBytes}, {"bytes", section.size()}, {"crc32", crc_of(section)}});
  }
  // No offset has more digits than the largest one, so the header grows no longer than this.
  const std::uint64_t first = aligned(kHead + header.dump().size());
  std::uint64_t at = first;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    header["sections"][i]["offset"] = at;
    at = aligned(at + sections[i].size());
  }
  const std::string text = header.dump();
  std::string head(kMagic);
  put_word(head, kFormat);
  put_word(head, static_cast<std::uint32_t>(text.size()));
  put_word(head, crc_of(text));
  head += text;
  head.resize(first, '\0');
  std::ostream& stream = file.stream();
  stream << head;
  std::uint64_t written = first;
  for (const std::string_view section : sections) {
    stream.write(section.data(), static_cast<std::streamsize>(section.size()));
    const std::uint64_t end = written + section.size();
    written = aligned(end);
    stream << std::string(written - end, '\0');
  }
  file.commit();
  return written;
}

bool is_executable_file(const std::string& path) { return file_head(path).rfind(kMagic, 0) == 0; }

LoadedExecutable load_executable(const std::string& path) { return Reader(path).read(); }

}  // namespace gemm64
