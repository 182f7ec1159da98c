// SPDX-License-Identifier: Apache-2.0
#include "host/session/network_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "host/compile/device_layer.hpp"
#include "host/compile/table_node.hpp"
#include "host/execute/linear.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/kernels/host_threads.hpp"
#include "host/run/float_gemm.hpp"
#include "host/session/passes.hpp"

namespace gemm64 {
namespace {

/// A node with MACs that ran on the host.
std::optional<HostLayer> host_layer(const Executor& executor, const Step& step, std::string reason,
                                    std::uint64_t passes) {
  const onnx::NodeProto& node = *step.context.node;
  const std::optional<Work> work = work_of(executor.model(), node);
  if (work && work->macs == 0) return std::nullopt;
  HostLayer layer{layer_name(executor, step), node.op_type(), 0, std::move(reason)};
  if (work) {
    layer.macs = work->macs * passes;
  } else {
    layer.reason += "; its MACs are not known";
  }
  return layer;
}

/// Several products as one with the sums of each: `below`, each has rows of its own, else columns.
ProgramLayer join_products(const std::vector<std::pair<MatrixI8, MatrixI8>>& products, bool below) {
  ProgramLayer layer;
  const Eigen::Index m = products[0].first.rows(), k = products[0].first.cols();
  const Eigen::Index n = products[0].second.rows();
  const auto count = static_cast<Eigen::Index>(products.size());
  layer.a = MatrixI8::Zero(below ? count * m : m, count * k);
  layer.w = MatrixI8::Zero(below ? n : count * n, count * k);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& [a, w] = products[static_cast<std::size_t>(i)];
    layer.a.block(below ? i * m : 0, i * k, m, k) = a;
    layer.w.block(below ? 0 : i * n, i * k, n, k) = w;
  }
  return layer;
}

/// The sums of each product in turn, from those of the jobs that they were joined to.
class SumsInTurn {
 public:
  explicit SumsInTurn(const std::vector<MatrixI32>& jobs) : job_(jobs.begin()) {}

  /// Of a product of so many rows and columns.
  MatrixI32 next(Eigen::Index rows, Eigen::Index columns) {
    const MatrixI32 own = job_->block(row_, column_, rows, columns);
    column_ += columns;
    if (column_ == job_->cols()) {
      column_ = 0;
      row_ += rows;
    }
    if (row_ == job_->rows()) {
      row_ = 0;
      ++job_;
    }
    return own;
  }

 private:
  std::vector<MatrixI32>::const_iterator job_;
  Eigen::Index row_ = 0, column_ = 0;  // with which the next one begins
};

}  // namespace

NetworkPass::NetworkPass(const Executor& executor, JobRunner& runner,
                         const DeviceSchedule& schedule, const NetworkInputs& inputs,
                         const NodeObserver& after, const RunProgress& progress, bool parallel_for)
    : executor_(executor),
      runner_(runner),
      schedule_(schedule),
      inputs_(inputs),
      after_(after),
      progress_(progress),
      joint_(progress),
      share_(parallel_for ? joint_.part(1) : progress) {
  hooks_.instead = [this](const Step& step, const Tensors& arguments) {
    return instead(step, arguments);
  };
  hooks_.after = [this](const Step& step, const Tensors& outputs) {
    if (after_) after_(step, outputs);
    if (!at_.begun) at_.exact.forget(step.last_uses);
  };
  if (parallel_for) {
    pool_.emplace(runner_, [this](const ProgramResults& found) { return add_finished(found); });
  }
}

NetworkPass::~NetworkPass() {
  if (pool_) leave_processors(0);
}

void NetworkPass::run(const Listener& listener) {
  const auto passes = static_cast<std::size_t>(inputs_.passes());
  while (true) {
    if (at_.pass == passes) {
      wait();
      if (!back_) return;
    } else {
      try {
        if (!at_.begun) begin_pass();
        if (run_items()) {
          finish_pass();
          listener.ended(at_.pass, at_.values);
          Place next;
          next.pass = at_.pass + 1;
          next.host_steps = at_.host_steps;
          at_ = std::move(next);
        }
      } catch (const UsageError&) {
        wait();  // what failed before the host got there comes first
        if (!back_) throw;
      }
    }
    if (!back_) continue;
    at_ = std::move(*back_);
    back_.reset();
    forget_host_steps(at_.host_steps);
    listener.keep(at_.pass);
  }
}

