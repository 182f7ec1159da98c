// SPDX-License-Identifier: Apache-2.0
// The files of one command, each for one purpose.
#pragma once

#include <string>
#include <vector>

namespace gemm64 {

/// A command claims all that it reads and all that it writes before anything runs. What would
/// overwrite an input or another output is refused, under whatever name: links, "./x", hard links.
/// Devices such as /dev/null may be named often.
class ClaimedFiles {
 public:
  /// Files that standard output and standard error go to are outputs from the beginning.
  ClaimedFiles();

  /// `what` names it in messages: "--a", "the model". Empty paths were not asked for. Throws
  /// UsageError if the file is an output already; standard input ("-") can be read once.
  void input(const std::string& what, const std::string& path);
  /// Throws UsageError if the file is an input or an output already.
  void output(const std::string& what, const std::string& path);

 private:
  struct Claim {
    std::string what;
    std::string file;  // the same for all names of a file; empty where it may be shared
    bool written;
  };
  const Claim* find(const std::string& file) const;

  std::vector<Claim> claims_;
};

}  // namespace gemm64
