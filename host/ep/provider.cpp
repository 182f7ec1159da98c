// SPDX-License-Identifier: Apache-2.0
#include "host/ep/provider.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "host/ep/group.hpp"
#include "host/ep/partition.hpp"
#include "host/ort/graph.hpp"
#include "host/ort/library.hpp"
#include "host/util/error.hpp"
#include "host/util/output_file.hpp"
#include "host/util/text.hpp"

namespace gemm64::ep {
namespace {

namespace fs = std::filesystem;
using Entries = std::vector<std::pair<std::string, std::string>>;

/// The last version of ONNX Runtime's API without profilers of providers.
constexpr std::uint32_t kNoProfiler = 24;

/// Reports that sessions were asked for, by token.
class KeptReports {
 public:
  void keep(const std::string& token, std::string report) {
    const std::lock_guard<std::mutex> lock(mutex_);
    reports_[token] = std::move(report);
  }
  std::string take(const std::string& token) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = reports_.find(token);
    if (found == reports_.end()) return "";
    std::string report = std::move(found->second);
    reports_.erase(found);
    return report;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> reports_;
};

KeptReports& kept_reports() {
  static KeptReports reports;
  return reports;
}

std::string text_of(const nlohmann::ordered_json& report) {
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The options that are for this provider, without the prefix that ONNX Runtime gives them.
Entries own_entries(const Entries& entries) {
  Entries own;
  for (const auto& [key, value] : entries) {
    if (key.rfind(kEntryPrefix, 0) == 0) own.emplace_back(key.substr(strlen(kEntryPrefix)), value);
  }
  return own;
}

ContextOptions context_options(const Entries& entries) {
  ContextOptions options;
  for (const auto& [key, value] : entries) {
    if (key == "ep.context_enable") options.enabled = value == "1";
    if (key == "ep.context_embed_mode") options.embedded = value == "1";
    if (key == "ep.context_file_path") options.file = value;
  }
  return options;
}

/// Names of values that a fused node has and that are there.
std::vector<const char*> texts(const std::vector<std::string>& names) {
  std::vector<const char*> all;
  for (const std::string& name : names) all.push_back(name.c_str());
  return all;
}

/// A group as ONNX Runtime runs it.
struct ComputeInfo : OrtNodeComputeInfo {
  ComputeInfo(const ort::Api& of, std::unique_ptr<Group> made, std::vector<std::string> in,
              std::vector<std::string> out)
      : OrtNodeComputeInfo{of.provider_version(), create_state, compute, release_state},
        api(of),
        group(std::move(made)),
        inputs(std::move(in)),
        outputs(std::move(out)) {}

  static OrtStatus* create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) {
    *state = self;
    return nullptr;
  }
  static void release_state(OrtNodeComputeInfo*, void*) {}
  static OrtStatus* compute(OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
    auto& own = *static_cast<ComputeInfo*>(self);
    return guarded(own.api, ORT_FAIL, [&] { own.run(*context); });
  }
  void run(OrtKernelContext& context) const;

  const ort::Api& api;
  const std::unique_ptr<Group> group;
  const std::vector<std::string> inputs, outputs;
};

void ComputeInfo::run(OrtKernelContext& context) const {
  NamedTensors given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OrtValue* value = nullptr;
    api.check(api->KernelContext_GetInput(&context, i, &value));
    if (value != nullptr && !inputs[i].empty()) given[inputs[i]] = ort::to_tensor(api, *value);
  }
  const NamedTensors made = group->run(std::move(given));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    const Tensor& tensor = made.at(outputs[i]);
    OrtValue* value = nullptr;
    api.check(
        api->KernelContext_GetOutput(&context, i, tensor.dims().data(), tensor.rank(), &value));
    void* data = nullptr;
    api.check(api->GetTensorMutableData(value, &data));
    if (tensor.bytes() != 0) std::memcpy(data, tensor.raw(), tensor.bytes());
  }
}

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Adds the programs that ran to ONNX Runtime's profile.
struct Profiler : OrtEpProfilerImpl {
  Profiler(const ort::Api& of, RunLog& to_read)
      : OrtEpProfilerImpl{of.provider_version(), release, start, start_event, stop_event, end},
        api(of),
        log(to_read) {}