void NetworkPass::begin_pass() {
  if (!pool_) collect_for(at_.pass);
  const NetworkInputs given = inputs_.pass(static_cast<std::int64_t>(at_.pass));
  at_.values = run_head(executor_, schedule_.first, given, hooks_);
  at_.item = schedule_.first;
  at_.begun = true;
}

/// Runs what is left of the pass; false where it must go on from elsewhere.
bool NetworkPass::run_items() {
  while (!back_ && at_.item < schedule_.executable.order.size()) {
    const PassItem& item = schedule_.executable.order[at_.item++];
    if (item.kind == PassItem::Kind::kProgram) {
      run_program(item);
    } else if (item.kind == PassItem::Kind::kSums) {
      run_sums(item);
      forget(item);
    } else {
      executor_.run_step(executor_.steps()[item.index], at_.values, hooks_);
      forget(item);
    }
  }
  return !back_;
}

void NetworkPass::forget(const PassItem& item) {
  for (const std::string& name : item.last_uses) at_.values.erase(name);
  at_.exact.forget(item.last_uses);
}

/// A layer for the device. Where layers are checked, the host computes it as well, adds its results
/// to `wanted`, and says what they must be where its source's are others.
ProgramLayer NetworkPass::prepare(std::size_t number, std::size_t index,
                                  std::vector<Tensor>& wanted) {
  const DeviceProgram& program = schedule_.executable.plan.programs[number];
  const DeviceLayer& layer = program.layers[index];
  const Step& step = step_of(layer);
  make_room();
  next(schedule_.on_host[index_of(executor_, step)]);
  share_.report(step.context.label, 0);
  // What its nodes take of others: of layers of the program, in the shape in which they take it.
  Values given;
  for (const int node : layer.nodes()) {
    for (const std::string& name : this->step(node).context.node->input()) {
      const auto found = at_.values.find(name);
      if (found != at_.values.end()) given[name] = found->second;
    }
  }
  const auto give = [&](const std::string& name, std::optional<std::size_t> from,
                        const auto& read) {
    if (!from) return;
    given[name] = checks_layers() ? read(lying(program, *from, wanted))
                                  : Tensor(static_cast<DataType>(type_of(name).data_type), {0});
  };
  const std::string& name = layer.input_value;
  const auto as_source = [&](const Tensor& tensor) { return as_read(layer, tensor); };
  const auto as_operand = [&](const Tensor& tensor) {
    return layer.strips ? tensor : tensor.reshaped(type_of(layer.second).dims);
  };
  give(name, layer.source, as_source);
  give(layer.second, layer.operand, as_operand);
  // Of a layer that copies a value its node's other inputs may not be there.
  const Tensors arguments =
      layer.has_no_constants() ? Tensors{given.at(name)} : executor_.arguments(step, given);
  if (!layer.source && arguments[0].dims() != type_of(name).dims) {
    throw failure(step.context,
                  fmt::format("its first input is {}, which is not the shape that {} says",
                              describe(arguments[0]), executor_.model().name()));
  }
  if (!layer.weights_value.empty() && arguments[3].dims() != type_of(layer.weights_value).dims) {
    throw failure(step.context,
                  fmt::format("its second operand is {}, which is not the shape that {} says",
                              describe(arguments[3]), executor_.model().name()));
  }
  ProgramLayer made = program_layer(layer, step.context, arguments);
  if (!layer.second.empty() && !layer.operand) {
    const auto found = given.find(layer.second);
    made.operands =
        operand_rows(layer, found != given.end()
                                ? found->second
                                : Tensor::from_proto(*executor_.model().constant(layer.second)));
  }
  const std::vector<PackedLayer>& constants = schedule_.executable.programs[number].constants;
  if (!constants.empty() && layer.weights_value.empty()) made.packed = &constants[index];
  if (!checks_layers()) return made;

  const auto begin = WallClock::now();
  const bool whole = !layer.strips && !layer.rows;
  if (layer.source && whole) {
    const Tensor* const exact = at_.exact.find(results_of(program.layers[*layer.source]));
    if (exact != nullptr) {
      at_.exact.store(name, channels_of(*exact, layer.view).reshaped(type_of(name).dims));
    }
  }
  wanted.push_back(compute_layer(layer, given, whole ? &at_.exact : nullptr));
  made.expected = to_job_results(layer, wanted.back());
  if (layer.source || layer.operand) {
    made.expect = [this, &layer, &program, name, given, as_source, as_operand](
                      const MatrixI32* source, const MatrixI32* operand) {
      Values others = given;
      const auto replace = [&](const std::string& value, std::optional<std::size_t> from,
                               const MatrixI32* results, const ChannelOrder& order,
                               const auto& read) {
        if (!from) return;
        const DeviceLayer& by = program.layers[*from];
        others[value] = read(to_node_results(by, *results, lying_type(by), order));
      };
      replace(name, layer.source, source, layer.source_order, as_source);
      replace(layer.second, layer.operand, operand, layer.result_order, as_operand);
      return to_job_results(layer, compute_layer(layer, std::move(others), nullptr));
    };
  }
  reference_seconds_ += seconds_since(begin);
  return made;
}

