// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/labels.hpp"

#include "tests/test.hpp"
#include "tests/unit/numerics/idx_files.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

class Labels : public IdxFiles {
 protected:
  std::filesystem::path text(const std::string& content) const {
    write_plain(folder_ / "x", Bytes(content.begin(), content.end()));
    return folder_ / "x";
  }

  /// A version 1 file.
  std::filesystem::path npy(const std::string& descr, const std::string& shape,
                            const std::string& data) const {
    const std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    return text(std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
                data);
  }

  static std::string refusal(const std::function<void()>& action) {
    const std::string message = message_of(action);
    EXPECT_THAT(message, Lacks("\n"));
    return message;
  }
  std::string bad_labels(const std::string& content) const {
    return refusal([&] { read_labels(text(content)); });
  }
};

TEST_F(Labels, AreNumbersALine) {
  EXPECT_THAT(read_labels(text("3\n0\r\n12\n")), ElementsAre(3, 0, 12));
  EXPECT_THAT(read_labels(text("3\n0")), ElementsAre(3, 0));
  EXPECT_THAT(bad_labels("3\ncat\n"), Says("line 2 is 'cat'; a label is a class"));
  EXPECT_THAT(bad_labels("3\n\n1\n"), Says("line 2 is ''"));
  EXPECT_THAT(bad_labels("-1\n"), Says("line 1 is '-1'"));
  EXPECT_THAT(bad_labels("1.5\n"), Says("line 1 is '1.5'"));
  EXPECT_THAT(bad_labels("1\n99999999999999999999\n"), Says("line 2"));
  EXPECT_THAT(bad_labels("1\n\x1b[2J" + std::string(999, 'x')), Says("line 2 is '\\x1b[2J"));
  EXPECT_LT(bad_labels(std::string(999, 'x')).size(), 300U);
}

TEST_F(Labels, AreAnArrayOfIntegers) {
  EXPECT_THAT(read_labels(npy("|u1", "(3,)", {0, '\x01', '\xff'})), ElementsAre(0, 1, 255));
  EXPECT_THAT(read_labels(npy("<i8", "(1,)", {'\x07', 0, 0, 0, 0, 0, 0, 0})), ElementsAre(7));
  EXPECT_THAT(refusal([&] {
                read_labels(npy("|i1", "(2,)", {'\x01', '\xff'}));
              }),
              Says("label 1 is '-1'"));
  EXPECT_THAT(refusal([&] {
                read_labels(npy("<f4", "(1,)", {0, 0, 0, 0}));
              }),
              Says("labels are integers"));
  EXPECT_THAT(refusal([&] { read_labels(npy("|u1", "(1, 2)", {0, 0})); }), Says("one dimension"));
}

TEST_F(Labels, AreAnIdxFile) {
  write_gzip(folder_ / "x.gz", idx_bytes({0x801, 3}, 3));
  EXPECT_THAT(read_labels(folder_ / "x.gz"), ElementsAre(0, 7, 14));
  write_gzip(folder_ / "x.gz", idx_bytes({0x803, 1, 1, 3}, 3));
  EXPECT_THAT(refusal([&] { read_labels(folder_ / "x.gz"); }), Says("magic number"));
}

TEST_F(Labels, AreNothingElse) {
  EXPECT_THAT(bad_labels(""), Says("the file is empty"));
  EXPECT_THAT(bad_labels(std::string("\x89PNG\r\n\x1a\n\0\0", 10)),
              Says("the file is a PNG image"));
  EXPECT_THAT(bad_labels(std::string("1\n\0", 3)), Says("the file is of an unknown kind"));
}

TEST_F(Labels, ClassesHaveNames) {
  EXPECT_THAT(read_class_names(text("BM w\na b, c\r\n")), ElementsAre("BM w", "a b, c"));
  EXPECT_THAT(refusal([&] { read_class_names(text("a\n\nb\n")); }), Says("line 2 is empty"));
  EXPECT_THAT(refusal([&] { read_class_names(text("")); }), Says("the file is empty"));
}

}  // namespace
}  // namespace gemm64
