// SPDX-License-Identifier: Apache-2.0
// A queue in one piece of memory, which it keeps: nothing is allocated in the steady state.
#pragma once

#include <cstddef>
#include <vector>

namespace gemm64::cycles {

template <class T>
class Queue {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  T& back() { return items_.back(); }
  const T& back() const { return items_.back(); }
  /// The item `index` places after the front.
  const T& operator[](std::size_t index) const { return items_[head_ + index]; }

  void push(const T& item) { items_.push_back(item); }
  void pop() {
    if (++head_ == items_.size()) {
      items_.clear();
      head_ = 0;
    } else if (head_ >= kMaxGone && 2 * head_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

 private:
  static constexpr std::size_t kMaxGone = 64;  // items before the front that are kept for nothing

  std::vector<T> items_;
  std::size_t head_ = 0;
};

}  // namespace gemm64::cycles