/// What a layer takes of what lies where its source's results do.
Tensor NetworkPass::as_read(const DeviceLayer& layer, const Tensor& lying) const {
  const Tensor tensor = channels_of(lying, layer.view);
  if (layer.strips) return tensor;
  if (!layer.rows) return tensor.reshaped(type_of(layer.input_value).dims);
  const std::uint32_t first = layer.first_row_read();
  return rows_of_map(tensor, first, first + layer.rows->end - layer.rows->first);
}

/// What the nodes of a layer make of the values that they are given, of each strip by itself;
/// beside it what they make of the float32 network's, where these differ.
Tensor NetworkPass::compute_layer(const DeviceLayer& layer, Values given,
                                  ExactValues* exact) const {
  if (layer.strips) {
    DeviceLayer alone = layer;
    alone.strips.reset();
    if (!layer.source)
      return in_strips(compute_layer(alone, std::move(given), exact), *layer.strips);
    const Values all = given;
    std::vector<Tensor> each;
    for (std::uint32_t i = 0; i < layer.strips->count; ++i) {
      given[layer.input_value] = strip_of(all.at(layer.input_value), *layer.source_strips, i);
      if (layer.operand) given[layer.second] = strip_of(all.at(layer.second), *layer.strips, i);
      each.push_back(compute_layer(alone, given, exact));
    }
    return join(each, 1);
  }
  Tensor result;
  if (layer.part && layer.part->node == layer.node) result = given.at(layer.input_value);
  for (const int node : layer.nodes()) {
    if (layer.part && layer.part->node == node) return in_steps_of(*layer.part, result);
    const Step& step = this->step(node);
    const Tensors arguments = executor_.arguments(step, given);
    if (exact != nullptr) {
      if (const auto others = exact->arguments(step, arguments)) {
        exact->store(step, executor_.compute_step(step, *others));
      }
    }
    result = executor_.compute_step(step, arguments)[0];
    given[step.context.node->output(0)] = result;
  }
  return result;
}

/// A part of a concatenation, in the steps of the whole: what the node makes of it alone.
Tensor NetworkPass::in_steps_of(const ConcatPart& part, const Tensor& value) const {
  const Step& step = this->step(part.node);
  const onnx::NodeProto node = concat_of_part(*step.context.node, part.input);
  Step alone = step;
  alone.context.node = &node;
  const std::string& name = node.input(2);
  return executor_.compute_step(alone, executor_.arguments(alone, {{name, value}}))[0];
}

