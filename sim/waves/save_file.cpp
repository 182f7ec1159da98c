// SPDX-License-Identifier: Apache-2.0
#include "sim/waves/save_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "host/util/error.hpp"
#include "host/util/output_file.hpp"
#include "sim/waves/cycle_time.hpp"
#include "sim/waves/fst_file.hpp"
#include "sim/waves/surfer_files.hpp"
#include "sim/waves/view_fitting.hpp"

namespace gemm64 {
namespace {

/// Of the sources, unless the program stands elsewhere.
std::string& waves_folder() {
  static std::string folder = GEMM64_WAVES_DIR;
  return folder;
}

namespace fs = std::filesystem;

constexpr int kMarkers = 26;  // 'A' to 'Z'

bool starts_with(const std::string& line, const char* with) { return line.rfind(with, 0) == 0; }

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read the view " + path + ": " + std::strerror(errno));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The filters' files by absolute paths: GTKWave looks for them from where it was started.
std::string with_absolute_filter(const std::string& line) {
  const std::size_t path = line.find(" waves/");
  if (line[0] != '^' || path == std::string::npos) return line;
  return line.substr(0, path + 1) + waves_folder() + line.substr(path + std::strlen(" waves"));
}

/// `*zoom primary A B ... Z`, then a line for the name of each marker.
std::string position_lines(const std::string& view_line, const SaveFileOptions& options) {
  std::vector<long long> times(1 + kMarkers, -1);
  std::string names;
  for (const WaveMarker& marker : options.markers) {
    const int index = marker.letter - 'A';
    if (index < 0 || index >= kMarkers) continue;
    const auto time = static_cast<long long>(kTimeOfCycle * marker.clock);
    times[static_cast<std::size_t>(1 + index)] = time;
    if (index == 0) times[0] = time;
    if (!marker.name.empty()) {
      names += std::string("[markername] ") + marker.letter + marker.name + "\n";
    }
  }
  std::ostringstream line;
  // At zoom z GTKWave draws a unit of time 200 * 2^z pixels wide; some 1000 are there.
  line << '*'
       << (options.cycles ? std::log2(5.0 / static_cast<double>(kTimeOfCycle * *options.cycles))
                          : std::strtod(&view_line[1], nullptr));
  for (const long long time : times) line << ' ' << time;
  return line.str() + "\n" + names;
}

/// The first cycle, from `from` on, in which the signal is 1 that the view names as its start;
/// `from` where there is none.
std::uint64_t start_of_view(const std::vector<std::string>& view, const std::string& fst_file,
                            std::uint64_t from) {
  static const char* const kStart = "[*] start: ";
  for (const std::string& line : view) {
    if (!starts_with(line, kStart)) continue;
    const auto time =
        fst_first_one(fst_file, line.substr(std::strlen(kStart)), kTimeOfCycle * from);
    return time ? (*time + kTimeOfCycle - 1) / kTimeOfCycle : from;
  }
  return from;
}

/// The time at the left edge, for a view whose own is `line`, counted from its first cycle to show.
long long start_time(const std::string& line, const std::vector<std::string>& view,
                     const std::string& fst_file, const SaveFileOptions& options) {
  if (options.left_clock) return static_cast<long long>(kTimeOfCycle * *options.left_clock);
  const std::uint64_t first_clock = start_of_view(view, fst_file, options.first_clock.value_or(0));
  const long long offset = std::atoll(&line[std::strlen("[timestart]")]);
  return std::max(offset + static_cast<long long>(kTimeOfCycle * first_clock), 0LL);
}

/// Letters of the longest word that a filter shows; a line is "VALUE ?COLOR?WORD".
std::size_t filter_letters(const std::string& file) {
  std::size_t letters = 0;
  for (const std::string& line : read_lines(file)) {
    const std::size_t word = line.find(' ') + 1;  // 0: none
    const std::size_t color = word != 0 && line[word] == '?' ? line.find('?', word + 1) : word - 1;
    letters = std::max(letters, line.size() - std::min(line.size(), color + 1));
  }
  return letters;
}

/// Pixels of the pane of names: GTKWave right-aligns all names and writes "=value" after them.
std::size_t names_width(const std::vector<std::string>& lines,
                        const std::vector<WaveTrace>& traces) {
  constexpr std::size_t kLetter = 9, kNumber = 11, kWord = 16, kLeast = 200, kMost = 560;
  std::size_t name = 0, value = kNumber;
  for (const std::string& line : lines) {
    const std::size_t end = line.find('}');
    if (line[0] == '^') {
      const std::string file = with_absolute_filter(line).substr(line.find(' ') + 1);
      value = std::max(value, std::min(kWord, filter_letters(file)));
    } else if (line[0] == '-') {
      name = std::max(name, line.size() + 1);  // "name {"
    } else if ((line[0] == '+' || line[0] == '#') && end != std::string::npos) {
      name = std::max(name, end - 2);
    }
  }
  for (const WaveTrace& trace : traces) name = std::max(name, trace.label.size());
  return std::clamp(kLetter * (name + 1 + value) + kLetter, kLeast, kMost);
}

/// A group of the traces that the waveform has; nothing where it has none.
std::string trace_lines(const SaveFileOptions& options,
                        const std::map<std::string, std::string>& signals) {
  std::string lines;
  for (const WaveTrace& trace : options.traces) {
    const auto found = signals.find(trace.signal);
    if (found == signals.end() || found->second.empty()) continue;
    const std::string name = trace.signal + found->second;
    const int left = std::atoi(&found->second[1]);
    if (trace.low == 0 && trace.bits == left + 1) {
      lines += "+{" + trace.label + "} " + name + "\n";
      continue;
    }
    if (trace.low + trace.bits > left + 1) continue;
    lines += "#{" + trace.label + "}";
    for (int bit = trace.low + trace.bits - 1; bit >= trace.low; --bit) {
      lines += " (" + std::to_string(left - bit) + ")" + name;
    }
    lines += "\n";
  }
  if (lines.empty()) return "";
  // The flags: a group begins; signed decimals; it ends.
  return "@800200\n-" + options.title + "\n@420\n" + lines + "@1000200\n-" + options.title + "\n";
}

}  // namespace

std::string surfer_state_of(const std::string& save_file) {
  return fs::path(save_file).replace_extension(".surf.ron").string();
}

std::string surfer_commands_of(const std::string& save_file) {
  return fs::path(save_file).replace_extension(".sucl").string();
}

void set_waves_folder(const std::string& folder) { waves_folder() = folder; }

std::string view_file(const std::string& view) {
  const fs::path waves(waves_folder());
  std::vector<std::string> known;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(waves, unreadable)) {
    if (entry.path().extension() == ".gtkw") known.push_back(entry.path().stem().string());
  }
  if (std::find(known.begin(), known.end(), view) != known.end()) {
    return (waves / (view + ".gtkw")).string();
  }
  std::sort(known.begin(), known.end());
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  throw UsageError("no view is called '" + view + "'; " +
                   (list.empty() ? "there are none in " + waves.string() : "use one of " + list));
}

