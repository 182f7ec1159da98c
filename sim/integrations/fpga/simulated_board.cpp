// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/fpga/simulated_board.hpp"

#include <Vgemm64_board.h>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <verilated.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace gemm64 {
namespace {

constexpr unsigned kDivisor = GEMM64_BOARD_DIVISOR;  // the model's
constexpr std::uint64_t kCyclesAtOnce = 2000;
// More than the host's longest wait for an interrupt, after which the bridge answers.
constexpr std::uint64_t kIdleCycles = 1 << 17;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

bool SerialPin::drive() {
  if (out_left_ == 0 && !outgoing_.empty()) {
    out_bits_ = 0x200U | unsigned{outgoing_.front()} << 1;  // a start bit below, a stop bit above
    out_left_ = 10 * divisor_;
    outgoing_.pop_front();
  }
  if (out_left_ == 0) return true;
  const unsigned bit = (10 * divisor_ - out_left_--) / divisor_;
  return ((out_bits_ >> bit) & 1U) != 0;
}

bool SerialPin::sample(bool level, std::uint8_t& byte) {
  if (in_cycles_ == 0 && level) return false;
  const unsigned clock = in_cycles_++;
  if (clock % divisor_ != divisor_ / 2) return false;
  const unsigned bit = clock / divisor_;
  in_bits_ = in_bits_ >> 1 | (level ? 0x200U : 0);
  if (bit != 9) return false;
  in_cycles_ = 0;
  byte = static_cast<std::uint8_t>(in_bits_ >> 1);
  return level;
}

SimulatedBoard::SimulatedBoard() : context_(std::make_unique<VerilatedContext>()), pin_(kDivisor) {
  context_->fatalOnError(false);
  context_->randReset(2);
  model_ = std::make_unique<Vgemm64_board>(context_.get(), "board");
  terminal_ = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0)
    fail("a pseudo-terminal");
  path_ = ptsname(terminal_);
  held_ = open(path_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios settings{};
  if (held_ < 0 || tcgetattr(held_, &settings) != 0) fail(path_.c_str());
  cfmakeraw(&settings);
  if (tcsetattr(held_, TCSANOW, &settings) != 0) fail(path_.c_str());
  model_->rst_ni = 0;
  for (int i = 0; i < 16; ++i) step();
  model_->rst_ni = 1;
}

SimulatedBoard::~SimulatedBoard() {
  model_->final();
  close(held_);
  close(terminal_);
}

void SimulatedBoard::step() {
  model_->rx_i = static_cast<unsigned char>(pin_.drive());
  model_->clk_i = 0;
  model_->eval();
  std::uint8_t byte = 0;
  if (pin_.sample(model_->tx_o != 0, byte)) {
    last_byte_ = cycles_;
    // A host that does not read loses bytes, as on a line.
    if (write(terminal_, &byte, 1) < 0 && errno != EAGAIN) fail(path_.c_str());
  }
  model_->clk_i = 1;
  model_->eval();
  ++cycles_;
  if (context_->gotError()) throw std::runtime_error("an assertion of the RTL failed");
}

void SimulatedBoard::run(int milliseconds) {
  const bool idle = pin_.waiting() == 0 && cycles_ - last_byte_ > kIdleCycles;
  pollfd waits{terminal_, POLLIN, 0};
  poll(&waits, 1, idle ? milliseconds : 0);
  std::array<std::uint8_t, 4096> bytes{};
  // No more than the line holds; the rest waits in the terminal, and the host with it.
  if (pin_.waiting() < bytes.size()) {
    const ssize_t came = read(terminal_, bytes.data(), bytes.size());
    for (ssize_t i = 0; i < came; ++i) pin_.send(bytes[static_cast<std::size_t>(i)]);
    if (came > 0) last_byte_ = cycles_;
  }
  if (pin_.waiting() == 0 && cycles_ - last_byte_ > kIdleCycles) return;
  for (std::uint64_t i = 0; i < kCyclesAtOnce; ++i) step();
}

}  // namespace gemm64
