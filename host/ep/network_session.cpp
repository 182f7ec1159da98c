// SPDX-License-Identifier: Apache-2.0
#include "host/ep/network_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "host/ep/own_provider.hpp"
#include "host/ep/run_log.hpp"
#include "host/ep/session_accelerator.hpp"
#include "host/graph/onnx/control_flow.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/runtime/float64_reference.hpp"
#include "host/runtime/wall_clock.hpp"
#include "host/util/text.hpp"

namespace gemm64::ep {
namespace {

/// Adds the groups' reports of one pass. Nodes of groups that the host ran count once.
void add_pass(RunReport& report, RunReport pass) {
  if (report.host->nodes == 0 && pass.host) {
    report.host->nodes = pass.host->nodes;
    report.host->operators = std::move(pass.host->operators);
  }
  join(report.layers, std::move(pass.layers));
  report.chained = report.chained || pass.chained;
  add(report.outputs, pass.outputs);
  if (report.host_layers.empty()) report.host_layers = std::move(pass.host_layers);
  report.host->reference_seconds += pass.host ? pass.host->reference_seconds : 0;
  report.host->seconds += pass.host ? pass.host->seconds : 0;
  report.error = std::move(pass.error);
}

/// Runs passes ahead of those that count, one for each device.
class PassesAhead {
 public:
  PassesAhead(SessionAccelerator& accelerator, RunLog& log, const ort::Session& session,
              const NetworkInputs& inputs)
      : accelerator_(accelerator), log_(log), session_(session), inputs_(inputs) {
    accelerator_.begin_parallel();
  }
  ~PassesAhead() { accelerator_.end_parallel(); }  // then passes_ waits for the threads
  PassesAhead(const PassesAhead&) = delete;
  PassesAhead& operator=(const PassesAhead&) = delete;

  /// Returns the inputs of the next pass, and replays its groups.
  NamedTensors next() {
    while (passes_.size() < accelerator_.jobs() && begun_ < inputs_.passes()) begin();
    Pass pass = std::move(passes_.front());
    passes_.pop_front();
    accelerator_.replay(pass.groups.get());
    return std::move(pass.values);
  }

 private:
  struct Pass {
    NamedTensors values;
    std::future<SessionAccelerator::GroupRuns> groups;
  };

  void begin() {
    const NetworkInputs given = inputs_.pass(begun_++);
    Pass pass{given.take(0, given.images), {}};
    pass.groups = std::async(std::launch::async, [this, values = pass.values] {
      const RunLog::Pause pause(log_);
      return accelerator_.run_ahead([&] { session_.run(values); });
    });
    passes_.push_back(std::move(pass));
  }

  SessionAccelerator& accelerator_;
  RunLog& log_;
  const ort::Session& session_;
  const NetworkInputs& inputs_;
  std::int64_t begun_ = 0;
  std::deque<Pass> passes_;
};

/// ONNX Runtime has no bound on the iterations of a Loop.
void refuse_endless_loops(const OnnxModel& model) {
  const auto& nodes = model.graph().node();
  for (int i = 0; i < nodes.size(); ++i) {
    if (model.why_kept(nodes[i]) != kEndless) continue;
    throw UsageError(fmt::format("{}: Loop {} ({}); bound its trip count or compute its condition",
                                 model.name(), kEndless, node_label(nodes[i], i)));
  }
}

/// Throws a group's error, which names the network in place of the group.
[[noreturn]] void rethrow_of_network(const std::exception_ptr& error, const std::string& network) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& of_group) {
    const std::string message = of_group.what();
    const std::size_t end = message.find(": ");
    if (message.rfind(kProviderName, 0) != 0 || end == std::string::npos) throw;
    throw UsageError(network + message.substr(end));
  }
}

bool any_floats(const RunReport& report) {
  return std::any_of(report.layers.begin(), report.layers.end(), [](const LayerReport& layer) {
    return layer.arithmetic != Arithmetic::kIntegers;
  });
}

}  // namespace

