// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/graph/onnx/host_session.hpp"
#include "host/numerics/image_file.hpp"
#include "host/report/json.hpp"
#include "host/runtime/image_source.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::json;
using Bytes = Json::binary_t::container_type;

constexpr int kLost = 3;

std::string cbor(const Json& json) {
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json binary(const std::string& bytes) { return Json::binary(Bytes(bytes.begin(), bytes.end())); }

std::string text_of(const Json& binary) {
  const Bytes& bytes = binary.get_binary();
  return {bytes.begin(), bytes.end()};
}

/// Refuses what shows or changes the one device that there is otherwise.
NetworkOptions for_units(NetworkOptions options) {
  const DebugOptions& debug = options.debug;
  const std::pair<const char*, bool> given[] = {{"--trace", !debug.trace.empty()},
                                                {"--trace-mismatch", !debug.trace_mismatch.empty()},
                                                {"--timeline", !debug.timeline.empty()},
                                                {"--inject", !debug.inject.empty()},
                                                {"--dump-activations", !options.dumps.empty()}};
  for (const auto& [name, is_given] : given) {
    if (is_given) {
      throw UsageError(fmt::format(
          "{}: a cluster has many devices, on other machines; look at one with gemm64 run", name));
    }
  }
  if (options.jobs != 0) {
    throw UsageError("--jobs: each worker of a cluster simulates one program; give --workers");
  }
  if (options.model.empty()) throw UsageError("--model is required: an ONNX file");
  options.jobs = 1;
  return options;
}

std::string serialized(const OnnxModel& model) {
  std::string bytes;
  if (!model.proto().SerializeToString(&bytes)) {
    throw UsageError(
        fmt::format("{}: takes more than the 2 GiB that one message can hold", model.name()));
  }
  return bytes;
}

OnnxModel parsed(const Json& bytes, const std::string& name, const ImportOptions& import) {
  const Bytes& data = bytes.get_binary();
  return OnnxModel::from_bytes({reinterpret_cast<const char*>(data.data()), data.size()}, name,
                               import);
}

}  // namespace

NetworkUnits::NetworkUnits(const std::vector<std::string>& arguments)
    : command_(for_units(parse_network_options(arguments))),
      join_(command_.source().model.graph(), inputs(), command_.report()) {
  command_.erase_bar();
}

std::vector<std::string> NetworkUnits::images_of(std::int64_t unit) const {
  const bool all = inputs().at_once == 0;
  const std::int64_t first = all ? 0 : unit * inputs().at_once;
  const std::int64_t count = all ? images() : inputs().images_of(unit);
  const auto& files = inputs().files;
  std::vector<std::string> names;
  for (std::int64_t i = first; i < first + count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    names.push_back(index < files.size() ? files[index] : fmt::format("image {}", i));
  }
  return names;
}

std::string NetworkUnits::model() const {
  const NetworkSource& source = command_.source();
  Json json = {{"name", source.name},
               {"model", binary(serialized(source.model))},
               {"exact", nullptr},
               {"batch", source.import.batch},
               {"shapes", source.import.input_shapes}};
  if (source.exact != nullptr) json["exact"] = binary(serialized(*source.exact));
  return cbor(json);
}

std::string NetworkUnits::settings() const {
  const NetworkOptions& options = command_.options();
  RunSettings run = options;
  run.results = run.result_code();
  nlohmann::ordered_json json = {{"device", options.device}};
  for (const auto& setting : device_settings()) json[setting.name] = setting.get(options);
  for (const auto& setting : run_settings()) json[setting.name] = setting.get(run);
  json.update(nlohmann::ordered_json{{"watchdog", options.debug.watchdog},
                                     {"pixels", to_json(options.pixels).dump()},
                                     {"images at once", inputs().at_once}});
  return json.dump();
}

std::string NetworkUnits::unit(std::int64_t unit) const {
  const std::vector<std::string> names = command_.source().model.inputs();
  if (inputs().files.empty() || names.size() != 1) {
    const NetworkInputs given = inputs().pass(unit);
    return cbor({{"tensors", to_binary_json(given.take(0, given.images))}});
  }
  // Images are decoded where they run.
  Json files = Json::array();
  for (const std::string& file : images_of(unit)) {
    files.push_back({{"file", file}, {"bytes", binary(read_image_file(file))}});
  }
  return cbor({{"input", names[0]}, {"at_once", inputs().at_once}, {"files", std::move(files)}});
}