  static void release(OrtEpProfilerImpl* self) { delete static_cast<Profiler*>(self); }
  static OrtStatus* start(OrtEpProfilerImpl* self, std::int64_t offset_ns) {
    auto& own = *static_cast<Profiler*>(self);
    own.zero_ns = now_ns() - offset_ns;
    own.log.start_profile();
    return nullptr;
  }
  static OrtStatus* start_event(OrtEpProfilerImpl*, std::uint64_t) { return nullptr; }
  static OrtStatus* stop_event(OrtEpProfilerImpl*, std::uint64_t, const OrtProfilingEvent*) {
    return nullptr;
  }
  static OrtStatus* end(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* events) {
    auto& own = *static_cast<Profiler*>(self);
    return guarded(own.api, ORT_FAIL, [&] {
      for (const ProfileEvent& event : own.log.take_events()) own.add(event, *events);
    });
  }
  void add(const ProfileEvent& event, OrtProfilingEventsContainer& events) const;

  const ort::Api& api;
  RunLog& log;
  std::int64_t zero_ns = 0;
};

void Profiler::add(const ProfileEvent& event, OrtProfilingEventsContainer& events) const {
  const std::vector<std::string> values{std::to_string(event.cycles), std::to_string(event.bytes),
                                        std::to_string(event.layers)};
  const std::vector<const char*> keys{"cycles", "bytes", "layers"};
  OrtProfilingEvent* made = nullptr;
  api.check(api.ep().CreateProfilingEvent(
      OrtProfilingEventCategory_KERNEL, getpid(), static_cast<std::int32_t>(syscall(SYS_gettid)),
      event.name.c_str(), event.begin_us - zero_ns / 1000, event.duration_us, keys.data(),
      texts(values).data(), keys.size(), &made));
  const ort::Owned<OrtProfilingEvent> owned(made, api.ep().ReleaseProfilingEvent);
  api.check(api.ep().ProfilingEventsContainer_AddEvents(&events, &made, 1));
}

class Provider : public OrtEp {
 public:
  Provider(const ort::Api& api, const OrtLogger* logger, const Entries& entries,
           const Attachment* attached);

 private:
  static Provider& of(OrtEp* self) { return *static_cast<Provider*>(self); }

  void claim(const OrtGraph& graph, OrtEpGraphSupportInfo& info);
  void claim_to_fail(const OrtGraph& graph, OrtEpGraphSupportInfo& info) const;
  void claim_nodes(OrtEpGraphSupportInfo& info, const std::vector<const OrtNode*>& nodes) const;
  void compile(const OrtGraph** graphs, const OrtNode** fused_nodes, std::size_t count,
               OrtNodeComputeInfo** infos, OrtNode** context_nodes);
  std::unique_ptr<ComputeInfo> open(const OrtGraph& graph, const OrtNode& fused);
  OrtNode* context_node(const OrtGraph& graph, const OrtNode& fused, const ComputeInfo& info) const;
  std::string payload_of(const OrtGraph& graph, const OrtNode& context_node) const;
  void end_run();
  void log_verbose(const std::string& text) const;

  static const char* get_name(const OrtEp*) { return kProviderName; }
  static OrtStatus* get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info);
  static OrtStatus* compile_graphs(OrtEp* self, const OrtGraph** graphs,
                                   const OrtNode** fused_nodes, std::size_t count,
                                   OrtNodeComputeInfo** infos, OrtNode** context_nodes);
  static void release_infos(OrtEp* self, OrtNodeComputeInfo** infos, std::size_t count);
  static OrtStatus* set_dynamic_options(OrtEp* self, const char* const* keys,
                                        const char* const* values, std::size_t count);
  static OrtStatus* on_run_start(OrtEp* self, const OrtRunOptions* options);
  static OrtStatus* on_run_end(OrtEp* self, const OrtRunOptions* options, bool sync_stream);
  static OrtStatus* is_concurrent(OrtEp* self, bool* is_supported);
  static OrtStatus* create_profiler(OrtEp* self, OrtEpProfilerImpl** profiler);
  static OrtStatus* on_initialization_end(OrtEp* self);

  const ort::Api& api_;
  const OrtLogger* const logger_;
  const ContextOptions context_;
  std::unique_ptr<OwnedAccelerator> owned_;
  RunLog own_log_;
  const CompiledNetwork* const compiled_;
  Accelerator* accelerator_ = nullptr;  // nullptr if there is an error
  RunLog& log_;
  std::string report_file_;
  std::map<std::string, std::size_t> programs_;  // numbers, by the values that they make
  std::map<std::string, std::vector<std::int64_t>> shapes_;  // of values, as claim() has found them
  std::string error_;  // of options or of claim(), which ONNX Runtime would only log
};