class NetworkSession::Impl {
 public:
  Impl(Session& session, SideBySide parallel_for)
      : observers_(session.runner().options().observers),
        environment_(own_environment()),
        accelerator_(session, !observers_.empty(), std::move(parallel_for)),
        attachment_{accelerator_, log_},
        attached_(attachment_),
        session_of_device_(session) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void open(const OnnxModel& model, const OnnxModel* exact, const std::vector<std::string>& dumped,
            const Executable* compiled) {
    refuse_endless_loops(model);
    model_ = &model;
    exact_model_ = exact;
    if (compiled != nullptr) {
      require_same(*compiled, accelerator_.geometry(), accelerator_.compile_options(),
                   model.name());
      attachment_.compiled = &compiled_.emplace(model, *compiled);
    }
    // What runs and what is dumped is known before the first run if no size is open.
    HostModel own = host_model(model, observers_.empty() && dumped.empty(),
                               compiled_ ? compiled_->graph() : model.proto());
    accelerator_.set_known_sizes(own.sizes);
    const bool has_device = !session_of_device_.is_host_only();
    HostProvider provider;
    if (has_device) provider = attached_.provider();
    if (!has_device) compare_layers(own);
    session_.emplace(host_session(environment_, own, provider));
    if (dumped.empty()) return;
    for (const auto& [node, name] : host_nodes()) {
      if (is_dumped(dumped, name)) add_outputs(node->output(), *own.proto.mutable_graph());
    }
    accelerator_.reset();
    session_.emplace(host_session(environment_, own, provider));
  }

  NamedNodes nodes(const std::vector<std::string>& dumped) const {
    NamedNodes nodes = host_nodes();
    nodes.insert(nodes.end(), accelerator_.nodes().begin(), accelerator_.nodes().end());
    std::set<std::string> known;
    for (const auto& [node, name] : nodes) known.insert(name);
    const auto& own = model_->graph().node();
    for (int i = 0; i < own.size(); ++i) {
      const std::string name = node_label(own[i], i);
      const bool is_form =
          own[i].op_type() == "QuantizeLinear" || own[i].op_type() == "DequantizeLinear";
      const bool is_named =
          std::any_of(dumped.begin(), dumped.end(), [&name](const std::string& specification) {
            return specification.rfind(name + "=", 0) == 0;
          });
      if (is_form && !is_named) continue;
      if (known.insert(name).second) nodes.emplace_back(&own[i], name);
    }
    return nodes;
  }

  NetworkRun run(const NetworkInputs& inputs, RunReport report, const RunProgress& progress,
                 ActivationDump* dump) {
    for (const std::string& note : inputs.nans) {
      report.warnings.push_back(note + "; results that depend on them are meaningless");
    }
    report.host.emplace();
    report.host->runtime = "ONNX Runtime " + environment_.api().release();
    announce(inputs.passes());
    const std::string why_one_job = accelerator_.why_one_job(inputs.passes(), dump != nullptr);
    if (accelerator_.jobs() > 1 && why_one_job.empty()) {
      accelerator_.begin(inputs.passes(), progress, nullptr);
      if (std::optional<NetworkRun> made = run_in_parallel(inputs, report, progress)) {
        return *std::move(made);
      }
    }
    accelerator_.begin(inputs.passes(), progress, dump);
    const auto values_of = [&inputs](std::int64_t pass) {
      const NetworkInputs given = inputs.pass(pass);
      return given.take(0, given.images);
    };
    NetworkRun run = run_passes(inputs, std::move(report), progress, dump, values_of);
    run.why_one_job = why_one_job;
    return run;
  }

 private:
  /// Runs the passes on several devices; returns nothing if one of them failed.
  std::optional<NetworkRun> run_in_parallel(const NetworkInputs& inputs, const RunReport& report,
                                            const RunProgress& progress) {
    try {
      PassesAhead ahead(accelerator_, log_, *session_, inputs);
      NetworkRun run = run_passes(inputs, report, progress, nullptr,
                                  [&ahead](std::int64_t) { return ahead.next(); });
      if (!accelerator_.failed()) return run;
    } catch (const std::system_error&) {  // no thread
    } catch (const std::exception&) {
      if (!accelerator_.failed()) throw;
    }
    return std::nullopt;
  }

