// SPDX-License-Identifier: Apache-2.0
#include "host/images/fashion_mnist.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "host/error.hpp"

namespace gemm64 {
namespace {

// IDX: two zero bytes, the element type (8: unsigned byte), the number of dimensions, then the
// dimensions as big-endian 32-bit numbers, then the data.
constexpr std::uint32_t kImagesMagic = 0x00000803;
constexpr std::uint32_t kLabelsMagic = 0x00000801;
constexpr std::uint32_t kImageSide = 28;
constexpr std::uint8_t kLargestLabel = 9;
constexpr const char* kRemedy =
    "; Debian's package dataset-fashion-mnist installs a good one in "
    "/usr/share/datasets/fashion-mnist";

std::string hexadecimal(std::uint32_t value) {
  std::string digits = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(value >> shift) & 15u];
  return digits;
}

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};

// A gzip file read from front to end. Every failure is a UsageError that names the file.
class GzipReader {
 public:
  explicit GzipReader(const std::filesystem::path& path)
      : path_(path.string()), file_(gzopen(path_.c_str(), "rb")) {
    if (file_ == nullptr) fail(std::string("cannot open it: ") + std::strerror(errno));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(path_ + ": " + what + kRemedy);
  }

  // Reads exactly `bytes`; `part` names them where the file ends too early.
  void read(std::uint8_t* data, std::size_t bytes, const char* part) {
    const std::size_t got = read_some(data, bytes);
    if (got != bytes) {
      fail("truncated: it ends " + std::to_string(bytes - got) + " bytes before the end of its " +
           part);
    }
  }

  std::uint32_t read_number(const char* part) {
    std::array<std::uint8_t, 4> bytes{};
    read(bytes.data(), bytes.size(), part);
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
  }

  // Reads past the last byte, where zlib compares the checksum.
  void require_end() {
    std::uint8_t extra = 0;
    if (read_some(&extra, 1) != 0) fail("it continues after the data that its header promises");
  }

 private:
  std::size_t read_some(std::uint8_t* data, std::size_t bytes) {
    const int got = gzread(file_.get(), data, static_cast<unsigned>(bytes));
    if (gzdirect(file_.get()) != 0) fail("not a gzip file");
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) fail("truncated: the compressed data end too early");
    if (got < 0 || code != Z_OK) fail(std::string("cannot read it: ") + message);
    return static_cast<std::size_t>(got);
  }

  std::string path_;
  std::unique_ptr<gzFile_s, CloseGz> file_;
};

std::uint32_t read_magic_and_count(GzipReader& reader, std::uint32_t magic, std::size_t wanted) {
  const std::uint32_t found = reader.read_number("header");
  if (found != magic) {
    reader.fail("its magic number is " + hexadecimal(found) + ", not " + hexadecimal(magic));
  }
  const std::uint32_t held = reader.read_number("header");
  if (wanted == 0 || wanted > held) {
    throw UsageError("a batch of " + std::to_string(wanted) +
                     " images is not possible: Fashion-MNIST's test set has " +
                     std::to_string(held) + "; ask for 1 to " + std::to_string(held));
  }
  return held;
}

// Reads `held` items of `item_bytes` and keeps the first `wanted`. Memory grows with what was
// really read, whatever the header says.
std::vector<std::uint8_t> read_items(GzipReader& reader, std::uint32_t held, std::size_t item_bytes,
                                     std::size_t wanted) {
  std::vector<std::uint8_t> kept;
  std::vector<std::uint8_t> item(item_bytes);
  for (std::uint32_t i = 0; i < held; ++i) {
    reader.read(item.data(), item_bytes, "data");
    if (i < wanted) kept.insert(kept.end(), item.begin(), item.end());
  }
  reader.require_end();
  return kept;
}

}  // namespace

GreyImages read_fashion_mnist_images(std::size_t count, const std::filesystem::path& folder) {
  GzipReader reader(folder / "t10k-images-idx3-ubyte.gz");
  const std::uint32_t held = read_magic_and_count(reader, kImagesMagic, count);
  const std::uint32_t rows = reader.read_number("header");
  const std::uint32_t columns = reader.read_number("header");
  if (rows != kImageSide || columns != kImageSide) {
    reader.fail("its images are " + std::to_string(rows) + "x" + std::to_string(columns) +
                ", not 28x28");
  }
  return {count, rows, columns,
          read_items(reader, held, std::size_t{kImageSide} * kImageSide, count)};
}

std::vector<std::uint8_t> read_fashion_mnist_labels(std::size_t count,
                                                    const std::filesystem::path& folder) {
  GzipReader reader(folder / "t10k-labels-idx1-ubyte.gz");
  const std::uint32_t held = read_magic_and_count(reader, kLabelsMagic, count);
  std::vector<std::uint8_t> labels = read_items(reader, held, 1, count);
  const auto bad = std::find_if(labels.begin(), labels.end(),
                                [](std::uint8_t label) { return label > kLargestLabel; });
  if (bad != labels.end()) {
    reader.fail("label " + std::to_string(bad - labels.begin()) + " is " + std::to_string(*bad) +
                ", not 0 to 9");
  }
  return labels;
}

}  // namespace gemm64
