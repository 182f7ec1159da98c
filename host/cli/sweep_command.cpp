// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/report/page/page.hpp"
#include "host/report/progress.hpp"
#include "host/sweep/before_end.hpp"
#include "host/sweep/front.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/selection.hpp"
#include "host/sweep/sweep_plot.hpp"
#include "host/sweep/sweep_runner.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/input_file.hpp"
#include "host/util/interrupt.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/text.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;  // of a sweep's file
constexpr std::int64_t kMostRows = 1 << 30;

struct SweepCommand {
  std::string file;
  std::string csv, json, plot;
  unsigned jobs = 0;
  bool resume = false;
  RowSelection selection;
  std::vector<std::string> objectives;
};

/// Rows by point, as they are finished.
struct FinishedRows {
  std::mutex mutex;
  std::map<std::size_t, SweepRow> by_point;

  std::vector<SweepRow> in_order() const {
    std::vector<SweepRow> rows;
    for (const auto& [point, row] : by_point) rows.push_back(row);
    return rows;
  }
};

/// Rows of another sweep are worth more than a name.
void check_new(const std::string& option, const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return;
  if (std::filesystem::file_size(path, error) == 0) return;
  throw UsageError(
      fmt::format("{} {}: the file is there already; remove it, or name another", option, path));
}

/// What is lost when the journal cannot be written is found at its first row, and reported once.
class Keeper {
 public:
  Keeper(const SweepCommand& options, const Sweep& sweep, const std::string& text) {
    for (const std::string& output : {options.csv, options.json}) {
      if (path_.empty()) path_ = Journal::path_beside(output);
    }
    if (path_.empty()) {
      if (!options.resume) return;
      throw UsageError("--resume goes on from the points that --csv FILE or --json FILE kept");
    }
    journal_ =
        std::make_unique<Journal>(path_, provenance_of(sweep, options.file, text), options.resume);
  }

  const std::filesystem::path& path() const { return path_; }
  bool resumed() const { return journal_ && journal_->resumed(); }
  std::map<std::size_t, SweepRow> rows() const {
    return journal_ ? journal_->rows() : std::map<std::size_t, SweepRow>();
  }
  void add(const SweepRow& row) {
    if (journal_ && !lost_) lost_ = !keep_going([&] { journal_->add(row); });
  }
  void remove() {
    if (journal_) journal_->remove();
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<Journal> journal_;
  bool lost_ = false;
};

void finish_points(SweepRunner& runner, const SweepCommand& options, Keeper& keeper,
                   FinishedRows& rows) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < runner.sweep().size(); ++i) {
    if (rows.by_point.count(i) == 0) missing.push_back(i);
  }
  std::optional<ProgressBar> bar;
  const BeforeEnd before_end([&] {
    const std::lock_guard<std::mutex> lock(rows.mutex);
    if (bar) bar->erase();
    const std::string finished = fmt::format("with {} of {} finished", rows.by_point.size(),
                                             counted(runner.sweep().size(), "point"));
    if (keeper.path().empty()) {
      const std::vector<SweepRow> done = with_front(rows.in_order());
      print_report(rows_table(done, terminal_width(), varied_keys(done)));
      note_finished_last(finished);
    } else {
      note_finished_last(
          fmt::format("{}, which {} has; --resume goes on", finished, keeper.path().string()));
    }
  });
  {
    const std::lock_guard<std::mutex> lock(rows.mutex);
    bar.emplace();  // has a thread
  }
  bar->show("planning", 0);
  const std::vector<double> costs = runner.check();
  run_points(
      runner, missing, jobs_or_cores(options.jobs), costs,
      [&](std::size_t point, SweepRow row) {
        const std::lock_guard<std::mutex> lock(rows.mutex);
        keeper.add(row);
        rows.by_point[point] = std::move(row);
      },
      [&bar](const std::string& name, double done) { bar->show(name, done); });
}