  /// Runs the passes; ends early if the other devices failed. `values_of` returns a pass's inputs.
  NetworkRun run_passes(const NetworkInputs& inputs, RunReport report, const RunProgress& progress,
                        ActivationDump* dump,
                        const std::function<NamedTensors(std::int64_t)>& values_of) {
    NetworkRun run;
    Passes passes;
    bool has_exact = false;
    double seconds = 0;  // of the network's own runs
    for (std::int64_t i = 0; i < inputs.passes() && report.error.empty(); ++i) {
      const NamedTensors values = values_of(i);
      if (accelerator_.failed()) return run;
      std::future<Tensor> computing;  // while the device runs, where it is known to be needed
      if (exact_model_ != nullptr && report.check != CheckLevel::kNone) {
        accelerator_.at_next_group(
            [&] { computing = std::async([&] { return exact_output(values, *exact_model_); }); });
      }
      const auto begin = WallClock::now();
      NamedTensors outputs = run_pass(values, report);
      seconds += seconds_since(begin);
      accelerator_.at_next_group(nullptr);
      if (!report.error.empty()) break;
      if (dump != nullptr) write_host_nodes(*dump, outputs);
      Tensor exact;
      if (report.check != CheckLevel::kNone) {
        const auto comparing = WallClock::now();
        gemm64::join(report.layers, compared_layers(values));
        exact = computing.valid() ? computing.get() : exact_output(values, report);
        report.host->reference_seconds += seconds_since(comparing);
      }
      for (const std::string& name : added_) outputs.erase(name);
      passes.add(model_->graph(), std::move(outputs), exact.present() ? &exact : nullptr,
                 inputs.images_of(i), inputs.at_once);
      has_exact = has_exact || exact.present();
    }
    finish_program(report, progress);
    run.outputs = passes.outputs();
    const auto& names = model_->graph().output();
    if (report.error.empty() && !names.empty()) run.first = run.outputs.at(names[0].name());
    report.host->seconds += seconds - accelerator_.seconds();
    describe_host(report, inputs.passes());
    report.why_in_turn = inputs.why_in_turn;
    report.images_at_once = static_cast<std::uint64_t>(inputs.at_once);
    if (has_exact) {
      report.quality = passes.quality();
      run.exact = passes.exact();
    }
    report.failure = session_of_device_.runner().failure();
    run.report = std::move(report);
    return run;
  }

  /// Runs the one program of all layers, if the options ask for it.
  void finish_program(RunReport& report, const RunProgress& progress) {
    JobRunner& runner = session_of_device_.runner();
    if (!runner.options().one_program || !report.error.empty()) return;
    ProgressShare all(progress);
    all.next(1);
    try {
      runner.finish(report.layers, all);
    } catch (const DeviceError& error) {
      report.error = error.what();
    }
  }

  void announce(std::int64_t passes) const {
    if (!accelerator_.all_known()) return;
    std::vector<Job> jobs;
    for (std::int64_t i = 0; i < passes; ++i) {
      jobs.insert(jobs.end(), accelerator_.announced().begin(), accelerator_.announced().end());
    }
    for (JobObserver* const observer : observers_) observer->announce(jobs);
  }

  /// The model's nodes that ONNX Runtime runs, as far as it has left them as they are or knows
  /// their values before.
  NamedNodes host_nodes() const {
    NamedNodes found;
    std::set<std::pair<std::string, std::string>> run;
    for (const NotClaimed& node : log_.not_claimed()) run.emplace(node.name, node.op_type);
    const auto& own = model_->graph().node();
    for (int i = 0; i < own.size(); ++i) {
      const std::string name = node_label(own[i], i);
      const bool is_constant = own[i].op_type() != "DequantizeLinear" &&
                               own[i].output_size() != 0 && model_->is_constant(own[i].output(0));
      const bool runs = session_of_device_.is_host_only() || is_constant ||
                        run.count({name, own[i].op_type()}) != 0;
      if (runs) found.emplace_back(&own[i], name);
    }
    return found;
  }

