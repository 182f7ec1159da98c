// SPDX-License-Identifier: Apache-2.0
#include "host/ort/analysis.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <string>

#include "host/ort/library.hpp"

namespace gemm64::ort {
namespace {

/// A file in memory, by a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("gemm64 analysis", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(ORT_FAIL, "no file in memory can be made");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  const int descriptor_;
};

/// Bounds the memory that constants of a file may need, as long as it exists. ONNX Runtime leaves
/// those uncomputed that it has none for.
class MemoryBound {
 public:
  MemoryBound() : lock_(mutex()) {
    constexpr std::uint64_t kMost = std::uint64_t{2} << 30;
    std::uint64_t pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages)) return;
    const std::uint64_t most = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kMost;
    if (getrlimit(RLIMIT_AS, &before_) != 0 || before_.rlim_cur <= most) return;
    rlimit bound = before_;
    bound.rlim_cur = most;
    is_set_ = setrlimit(RLIMIT_AS, &bound) == 0;
  }
  ~MemoryBound() {
    if (is_set_) setrlimit(RLIMIT_AS, &before_);
  }
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  const std::lock_guard<std::mutex> lock_;
  rlimit before_{};
  bool is_set_ = false;
};

std::atomic<std::uint64_t> analyzed{0};

}  // namespace

std::uint64_t analyses() { return analyzed; }

onnx::ModelProto analyze(const onnx::ModelProto& model) {
  ++analyzed;
  static const Environment& environment = *new Environment(own_library());  // sessions share it
  const MemoryFile file;
  SessionOptions options(environment);
  options.set_log_level(ORT_LOGGING_LEVEL_FATAL);  // errors are exceptions
  options.set_optimization(ORT_ENABLE_BASIC);
  options.set_optimized_file(file.path());
  options.set_threads(1);
  std::string bytes;
  if (!model.SerializeToString(&bytes)) throw Error(ORT_FAIL, "the model exceeds 2 GiB");
  const auto open = [&] { const Session session(environment, std::string_view(bytes), options); };
  if (is_in_other_program()) {  // whose ONNX Runtime has computed the constants before
    open();
  } else {
    const MemoryBound bound;
    open();
  }
  onnx::ModelProto made;
  if (lseek(file.descriptor(), 0, SEEK_SET) != 0 ||
      !made.ParseFromFileDescriptor(file.descriptor())) {
    throw Error(ORT_FAIL, "the optimized model cannot be read");
  }
  return made;
}

}  // namespace gemm64::ort
