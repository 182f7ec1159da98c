// SPDX-License-Identifier: Apache-2.0
#include "host/device/block_batch.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kN = 8;
constexpr std::size_t kTile = kN * kN;

/// A memory on a bus without pointers.
class FarMemory final : public DeviceMemory {
 public:
  explicit FarMemory(DeviceMemory& memory) : memory_(memory) {}
  std::uint64_t size() const override { return memory_.size(); }
  std::uint64_t reach(std::uint64_t address, std::uint64_t bytes) override {
    return memory_.reach(address, bytes);
  }
  const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                           std::vector<std::uint8_t>& scratch) override {
    std::vector<std::uint8_t> own;
    const std::uint8_t* const from = memory_.read(address, bytes, own);
    scratch.assign(from, from + bytes);
    return scratch.data();
  }
  void write(std::uint64_t address, const void* data, std::uint64_t bytes) override {
    memory_.write(address, data, bytes);
  }

 private:
  DeviceMemory& memory_;
};

/// Random operands, and blocks of them: rows, and tiles by their numbers.
class BlockBatchTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kFar = std::uint64_t{1} << 30;  // reading it moves the memory

  BlockBatchTest() {
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    memory.write(0, bytes.data(), bytes.size());
    memory.write(kFar, bytes.data(), bytes.size());
  }

  std::vector<std::uint32_t> one_by_one(std::uint32_t rows, const std::vector<std::size_t>& tiles,
                                        std::uint32_t start) {
    std::vector<std::uint32_t> sums(rows * kN, start);
    TileProduct product(kN);
    for (const std::size_t tile : tiles) {
      const TileOperands operands{bytes.data() + tile * kTile, bytes.data() + 64 * tile};
      product.multiply(&operands, 1, rows, true, sums.data());
    }
    return sums;
  }

  std::mt19937 random{4};
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(100 * kTile);
  OwnMemory memory{2 * kFar};
};

TEST_F(BlockBatchTest, ComputesEachBlockByItself) {
  FarMemory far(memory);
  for (DeviceMemory* const from :
       {static_cast<DeviceMemory*>(&memory), static_cast<DeviceMemory*>(&far)}) {
    BlockBatch batch(kN, *from);
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<std::uint32_t>> wanted;
      for (std::uint32_t rows = 1; rows < 20; ++rows) {
        const std::uint32_t start = random() % 2 == 0 ? 0 : random();
        const std::vector<std::uint32_t> before(rows * kN, start);
        batch.begin(rows, start == 0 ? nullptr : before.data());
        std::vector<std::size_t> tiles(1 + random() % 7);
        for (auto& tile : tiles) {
          tile = random() % 60;
          const std::uint64_t base = random() % 2 == 0 ? 0 : kFar;
          BlockBatch::Words weights{base + tile * kTile, false};
          if (random() % 3 == 0) {
            std::uint8_t* room = nullptr;
            weights = batch.gather(kN, room);
            std::memcpy(room, bytes.data() + tile * kTile, kTile);
          }
          batch.add(weights, {base + 64 * tile, false});
        }
        wanted.push_back(one_by_one(rows, tiles, start));
      }
      batch.compute();
      ASSERT_EQ(batch.blocks(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(batch.rows(i), wanted[i].size() / kN);
        ASSERT_EQ(std::vector<std::uint32_t>(batch.sums(i), batch.sums(i) + wanted[i].size()),
                  wanted[i]);
      }
      batch.clear();
      EXPECT_TRUE(batch.empty());
    }
  }
}

TEST_F(BlockBatchTest, GivesTheSameSumsOnAllCores) {
  // Enough work for several threads.
  const std::vector<std::size_t> tiles(2000, 7);
  BlockBatch batch(kN, memory);
  for (int block = 0; block < 40; ++block) {
    batch.begin(64, nullptr);
    for (const std::size_t tile : tiles) batch.add({tile * kTile, false}, {64 * tile, false});
  }
  EXPECT_TRUE(batch.full());
  batch.compute();
  const std::vector<std::uint32_t> wanted = one_by_one(64, tiles, 0);
  for (std::size_t i = 0; i < batch.blocks(); ++i) {
    ASSERT_EQ(std::vector<std::uint32_t>(batch.sums(i), batch.sums(i) + wanted.size()), wanted);
  }
}

}  // namespace
}  // namespace gemm64