/// The results of a layer as they lie, and with them those that are parts of the same tensor;
/// `each`: of each layer.
Tensor NetworkPass::lying(const DeviceProgram& program, std::size_t layer,
                          const std::vector<Tensor>& each) const {
  const DeviceLayer& giver = program.layers[layer];
  if (!giver.part && !giver.rows) return each[layer];
  std::map<std::uint64_t, Tensor> parts;  // by their first channel or row
  for (std::size_t i = 0; i < each.size(); ++i) {
    const DeviceLayer& other = program.layers[i];
    if (other.gives() != giver.gives()) continue;
    parts[giver.part ? other.part->first : other.rows->first] = each[i];
  }
  std::vector<Tensor> in_order;
  for (auto& [first, part] : parts) {
    if (!part.present()) return {};
    in_order.push_back(part);
  }
  return join(in_order, giver.part ? 1 : 2);
}

/// The same as a value of the network.
Tensor NetworkPass::results_of(const DeviceProgram& program, std::size_t layer,
                               const std::vector<Tensor>& each) const {
  const Tensor all = lying(program, layer, each);
  const std::optional<Strips>& strips = program.layers[layer].strips;
  return strips && all.present() ? out_of_strips(all, *strips) : all;
}

/// What the device wrote of each layer; `wanted` where it wrote just that.
std::vector<Tensor> NetworkPass::written(const DeviceProgram& program,
                                         const std::vector<MatrixI32>& values,
                                         const std::vector<Tensor>& wanted) const {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const DeviceLayer& layer = program.layers[i];
    results.push_back(values[i].size() != 0
                          ? to_node_results(layer, values[i], own_type(layer), layer.result_order)
                      : i < wanted.size() ? wanted[i]
                                          : Tensor());
  }
  return results;
}

/// `results` as the values of a program's layers, those that are present.
void NetworkPass::store(const DeviceProgram& program, const std::vector<Tensor>& results,
                        Values& values) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DeviceLayer& layer = program.layers[i];
    if (!results[i].present() || layer.is_later_part()) continue;
    const Tensor given = results_of(program, i, results);
    if (!given.present()) continue;
    values[results_of(layer)] = given;
    if (after_) after_(step(layer.gives()), {given});
  }
}

/// Shows the outputs of nodes that the device computes within a layer and stores nowhere, such as
/// those of a convolution to which it adds a tensor before it stores the sum: what the host makes
/// of the layer's inputs, which are as the device wrote them.
void NetworkPass::show_inner(const DeviceProgram& program, const std::vector<Tensor>& results,
                             const Values& values) const {
  if (!after_.wants_inner) return;
  std::set<int> shown;  // of a layer in stripes there are several
  for (const DeviceLayer& layer : program.layers) {
    std::vector<int> inner;
    for (const int node : layer.nodes()) {
      if (node != layer.gives() && shown.insert(node).second) inner.push_back(node);
    }
    if (std::none_of(inner.begin(), inner.end(),
                     [this](int node) { return after_.wants_inner(*step(node).context.node); })) {
      continue;
    }
    Values given;
    const auto give = [&](const std::string& name, std::optional<std::size_t> from,
                          const std::vector<std::uint32_t>& channels) {
      const auto found = values.find(name);
      if (found != values.end()) {
        given[name] = found->second;
      } else if (from) {
        given[name] =
            channels_of(results_of(program, *from, results), channels).reshaped(type_of(name).dims);
      }
    };
    give(layer.input_value, layer.source, layer.view);
    if (!layer.second.empty()) give(layer.second, layer.operand, {});
    if (!layer.weights_value.empty()) give(layer.weights_value, {}, {});
    for (const int node : inner) {
      const Step& step = this->step(node);
      const auto& inputs = step.context.node->input();
      if (std::any_of(inputs.begin(), inputs.end(), [&](const std::string& name) {
            return !name.empty() && given.count(name) == 0 && !executor_.model().is_constant(name);
          })) {
        break;
      }
      const Tensors outputs = executor_.compute_step(step, executor_.arguments(step, given));
      given[step.context.node->output(0)] = outputs[0];
      after_(step, outputs);
    }
  }
}

