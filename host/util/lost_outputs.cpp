// SPDX-License-Identifier: Apache-2.0
#include "host/util/lost_outputs.hpp"

#include <mutex>
#include <set>

#include "host/util/console.hpp"

namespace gemm64 {
namespace {

std::mutex lost_mutex;
std::set<std::string> lost;

}  // namespace

void note_lost(const OutputError& error) {
  print_error(error.what());
  const std::lock_guard<std::mutex> lock(lost_mutex);
  lost.insert(error.file());
}

bool is_lost(const std::string& file) {
  const std::lock_guard<std::mutex> lock(lost_mutex);
  return lost.count(file) != 0;
}

bool any_output_lost() {
  const std::lock_guard<std::mutex> lock(lost_mutex);
  return !lost.empty();
}

}  // namespace gemm64
