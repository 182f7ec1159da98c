// SPDX-License-Identifier: Apache-2.0
#include "host/util/file_kind.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using namespace std::string_view_literals;

TEST(FileKind, IsGivenByFirstBytes) {
  EXPECT_STREQ(file_kind(""), "empty");
  EXPECT_STREQ(file_kind("GIF89a"), "a GIF image");
  EXPECT_STREQ(file_kind("RIFF\1\2\3\4WEBPVP8 "), "a WebP image");
  EXPECT_STREQ(file_kind("II*\0\1\2"sv), "a TIFF image");
  EXPECT_STREQ(file_kind("PK\3\4"), "a ZIP archive, as .npz and .pt are");
  EXPECT_STREQ(file_kind("hello\n"), "text");
  EXPECT_STREQ(file_kind("\1\2\3"), "of an unknown kind");
}

}  // namespace
}  // namespace gemm64