int run_sweep(const SweepCommand& options) {
  ClaimedFiles files;
  files.input("the sweep", options.file);
  files.output("--csv", options.csv);
  files.output("--json", options.json);
  need_charts("--plot", options.plot);
  files.output("--plot", options.plot);
  const std::string text = read_file(options.file, kMostBytes);
  SweepRunner runner(parse_sweep(text, options.file), devices());
  // Unknown columns are refused before anything runs.
  selected(with_front({make_row(runner.sweep(), 0, RunReport())}, options.objectives),
           options.selection);
  for (const SweepNetwork& network : runner.sweep().networks) {
    if (network.is_file()) files.input("a network", network.name);
  }
  Keeper keeper(options, runner.sweep(), text);
  if (!keeper.resumed()) {
    check_new("--csv", options.csv);
    check_new("--json", options.json);
    check_new("--plot", options.plot);
  }
  const std::unique_ptr<OutputFile> csv = open_output(options.csv);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<OutputFile> plot = open_output(options.plot);
  FinishedRows finished;
  finished.by_point = keeper.rows();
  finish_points(runner, options, keeper, finished);
  const std::vector<SweepRow> rows = with_front(finished.in_order(), options.objectives);
  const std::vector<SweepRow> shown = selected(rows, options.selection);
  bool written = true;
  const auto write = [&](const std::unique_ptr<OutputFile>& file, const auto& contents) {
    if (file && !keep_going([&] { file->write(contents()); })) written = false;
  };
  write(csv, [&] { return rows_csv(shown); });
  write(json, [&] { return rows_json(rows); });
  RowSelection drawn;  // a plot of the best few says nothing of the others
  drawn.where = options.selection.where;
  write(plot, [&] {
    return page(
        {{}, {}, nullptr, sweep_plot(selected(rows, drawn), options.file, options.objectives)});
  });
  if (written) keeper.remove();
  if (!csv || !options.selection.empty())
    print_report(rows_table(shown, terminal_width(), varied_keys(rows)));
  if (shown.size() != rows.size()) {
    print_report("{} of {} shown.\n", shown.size(), counted(rows.size(), "point"));
  }
  print_report("{}\n", rows_verdict(rows));
  return std::any_of(rows.begin(), rows.end(), has_failed) ? 1 : 0;
}

constexpr const char* kExample = R"(FILE is JSON. A list is crossed with all others:

  {
    "mode": "predict",                        or "run", on "device": "rtl" (the default) or "tlm"
    "networks": ["alexnet", "net.onnx", "64x9216x4096"],
    "batches": [1, 16],                       of a product MxKxN: times M
    "designs": {"array": [32, 64], "memory_latency": [50, 100, 200]}
  }

Keys of a design, all optional: array, scratchpad_words, accumulator_rows, tensor_words (of the
scratchpad), weight_tiles, parameter_sets, memory ("independent", "shared", "exclusive"),
memory_bytes_per_cycle (0: a port's width), memory_latency. "designs" may be a list of such objects,
one after the other. "seed" is that of weights and inputs (default 1).
"quantize": true quantizes float ONNX files; otherwise only their Linear layers are the device's.
Relative paths start at the working directory.

Exit codes: 0 every point held, 1 one did not, 2 bad usage or input, 3 an output was lost.)";

}  // namespace

void add_sweep_command(CLI::App& app, int& result) {
  auto options = std::make_shared<SweepCommand>();
  CLI::App* command = app.add_subcommand(
      "sweep", "designs x networks x batches, predicted or run: cycles, utilization and bytes");
  command->add_option("file", options->file, "the sweep")->required();
  command->add_option("--csv", options->csv, "writes a line a point to this file, not a table");
  command->add_option("--json", options->json, "writes all figures to this file");
  command->add_option(
      "--plot", options->plot,
      "writes charts to this HTML file: cycles over cost, or the first of two --objectives over "
      "the second, and each design's cycles, utilization and bytes");
  command
      ->add_option("--jobs", options->jobs,
                   "points to run in parallel; results do not depend on it (default: one a core)")
      ->transform(whole_number(1, 1024));
  command->add_flag("--resume", options->resume,
                    "goes on from the points that an earlier sweep to the same --csv or --json "
                    "had finished, saved in FILE.part");
  RowSelection& selection = options->selection;
  command->add_option("--where", selection.where,
                      "shows points that meet this, as array=64 or cycles<=100000 (repeatable)");
  command->add_option("--sort-by", selection.sort_by,
                      "sorts the table and --csv by this column, the best first");
  command->add_flag("--reverse", selection.reverse, "the worst first");
  command->add_option("--top", selection.top, "shows at most N points")
      ->transform(whole_number(0, kMostRows));
  command
      ->add_option("--objectives", options->objectives,
                   "columns that the Pareto front weighs, as cycles,array; less is better, but for "
                   "utilizations (default: cycles against array, buffers and memory)")
      ->delimiter(',');
  add_progress_option(*command);
  command->footer(kExample);
  command->callback([options, &result] {
    result = run_in_child(options->file, [&] { return run_sweep(*options); });
  });
}

}  // namespace gemm64