Provider::Provider(const ort::Api& api, const OrtLogger* logger, const Entries& entries,
                   const Attachment* attached)
    : OrtEp{},
      api_(api),
      logger_(logger),
      context_(context_options(entries)),
      compiled_(attached != nullptr ? attached->compiled : nullptr),
      log_(attached != nullptr ? attached->log : own_log_) {
  ort_version_supported = api.provider_version();
  GetName = get_name;
  GetCapability = get_capability;
  Compile = compile_graphs;
  ReleaseNodeComputeInfos = release_infos;
  SetDynamicOptions = set_dynamic_options;
  OnRunStart = on_run_start;
  OnRunEnd = on_run_end;
  IsConcurrentRunSupported = is_concurrent;
  if (api.version() > kNoProfiler) CreateProfiler = create_profiler;
  OnSessionInitializationEnd = on_initialization_end;
  if (attached != nullptr) {
    accelerator_ = &attached->accelerator;
    log_.set_empty_report(accelerator_->empty_report());
    return;
  }
  try {
    const ProviderOptions options = parse_options(own_entries(entries));
    owned_ = std::make_unique<OwnedAccelerator>(options);
    accelerator_ = owned_.get();
    log_.set_empty_report(accelerator_->empty_report());
    report_file_ = options.report;
    // The place is tried now, and not after a long run.
    if (!report_file_.empty()) OutputFile can_be_written(report_file_);
  } catch (const std::exception& error) {
    error_ = error.what();
  }
}

void Provider::log_verbose(const std::string& text) const {
  OrtLoggingLevel level = ORT_LOGGING_LEVEL_WARNING;
  api_.check(api_->Logger_GetLoggingSeverityLevel(logger_, &level));
  if (level > ORT_LOGGING_LEVEL_VERBOSE) return;
  api_.check(api_->Logger_LogMessage(logger_, ORT_LOGGING_LEVEL_VERBOSE, text.c_str(), __FILE__,
                                     __LINE__, "claim"));
}

void Provider::claim_nodes(OrtEpGraphSupportInfo& info,
                           const std::vector<const OrtNode*>& nodes) const {
  const OrtNodeFusionOptions options{ort::kOldestApi, true};
  api_.check(
      api_.ep().EpGraphSupportInfo_AddNodesToFuse(&info, nodes.data(), nodes.size(), &options));
}

/// Claims a node, so that compile() is called, whose error ends the session's initialization.
void Provider::claim_to_fail(const OrtGraph& graph, OrtEpGraphSupportInfo& info) const {
  for (const OrtNode* const node : ort::nodes_of(api_, graph)) {
    if (ort::has_body(api_, *node) || ort::is_assigned(api_, *node)) continue;
    return claim_nodes(info, {node});
  }
}

void Provider::claim(const OrtGraph& graph, OrtEpGraphSupportInfo& info) {
  // Weights do not decide what the device runs.
  ort::ReadOptions reading;
  reading.most_constant_bytes = std::uint64_t{1} << 20;
  reading.opaque_nodes = true;
  ort::GraphModel read = ort::read_graph(api_, graph, reading);
  if (const std::string file = ort::model_path(api_, graph); !file.empty()) {
    log_.set_model(fs::path(file).filename().string());
  }
  for (std::size_t i = 0; i < read.nodes.size(); ++i) {
    const OrtNode& node = *read.nodes[i];
    onnx::NodeProto& proto = *read.model.mutable_graph()->mutable_node(static_cast<int>(i));
    const bool is_context = proto.op_type() == kContextType;
    if (is_context && ort::text_attribute(api_, node, "source") == kProviderName) {
      claim_nodes(info, {&node});
    }
    if (!is_context && !ort::is_assigned(api_, node)) continue;
    proto.set_domain(ort::kOpaqueDomain);
    proto.clear_attribute();
  }
  if (compiled_ != nullptr) {  // nothing but its groups is for the device
    log_.add_not_claimed(compiled_->not_claimed(read.model.graph()), compiled_->between());
    return;
  }
  CompileOptions options = accelerator_->compile_options();
  const Partition found =
      partition(read.model, accelerator_->geometry(), options, accelerator_->known_sizes());
  for (std::size_t i = 0; i < found.groups.size(); ++i) {
    std::vector<const OrtNode*> nodes;
    for (const std::size_t node : found.groups[i]) {
      nodes.push_back(read.nodes[node]);
      for (const std::string& name : read.model.graph().node(static_cast<int>(node)).output()) {
        programs_[name] = found.programs[i];
      }
    }
    claim_nodes(info, nodes);
  }
  for (const NotClaimed& node : found.not_claimed) {
    log_verbose(fmt::format("gemm64 leaves node '{}' ({}) to other providers: {}",
                            printable(node.name), printable(node.op_type), node.reason));
  }
  shapes_.insert(found.shapes.begin(), found.shapes.end());
  log_.add_not_claimed(found.not_claimed, found.between);
}

