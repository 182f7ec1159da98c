// SPDX-License-Identifier: Apache-2.0
#include <Vrequest_n4.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

using Request = std::tuple<unsigned, std::uint64_t, unsigned>;  // id, address, beats

std::uint64_t run(unsigned requests, Gate offer, Gate accept, std::mt19937& random) {
  Bench<Vrequest_n4> bench;
  StaysPut<Request> stays("AX");
  std::deque<Request> under_way;
  unsigned sent = 0, received = 0;
  while (received < requests && !testing::Test::HasFailure()) {
    bench->valid_i = sent < requests && offer();
    bench->id_i = random() % 2;
    bench->address_i = std::uint64_t{random()} << 8;
    bench->beats_i = static_cast<std::uint8_t>(draw(random, 1, 64));
    bench->axready_i = accept();
    bench.settle();
    EXPECT_EQ(bench->axvalid_o, !under_way.empty()) << "a cycle after it was taken";
    const Request shown{bench->axid_o, bench->axaddr_o, bench->axlen_o + 1};
    if (!under_way.empty()) {
      EXPECT_EQ(shown, under_way.front());
    }
    stays(bench->axvalid_o, bench->axready_i, shown);
    EXPECT_EQ(bench->axsize_o, 2);
    EXPECT_EQ(bench->axburst_o, 1);
    EXPECT_EQ(bench->ready_o, under_way.empty() || bench->axready_i);
    if (bench->axvalid_o && bench->axready_i) {
      under_way.pop_front();
      ++received;
    }
    if (bench->valid_i && bench->ready_o) {
      under_way.emplace_back(bench->id_i, bench->address_i, bench->beats_i);
      ++sent;
    }
    bench.edge();
  }
  return bench.clock();
}

TEST(Request, StaysStableUntilAccepted) {
  std::mt19937 random(1);
  for_all_patterns(6, [&](Gate offer, Gate accept) { run(20, offer, accept, random); });
}

TEST(Request, PassesARequestAClock) {
  std::mt19937 random(2);
  EXPECT_EQ(run(50, Gate(), Gate(), random), 51u);
}

TEST(Request, PassesEverythingAtRandom) {
  for_seeds(1, 30, [](std::mt19937& random) {
    run(200, Gate::random(random), Gate::random(random), random);
  });
}

TEST(Request, ResetWithdrawsIt) {
  Bench<Vrequest_n4> bench;
  bench->valid_i = 1;
  bench->axready_i = 0;
  bench.step();
  bench.settle();
  EXPECT_EQ(bench->axvalid_o, 1);
  bench.reset();
  bench.settle();
  EXPECT_EQ(bench->axvalid_o, 0);
}

}  // namespace
}  // namespace gemm64::rtl_test
