// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/fashion_mnist.hpp"

#include <numeric>

#include "tests/test.hpp"
#include "tests/unit/numerics/idx_files.hpp"

namespace gemm64 {
namespace {

Bytes idx_images(std::uint32_t magic, std::uint32_t count, std::uint32_t rows,
                 std::uint32_t columns, std::size_t pixels) {
  return idx_bytes({magic, count, rows, columns}, pixels);
}

class FashionMnistFiles : public IdxFiles {
 protected:
  static Bytes contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }

  // Expects a UsageError that names the images' file, says `what`, and names Debian's package.
  void expect_bad_images(const std::string& what) const {
    const std::string error = message_of([&] { read_fashion_mnist_images(1, folder_); });
    EXPECT_THAT(error,
                testing::AllOf(Says(images_.string(), what, "dataset-fashion-mnist"), Lacks("\n")));
  }

  const std::filesystem::path images_ = folder_ / "t10k-images-idx3-ubyte.gz";
};

TEST(FashionMnist, ReadsDebiansImages) {
  const GreyImages images = read_fashion_mnist_images(64);
  EXPECT_EQ(images.count, 64u);
  EXPECT_EQ(images.rows, 28u);
  EXPECT_EQ(images.columns, 28u);
  ASSERT_EQ(images.pixels.size(), 64u * 784u);
  // Sums taken from the unpacked file with other tools.
  const auto sum = [&](std::size_t image) {
    const auto begin = images.pixels.begin() + static_cast<std::ptrdiff_t>(image * 784);
    return std::accumulate(begin, begin + 784, 0);
  };
  EXPECT_EQ(sum(0), 33456);
  EXPECT_EQ(sum(1), 100994);
  EXPECT_EQ(sum(63), 19281);
  EXPECT_EQ(images.pixels[14 * 28 + 12], 98);
  EXPECT_EQ(images.pixels[14 * 28 + 13], 136);
}

TEST(FashionMnist, ReadsAllTenThousandAndNoMore) {
  const GreyImages images = read_fashion_mnist_images(10000);
  EXPECT_EQ(std::accumulate(images.pixels.end() - 784, images.pixels.end(), 0), 24390);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{10001}, static_cast<std::size_t>(-1)}) {
    const std::string error = message_of([&] { read_fashion_mnist_images(count); });
    EXPECT_THAT(error, Says("batch of " + std::to_string(count), "1 to 10000"));
  }
}

TEST_F(FashionMnistFiles, KeepsTheImagesAskedFor) {
  write_gzip(images_, idx_images(0x803, 3, 28, 28, 3 * 784));
  const GreyImages images = read_fashion_mnist_images(2, folder_);
  ASSERT_EQ(images.pixels.size(), 2u * 784u);
  EXPECT_EQ(images.pixels[1], 7);
  EXPECT_EQ(images.pixels.back(), static_cast<std::uint8_t>((2 * 784 - 1) * 7));
}

TEST_F(FashionMnistFiles, ReturnsMoreImages) {
  write_gzip(images_, idx_images(0x803, 3, 28, 28, 3 * 784));
  EXPECT_EQ(read_fashion_mnist_images(1, folder_, 1).count, 2u);
  const GreyImages all = read_fashion_mnist_images(2, folder_, 16);
  EXPECT_EQ(all.count, 3u);
  EXPECT_EQ(all.pixels.size(), 3u * 784u);
}

TEST_F(FashionMnistFiles, ReportsAMissingFile) { expect_bad_images("No such file or directory"); }

TEST_F(FashionMnistFiles, ReportsFolder) {
  std::filesystem::create_directory(images_);
  expect_bad_images("");
}

TEST_F(FashionMnistFiles, ReportsWhatIsNoIdxFile) {
  write_plain(images_, Bytes(5000, 'x'));
  expect_bad_images("magic number");
  write_plain(images_, {});
  expect_bad_images("truncated");
}

TEST_F(FashionMnistFiles, ReadsWhatIsNotCompressed) {
  write_plain(images_, idx_images(0x803, 1, 28, 28, 784));
  EXPECT_EQ(read_fashion_mnist_images(1, folder_).pixels.at(2), 14);
}

TEST_F(FashionMnistFiles, ReportsAFileCutAnywhere) {
  write_gzip(images_, idx_images(0x803, 4, 28, 28, 4 * 784));
  const Bytes whole = contents(images_);
  ASSERT_NO_THROW(read_fashion_mnist_images(1, folder_));
  for (std::size_t size = 2; size < whole.size(); ++size) {
    write_plain(images_, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const std::string error = message_of([&] { read_fashion_mnist_images(1, folder_); });
    ASSERT_THAT(error, Says("truncated")) << size << " bytes: " << error;
  }
}

TEST_F(FashionMnistFiles, ReportsDamageAfterImages) {
  write_gzip(images_, idx_images(0x803, 4, 28, 28, 4 * 784));
  Bytes whole = contents(images_);
  whole[whole.size() - 6] ^= 1u;  // in the checksum
  write_plain(images_, whole);
  expect_bad_images("cannot read it");
}

TEST_F(FashionMnistFiles, ReportsAnotherMagicNumber) {
  write_gzip(images_, idx_images(0x801, 1, 28, 28, 784));
  expect_bad_images("0x00000801, not 0x00000803");
}

TEST_F(FashionMnistFiles, ReportsAnotherImageSize) {
  write_gzip(images_, idx_images(0x803, 1, 32, 28, 32 * 28));
  expect_bad_images("32x28, not 28x28");
  write_gzip(images_, idx_images(0x803, 1, 28, 0xffffffffu, 28));
  expect_bad_images("28x4294967295, not 28x28");
}

TEST_F(FashionMnistFiles, DoesNotTrustCount) {
  // Four billion images promised, one there: neither memory for them, nor success.
  write_gzip(images_, idx_images(0x803, 0xffffffffu, 28, 28, 784));
  expect_bad_images("truncated");
  const std::string error = message_of([&] { read_fashion_mnist_images(0xffffffffu, folder_); });
  EXPECT_THAT(error, Says("truncated"));
  write_gzip(images_, idx_images(0x803, 1, 28, 28, 785));
  expect_bad_images("continues after");
}

TEST_F(FashionMnistFiles, ReportsShortHeaderAndData) {
  write_gzip(images_, {0, 0, 8, 3, 0, 0});
  expect_bad_images("truncated: it ends 2 bytes before the end of its header");
  write_gzip(images_, idx_images(0x803, 1, 28, 28, 780));
  expect_bad_images("truncated: it ends 4 bytes before the end of its data");
}

}  // namespace
}  // namespace gemm64