  /// Makes values outputs of the graph, those that are neither its inputs nor constants.
  template <class Names>
  void add_outputs(const Names& names, onnx::GraphProto& graph) {
    for (const std::string& name : names) {
      const auto& known = graph.output();
      if (name.empty() || model_->is_graph_input(name) || model_->constant(name) != nullptr ||
          std::any_of(known.begin(), known.end(),
                      [&name](const auto& output) { return output.name() == name; })) {
        continue;
      }
      onnx::ValueInfoProto& output = *graph.add_output();
      output.set_name(name);
      if (const std::optional<TensorType> type = model_->type(name)) {
        output.mutable_type()->mutable_tensor_type()->set_elem_type(type->data_type);
      }
      added_.insert(name);
    }
  }

  /// Hands the values of the host's nodes over.
  void write_host_nodes(ActivationDump& dump, const NamedTensors& outputs) const {
    for (const auto& [node, name] : host_nodes()) {
      if (!dump.has(*node)) continue;
      Tensors values;
      for (const std::string& output : node->output()) {
        const auto found = outputs.find(output);
        values.push_back(found == outputs.end() ? Tensor() : found->second);
      }
      dump.write(*node, values);
    }
  }

  /// Float products are compared with double if the device has none of them: what they read and
  /// produce are outputs.
  void compare_layers(HostModel model) {
    if (session_of_device_.runner().options().check == CheckLevel::kNone) return;
    onnx::GraphProto& graph = *model.proto.mutable_graph();
    const auto& own = model_->graph().node();
    for (int i = 0; i < own.size(); ++i) {
      const onnx::NodeProto& node = own[i];
      if (!is_float_product(node)) continue;
      compared_.emplace_back(&node, node_label(node, i));
      add_outputs(node.output(), graph);
      add_outputs(node.input(), graph);
    }
    added_.clear();
    if (!compared_.empty()) comparing_.emplace(host_session(environment_, model));
  }

  /// Those layers of one pass.
  std::vector<LayerReport> compared_layers(const NamedTensors& inputs) const {
    std::vector<LayerReport> layers;
    if (!comparing_) return layers;
    const NamedTensors outputs = comparing_->run(inputs);
    for (const auto& [node, name] : compared_) {
      Tensors given;
      for (const std::string& input : node->input()) {
        given.push_back(value_of(input, inputs, outputs));
      }
      const auto type = [&given](int input) {
        const auto i = static_cast<std::size_t>(input);
        return i < given.size() && given[i].present()
                   ? std::optional<TensorType>({given[i].type(), given[i].dims()})
                   : std::nullopt;
      };
      const int weights = weights_input(*node);
      const bool is_constant =
          weights < node->input_size() && model_->is_constant(node->input(weights));
      if (!why_on_host(*node, is_constant, type).empty()) continue;
      layers.push_back(compare_with_double(*node, given, outputs.at(node->output(0))));
      layers.back().name = name;
    }
    return layers;
  }

  /// A value of one pass, absent without a name.
  Tensor value_of(const std::string& name, const NamedTensors& inputs,
                  const NamedTensors& outputs) const {
    if (name.empty()) return {};
    for (const NamedTensors* const values : {&outputs, &inputs}) {
      const auto found = values->find(name);
      if (found != values->end()) return found->second;
    }
    return Tensor::from_proto(*model_->constant(name));
  }

  /// The outputs of one pass; none if the device failed, which is in the report.
  NamedTensors run_pass(const NamedTensors& inputs, RunReport& report) {
    NamedTensors outputs;
    std::string error;
    try {
      outputs = session_->run(inputs);
    } catch (const ort::Error& failed) {
      if (accelerator_.error()) rethrow_of_network(accelerator_.error(), model_->name());
      error = onnxruntime_error(model_->name(), failed).what();
    }
    if (std::optional<RunReport> last = log_.last_run()) add_pass(report, *std::move(last));
    if (!error.empty() && report.error.empty()) throw UsageError(error);
    return outputs;
  }