void NetworkPass::run_program(const PassItem& item) {
  const DeviceProgram& program = schedule_.executable.plan.programs[item.index];
  std::vector<ProgramLayer> layers;
  std::vector<Tensor> wanted;  // by the host
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    layers.push_back(prepare(item.index, i, wanted));
  }
  const auto begin = WallClock::now();
  const double cycles = schedule_.of_program[item.index];
  if (pool_) {
    store(program, wanted, at_.values);
    show_inner(program, wanted, at_.values);
    forget(item);
    handed_out_.push_back({&program, at_, std::move(wanted)});
    pool_->add(std::move(layers), joint_.part(share_of(cycles)));
  } else {
    next(cycles);
    const ProgramResults found = runner_.run_program(std::move(layers), share_);
    add_layers(program, found.layers);
    share_.report(layers_.back().name, 1);
    const std::vector<Tensor> results = written(program, found.values, wanted);
    store(program, results, at_.values);
    show_inner(program, results, at_.values);
    forget(item);
  }
  device_seconds_ += seconds_since(begin);
}

/// A node whose products are computed by `product`.
Tensors NetworkPass::compute_sums(const Step& step, const Tensors& arguments,
                                  const IntegerProduct& product) {
  NodeContext context = step.context;
  context.product = &product;
  return compute(*step.info, context, arguments);
}

/// Runs the products of several nodes as one program: the nodes' kernels say what they multiply,
/// and once the device has the sums, what becomes of these.
void NetworkPass::run_sums(const PassItem& item) {
  const SumsProgram& program = schedule_.executable.sums[item.index];
  make_room();
  std::vector<ProgramLayer> layers;
  std::vector<std::pair<MatrixI8, MatrixI8>> products;  // of the node under way
  ExecutorHooks hooks;
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    if (const auto exact = at_.exact.arguments(step, arguments)) {
      at_.exact.store(step, compute(*step.info, step.context, *exact));
    }
    return compute_sums(step, arguments, [&](const MatrixI8& a, const MatrixI8& w) {
      products.emplace_back(a, w);
      return MatrixI32(MatrixI32::Zero(a.rows(), w.rows()));
    });
  };
  for (const SumsProgram::Node& node : program.nodes) {
    const Step& step = executor_.steps()[node.index];
    share_.report(step.context.label, 0);
    products.clear();
    executor_.compute_step(step, executor_.arguments(step, at_.values), hooks);
    const ProductSizes& one = node.products.shape;
    const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
    const bool as_planned = products.size() == node.products.count &&
                            std::all_of(products.begin(), products.end(), [&](const auto& product) {
                              return size(product.first.rows()) == one.m &&
                                     size(product.first.cols()) == one.k &&
                                     size(product.second.rows()) == one.n;
                            });
    if (!as_planned) {
      throw failure(step.context,
                    fmt::format("its products are not those of the shapes that {} says",
                                executor_.model().name()));
    }
    for (std::size_t i = 0; i < products.size(); i += node.together) {
      const std::size_t end = std::min(i + node.together, products.size());
      ProgramLayer layer = join_products({products.begin() + static_cast<std::ptrdiff_t>(i),
                                          products.begin() + static_cast<std::ptrdiff_t>(end)},
                                         node.blocks);
      layer.job = program.list.jobs[layers.size()];
      layers.push_back(std::move(layer));
    }
  }

  next(schedule_.of_sums[item.index]);
  const auto begin = WallClock::now();
  ProgramResults found = runner_.run_program(std::move(layers), share_);
  device_seconds_ += seconds_since(begin);
  std::vector<LayerReport> reports =
      program.layers_of(std::move(found.layers), runner_.geometry(), runner_.options().memory);
  SumsInTurn sums(found.values);
  hooks.after = hooks_.after;
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    return compute_sums(step, arguments, [&sums](const MatrixI8& a, const MatrixI8& w) {
      return sums.next(a.rows(), w.rows());
    });
  };
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Step& step = executor_.steps()[program.nodes[i].index];
    reports[i].program = schedule_.executable.number_of_sums(item.index);
    reports[i].why_sums =
        schedule_.executable.plan.sums.at(static_cast<int>(program.nodes[i].index));
    layers_.push_back(std::move(reports[i]));
    executor_.run_step(step, at_.values, hooks);
  }
}

