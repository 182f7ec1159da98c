// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "host/graph/onnx/model.hpp"
#include "host/util/error.hpp"
#include "host/util/input_file.hpp"
#include "host/util/output_file.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

/// 64 bits of FNV-1a: files that differ by accident differ in it.
class Fingerprint {
 public:
  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      hash_ = (hash_ ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
    }
  }
  void add_file(const std::string& name) {
    InputFile file(name);
    std::vector<char> buffer(std::size_t{1} << 20);
    while (const std::size_t got = file.read_some(buffer.data(), buffer.size())) {
      add(buffer.data(), got);
    }
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

Provenance provenance_of(const Sweep& sweep, const std::string& file, const std::string& text) {
  Fingerprint of_program, of_sweep;
  of_program.add_file("/proc/self/exe");
  of_sweep.add(text.data(), text.size());
  Provenance provenance{{"the program", of_program.text()}, {file, of_sweep.text()}};
  for (const SweepNetwork& network : sweep.networks) {
    if (!network.is_file()) continue;
    Fingerprint of_network;
    of_network.add_file(network.name);
    ImportOptions import;
    import.shapes_only = true;
    const OnnxModel model = OnnxModel::load(network.name, import);
    for (const std::string& external : model.external_files()) {
      if (fs::exists(external)) of_network.add_file(external);
    }
    provenance.emplace_back(network.name, of_network.text());
  }
  return provenance;
}

fs::path Journal::path_beside(const std::string& output) {
  if (output.empty() || descriptor_named(output)) return {};
  const fs::path target = followed(output);
  std::error_code error;
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) return {};
  return fs::path(target) += ".part";
}

Journal::Journal(fs::path path, const Provenance& provenance, bool resume)
    : path_(std::move(path)) {
  std::error_code error;
  resumed_ = fs::exists(path_, error);
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw UsageError(fmt::format("{}: finished points cannot be written: {}", path_.string(),
                                 std::strerror(errno)));
  }
  try {
    lock();
    if (resumed_) read(provenance);
    if (!rows_.empty() && !resume) {
      throw UsageError(
          fmt::format("{}: {} of an earlier sweep; go on with --resume, or remove the file",
                      path_.string(), counted(rows_.size(), "finished point")));
    }
  } catch (...) {
    close(file_);
    throw;
  }
  empty_ = rows_.empty();
  if (!rows_.empty()) return;
  resumed_ = false;
  if (ftruncate(file_, 0) != 0) rows_.clear();
  Json header = {{"sweep", Json::object()}};
  for (const auto& [name, fingerprint] : provenance) header["sweep"][name] = fingerprint;
  write_line(header.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Journal::~Journal() {
  if (file_ < 0) return;
  if (empty_) remove();
  if (file_ >= 0) close(file_);
}

void Journal::lock() {
  if (flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw UsageError(
      fmt::format("{}: another sweep is writing it; wait for its end", path_.string()));
}

/// Takes the rows; the end of a line that was not finished is cut off.
void Journal::read(const Provenance& provenance) {
  const std::string text = read_file(path_.string(), kMostBytes);
  const auto refuse = [this](const std::string& why) {
    throw UsageError(fmt::format("{}: {}; remove it to start again", path_.string(), why));
  };
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
    if (line.is_discarded() || !line.is_object()) refuse("this is no sweep's");
    if (begin == 0) {
      if (!line.contains("sweep") || !line["sweep"].is_object()) refuse("this is no sweep's");
      for (const auto& [name, fingerprint] : provenance) {
        if (line["sweep"].value(name, "") != fingerprint) {
          refuse(fmt::format("{} has changed since its points were finished", name));
        }
      }
    } else {
      if (!line.contains("point") || !line["point"].is_number_unsigned()) {
        refuse("this is no sweep's");
      }
      rows_[line["point"].get<std::size_t>()] = line;
    }
    begin = end + 1;
  }
  if (begin == text.size()) return;
  if (ftruncate(file_, static_cast<off_t>(begin)) != 0) {
    refuse(fmt::format("it cannot be shortened: {}", std::strerror(errno)));
  }
}

void Journal::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = write(file_, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      throw OutputError(path_.string(), fmt::format("{}: finished points are lost: {}",
                                                    path_.string(), std::strerror(errno)));
    }
    done += static_cast<std::size_t>(put);
  }
}

void Journal::add(const SweepRow& row) {
  write_line(row.dump(-1, ' ', false, Json::error_handler_t::replace));
  empty_ = false;
}

void Journal::remove() {
  std::error_code ignored;
  fs::remove(path_, ignored);
  close(file_);
  file_ = -1;
}

}  // namespace gemm64