std::string Provider::payload_of(const OrtGraph& graph, const OrtNode& node) const {
  const std::string payload = ort::text_attribute(api_, node, "ep_cache_context");
  if (ort::integer_attribute(api_, node, "embed_mode", 1) != 0) return payload;
  const fs::path folder = fs::path(ort::model_path(api_, graph)).parent_path();
  const fs::path relative = fs::path(payload).lexically_normal();
  if (relative.is_absolute() || (!relative.empty() && *relative.begin() == "..")) {
    throw UsageError(fmt::format("EPContext '{}': its file {} is not below the model's folder",
                                 ort::name_of(api_, node), printable(payload)));
  }
  const fs::path file = folder / relative;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw UsageError(fmt::format("EPContext '{}': {} cannot be read", ort::name_of(api_, node),
                                 printable(file.string())));
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::unique_ptr<ComputeInfo> Provider::open(const OrtGraph& graph, const OrtNode& fused) {
  ort::ReadOptions reading;
  reading.opaque_nodes = true;
  const std::string name = ort::name_of(api_, fused);
  std::vector<const OrtNode*> nodes = ort::nodes_of(api_, graph);
  std::unique_ptr<Group> group;
  // The node of a compiled group has the same names, but not always in the same order.
  std::vector<std::string> inputs = ort::input_names(api_, fused);
  std::vector<std::string> outputs = ort::output_names(api_, fused);
  if (nodes.size() == 1 && ort::operator_type(api_, *nodes[0]) == kContextType) {
    const std::string payload = payload_of(graph, *nodes[0]);
    group = compiled_ != nullptr ? compiled_->make_group(payload, *accelerator_, log_)
                                 : std::make_unique<Group>(*accelerator_, log_,
                                                           ort::name_of(api_, *nodes[0]), payload);
  } else {
    group = std::make_unique<Group>(*accelerator_, log_, name,
                                    ort::read_graph(api_, graph, reading).model);
  }
  const auto program = outputs.empty() ? programs_.end() : programs_.find(outputs[0]);
  if (program != programs_.end()) group->set_program(program->second);
  if (accelerator_->knows_all_sizes()) group->prepare(shapes_);
  if (!group->is_prepared()) accelerator_->left_open();
  return std::make_unique<ComputeInfo>(api_, std::move(group), std::move(inputs),
                                       std::move(outputs));
}

OrtNode* Provider::context_node(const OrtGraph& graph, const OrtNode& fused,
                                const ComputeInfo& info) const {
  const std::string name = ort::name_of(api_, fused);
  std::string payload = info.group->payload();
  if (!context_.embedded) {
    fs::path model = context_.file;
    if (model.empty()) model = ort::model_path(api_, graph);
    std::string file = model.stem().string() + "_" + name + ".g64";
    std::replace(file.begin(), file.end(), '/', '_');
    OutputFile output(model.parent_path() / file);
    output.write(payload);
    payload = file;
  }
  std::vector<OrtOpAttr*> attributes;
  const auto add = [&](const char* key, const void* data, std::size_t size, OrtOpAttrType type) {
    OrtOpAttr* attribute = nullptr;
    api_.check(api_->CreateOpAttr(key, data, static_cast<int>(size), type, &attribute));
    attributes.push_back(attribute);
  };
  const auto add_text = [&](const char* key, const std::string& text) {
    add(key, text.data(), text.size(), ORT_OP_ATTR_STRING);
  };
  const std::int64_t main_context = 1, embed_mode = context_.embedded ? 1 : 0;
  add("main_context", &main_context, 1, ORT_OP_ATTR_INT);
  add("embed_mode", &embed_mode, 1, ORT_OP_ATTR_INT);
  add_text("ep_cache_context", payload);
  add_text("ep_sdk_version", GEMM64_VERSION);
  add_text("hardware_architecture", fmt::format("gemm64, N = {}", accelerator_->geometry().n));
  add_text("partition_name", name);
  add_text("source", kProviderName);
  OrtNode* node = nullptr;
  const std::vector<const char*> inputs = texts(info.inputs), outputs = texts(info.outputs);
  api_.check(api_->GetModelEditorApi()->CreateNode(
      kContextType, "com.microsoft", name.c_str(), inputs.data(), inputs.size(), outputs.data(),
      outputs.size(), attributes.data(), attributes.size(), &node));
  return node;
}

void Provider::compile(const OrtGraph** graphs, const OrtNode** fused_nodes, std::size_t count,
                       OrtNodeComputeInfo** infos, OrtNode** context_nodes) {
  if (!error_.empty()) throw UsageError(error_);
  std::vector<std::unique_ptr<ComputeInfo>> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(open(*graphs[i], *fused_nodes[i]));
    if (context_.enabled && context_nodes != nullptr) {
      context_nodes[i] = context_node(*graphs[i], *fused_nodes[i], *made.back());
    }
  }
  for (std::size_t i = 0; i < count; ++i) infos[i] = made[i].release();
}

