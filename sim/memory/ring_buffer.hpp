// SPDX-License-Identifier: Apache-2.0
// The queue of the simulated memory.
#pragma once

#include <cstddef>
#include <vector>

namespace gemm64 {

/// A queue in a ring that doubles when full, so that a settled simulation allocates nothing.
template <class T>
class RingBuffer {
 public:
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  T& front() { return slots_[head_ & (slots_.size() - 1)]; }
  T& operator[](std::size_t index) { return slots_[(head_ + index) & (slots_.size() - 1)]; }
  void pop() { ++head_; }
  void clear() { head_ = tail_ = 0; }
  void push(const T& value) {
    if (size() == slots_.size()) grow();
    slots_[tail_++ & (slots_.size() - 1)] = value;
  }

 private:
  void grow() {
    std::vector<T> larger(2 * slots_.size());
    for (std::size_t i = 0; i < size(); ++i) larger[i] = slots_[(head_ + i) & (slots_.size() - 1)];
    tail_ = size();
    head_ = 0;
    slots_.swap(larger);
  }

  std::vector<T> slots_ = std::vector<T>(64);  // the size is a power of two, always
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace gemm64
