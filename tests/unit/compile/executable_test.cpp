// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <zlib.h>

#include "host/compile/executable_file.hpp"
#include "host/device/array_geometry.hpp"
#include "host/device/reference_device.hpp"
#include "host/driver/device_hooks.hpp"
#include "host/graph/onnx/host_nodes.hpp"
#include "host/runtime/named_tensors.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

/// Two layers, work of the host, and a third one.
OnnxModel network() {
  QuantizedText text("1,8,6,6");
  text.conv("x", "a", 8, 12, 3, "pads = [1,1,1,1]")
      .conv("a", "conv", 12, 8, 1)
      .add("conv", "x", "b")
      .node("p", "Transpose <perm = [0,1,3,2]> (b)")
      .conv("p", "y", 8, 8, 1);
  return text.model();
}

Executable compiled(const OnnxModel& model, const CompileOptions& options = {}) {
  Executable made = compile(model, geometry_of({8}), options);
  pack_constants(made, model);
  return made;
}

class ExecutableTest : public InFolder {
 protected:
  void save(const OnnxModel& model) const {
    OutputFile to(file_);
    save_executable(compiled(model), model, "gemm64 test", to);
  }
  std::string read() const {
    std::ifstream from(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
  }
  void write(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string refusal() const {
    return message_of([&] { load_executable(file_); });
  }

  const std::string file_ = folder_ / "n.g64";
};

std::uint32_t word_of(const std::string& bytes, std::size_t at) {
  std::uint32_t word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

TEST_F(ExecutableTest, PlacesTensorsWithoutOverlap) {
  const OnnxModel model = network();
  const Executable made = compiled(model);
  ASSERT_EQ(made.programs.size(), 2U);
  for (const CompiledProgram& program : made.programs) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
      const LayerTensors& tensors = program.tensors[i];
      for (const TensorRef* ref : {&tensors.weights, &tensors.parameters, &tensors.result}) {
        places.emplace_back(ref->address, ref->address + ref->bytes);
      }
      if (!program.list.jobs[i].source) {
        places.emplace_back(tensors.input.address, tensors.input.address + tensors.input.bytes);
      }
      if (tensors.operand.bytes != 0) {
        places.emplace_back(tensors.operand.address,
                            tensors.operand.address + tensors.operand.bytes);
      }
      EXPECT_EQ(program.constants[i].weights.size(), tensors.weights.bytes);
      EXPECT_EQ(program.constants[i].parameters.size(), tensors.parameters.bytes);
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i)
      EXPECT_LE(places[i - 1].second, places[i].first);
    EXPECT_LE(places.back().second, program.list.end);
  }
  // What a layer reads of another one is where that one wrote it.
  EXPECT_EQ(made.programs[0].tensors[1].input.address, made.programs[0].tensors[0].result.address);
  EXPECT_EQ(made.programs[0].tensors[1].input.name, "a");
  EXPECT_EQ(made.programs[0].tensors[1].input.layout, TensorLayout::kPlanes);
}

TEST_F(ExecutableTest, KeepsTensorsOnTheChip) {
  const OnnxModel model = network();
  CompileOptions options;
  options.tensor_memory.reset();
  EXPECT_FALSE(compiled(model, options).options.tensor_memory.value()) << "ideal ports";
  options.memory.sharing = MemorySharing::kShared;
  options.memory.bytes_per_cycle = 1;
  const Executable made = compiled(model, options);
  EXPECT_TRUE(made.options.tensor_memory.value());
  const JobProgram& list = made.programs[0].list;
  EXPECT_TRUE(list.tensor_memory);
  EXPECT_EQ(list.places[0].text(), "scratchpad");
  EXPECT_EQ(list.places[1].text(), "memory: the host reads it");
  options.tensor_memory = false;
  const Executable without = compiled(model, options);
  EXPECT_FALSE(without.programs[0].list.tensor_memory);

  OutputFile to(file_);
  save_executable(made, model, "gemm64 test", to);
  const Executable read = load_executable(file_).executable;
  EXPECT_TRUE(read.options.tensor_memory.value());
  EXPECT_EQ(read.programs[0].list.program, list.program);
}

/// Who has nothing but the file and a device runs its programs, as README.md says.
// Three products of the input are one program; each begins before the one in front of it has ended.
TEST_F(ExecutableTest, FusesSumsThatAreReadyTogether) {
  QuantizedText text("4,8");
  text.weights("w", {8, 8})
      .node("q", "MatMulInteger (x, w)")
      .node("k", "MatMulInteger (x, w)")
      .node("v", "MatMulInteger (x, w)")
      .node("y", "Concat <axis = 0> (q, k, v)");
  const OnnxModel model = text.model();
  const Executable made = compile(model, geometry_of({8}));
  ASSERT_EQ(made.sums.size(), 1U);
  const SumsProgram& program = made.sums[0];
  EXPECT_EQ(made.number_of_sums(0), 1U);
  ASSERT_EQ(program.nodes.size(), 3U);
  EXPECT_EQ(program.nodes[1].name, "k");
  ASSERT_EQ(program.list.jobs.size(), 3U);
  for (const Job& job : program.list.jobs) EXPECT_TRUE(job.ready) << job.name;
  EXPECT_EQ(to_json(made, model)["order"][0], (Json{{"sums", {0, 1, 2}}}));
  CompileOptions linear;
  linear.why_sums = "the device computes only Linear layers";
  EXPECT_TRUE(compile(model, geometry_of({8}), linear).sums.empty());
  CompileOptions few;
  few.most_tiles = 2;
  EXPECT_TRUE(compile(model, geometry_of({8}), few).sums[0].list.jobs.empty());
}

// Of 5 products of 20 x 16 x 2 on 8 x 8, 3 and 2 in parallel take 200 cycles; 4 and 1 take 240.
TEST_F(ExecutableTest, GroupsProductsForFewestCycles) {
  QuantizedText text("5,20,16");
  text.weights("w", {5, 16, 2}).node("y", "MatMulInteger (x, w)");
  const Executable made = compile(text.model(), geometry_of({8}));
  ASSERT_EQ(made.sums.size(), 1U);
  std::vector<std::string> shapes;
  for (const Job& job : made.sums[0].list.jobs) {
    const GemmShape& shape = job.plan.shape;
    shapes.push_back(fmt::format("{}x{}x{}", shape.m, shape.k, shape.n));
  }
  EXPECT_EQ(shapes, (std::vector<std::string>{"20x48x6", "20x32x4"}));
}

TEST_F(ExecutableTest, AFileIsEnoughToRunItsPrograms) {
  const OnnxModel model = network();
  save(model);
  const std::string bytes = read();
  const Json header = Json::parse(bytes.substr(20, word_of(bytes, 12)));
  const auto section = [&](const Json& of) {
    const Json& place = header["sections"][of["section"].get<std::size_t>()];
    return bytes.substr(place["offset"].get<std::size_t>(), place["bytes"].get<std::size_t>());
  };
  ReferenceDevice device(geometry_of({header["geometry"]["n"].get<std::int64_t>()}),
                         std::uint64_t{16} << 20);
  const auto put = [&](const Json& tensor, const std::string& what) {
    device.write_memory(tensor["address"].get<std::uint64_t>(), what.data(), what.size());
  };

  // x[1, 8, 6, 6]: one plane of 8 channels; int8 is uint8 less 128.
  NamedTensors inputs{{"x", Tensor(onnx::TensorProto::UINT8, {1, 8, 6, 6})}};
  auto* const x = inputs.at("x").mutable_values<std::uint8_t>();
  std::string activations(8 * 36, '\0');
  for (int i = 0; i < 8 * 36; ++i) {
    x[i] = static_cast<std::uint8_t>(i * 37);
    activations[static_cast<std::size_t>(i % 36 * 8 + i / 36)] = static_cast<char>(x[i] ^ 0x80);
  }
  const Json& program = header["programs"][0];
  for (const Json& layer : program["layers"]) {
    put(layer["weights"], section(layer["weights"]));
    put(layer["parameters"], section(layer["parameters"]));
    if (layer["source"].is_null()) put(layer["input"], activations);
    if (layer.contains("operand")) put(layer["operand"], activations);
  }
  DeviceHooks hooks(device);
  gemm64_driver driver;
  ASSERT_EQ(gemm64_open(&driver, &hooks.hooks()), GEMM64_OK);
  ASSERT_EQ(gemm64_set_ring(&driver, program["ring"].get<std::uint64_t>(), 64), GEMM64_OK);
  const std::string commands = section(program["commands"]);
  ASSERT_EQ(gemm64_submit(&driver, commands.data(),
                          program["commands"]["count"].get<std::uint32_t>(), nullptr),
            GEMM64_OK);
  ASSERT_EQ(gemm64_wait(&driver, 1000), GEMM64_OK);

  const auto& nodes = model.graph().node();
  const auto b = std::find_if(nodes.begin(), nodes.end(),
                              [](const onnx::NodeProto& node) { return node.name() == "b"; });
  const std::string name = b->output(0);
  const Tensor wanted = HostNodes(model).values({name}, {inputs.begin(), inputs.end()}).at(name);
  const Json& result = program["layers"][1]["result"];
  EXPECT_EQ(result["layout"], "planes");
  EXPECT_EQ(result["type"], "uint8");
  std::vector<std::uint8_t> found(result["bytes"].get<std::size_t>());
  device.read_memory(result["address"].get<std::uint64_t>(), found.data(), found.size());
  for (int i = 0; i < 8 * 36; ++i) {
    ASSERT_EQ(found[static_cast<std::size_t>(i % 36 * 8 + i / 36)],
              wanted.values<std::uint8_t>()[i])
        << i;
  }
}

TEST_F(ExecutableTest, ReadsWhatItWrote) {
  const OnnxModel model = network();
  save(model);
  const LoadedExecutable loaded = load_executable(file_);
  const Executable made = compiled(model);
  EXPECT_EQ(to_json(loaded.executable, loaded.model), to_json(made, model));
  EXPECT_TRUE(loaded.executable.has_constants());
  const SharedBytes& weights = loaded.executable.programs[1].constants[0].weights;
  ASSERT_EQ(weights.size(), made.programs[1].constants[0].weights.size());
  EXPECT_EQ(
      std::memcmp(weights.data(), made.programs[1].constants[0].weights.data(), weights.size()), 0);
}

TEST_F(ExecutableTest, RefusesWhatIsCutOrDamaged) {
  save(network());
  const std::string whole = read();
  for (std::size_t size = 0; size < whole.size() - 64; size += 61) {
    write(whole.substr(0, size));
    EXPECT_THAT(refusal(), Says(file_ + ": ")) << size;
  }
  // Padding is no part of anything.
  const Json header = Json::parse(whole.substr(20, word_of(whole, 12)));
  const auto matters = [&](std::size_t at) {
    if (at < 20U + word_of(whole, 12)) return true;
    for (const Json& section : header["sections"]) {
      const auto begin = section["offset"].get<std::size_t>();
      if (at >= begin && at < begin + section["bytes"].get<std::size_t>()) return true;
    }
    return false;
  };
  for (std::size_t at = 0; at < whole.size(); at += 37) {
    if (!matters(at)) continue;
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    write(damaged);
    EXPECT_THAT(refusal(), Says(file_ + ": ")) << at;
  }
}

/// A header whose CRC is right may still lie.
TEST_F(ExecutableTest, BelievesNoHeader) {
  save(network());
  const std::string whole = read();
  const std::uint32_t size = word_of(whole, 12);
  const Json header = Json::parse(whole.substr(20, size));
  const auto with = [&](const std::function<void(Json&)>& change) {
    Json changed = header;
    change(changed);
    std::string text = changed.dump();
    text.resize(size, ' ');  // JSON ends in any number of spaces; sections stay where they are
    std::string bytes = whole;
    bytes.replace(20, size, text);
    const auto crc = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
    std::memcpy(bytes.data() + 16, &crc, sizeof crc);
    write(bytes);
    return refusal();
  };
  EXPECT_EQ(with([](Json&) {}), "");
  EXPECT_THAT(with([](Json& json) { json["programs"][0]["layers"][0]["result"]["address"] = 0; }),
              Says("compile it again"));
  EXPECT_THAT(with([](Json& json) { json["programs"].erase(1); }), Says("compile it again"));
  EXPECT_THAT(with([](Json& json) { json["geometry"]["n"] = 0; }), Says("0"));
  EXPECT_THAT(with([](Json& json) { json["geometry"]["weight_tiles"] = 1; }), Says("power of two"));
  EXPECT_THAT(with([](Json& json) { json.erase("sections"); }), Says("sections"));
  EXPECT_THAT(with([](Json& json) { json["sections"][1]["bytes"] = 9999; }),
              Says("ends within section 1"));
  EXPECT_THAT(with([](Json& json) { std::swap(json["sections"][2], json["sections"][5]); }),
              Says("should hold"));
}

TEST_F(ExecutableTest, IsForOneDeviceAndItsOptions) {
  const OnnxModel model = network();
  const Geometry geometry = geometry_of({8});
  const auto refusal_of = [&](const CompileOptions& own, const Geometry& device,
                              const CompileOptions& options) {
    const Executable made = compile(model, geometry, own);
    return message_of([&] { require_same(made, device, options, "net.g64"); });
  };
  CompileOptions no_convolutions, no_lanes, floats, sums;
  no_convolutions.convolutions = false;
  no_lanes.lanes = false;
  floats.floats = CompileOptions::Floats::kOnDevice;
  sums.why_sums = "only sums";
  EXPECT_EQ(refusal_of({}, geometry, {}), "");
  EXPECT_EQ(refusal_of(no_lanes, geometry, no_lanes), "");
  EXPECT_THAT(refusal_of({}, geometry_of({16}), {}),
              Says("net.g64: was compiled for an array of 8 columns; the device has 16"));
  EXPECT_THAT(refusal_of({}, geometry_of({8, 4096}), {}),
              Says("net.g64: was compiled for memories"));
  EXPECT_THAT(refusal_of({}, geometry, sums), Says("net.g64: is compiled, and only sums"));
  EXPECT_THAT(refusal_of({}, geometry, floats), Says("--precision"));
  EXPECT_THAT(refusal_of({}, geometry, no_lanes), Says("was compiled with --depthwise window"));
  EXPECT_THAT(refusal_of(no_lanes, geometry, {}), Says("was compiled with --depthwise array"));
  EXPECT_THAT(refusal_of({}, geometry, no_convolutions), Says("convolutions on the device"));
  EXPECT_THAT(refusal_of(no_convolutions, geometry, {}), Says("convolutions on the host"));
}

std::string text_of(const TensorRef& ref) {
  return fmt::format("{}{} {} {}*{:g}{:+d}", ref.name, ref.is_unsigned ? " unsigned" : "",
                     name(ref.layout), ref.bytes, ref.scale, ref.zero);
}

// Names, layouts, bytes, steps and zero points: a map, a sum, a depthwise layer, rows.
TEST_F(ExecutableTest, DescribesTheTensorsOfEachLayer) {
  QuantizedText text("1,8,3,3");
  text.conv("x", "a", 8, 8, 1)
      .node("b", "com.microsoft.QLinearAdd (a, s, z, x, coarse, middle, s, z)")
      .conv("b", "c", 8, 8, 3, "", 8)
      .node("flat", "Flatten (c)")
      .matmul("flat", "y", 8, 9);
  const Executable made = compiled(text.model());
  std::vector<std::string> found;
  for (const CompiledProgram& program : made.programs) {
    for (const LayerTensors& layer : program.tensors) {
      for (const TensorRef* ref :
           {&layer.input, &layer.weights, &layer.parameters, &layer.operand, &layer.result}) {
        if (ref->bytes != 0) found.push_back(text_of(*ref));
      }
    }
  }
  EXPECT_THAT(found, testing::ElementsAre(
                         "x planes 72*0.0078125+3", "w_a tiles 64*1+0", "w_a parameters 64*1+0",
                         "x planes 72*0.0125+0", "b planes 72*0.0078125+3",
                         "b planes 72*0.0078125+3", "w_c taps 72*1+0", "w_c parameters 64*1+0",
                         "c planes 8*0.0078125+3", "flat rows 8*0.0078125+3", "w_y tiles 128*1+0",
                         "w_y parameters 128*1+0", "y unsigned rows 16*0.0078125+131"));
}

/// Where each layer's second operand comes from: "null" is the host.
void add_operand_sources(const nlohmann::ordered_json& json, std::vector<std::string>& found) {
  if (json.is_object() && json.contains("operand") && json["operand"].is_object()) {
    found.push_back(json["operand"]["source"].dump());
  }
  if (!json.is_structured()) return;
  for (const auto& part : json) add_operand_sources(part, found);
}

TEST_F(ExecutableTest, SaysWhereOperandsComeFrom) {
  QuantizedText text("1,8,3,3");
  text.conv("x", "a", 8, 8, 1)
      .conv("a", "b", 8, 8, 1)
      .add("b", "a", "c")
      .conv("c", "d", 8, 8, 1)
      .node("y", "com.microsoft.QLinearAdd (d, s, z, x, coarse, middle, s, z)");
  const OnnxModel model = text.model();
  std::vector<std::string> found;
  add_operand_sources(to_json(compiled(model), model), found);
  EXPECT_THAT(found, testing::ElementsAre("0", "null"));
}

// A program of as many tiles as there may be is lowered, one of more is not.
TEST_F(ExecutableTest, LowersAtMostSoManyTiles) {
  QuantizedText layers("20,20"), products("20,20");
  layers.matmul("x", "a", 20, 16).matmul("a", "y", 16, 8);
  products.weights("w", {20, 16}).node("y", "MatMulInteger (x, w)");
  const OnnxModel of_layers = layers.model(), of_products = products.model();
  CompileOptions options;
  const auto lowered = [&] {
    const Executable made = compile(of_layers, geometry_of({8}), options);
    return std::pair(made.programs.at(0).list.jobs.size(), made.programs[0].tensors.size());
  };
  const auto jobs_of_sums = [&] {
    return compile(of_products, geometry_of({8}), options).sums.at(0).list.jobs.size();
  };
  options.most_tiles = 8;  // 3 x 2 and 2 x 1
  EXPECT_EQ(lowered(), std::pair(std::size_t{2}, std::size_t{2}));
  options.most_tiles = 7;
  EXPECT_EQ(lowered(), std::pair(std::size_t{0}, std::size_t{0}));
  options.most_tiles = 6;
  EXPECT_EQ(jobs_of_sums(), 1U);
  options.most_tiles = 5;
  EXPECT_EQ(jobs_of_sums(), 0U);
}

// Blocks of rows load their weights again.
TEST_F(ExecutableTest, CountsTilesOfEachBlockOfRows) {
  QuantizedText text("300,20");
  text.matmul("x", "y", 20, 16);
  const OnnxModel model = text.model();
  CompileOptions options;
  const auto jobs = [&](std::uint64_t most) {
    options.most_tiles = most;
    return compile(model, geometry_of({8}), options).programs.at(0).list.jobs.size();
  };
  const std::uint64_t blocks =
      compile(model, geometry_of({8})).programs.at(0).list.jobs.at(0).plan.row_blocks();
  EXPECT_GT(blocks, 1U);
  EXPECT_EQ(jobs(6 * blocks), 1U);
  EXPECT_EQ(jobs(6 * blocks - 1), 0U);
}

// What stays on chip cannot be compared, so it has to save a sixteenth of the cycles.
TEST_F(ExecutableTest, KeepsTensorsIfThatSaves) {
  QuantizedText large("1,64,12,12");
  large.conv("x", "a", 64, 64, 3, "pads = [1,1,1,1]").conv("a", "y", 64, 64, 1);
  const OnnxModel few_products = network(), many_products = large.model();
  const auto chosen = [&](const OnnxModel& model, MemorySharing sharing,
                          std::uint32_t bytes_per_cycle, std::uint32_t tensor_words = 2048) {
    CompileOptions options;
    options.tensor_memory.reset();
    options.memory.sharing = sharing;
    options.memory.bytes_per_cycle = bytes_per_cycle;
    Geometry geometry = geometry_of({8});
    geometry.tensor_words = tensor_words;
    return compile(model, geometry, options).options.tensor_memory.value();
  };
  EXPECT_TRUE(chosen(few_products, MemorySharing::kIndependent, 64));
  EXPECT_FALSE(chosen(few_products, MemorySharing::kIndependent, 0)) << "ideal ports";
  EXPECT_TRUE(chosen(few_products, MemorySharing::kShared, 0));
  EXPECT_FALSE(chosen(few_products, MemorySharing::kShared, 1, 0)) << "there is none";
  EXPECT_TRUE(chosen(many_products, MemorySharing::kShared, 1));
  EXPECT_FALSE(chosen(many_products, MemorySharing::kShared, 64)) << "the array takes longer";
}

// Jobs of one node are at most 1024.
TEST_F(ExecutableTest, LeavesVeryManyProducts) {
  const auto sums = [](int products) {
    QuantizedText text(fmt::format("{},1,8", products));
    text.weights("w", {products, 8, 8}).node("y", "MatMulInteger (x, w)");
    return compile(text.model(), geometry_of({8})).sums.size();
  };
  EXPECT_EQ(sums(1024), 1U);
  EXPECT_EQ(sums(1025), 0U);
}

}  // namespace
}  // namespace gemm64
