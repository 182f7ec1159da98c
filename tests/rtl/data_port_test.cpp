// SPDX-License-Identifier: Apache-2.0
#include <Vdata_port_r3.h>
#include <Vdata_port_r4.h>

#include <optional>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

template <class Port, unsigned... kIds>
struct Readers {
  using Model = Port;
  static constexpr std::array<unsigned, sizeof...(kIds)> kOfPlace{kIds...};
};

using Request = std::tuple<unsigned, std::uint64_t, unsigned>;  // id, address, beats

template <class Readers>
class DataPort : public testing::Test {
 protected:
  using Model = typename Readers::Model;
  static constexpr unsigned kReaders = Readers::kOfPlace.size();
  static constexpr unsigned kAddressBytes = 5;

  struct Reader {
    bool asks = false;
    std::uint64_t address = 0;
    unsigned beats = 0;
  };

  static void drive(Bench<Model>& bench, const std::array<Reader, kReaders>& readers) {
    bench->valid_i = 0;
    bench->beats_i = 0;
    for (unsigned i = 0; i < kReaders; ++i) {
      bench->valid_i |= static_cast<std::uint8_t>(static_cast<unsigned>(readers[i].asks) << i);
      bench->beats_i |= readers[i].beats << (7 * i);
      for (unsigned b = 0; b < kAddressBytes; ++b) {
        set_lane(bench->address_i, kAddressBytes * i + b,
                 static_cast<std::uint8_t>(readers[i].address >> (8 * b)));
      }
    }
  }

  /// Each reader asks again and again until memory took `requests`.
  static unsigned run(unsigned requests, std::array<Gate, kReaders> ask, Gate accept,
                      std::mt19937& random) {
    Bench<Model> bench;
    StaysPut<Request> stays("AR");
    std::array<Reader, kReaders> readers;
    std::optional<Request> offered;
    unsigned taken = 0;
    while (taken < requests && !testing::Test::HasFailure()) {
      for (unsigned i = 0; i < kReaders; ++i) {
        if (readers[i].asks) continue;
        readers[i] = {ask[i](), (std::uint64_t{random()} << 8) & 0xffffffffff, draw(random, 1, 64)};
      }
      drive(bench, readers);
      bench->arready_i = accept();
      bench.settle();
      EXPECT_EQ(bench->arvalid_o, offered.has_value()) << "a cycle after it was granted";
      const Request shown{bench->arid_o, bench->araddr_o, bench->arlen_o + 1};
      if (offered) {
        EXPECT_EQ(shown, *offered);
      }
      EXPECT_EQ(bench->arsize_o, 2);
      EXPECT_EQ(bench->arburst_o, 1);
      stays(bench->arvalid_o, bench->arready_i, shown);
      const bool room = !offered || bench->arready_i;
      if (offered && bench->arready_i) {
        ++taken;
        offered.reset();
      }
      bool before = false;  // a reader at a lower place asks
      for (unsigned i = 0; i < kReaders; ++i) {
        EXPECT_EQ((bench->ready_o >> i) & 1, room && !before) << "reader " << i;
        if (!readers[i].asks) continue;
        if (room && !before) {
          offered = Request{Readers::kOfPlace[i], readers[i].address, readers[i].beats};
          readers[i].asks = false;
        }
        before = true;
      }
      bench.edge();
    }
    return static_cast<unsigned>(bench.clock());
  }
};

// IDs 0, 2 and 1 are the default, and 3, 0, 2 and 1 those of the variant (CMakeLists.txt).
using Variants =
    testing::Types<Readers<Vdata_port_r3, 0, 2, 1>, Readers<Vdata_port_r4, 3, 0, 2, 1>>;
TYPED_TEST_SUITE(DataPort, Variants);

TYPED_TEST(DataPort, TheReaderAtTheLowestPlaceGoesFirst) {
  for_seeds(1, 40, [this](std::mt19937& random) {
    std::array<Gate, TestFixture::kReaders> ask;
    for (Gate& gate : ask) gate = Gate::random(random);
    this->run(200, ask, Gate::random(random), random);
  });
}

TYPED_TEST(DataPort, PassesARequestAClock) {
  std::mt19937 random(1);
  EXPECT_EQ(this->run(50, {}, Gate(), random), 51u);
}

TYPED_TEST(DataPort, ABeatIsForTheReaderWithItsId) {
  Bench<typename TypeParam::Model> bench;
  for (unsigned id = 0; id < 4; ++id) {
    for (const bool valid : {false, true}) {
      bench->rvalid_i = valid;
      bench->rid_i = static_cast<std::uint8_t>(id);
      bench.settle();
      EXPECT_EQ(bench->rready_o, 1);
      for (unsigned i = 0; i < TestFixture::kReaders; ++i) {
        EXPECT_EQ((bench->beat_o >> i) & 1, valid && id == TypeParam::kOfPlace[i])
            << "ID " << id << ", reader " << i;
      }
    }
  }
}

TYPED_TEST(DataPort, AResetWithdrawsARequest) {
  Bench<typename TypeParam::Model> bench;
  bench->valid_i = 1;
  bench->arready_i = 0;
  bench.step();
  bench.settle();
  EXPECT_EQ(bench->arvalid_o, 1);
  bench.reset();
  bench.settle();
  EXPECT_EQ(bench->arvalid_o, 0);
}

}  // namespace
}  // namespace gemm64::rtl_test
