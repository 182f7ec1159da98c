// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/image_damage.hpp"

#include <stb/stb_image_write.h>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

void append(void* to, void* data, int size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                        static_cast<std::size_t>(size));
}

std::vector<std::uint8_t> pixels() {
  std::vector<std::uint8_t> values(32 * 32 * 3);
  std::uint32_t state = 1;
  for (auto& value : values)
    value = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return values;
}

std::string png() {
  std::string file;
  stbi_write_png_to_func(append, &file, 32, 32, 3, pixels().data(), 96);
  return file;
}

std::string jpeg() {
  std::string file;
  stbi_write_jpg_to_func(append, &file, 32, 32, 3, pixels().data(), 90);
  return file;
}

TEST(ImageDamage, GoodImagesHaveNone) {
  EXPECT_EQ(png_damage(png()), "");
  EXPECT_EQ(jpeg_damage(jpeg()), "");
  EXPECT_EQ(png_damage(png() + "what follows the end"), "");
}

TEST(ImageDamage, EveryByteOfAPngCounts) {
  const std::string good = png();
  for (std::size_t i = 8; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_NE(png_damage(bad), "") << i;
  }
  std::string bad = good;
  bad[50] = static_cast<char>(bad[50] ^ 1);
  EXPECT_THAT(png_damage(bad), Says("the checksum of its part IDAT at byte 33 is wrong"));
}

TEST(ImageDamage, EveryCutIsSeen) {
  for (const bool is_png : {true, false}) {
    const std::string good = is_png ? png() : jpeg();
    for (std::size_t size = 8; size < good.size(); ++size) {
      const std::string cut = good.substr(0, size);
      EXPECT_NE(is_png ? png_damage(cut) : jpeg_damage(cut), "") << is_png << " " << size;
    }
  }
}

}  // namespace
}  // namespace gemm64