  /// A network's first output by ONNX Runtime's own arithmetic; absent if that is the same.
  Tensor exact_output(const NamedTensors& inputs, const RunReport& report) {
    if (exact_model_ != nullptr) return exact_output(inputs, *exact_model_);
    if (report.precision == Precision::kFile || !any_floats(report)) return {};
    return exact_output(inputs, *model_);
  }
  Tensor exact_output(const NamedTensors& inputs, const OnnxModel& exact) {
    if (exact.graph().output().empty()) return {};
    if (!cpu_) {
      cpu_.emplace(host_session(environment_, host_model(exact, true, exact.proto())));
    }
    return cpu_->run(inputs).at(exact.graph().output(0).name());
  }

  /// The nodes that ONNX Runtime ran, in addition to those of groups.
  void describe_host(RunReport& report, std::int64_t passes) const {
    report.host_only = session_of_device_.is_host_only();
    if (report.host_only)
      report.host->nodes = static_cast<std::uint64_t>(model_->graph().node_size());
    for (HostLayer& layer : report.host_layers) layer.macs *= static_cast<std::uint64_t>(passes);
    report.host->between = log_.between();
    for (HostLayer& node : report.host->between) node.values *= static_cast<std::uint64_t>(passes);
    std::map<std::string, const onnx::NodeProto*> nodes;
    const auto& own = model_->graph().node();
    for (int i = 0; i < own.size(); ++i) nodes.emplace(node_label(own[i], i), &own[i]);
    for (const NotClaimed& node : log_.not_claimed()) {
      ++report.host->nodes;
      ++report.host->operators[node.op_type];
      const auto found = nodes.find(node.name);
      if (found == nodes.end() || found->second->op_type() != node.op_type) continue;
      const std::optional<Work> work = work_of(*model_, *found->second);
      if (work && work->macs == 0) continue;
      std::string reason = node.reason;
      if (reason == kNoReason) {
        const std::string own_reason = why_on_host(*model_, *found->second);
        if (!own_reason.empty()) reason = own_reason;
      }
      HostLayer layer{node.name, node.op_type, 0, std::move(reason)};
      if (work) layer.macs = work->macs * static_cast<std::uint64_t>(passes);
      if (!work) layer.reason += "; its MACs are not known";
      report.host_layers.push_back(std::move(layer));
    }
  }

  const std::vector<JobObserver*> observers_;
  const ort::Environment& environment_;
  RunLog log_;
  SessionAccelerator accelerator_;
  std::optional<CompiledNetwork> compiled_;
  Attachment attachment_;
  const Attached attached_;
  Session& session_of_device_;
  const OnnxModel* model_ = nullptr;
  const OnnxModel* exact_model_ = nullptr;
  std::optional<ort::Session> session_, cpu_;
  /// Has the values of compared layers as outputs, which the network's own run has joined.
  std::optional<ort::Session> comparing_;
  std::set<std::string> added_;  // outputs that are no outputs of the file's
  std::vector<std::pair<const onnx::NodeProto*, std::string>>
      compared_;  // layers, with their names, that are compared with double
};

NetworkSession::NetworkSession(Session& session, SideBySide parallel_for) {
  try {
    impl_ = std::make_unique<Impl>(session, std::move(parallel_for));
  } catch (const ort::Error& error) {
    throw UsageError(printable(error.what(), kMostMessage));
  }
}

NetworkSession::~NetworkSession() = default;

void NetworkSession::open(const OnnxModel& model, const OnnxModel* exact,
                          const std::vector<std::string>& dumped, const Executable* compiled) {
  try {
    impl_->open(model, exact, dumped, compiled);
  } catch (const ort::Error& error) {
    throw onnxruntime_error(model.name(), error);
  }
}

NamedNodes NetworkSession::nodes(const std::vector<std::string>& dumped) const {
  return impl_->nodes(dumped);
}

NetworkRun NetworkSession::run(const NetworkInputs& inputs, RunReport report,
                               const RunProgress& progress, ActivationDump* dump) {
  return impl_->run(inputs, std::move(report), progress, dump);
}

}  // namespace gemm64::ep