void Provider::end_run() {
  log_.end_run();
  if (!report_file_.empty()) OutputFile(report_file_).write(text_of(log_.last_report()));
}

OrtStatus* Provider::get_capability(OrtEp* self, const OrtGraph* graph,
                                    OrtEpGraphSupportInfo* info) {
  Provider& own = of(self);
  return guarded(own.api_, ORT_FAIL, [&] {
    try {
      if (own.error_.empty()) own.claim(*graph, *info);
    } catch (const std::exception& error) {
      own.error_ = error.what();
    }
    if (!own.error_.empty()) own.claim_to_fail(*graph, *info);
  });
}

OrtStatus* Provider::compile_graphs(OrtEp* self, const OrtGraph** graphs,
                                    const OrtNode** fused_nodes, std::size_t count,
                                    OrtNodeComputeInfo** infos, OrtNode** context_nodes) {
  Provider& own = of(self);
  return guarded(own.api_, own.error_.empty() ? ORT_FAIL : ORT_INVALID_ARGUMENT,
                 [&] { own.compile(graphs, fused_nodes, count, infos, context_nodes); });
}

void Provider::release_infos(OrtEp*, OrtNodeComputeInfo** infos, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) delete static_cast<ComputeInfo*>(infos[i]);
}

OrtStatus* Provider::set_dynamic_options(OrtEp* self, const char* const* keys,
                                         const char* const* values, std::size_t count) {
  Provider& own = of(self);
  return guarded(own.api_, ORT_INVALID_ARGUMENT, [&] {
    for (std::size_t i = 0; i < count; ++i) {
      if (std::string(keys[i]) != "last_report") {
        throw UsageError(fmt::format("there is no dynamic option '{}'; there is last_report",
                                     printable(keys[i])));
      }
      const nlohmann::ordered_json report = own.log_.last_report();
      if (report.is_null()) throw UsageError("there is no report before the first run");
      kept_reports().keep(values[i], text_of(report));
    }
  });
}

OrtStatus* Provider::on_run_start(OrtEp* self, const OrtRunOptions*) {
  Provider& own = of(self);
  return guarded(own.api_, ORT_FAIL, [&] {
    if (!own.error_.empty()) throw UsageError(own.error_);
    own.log_.begin_run();
  });
}

OrtStatus* Provider::on_run_end(OrtEp* self, const OrtRunOptions*, bool) {
  Provider& own = of(self);
  return guarded(own.api_, ORT_FAIL, [&] { own.end_run(); });
}

OrtStatus* Provider::is_concurrent(OrtEp*, bool* is_supported) {
  *is_supported = true;
  return nullptr;
}

OrtStatus* Provider::create_profiler(OrtEp* self, OrtEpProfilerImpl** profiler) {
  Provider& own = of(self);
  return guarded(own.api_, ORT_FAIL, [&] { *profiler = new Profiler(own.api_, own.log_); });
}

OrtStatus* Provider::on_initialization_end(OrtEp* self) {
  Provider& own = of(self);
  return guarded(own.api_, ORT_INVALID_ARGUMENT, [&] {
    if (!own.error_.empty()) throw UsageError(own.error_);
  });
}

}  // namespace

OrtEp* make_provider(const ort::Api& api, const OrtLogger* logger, const Entries& entries,
                     const Attachment* attached) {
  return new Provider(api, logger, entries, attached);
}

void release_provider(OrtEp* provider) { delete static_cast<Provider*>(provider); }

std::string take_report(const std::string& token) { return kept_reports().take(token); }

}  // namespace gemm64::ep
