// SPDX-License-Identifier: Apache-2.0
#include <Vuart_rx_d4.h>
#include <Vuart_rx_d50.h>

#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

/// A receiver and its outputs.
template <class Model>
class Receiver {
 public:
  Receiver() : bench_(10000000) { bench_->line_i = 1; }

  void hold(bool level, unsigned cycles) {
    bench_->line_i = level;
    for (unsigned i = 0; i < cycles; ++i) {
      bench_.settle();
      if (bench_->valid_o) {
        found.push_back(bench_->data_o);
        last = bench_.clock();
      }
      bench_.edge();
    }
  }
  /// A byte with bits of that many cycles.
  void send(unsigned byte, unsigned bit, bool stop = true) {
    hold(false, bit);
    for (unsigned i = 0; i < 8; ++i) hold((byte >> i & 1) != 0, bit);
    hold(stop, bit);
  }
  std::uint64_t clock() const { return bench_.clock(); }

  std::vector<unsigned> found;
  std::uint64_t last = 0;  // clock of the last

 private:
  Bench<Model> bench_;
};

template <class Model>
void receives_all(unsigned divisor, unsigned bit) {
  Receiver<Model> receiver;
  receiver.hold(true, 3);
  std::mt19937 random(bit);
  std::vector<unsigned> sent;
  for (unsigned byte = 0; byte < 256; ++byte) {
    sent.push_back(byte);
    receiver.send(byte, bit);
    receiver.hold(true, random() % 3 * (random() % (2 * divisor)));
  }
  receiver.hold(true, divisor);
  EXPECT_EQ(receiver.found, sent) << "bits of " << bit << " cycles";
}

TEST(UartRx, ReceivesEachByteWithAndWithoutPauses) { receives_all<Vuart_rx_d4>(4, 4); }

TEST(UartRx, ReceivesAtThreePercentRateError) {
  for (const unsigned bit : {49, 50, 51}) receives_all<Vuart_rx_d50>(50, bit);
}

TEST(UartRx, TellsAByteInTheMiddleOfItsStopBit) {
  Receiver<Vuart_rx_d50> receiver;
  receiver.hold(true, 10);
  const std::uint64_t begin = receiver.clock();
  receiver.send(0x5a, 50);
  ASSERT_EQ(receiver.found.size(), 1u);
  EXPECT_NEAR(static_cast<double>(receiver.last - begin), 9.5 * 50 + 2, 1);
}

TEST(UartRx, AFrameWithoutAStopBitIsNoByte) {
  Receiver<Vuart_rx_d4> receiver;
  receiver.send(0xff, 4, false);
  receiver.hold(true, 60);
  receiver.send(0x21, 4);
  receiver.hold(true, 4);
  EXPECT_EQ(receiver.found, std::vector<unsigned>{0x21});
}

TEST(UartRx, APulseShorterThanHalfABitIsNoStart) {
  Receiver<Vuart_rx_d50> receiver;
  receiver.hold(false, 20);
  receiver.hold(true, 700);
  receiver.send(0x84, 50);
  EXPECT_EQ(receiver.found, std::vector<unsigned>{0x84});
}

}  // namespace
}  // namespace gemm64::rtl_test
