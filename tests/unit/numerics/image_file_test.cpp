// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/image_file.hpp"

#include <stb/stb_image_write.h>
#include <zlib.h>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

class ImageFile : public InFolder {
 protected:
  std::string file(const char* name, const std::string& contents) const {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }

  // One row: red, then a grey.
  const std::vector<std::uint8_t> pixels_{255, 0, 0, 100, 100, 100};
};

TEST_F(ImageFile, ReadsPngExactly) {
  const std::string path = folder_ / "x.png";
  ASSERT_NE(stbi_write_png(path.c_str(), 2, 1, 3, pixels_.data(), 6), 0);
  EXPECT_TRUE(is_image_file(path));
  const Image image = load_image(path, 3);
  EXPECT_EQ(image.rows, 1u);
  EXPECT_EQ(image.columns, 2u);
  EXPECT_EQ(image.channels, 3u);
  EXPECT_EQ(image.pixels, pixels_);
}

TEST_F(ImageFile, MakesColoursGreyByBrightness) {
  const std::string path = folder_ / "x.png";
  ASSERT_NE(stbi_write_png(path.c_str(), 2, 1, 3, pixels_.data(), 6), 0);
  const Image image = load_image(path, 1);
  ASSERT_EQ(image.pixels.size(), 2u);
  EXPECT_NEAR(image.pixels[0], 0.299 * 255, 1.5);
  EXPECT_NEAR(image.pixels[1], 100, 1);
}

TEST_F(ImageFile, ReadsJpegNearly) {
  std::vector<std::uint8_t> pixels(16 * 16 * 3);
  for (std::size_t i = 0; i < pixels.size(); i += 3) {
    pixels[i] = 220;
    pixels[i + 1] = 120;
    pixels[i + 2] = 20;
  }
  const std::string path = folder_ / "x.jpg";
  ASSERT_NE(stbi_write_jpg(path.c_str(), 16, 16, 3, pixels.data(), 95), 0);
  EXPECT_TRUE(is_image_file(path));
  const Image image = load_image(path, 3);
  ASSERT_EQ(image.pixels.size(), pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_NEAR(image.pixels[i], pixels[i], 4);
}

TEST_F(ImageFile, RefusesWhatIsNone) {
  EXPECT_THROW(load_image(folder_ / "none.png", 3), UsageError);
  EXPECT_THROW(load_image(file("text.png", "hello, this is no image"), 3), UsageError);
  EXPECT_THROW(load_image(file("cut.png", "\x89PNG\r\n\x1a\n"), 3), UsageError);
  EXPECT_THROW(load_image(file("cut.jpg", "\xff\xd8\xff"), 3), UsageError);
  // A header that promises 100000 x 100000 pixels.
  const std::string huge("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\x86\xa0\0\1\x86\xa0\x8\x2\0\0\0....",
                         37);
  EXPECT_THROW(load_image(file("huge.png", huge), 3), UsageError);
}

// What a PNG's header says is believed before anything is decoded.
TEST_F(ImageFile, RefusesLargeOnes) {
  const std::string path = folder_ / "x.png";
  ASSERT_NE(stbi_write_png(path.c_str(), 2, 1, 3, pixels_.data(), 6), 0);
  std::ifstream in(path, std::ios::binary);
  const std::string small{std::istreambuf_iterator<char>(in), {}};
  const auto refused = [&](std::uint32_t columns, std::uint32_t rows) {
    std::string sized = small;
    const auto put = [&sized](std::size_t at, std::uint32_t value) {
      for (unsigned i = 0; i < 4; ++i) sized[at + i] = static_cast<char>(value >> (24 - 8 * i));
    };
    put(16, columns);
    put(20, rows);
    put(29, static_cast<std::uint32_t>(
                crc32(0, reinterpret_cast<const Bytef*>(sized.data()) + 12, 17)));
    return message_of<UsageError>([&] { load_image(file("sized.png", sized), 3); });
  };
  EXPECT_THAT(refused(16385, 1), Says("is an image of 16385x1"));
  EXPECT_THAT(refused(1, 16385), Says("is an image of 1x16385"));
  EXPECT_THAT(refused(8193, 8192), Says("is an image of 8193x8192"));
  EXPECT_THAT(refused(8192, 8192), Lacks("is an image of"));
}

TEST_F(ImageFile, SaysWhatAFileIsAndWhatIsRead) {
  const auto message = [](const std::string& path) {
    return message_of([&] { load_image(path, 3); });
  };
  EXPECT_THAT(message(file("x.gif", "GIF89a....")),
              Says("give PNG or JPEG; the file is a GIF image"));
  EXPECT_THAT(message(file("x.png", "\x89PNG\r\n\x1a\n")), Says("the PNG image ends early"));
  EXPECT_THAT(message(folder_), Says("it is a folder"));
  // Whole by its parts, but without anything to decode.
  const std::string jpeg = message(file("x.jpg", "\xff\xd8\xff\xd9"));
  EXPECT_THAT(jpeg, testing::AllOf(Says("the JPEG image cannot be decoded"), Lacks("png")));
}

}  // namespace
}  // namespace gemm64