/// Takes the results of the first program that was handed out; false where they are not those that
/// the host went on with.
bool NetworkPass::add_finished(const ProgramResults& found) {
  HandedOut program = std::move(handed_out_.front());
  handed_out_.pop_front();
  collect_for(program.behind.pass);
  add_layers(*program.program, found.layers);
  if (!found.differ()) return true;
  Place& behind = program.behind;
  Values results;
  std::vector<Tensor> layers = written(*program.program, found.values, program.wanted);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    // All parts of a value of which one differs.
    const DeviceLayer& layer = program.program->layers[i];
    if (found.values[i].size() == 0 && !layer.part && !layer.rows) layers[i] = Tensor();
  }
  store(*program.program, layers, results);
  for (auto& [name, tensor] : results) {
    const auto value = behind.values.find(name);
    if (value != behind.values.end()) value->second = tensor;
  }
  handed_out_.clear();
  back_ = std::move(behind);
  return false;
}

void NetworkPass::collect_for(std::size_t pass) {
  if (pass == pass_) return;
  join(joined_, std::exchange(layers_, {}));
  pass_ = pass;
}

std::vector<LayerReport> NetworkPass::take_layers() {
  join(joined_, std::exchange(layers_, {}));
  return std::exchange(joined_, {});
}

void NetworkPass::make_room() {
  if (pool_) leave_processors(pool_->running());
}

void NetworkPass::wait() {
  if (!pool_) return;
  const auto begin = WallClock::now();
  pool_->finish();
  make_room();
  device_seconds_ += seconds_since(begin);
  if (back_) return;
  next(0);
  if (!layers_.empty()) share_.report(layers_.back().name, 1);
}

std::size_t NetworkPass::give_up() {
  if (handed_out_.empty()) return at_.pass;
  const Place& failed = handed_out_.front().behind;
  forget_host_steps(failed.host_steps);
  return failed.pass;
}

void NetworkPass::add_host_step(const Step& step, const std::string& reason) {
  host_steps_.insert({&step, {host_steps_.size(), reason}});
  at_.host_steps = host_steps_.size();
}

/// All but the first `behind` steps that ran on the host.
void NetworkPass::forget_host_steps(std::size_t behind) {
  for (auto one = host_steps_.begin(); one != host_steps_.end();) {
    one = one->second.before < behind ? std::next(one) : host_steps_.erase(one);
  }
}

HostWork NetworkPass::host_work() const {
  HostWork work;
  work.nodes = host_steps_.size();
  for (const auto& [step, how] : host_steps_) {
    const std::string name = operator_name(*step->context.node);
    ++work.operators[name];
    const DevicePlan& plan = schedule_.executable.plan;
    const auto why = plan.between.find(static_cast<int>(index_of(executor_, *step)));
    if (why != plan.between.end()) {
      work.between.push_back({step->context.label, name, 0, why->second,
                              values_of(executor_.model(), *step->context.node) *
                                  static_cast<std::uint64_t>(inputs_.passes()),
                              plan.programs_after(why->first)});
    }
  }
  work.reference_seconds = reference_seconds_;
  return work;
}

std::vector<HostLayer> NetworkPass::host_layers() const {
  std::vector<HostLayer> layers;
  for (const auto& [step, how] : host_steps_) {
    auto layer =
        host_layer(executor_, *step, how.reason, static_cast<std::uint64_t>(inputs_.passes()));
    if (layer) layers.push_back(std::move(*layer));
  }
  return layers;
}

/// Why a step that is in no program runs on the host; empty where the device has its sums.
std::string NetworkPass::why_host(const Step& step, const Tensors& arguments) const {
  if (is_float_product(step)) {
    return why_float_on_host(executor_, schedule_, runner_.options(), step, arguments);
  }
  std::string reason = why_on_host(step, arguments);
  const auto planned =
      schedule_.executable.plan.on_host.find(static_cast<int>(index_of(executor_, step)));
  if (planned != schedule_.executable.plan.on_host.end()) reason = planned->second;
  if (reason.empty() && runner_.options().precision == Precision::kFloat32) {
    reason = "with --precision float32, the device computes products of float32 alone";
  }
  return reason;
}