void write_save_file(const std::string& view_file, const std::string& fst_file,
                     const std::string& save_file, const SaveFileOptions& options) {
  const std::vector<std::string> view = read_lines(view_file);
  std::ostringstream text;
  text << "[*] From " << fs::path(view_file).filename().string() << ", fitted to this waveform.\n"
       << "[dumpfile] \"" << fs::absolute(fst_file).string() << "\"\n"
       << "[savefile] \"" << fs::absolute(save_file).string() << "\"\n";
  const std::map<std::string, std::string> signals = fst_signals(fst_file);
  std::string traces = trace_lines(options, signals);
  const std::vector<std::string> fitted = ViewFitting(signals).fit(view);
  for (const std::string& line : fitted) {
    if (starts_with(line, "[*]") || starts_with(line, "[dumpfile") ||
        starts_with(line, "[savefile]") || starts_with(line, "[markername")) {
      continue;
    }
    if (starts_with(line, "[timestart]")) {
      text << "[timestart] " << start_time(line, view, fst_file, options) << "\n";
    } else if (starts_with(line, "[signals_width]")) {
      text << "[signals_width] " << names_width(fitted, options.traces) << "\n";
    } else if (line[0] == '*') {
      text << position_lines(line, options);
    } else if (line[0] == '@') {
      text << traces << line << "\n";
      traces.clear();
    } else {
      text << with_absolute_filter(line) << "\n";
    }
  }
  OutputFile(save_file, "the save file").write(text.str());
  const SurferFiles surfer =
      surfer_files(text.str(), fs::absolute(fst_file).string(), fst_end(fst_file));
  OutputFile(surfer_state_of(save_file), "Surfer's state file").write(surfer.state);
  OutputFile(surfer_commands_of(save_file), "Surfer's command file").write(surfer.commands);
}

}  // namespace gemm64
