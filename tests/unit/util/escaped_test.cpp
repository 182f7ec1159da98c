// SPDX-License-Identifier: Apache-2.0
#include "host/util/escaped.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Escaped, LeavesTextAsItIs) {
  EXPECT_EQ(escaped("größer \xe2\x89\xa5 \xf0\x9f\x98\x80 \\n"),
            "größer \xe2\x89\xa5 \xf0\x9f\x98\x80 \\n");
}

TEST(Escaped, ShowsWhatATerminalWouldActUpon) {
  EXPECT_EQ(escaped("a\x1b[2J\r\n\tb\x7f"), "a\\x1b[2J\\x0d\\n\\tb\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"), "\\u{9b}");        // CSI in one byte of Latin-1
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\\u{202e}");  // from right to left
}

TEST(Escaped, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(escaped("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
  EXPECT_EQ(escaped("\xe2\x82"), "\\xe2\\x82");           // cut off
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Escaped, LeavesLinesOfATextAsLines) {
  EXPECT_EQ(escaped_lines("a\x1b\nb\n\n\tc"), "a\\x1b\nb\n\n\\tc");
  EXPECT_EQ(escaped_lines(""), "");
}

}  // namespace
}  // namespace gemm64
