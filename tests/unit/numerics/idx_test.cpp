// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/idx.hpp"

#include "tests/test.hpp"
#include "tests/unit/numerics/idx_files.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

class Idx : public IdxFiles {
 protected:
  std::string refusal(const Bytes& bytes, std::size_t rank) const {
    write_plain(folder_ / "x", bytes);
    const std::string message = message_of([&] { IdxFile(folder_ / "x", rank).read(5); });
    EXPECT_THAT(message, Says((folder_ / "x").string()));
    return message;
  }
};

TEST_F(Idx, ReadsTheFirstItemsPlainOrCompressed) {
  const Bytes bytes = idx_bytes({0x803, 3, 2, 1}, 6);
  write_plain(folder_ / "plain", bytes);
  write_gzip(folder_ / "x.gz", bytes);
  for (const char* name : {"plain", "x.gz"}) {
    EXPECT_TRUE(is_idx_file(folder_ / name));
    IdxFile file(folder_ / name, 3);
    EXPECT_THAT(file.dims(), ElementsAre(3, 2, 1));
    EXPECT_THAT(file.read(2), ElementsAre(0, 7, 14, 21));
  }
}

TEST_F(Idx, IsKnownByItsFirstBytes) {
  write_plain(folder_ / "text", {'1', '\n', '2', '\n'});
  write_plain(folder_ / "short", {0, 0, 8});
  write_plain(folder_ / "other", {0, 0, 7, 1});
  for (const char* name : {"text", "short", "other", "none", "."}) {
    EXPECT_FALSE(is_idx_file(folder_ / name)) << name;
  }
}

TEST_F(Idx, RefusesOtherArrays) {
  EXPECT_THAT(refusal(idx_bytes({0x801, 3}, 3), 3), Says("0x00000801, not 0x00000803"));
  EXPECT_THAT(refusal(idx_bytes({0xd03, 1, 1, 1}, 4), 3), Says("0x00000d03, not"));
  EXPECT_THAT(refusal(idx_bytes({0x803, 1, 0, 5}, 0), 3), Says("items are of 0 bytes"));
  EXPECT_THAT(refusal(idx_bytes({0x803, 1, 0xffffffff, 0xffffffff}, 9), 3),
              Says("items are of too many bytes"));
}

TEST_F(Idx, FindsDamageAfterKeptItems) {
  Bytes bytes = idx_bytes({0x801, 9}, 9);
  bytes.pop_back();
  EXPECT_THAT(refusal(bytes, 1), Says("truncated: it ends 1 byte before the end"));
  bytes.insert(bytes.end(), 2, 1);
  EXPECT_THAT(refusal(bytes, 1), Says("continues after"));
}

TEST_F(Idx, RefusesAFolder) {
  EXPECT_THROW(IdxFile(folder_, 1), UsageError);
  EXPECT_THROW(IdxFile(folder_ / "none", 1), UsageError);
}

}  // namespace
}  // namespace gemm64
