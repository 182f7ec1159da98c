// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "host/util/error.hpp"
#include "host/util/file_kind.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// Two zero bytes, the element type, the number of dimensions; then the dimensions as big-endian
// 32-bit numbers, then the data.
constexpr std::uint32_t kUnsignedBytes = 0x00000800;
constexpr std::uint64_t kMaxItem = std::uint64_t{1} << 26;  // bytes
constexpr std::uint64_t kMaxKept = std::uint64_t{1} << 30;

}  // namespace

/// zlib's file, read from front to end; it passes on what is not compressed.
class IdxFile::Stream {
 public:
  explicit Stream(const IdxFile& file) : of_(file), file_(gzopen(file.path_.c_str(), "rb")) {
    if (file_ == nullptr) of_.fail(std::string("cannot open it: ") + std::strerror(errno));
  }
  ~Stream() { gzclose_r(file_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Reads exactly `bytes`; `part` names them where the file ends too early.
  void read(std::uint8_t* data, std::size_t bytes, const char* part) {
    const std::size_t got = read_some(data, bytes);
    if (got == bytes) return;
    of_.fail(fmt::format("truncated: it ends {} before the end of its {}",
                         counted(bytes - got, "byte"), part));
  }

  /// Reads past the last byte, where zlib compares the checksum.
  void require_end() {
    std::uint8_t extra = 0;
    if (read_some(&extra, 1) != 0) of_.fail("it continues after the data that its header promises");
  }

 private:
  std::size_t read_some(std::uint8_t* data, std::size_t bytes) {
    const int got = gzread(file_, data, static_cast<unsigned>(bytes));
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    if (code == Z_BUF_ERROR) of_.fail("truncated: the compressed data end too early");
    if (code == Z_ERRNO) of_.fail(std::string("cannot read it: ") + std::strerror(errno));
    if (got < 0 || code != Z_OK) of_.fail(std::string("cannot read it: ") + message);
    return static_cast<std::size_t>(got);
  }

  const IdxFile& of_;
  gzFile file_;
};

bool is_idx_file(const std::filesystem::path& path) {
  const std::string head = file_head(path);
  if (head.size() < 4) return false;
  const auto byte = [&head](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  return (byte(0) == 0x1f && byte(1) == 0x8b) ||
         (byte(0) == 0 && byte(1) == 0 && byte(2) >= 8 && byte(2) <= 14);
}

IdxFile::IdxFile(const std::filesystem::path& path, std::size_t rank, std::string remedy)
    : path_(path.string()), remedy_(std::move(remedy)), stream_(std::make_unique<Stream>(*this)) {
  const std::uint32_t wanted = kUnsignedBytes | static_cast<std::uint32_t>(rank);
  const std::uint32_t magic = read_number();
  if (magic != wanted) {
    fail(fmt::format("its magic number is 0x{:08x}, not 0x{:08x} ({}-dimensional array of bytes)",
                     magic, wanted, rank));
  }
  for (std::size_t i = 0; i < rank; ++i) dims_.push_back(read_number());
}

IdxFile::~IdxFile() = default;

void IdxFile::fail(const std::string& what) const {
  throw UsageError(path_ + ": " + what + remedy_);
}

std::uint32_t IdxFile::read_number() {
  std::array<std::uint8_t, 4> bytes{};
  stream_->read(bytes.data(), bytes.size(), "header");
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

std::vector<std::uint8_t> IdxFile::read(std::size_t items) {
  std::uint64_t bytes = 1;
  for (std::size_t i = 1; i < dims_.size() && bytes <= kMaxItem; ++i) bytes *= dims_[i];
  if (bytes == 0 || bytes > kMaxItem) {
    fail(fmt::format("its items are of {}; 1 to {} are possible",
                     bytes == 0 ? "0 bytes" : "too many bytes", kMaxItem));
  }
  std::vector<std::uint8_t> kept;
  std::vector<std::uint8_t> item(bytes);
  for (std::uint32_t i = 0; i < dims_[0]; ++i) {
    stream_->read(item.data(), bytes, "data");
    if (i >= items) continue;
    if (kept.size() + bytes > kMaxKept) {
      fail(fmt::format("its first {} items have more than {} bytes", items, kMaxKept));
    }
    kept.insert(kept.end(), item.begin(), item.end());
  }
  stream_->require_end();
  return kept;
}

}  // namespace gemm64
