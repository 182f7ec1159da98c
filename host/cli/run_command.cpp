// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/models/network.hpp"
#include "host/report/progress.hpp"

namespace gemm64 {
namespace {

struct RunCommand : CommonOptions {
  std::string network = "alexnet";
  std::string data = kFashionMnistFolder;
};

int run(const RunCommand& options) {
  const std::unique_ptr<OutputFile> json = open_json(options.json);
  const std::unique_ptr<Device> device = make_device(options);
  Driver driver(*device);
  ProgressBar bar;
  bar.show("preparing " + options.network, 0);
  const Workload workload = make_workload(options.network, static_cast<std::size_t>(options.batch),
                                          options.seed, options.data);
  Runner runner(*device, driver, options.run_options(),
                [&bar](const std::string& name, double done) { bar.show(name, done); });
  const RunReport report = runner.network(workload);
  bar.erase();
  return finish_report(report, options, json.get());
}

}  // namespace

void add_run_command(CLI::App& app, int& result) {
  auto options = std::make_shared<RunCommand>();
  options->batch = 64;
  CLI::App* command = app.add_subcommand(
      "run", "runs a network's Linear layers on a device and checks every value, clock and byte");
  command->add_option("network", options->network, "alexnet")->capture_default_str();
  command->add_option("--data", options->data, "folder of the Fashion-MNIST images")
      ->capture_default_str();
  add_common_options(*command, *options);
  command->callback([options, &result] { result = run(*options); });
}

}  // namespace gemm64
