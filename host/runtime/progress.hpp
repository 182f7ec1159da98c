// SPDX-License-Identifier: Apache-2.0
// How far a run of several jobs has come.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace gemm64 {

/// Called with the name of the current part and the completed share of the whole, 0 to 1.
using RunProgress = std::function<void(const std::string& name, double done)>;

/// The current part of a whole. Parts follow each other; each may have parts of its own.
class ProgressShare {
 public:
  explicit ProgressShare(RunProgress callback = nullptr) : callback_(std::move(callback)) {}

  /// The current part is done; the next one is `share` of the whole.
  void next(double share) {
    done_ += share_;
    share_ = share;
  }

  /// `part` of the current part is done, 0 to 1.
  void report(const std::string& name, double part) const {
    if (callback_) callback_(name, done_ + share_ * part);
  }

  /// The current part as a whole of its own, whose parts are reported as parts of this one.
  ProgressShare inside() const {
    if (!callback_) return ProgressShare();
    ProgressShare parts(
        [callback = callback_, done = done_, share = share_](const std::string& name, double part) {
          callback(name, done + share * part);
        });
    parts.share_ = 0;
    return parts;
  }

 private:
  RunProgress callback_;
  double done_ = 0;   // of the whole, before the current part
  double share_ = 0;  // of the whole, the current part
};

/// The progress of parts that run in parallel, each on a thread of its own.
class JointProgress {
 public:
  explicit JointProgress(RunProgress callback)
      : whole_(std::make_shared<Whole>()), reports_(callback != nullptr) {
    whole_->callback = std::move(callback);
  }

  /// Takes the progress of a part, `share` of the whole: 0 to 1 of it.
  RunProgress part(double share) const {
    if (!reports_) return nullptr;
    return [whole = whole_, share, before = 0.0](const std::string& name, double done) mutable {
      const std::lock_guard<std::mutex> lock(whole->mutex);
      whole->done += share * (done - before);
      before = done;
      whole->callback(name, std::min(whole->done, 1.0));  // parts may be done once more
    };
  }

 private:
  struct Whole {
    std::mutex mutex;
    RunProgress callback;
    double done = 0;
  };
  std::shared_ptr<Whole> whole_;
  bool reports_;
};

}  // namespace gemm64
