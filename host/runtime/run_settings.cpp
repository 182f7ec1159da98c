// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/run_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/device/array_geometry.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// The words of some values of an enumeration.
template <class Value>
std::vector<std::pair<std::string, Value>> named(std::initializer_list<Value> values) {
  std::vector<std::pair<std::string, Value>> words;
  for (const Value value : values) words.emplace_back(name(value), value);
  return words;
}

/// Words of ports that have a rate of bytes, and those of DRAM channels.
Setting<DeviceOptions> memory_setting() {
  Setting<DeviceOptions> setting = word_setting<DeviceOptions>(
      "memory",
      "memory topology: what the ports share\n"
      "independent: each has one of its own; shared: one memory serves all in order; "
      "exclusive: one port at a time. dram: one DRAM channel (LPDDR4-3200, DDR4-2400, "
      "LPDDR5-6400) serves all, with rows, banks and refresh; \",clock=MHZ\" and "
      "\",width=PINS\" after it set the accelerator's clock (1000) and the channel's pins.",
      named({MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}),
      [](auto& of) -> auto& { return of.memory.sharing; });
  for (const std::string& preset : dram_presets()) setting.words.push_back("dram:" + preset);
  setting.others = [](const std::string& word) {
    if (is_dram_word(word)) check(dram_timing(word));
    return is_dram_word(word);
  };
  setting.get = [](const DeviceOptions& options) { return options.memory.word(); };
  setting.set = [](DeviceOptions& options, const nlohmann::json& word) {
    set_memory(options.memory, word.get<std::string>());
  };
  return setting;
}

/// Sizes of memories: any, and in any order.
Setting<DeviceOptions> design_setting() {
  Setting<DeviceOptions> setting;
  setting.name = "design";
  setting.help = fmt::format(
      "sizes of the memories, as accumulator_rows=64,weight_tiles=4\n"
      "A list of KEY=NUMBER; keys: {}. tensor_words is a part of the scratchpad. The RTL is built "
      "with the defaults; --device tlm has those of any design, in the cycles predicted for it.",
      fmt::join(design_keys(), ", "));
  setting.others = [](const std::string& text) { return read_design(text), true; };
  setting.get = [](const DeviceOptions& options) {
    return options.design.empty() ? nlohmann::ordered_json()
                                  : nlohmann::ordered_json(options.design);
  };
  setting.set = [](DeviceOptions& options, const nlohmann::json& text) {
    options.design = text.get<std::string>();
  };
  return setting;
}

}  // namespace

const Settings<DeviceOptions>& device_settings() {
  using Row = DeviceOptions;
  static const Settings<Row> settings{
      plain_setting<Row>(
          "array", "rows and columns of the array", 1, 1 << 20,
          [](auto& of) -> auto& { return of.array; }),
      design_setting(),
      plain_setting<Row>(
          "seed", "seed of weights, random operands and stalls", 0, 0xffffffffU,
          [](auto& of) -> auto& { return of.seed; }),
      plain_setting<Row>(
          "self-check",
          "uses the self-checking variant of the device\n"
          "Checksums of its array and parity of its memories stop the work at what is "
          "wrong, and the program runs once more. `make -C sim self-check` builds it.",
          0, 1, [](auto& of) -> auto& { return of.self_check; }),
      plain_setting<Row>(
          "memory-latency", "memory latency in cycles, from request to answer", 1, 1000000,
          [](auto& of) -> auto& { return of.memory.latency; }),
      plain_setting<Row>(
          "memory-bytes-per-cycle",
          "bytes per cycle, of each port or of all; 0: a port's width\n"
          "Of all ports together where they share a memory.",
          0, 1 << 20, [](auto& of) -> auto& { return of.memory.bytes_per_cycle; }),
      memory_setting(),
      plain_setting<Row>(
          "memory-stalls", "probability that a channel stalls in any one cycle", 0, 0.99,
          [](auto& of) -> auto& { return of.memory.stall_probability; })};
  return settings;
}

