// SPDX-License-Identifier: Apache-2.0
// Other programs: run to their end, or talked to.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace gemm64::dut {

struct Finished {
  int code = 0;        // 127: it could not be started
  std::string output;  // standard output and standard error, as they came
};

/// Runs a program to its end. `folder`: where; empty: here. Standard input is empty.
Finished run_program_in(const std::filesystem::path& folder, const std::vector<std::string>& words);

/// Is there such a program in PATH?
bool has_program(const std::string& name);

/// A program at the other end of two pipes; ended with this.
class Child {
 public:
  explicit Child(const std::vector<std::string>& words);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Both return false when the child has ended, or `seconds` have passed without a byte.
  bool send(const void* data, std::size_t bytes);
  bool receive(void* data, std::size_t bytes, int seconds);

  /// How it ended, in words: "ended by signal 11"; waits for it after having killed it.
  std::string end();

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace gemm64::dut
