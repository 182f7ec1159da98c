// SPDX-License-Identifier: Apache-2.0
// Values that several threads ask for, each made once as long as few others are asked for.
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

namespace gemm64 {

template <class Key, class Value>
class RecentValues {
 public:
  /// Keeps the last `most` that were made.
  explicit RecentValues(std::size_t most) : most_(most) {}

  /// The value of `key`, from `make()` where it is not kept; others that ask meanwhile wait for it.
  /// Throws, to all of them, what make() throws.
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, Make&& make) {
    std::promise<std::shared_ptr<const Value>> promise;
    std::shared_future<std::shared_ptr<const Value>> future;
    bool mine = true;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [known, value] : values_) {
        if (!(known == key)) continue;
        future = value;
        mine = false;
      }
      if (mine) {
        future = promise.get_future().share();
        values_.emplace_back(key, future);
        if (values_.size() > most_) values_.pop_front();
      }
    }
    if (mine) {
      try {
        promise.set_value(std::make_shared<const Value>(make()));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
    }
    return future.get();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_future<std::shared_ptr<const Value>>>> values_;
};

}  // namespace gemm64