std::string NetworkUnits::add(std::string_view part) {
  NetworkRun run = unpack_part(part);
  std::string wrong = run.report.error;
  RunReport unit_report = command_.report();
  unit_report.layers = run.report.layers;
  unit_report.chained = run.report.chained;
  unit_report.outputs = run.report.outputs;
  if (wrong.empty() && !unit_report.layers.empty() && !unit_report.held()) {
    std::string layers;
    std::uint64_t mismatches = 0;
    for (const LayerReport& layer : unit_report.layers) {
      mismatches += layer.mismatches.count;
      if (layer.mismatches.count == 0 || !layers.empty()) continue;
      layers = layer.name;
    }
    wrong = unit_report.outputs.mismatches != 0
                ? fmt::format("mismatches of outputs: {}", unit_report.outputs.mismatches)
            : mismatches == 0
                ? "a counter or an error is not as predicted"
                : fmt::format("mismatches: {}, the first of them in {}", mismatches, layers);
  }
  join_.add(std::move(run));
  return wrong;
}

int NetworkUnits::finish() {
  const int result = command_.finish(join_.finish());
  const std::optional<std::string> loss = report_loss();
  if (loss && !loss->empty()) print_error(*loss);
  return (result == 0 || result == kNotChecked) && (loss || any_output_lost()) ? kLost : result;
}

struct UnitWorker::Prepared {
  Prepared(const std::vector<std::string>& arguments, const Json& json)
      : options(for_units(parse_network_options(arguments))),
        import(import_of(json)),
        model(parsed(json.at("model"), json.at("name").get<std::string>(), import)),
        device(make_device(options)),
        session(*device, options.device, {options.memory.latency, options.debug.watchdog}, options,
                memory_of(options)),
        network(session) {
    if (!json.at("exact").is_null()) {
      exact.emplace(parsed(json.at("exact"), model.name(), import));
    }
    network.open(model, exact ? &*exact : nullptr);
  }

  static ImportOptions import_of(const Json& json) {
    ImportOptions import;
    json.at("batch").get_to(import.batch);
    json.at("shapes").get_to(import.input_shapes);
    return import;
  }

  static RunOptions memory_of(const NetworkOptions& options) {
    RunOptions run;
    run.memory = options.memory;
    return run;
  }

  NetworkInputs inputs(const Json& unit) const;

  const NetworkOptions options;
  const ImportOptions import;
  const OnnxModel model;
  std::optional<OnnxModel> exact;
  const std::unique_ptr<Device> device;
  Session session;
  ep::NetworkSession network;
};

NetworkInputs UnitWorker::Prepared::inputs(const Json& unit) const {
  if (unit.contains("tensors")) return NetworkInputs::of(tensors_from(unit.at("tensors")));
  std::vector<ImageContents> images;
  for (const Json& file : unit.at("files")) {
    images.push_back({file.at("file").get<std::string>(), text_of(file.at("bytes"))});
  }
  const auto count = static_cast<std::int64_t>(images.size());
  const auto name = unit.at("input").get<std::string>();
  const auto at_once = unit.at("at_once").get<std::int64_t>();
  const std::optional<TensorType> type = model.type(name);
  if (!type || images.empty()) throw UsageError(fmt::format("input '{}' has no images", name));
  InputSources sources{
      {name, image_contents_source(std::move(images), *type, options.pixels.choice(),
                                   fmt::format("input '{}'", name))}};
  return at_once == 0 ? NetworkInputs::of(std::move(sources))
                      : NetworkInputs::in_passes(std::move(sources), count, at_once).pass(0);
}

UnitWorker::UnitWorker(const std::vector<std::string>& arguments, std::string_view model) {
  set_host_threads(1);  // other workers have the other cores
  try {
    prepared_ = std::make_unique<Prepared>(arguments, Json::from_cbor(model));
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("what came as a model cannot be read: {}", error.what()));
  }
}

UnitWorker::~UnitWorker() = default;

std::string UnitWorker::run(std::string_view unit) {
  Prepared& it = *prepared_;
  NetworkInputs inputs;
  try {
    inputs = it.inputs(Json::from_cbor(unit));
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("what came as a unit cannot be read: {}", error.what()));
  }
  return pack_part(it.network.run(inputs, it.session.report(it.model.name(), 0), nullptr));
}

}  // namespace gemm64
