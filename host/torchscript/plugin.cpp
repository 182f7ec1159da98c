// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/plugin.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "host/graph/onnx/model.hpp"
#include "host/torchscript/plugin_interface.h"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr const char* kFileName = "gemm64_torchscript.so";
constexpr const char* kVariable = "GEMM64_TORCHSCRIPT";  // of the environment: names the plug-in
constexpr int kExitPluginUnusable = 100;  // the message is the plug-in's, not the file's
/// Of addresses: several times what a network takes that ONNX can hold. A sanitizer needs more.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GEMM64_ADDRESS_SANITIZER
#endif
#endif
#ifdef GEMM64_ADDRESS_SANITIZER
constexpr rlim_t kAddressBytes = RLIM_INFINITY;
#else
constexpr rlim_t kAddressBytes = rlim_t{16} << 30;
#endif

/// A file in memory that a child process writes and this one reads.
class SharedOutput {
 public:
  SharedOutput() : descriptor_(memfd_create("gemm64 torchscript", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw UsageError(fmt::format("no memory for a file: {}", strerror(errno)));
  }
  ~SharedOutput() { close(descriptor_); }
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  int descriptor() const { return descriptor_; }

  std::string contents() const {
    std::string text(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count =
          pread(descriptor_, text.data() + at, text.size() - at, static_cast<off_t>(at));
      if (count <= 0) throw UsageError("what the TorchScript plug-in made cannot be read");
      at += static_cast<std::size_t>(count);
    }
    return text;
  }

 private:
  int descriptor_;
};

using Outputs = std::array<SharedOutput, GEMM64_TORCHSCRIPT_OUTPUTS>;

bool write_all(int descriptor, const char* bytes, std::size_t size) {
  while (size != 0) {
    const ssize_t count = ::write(descriptor, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

int write_output(void* context, int output, const void* bytes, std::size_t size) {
  const auto& outputs = *static_cast<const Outputs*>(context);
  if (output < 0 || output >= GEMM64_TORCHSCRIPT_OUTPUTS) return 1;
  const int descriptor = outputs[static_cast<std::size_t>(output)].descriptor();
  return write_all(descriptor, static_cast<const char*>(bytes), size) ? 0 : 1;
}

/// The plug-in's half of the interface, or why it cannot be used.
const gemm64_torchscript_plugin* load(const std::filesystem::path& path, std::string& why) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = fmt::format("cannot be loaded: {}", dlerror());
    return nullptr;
  }
  const auto entry =
      reinterpret_cast<gemm64_torchscript_entry>(dlsym(library, GEMM64_TORCHSCRIPT_SYMBOL));
  const gemm64_torchscript_plugin* const plugin = entry == nullptr ? nullptr : entry();
  if (plugin == nullptr) {
    why = "is no plug-in of gemm64's; make -C scripts/models torchscript builds one";
  } else if (plugin->version != GEMM64_TORCHSCRIPT_VERSION) {
    why = fmt::format(
        "speaks version {} of the interface, this program version {}; make -C scripts/models "
        "torchscript builds the "
        "right one",
        plugin->version, GEMM64_TORCHSCRIPT_VERSION);
    return nullptr;
  }
  return plugin;
}

/// The child process: ends with the plug-in's result, or kExitPluginUnusable.
[[noreturn]] void serve(const std::filesystem::path& path, const TorchScriptRequest& request,
                        const Outputs& outputs, pid_t parent) {
  // It shall not outlive the program, nor clean up what is the program's.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitPluginUnusable);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) signal(number, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit addresses{kAddressBytes, kAddressBytes};
  setrlimit(RLIMIT_AS, &addresses);
  // LibTorch warns of what processors lack, and remarks of the network itself are none of ours.
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
  }
  std::string why;
  const gemm64_torchscript_plugin* const plugin = load(path, why);
  if (plugin == nullptr) {
    write_all(outputs[GEMM64_TORCHSCRIPT_MESSAGE].descriptor(), why.data(), why.size());
    _exit(kExitPluginUnusable);
  }
  std::vector<gemm64_torchscript_shape> shapes;
  for (const auto& [name, dims] : request.shapes) {
    shapes.push_back({name.c_str(), dims.data(), dims.size()});
  }
  gemm64_torchscript_request question{};
  question.path = request.path.c_str();
  question.shapes = shapes.data();
  question.shape_count = shapes.size();
  question.with_weights = request.shapes_only ? 0 : 1;
  question.write = write_output;
  question.context = const_cast<Outputs*>(&outputs);
  _exit(plugin->translate(&question) == 0 ? 0 : 1);
}

/// Runs serve() in a child process and returns how that ended, as waitpid() reports.
int serve_apart(const std::filesystem::path& path, const TorchScriptRequest& request,
                const Outputs& outputs) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw UsageError(fmt::format("no process for LibTorch: {}", strerror(errno)));
  if (child == 0) serve(path, request, outputs, parent);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw UsageError("LibTorch's process is lost");
  }
  return status;
}

/// Where the plug-in may lie: next to the program or, where this code is Python's module, in the
/// build folder of build/python/gemm64/_gemm64.so.
std::vector<std::filesystem::path> plugin_folders() {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::filesystem::path> folders{folder, folder / "../lib/gemm64"};
  Dl_info own{};
  if (dladdr(kVariable, &own) != 0 && own.dli_fname != nullptr) {
    const std::filesystem::path file = own.dli_fname;
    if (file.extension() == ".so") folders.push_back(file.parent_path() / "../..");
  }
  return folders;
}

}  // namespace

std::filesystem::path find_torchscript_plugin(const std::string& file) {
  const char* const named = std::getenv(kVariable);
  if (named != nullptr && *named != '\0') return named;
  std::error_code error;
  for (const std::filesystem::path& folder : plugin_folders()) {
    const std::filesystem::path path = folder / kFileName;
    if (std::filesystem::exists(path, error)) return path.lexically_normal();
  }
  throw UsageError(
      fmt::format("{}: TorchScript files need the plug-in {}, which is neither next to the program "
                  "nor named by "
                  "{}; make -C scripts/models torchscript builds it",
                  printable(file), kFileName, kVariable));
}

TorchScriptAnswer ask_torchscript_plugin(const std::filesystem::path& plugin,
                                         const TorchScriptRequest& request) {
  const Outputs outputs;
  const int status = serve_apart(plugin, request, outputs);
  const std::string file = printable(request.path);
  if (WIFSIGNALED(status)) {
    throw UsageError(fmt::format("{}: LibTorch crashed over it ({}); is the file damaged?", file,
                                 strsignal(WTERMSIG(status))));
  }
  const std::string message = printable(outputs[GEMM64_TORCHSCRIPT_MESSAGE].contents(), 1000);
  if (WEXITSTATUS(status) == kExitPluginUnusable) {
    throw UsageError(fmt::format("{}: {}", printable(plugin.string()), message));
  }
  if (WEXITSTATUS(status) != 0) {
    throw UsageError(
        fmt::format("{}: {}", file, message.empty() ? "LibTorch gave up without a word" : message));
  }
  return {outputs[GEMM64_TORCHSCRIPT_MODEL].contents(),
          outputs[GEMM64_TORCHSCRIPT_MODULES].contents()};
}

}  // namespace gemm64