void NetworkPass::add_layers(const DeviceProgram& program,
                             const std::vector<LayerReport>& reports) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const DeviceLayer& layer = program.layers[i];
    LayerReport report = reports[i];
    report.program =
        1 + static_cast<std::size_t>(&program - schedule_.executable.plan.programs.data());
    describe_layer(layer, report);
    for (const int node : layer.nodes()) {
      if (node != layer.node) report.vector_nodes.push_back(layer_name(executor_, step(node)));
    }
    layers_.push_back(std::move(report));
  }
}

/// A Linear layer of float32.
Tensors NetworkPass::on_device(const Step& step, const Tensors& arguments) {
  next(schedule_.on_device[index_of(executor_, step)]);
  const auto begin = WallClock::now();
  const Tensor output =
      run_linear(step.context, arguments, [&](const MatrixF& a, const ConstMapF& weights) {
        MatrixF product;
        layers_.push_back(run_float(runner_, runner_.options().precision,
                                    layer_name(executor_, step), a, weights, product, share_));
        return product;
      });
  device_seconds_ += seconds_since(begin);
  return {output};
}

/// A Linear layer of integers whose sums alone the device gives.
Tensors NetworkPass::sums_on_device(const Step& step, const Tensors& arguments) {
  next(schedule_.on_device[index_of(executor_, step)]);
  const std::string name = layer_name(executor_, step);
  RunReport jobs = runner_.report(name, 0);
  const auto product = [&](const MatrixI8& a, const MatrixI8& w) {
    const auto begin = WallClock::now();
    const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
    MatrixI32 sums;
    const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
    const Job job = runner_.job(job_name(executor_, step, jobs.layers.size()), shape);
    jobs.layers.push_back(runner_.run(job, a, w, sums, share_));
    device_seconds_ += seconds_since(begin);
    return sums;
  };
  const Tensors results = compute_sums(step, arguments, product);
  // All products are one layer; where the program is one, each is filled in by itself.
  if (jobs.layers.size() > 1 && !jobs.one_program) {
    const GemmShape& one = jobs.layers[0].shape;
    const ProductSizes all =
        size_of_layer(*step.context.node, {{one.m, one.k, one.n}, jobs.layers.size()});
    jobs.layers = {layer_of(jobs, name, {all.m, all.k, all.n})};
  }
  const auto& sums = schedule_.executable.plan.sums;
  const auto why = sums.find(static_cast<int>(index_of(executor_, step)));
  for (LayerReport& layer : jobs.layers) {
    layer.why_sums =
        why == sums.end() ? "its shape was not known before the network ran" : why->second;
    layers_.push_back(std::move(layer));
  }
  return results;
}

Tensors NetworkPass::instead(const Step& step, const Tensors& arguments) {
  make_room();
  next(schedule_.on_host[index_of(executor_, step)]);
  share_.report(step.context.label, 0);
  const std::optional<Tensors> exact_arguments = at_.exact.arguments(step, arguments);
  const auto store_exact = [&] {
    if (exact_arguments) at_.exact.store(step, compute(*step.info, step.context, *exact_arguments));
  };
  const std::string reason = why_host(step, arguments);
  if (!reason.empty()) {
    add_host_step(step, reason);
    store_exact();
    return {};
  }
  if (!is_float_product(step)) {
    store_exact();
    return sums_on_device(step, arguments);
  }
  // In the file's own arithmetic there is no second value beside it.
  if (!checks_layers() || runner_.options().precision == Precision::kFile) {
    return on_device(step, arguments);
  }
  any_exact_ = true;
  share_.report("float32: " + step.context.label, 1);
  const Tensors wanted =
      compute(*step.info, step.context, exact_arguments ? *exact_arguments : arguments);
  at_.exact.store(step, wanted);
  Tensors found = on_device(step, arguments);
  if (runner_.options().precision == Precision::kInt8) {
    layers_.back().max_abs_error = max_abs_error(as_rows(wanted[0]), as_rows(found[0]));
  }
  return found;
}

void NetworkPass::finish_pass() {
  if (!runner_.options().one_program || runner_.options().finishes_later) return;
  ProgressShare all(progress_);
  all.next(1);
  const auto begin = WallClock::now();
  runner_.finish(layers_, all);
  device_seconds_ += seconds_since(begin);
}

}  // namespace gemm64
