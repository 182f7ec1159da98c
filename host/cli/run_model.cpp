// SPDX-License-Identifier: Apache-2.0
#include "host/cli/run_model.hpp"

#include <memory>

#include "host/cli/session.hpp"
#include "host/execute/dump.hpp"
#include "host/execute/network_input.hpp"
#include "host/execute/network_run.hpp"
#include "host/execute/npy.hpp"
#include "host/report/progress.hpp"

namespace gemm64 {
namespace {

std::uint64_t batch_of(const OnnxModel& model, const NamedTensors& inputs) {
  const std::vector<std::string> names = model.inputs();
  if (names.empty() || inputs.at(names[0]).rank() == 0) return 1;
  return static_cast<std::uint64_t>(inputs.at(names[0]).dim(0));
}

}  // namespace

int run_model(const ModelOptions& options, const CommonOptions& common) {
  const std::unique_ptr<OutputFile> json = open_json(common.json);
  const std::unique_ptr<OutputFile> output = open_json(options.output);
  Session session(common, "run", {{"model", options.model}, {"inputs", options.inputs}});
  ProgressBar bar;
  bar.show("reading " + options.model, 0);
  ImportOptions import;
  import.batch = common.batch;
  const OnnxModel model = OnnxModel::load(options.model, import);
  const Executor executor(model);
  const ActivationDump dump(options.dumps, executor);
  const NamedTensors inputs = make_inputs(model, options.inputs, common.batch, common.seed);

  RunReport report;
  report.model = std::filesystem::path(options.model).filename().string();
  report.device = "host";
  report.precision = common.precision;
  report.batch = batch_of(model, inputs);
  const RunProgress progress = [&bar](const std::string& name, double done) {
    bar.show(name, done);
  };
  NetworkRun run;
  // The reference device has no time and would only cut into slices what float32 can do itself.
  if (common.device == "reference" && common.precision == Precision::kFloat32) {
    run = run_on_host(executor, inputs, report, dump, progress);
  } else {
    Driver driver(session.device());
    Runner runner(session.device(), driver, session.run_options(), progress);
    run = run_network(executor, inputs, runner, runner.report(report.model, report.batch), dump,
                      progress);
    run.report.failure = runner.failure();
  }
  bar.erase();
  if (output && model.graph().output_size() > 0) {
    save_tensor(*output, run.outputs.at(model.graph().output(0).name()));
  }
  const int code = finish_report(run.report, common, json.get());
  session.finish();
  return code;
}

}  // namespace gemm64
