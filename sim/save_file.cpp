// SPDX-License-Identifier: Apache-2.0
#include "sim/save_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/error.hpp"
#include "sim/fst_file.hpp"
#include "sim/view_fitting.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeOfClock = 2;  // ns of a clock in a trace
constexpr int kMarkers = 26;     // 'A' to 'Z'

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
  return line.substr(0, path + 1) + GEMM64_WAVES_DIR + line.substr(path + std::strlen(" waves"));
}

/// `*zoom primary A B ... Z`, then a line for the name of each marker.
std::string position_lines(const std::string& view_line, const SaveFileOptions& options) {
  std::vector<long long> times(1 + kMarkers, -1);
  std::string names;
  for (const WaveMarker& marker : options.markers) {
    const int index = marker.letter - 'A';
    if (index < 0 || index >= kMarkers) continue;
    const auto time = static_cast<long long>(kTimeOfClock * marker.clock);
    times[static_cast<std::size_t>(1 + index)] = time;
    if (index == 0) times[0] = time;
    if (!marker.name.empty()) {
      names += std::string("[markername] ") + marker.letter + marker.name + "\n";
    }
  }
  std::ostringstream line;
  line << '*' << (options.zoom ? *options.zoom : std::strtod(&view_line[1], nullptr));
  for (const long long time : times) line << ' ' << time;
  return line.str() + "\n" + names;
}

/// The first clock, from `from` on, in which the signal is 1 that the view names as its start;
/// `from` where there is none.
std::uint64_t start_of_view(const std::vector<std::string>& view, const std::string& fst_file,
                            std::uint64_t from) {
  static const char* const kStart = "[*] start: ";
  for (const std::string& line : view) {
    if (!starts_with(line, kStart)) continue;
    const auto time =
        fst_first_one(fst_file, line.substr(std::strlen(kStart)), kTimeOfClock * from);
    return time ? (*time + kTimeOfClock - 1) / kTimeOfClock : from;
  }
  return from;
}

/// Writes beside the file and renames, so that nobody ever sees half of it.
void write_whole(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  bool written = false;
  if (std::FILE* const file = std::fopen(beside.c_str(), "w")) {
    const bool all = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && all && std::rename(beside.c_str(), path.c_str()) == 0;
  }
  if (written) return;
  const int reason = errno;
  std::remove(beside.c_str());
  throw UsageError("cannot write the save file " + path + ": " + std::strerror(reason));
}

}  // namespace

std::string view_file(const std::string& view) {
  const fs::path waves(GEMM64_WAVES_DIR);
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
  throw UsageError("no view is called '" + view + "'; there are " +
                   (list.empty() ? "none in " + waves.string() : list));
}

void write_save_file(const std::string& view_file, const std::string& fst_file,
                     const std::string& save_file, const SaveFileOptions& options) {
  const std::vector<std::string> view = read_lines(view_file);
  const std::uint64_t first_clock = start_of_view(view, fst_file, options.first_clock.value_or(0));
  std::ostringstream text;
  text << "[*] From " << fs::path(view_file).filename().string() << ", fitted to this waveform.\n"
       << "[dumpfile] \"" << fs::absolute(fst_file).string() << "\"\n"
       << "[savefile] \"" << fs::absolute(save_file).string() << "\"\n";
  for (const std::string& line : ViewFitting(fst_signals(fst_file)).fit(view)) {
    if (starts_with(line, "[*]") || starts_with(line, "[dumpfile") ||
        starts_with(line, "[savefile]") || starts_with(line, "[markername")) {
      continue;
    }
    if (starts_with(line, "[timestart]")) {
      // A view's own start is counted from the first clock to show.
      const long long start = std::atoll(&line[std::strlen("[timestart]")]) +
                              static_cast<long long>(kTimeOfClock * first_clock);
      text << "[timestart] " << std::max(start, 0LL) << "\n";
    } else if (line[0] == '*') {
      text << position_lines(line, options);
    } else {
      text << with_absolute_filter(line) << "\n";
    }
  }
  write_whole(save_file, text.str());
}

}  // namespace gemm64