const Settings<RunSettings>& run_settings() {
  using Row = RunSettings;
  static const Settings<Row> settings{
      word_setting<Row>(
          "precision",
          "arithmetic of float32 Linear layers\n"
          "Layers of 8 bits are computed as they are. file: in float32; of a float file on the "
          "device in four slices of 7 bits, ten int8 products, of a quantized one on the host. "
          "float32: of any file in slices. int8: quantized on the way by its own input, in another "
          "arithmetic than the file's. The networks that the program makes are quantized first, "
          "but for float32.",
          named({Precision::kFile, Precision::kInt8, Precision::kFloat32}),
          [](auto& of) -> auto& { return of.precision; }),
      word_setting<Row>(
          "accumulate",
          "where partial sums are added\n"
          "With host, every tile's results are read back.",
          named({Accumulate::kDevice, Accumulate::kHost}),
          [](auto& of) -> auto& { return of.accumulate; }),
      word_setting<Row>(
          "results",
          "what the device writes for a layer of 8-bit values (default int8)\n"
          "int8: 8-bit values, with bias, scale and zero point applied; layers without work of the "
          "host between them run as one program. int32: sums, each Linear layer by itself, "
          "convolutions on the host.",
          std::vector<std::pair<std::string, ResultCode>>{{"int8", ResultCode::kInt8},
                                                          {"int32", ResultCode::kInt32}},
          [](auto& of) -> auto& { return of.results; }),
      word_setting<Row>(
          "check",
          "which values are compared\n"
          "layers: each layer's results, with exact arithmetic on the inputs that the device had. "
          "outputs: the network's outputs, with a run on the host. none: no value, for speed; the "
          "exit code is 4. Later layers take what the device wrote in any case.",
          named({CheckLevel::kLayers, CheckLevel::kOutputs, CheckLevel::kNone}),
          [](auto& of) -> auto& { return of.check; }),
      word_setting<Row>(
          "convolutions", "where the convolutions of a quantized network run",
          std::vector<std::pair<std::string, bool>>{{"device", true}, {"host", false}},
          [](auto& of) -> auto& { return of.convolutions; }),
      word_setting<Row>(
          "depthwise",
          "what computes depthwise convolutions and pools\n"
          "window: the depthwise unit, fed from lines of pixels, where the kernel is at most "
          "7x7. array: tiles of the array, as all others; pools "
          "stay on the host.",
          std::vector<std::pair<std::string, bool>>{{"window", true}, {"array", false}},
          [](auto& of) -> auto& { return of.lanes; }),
      plain_setting<Row>(
          "one-program",
          "puts all Linear layers into one program, with int32 results\n"
          "A FENCE stands between layers: the device never waits for the host, and loads a layer's "
          "weights while the one before ends. Every layer's input is prepared ahead, from the "
          "reference's results; figures by layer are from fence to fence.",
          0, 1, [](auto& of) -> auto& { return of.one_program; })};
  return settings;
}

void RunSettings::check_together(const std::string& device, Spelling spelling) const {
  const bool option = spelling == Spelling::kOption;
  const auto said = [option](const char* key, const char* word) {
    return option ? fmt::format("--{} {}", key, word) : fmt::format("{}='{}'", key, word);
  };
  const auto quoted = [option](const char* word) {
    return option ? std::string(word) : fmt::format("'{}'", word);
  };
  if (one_program) {
    const auto refuse = [option](const std::string& with) {
      throw UsageError(
          fmt::format("{} does not go with {}", option ? "--one-program" : "one_program", with));
    };
    if (precision == Precision::kFloat32) {
      refuse(said("precision", "float32") + "; use " + quoted("int8"));
    }
    if (accumulate != Accumulate::kDevice) {
      refuse(said("accumulate", "host") + "; use " + quoted("device"));
    }
    if (results == ResultCode::kInt8) refuse(said("results", "int8") + "; use " + quoted("int32"));
    if (check != CheckLevel::kLayers) {
      refuse(said("check", name(check)) +
             ", since the host computes every layer's input ahead; use " + quoted("layers"));
    }
  }
  if (check == CheckLevel::kOutputs && is_host_only(device)) {
    throw UsageError(
        fmt::format("{}: only the host runs the network, so there is no device to compare it "
                    "with; use {} or {}",
                    said("check", "outputs"), quoted("layers"), quoted("none")));
  }
  if (results == ResultCode::kInt8 && accumulate != Accumulate::kDevice) {
    throw UsageError(fmt::format("{} does not go with {}, which adds int32 sums; use {}",
                                 said("results", "int8"), said("accumulate", "host"),
                                 quoted("device")));
  }
}

ResultCode RunSettings::result_code() const {
  return results.value_or(accumulate == Accumulate::kDevice && !one_program ? ResultCode::kInt8
                                                                            : ResultCode::kInt32);
}

RunOptions RunSettings::applied_to(RunOptions options) const {
  options.check = check;
  options.precision = precision;
  options.accumulate = accumulate;
  options.results = result_code();
  options.convolutions = convolutions;
  options.lanes = lanes;
  options.one_program = one_program;
  return options;
}

}  // namespace gemm64
