// SPDX-License-Identifier: Apache-2.0
#include "sim/fst_file.hpp"

#include <gtkwave/fstapi.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "host/error.hpp"

namespace gemm64 {
namespace {

using Reader = std::unique_ptr<void, decltype(&fstReaderClose)>;

Reader open(const std::string& file) {
  Reader reader(fstReaderOpen(file.c_str()), fstReaderClose);
  if (!reader) throw UsageError(file + ": is no FST file that can be read");
  return reader;
}

/// Calls `found` with the full name, the range and the handle of each signal. A name in the file
/// may have a blank before its range: "data_q[3] [7:0]".
void for_each_signal(
    const Reader& reader,
    const std::function<void(const std::string&, const std::string&, fstHandle)>& found) {
  fstReaderIterateHierRewind(reader.get());
  fstReaderResetScope(reader.get());
  std::string scope;
  while (const fstHier* item = fstReaderIterateHier(reader.get())) {
    if (item->htyp == FST_HT_SCOPE) {
      scope = fstReaderPushScope(reader.get(), item->u.scope.name, nullptr);
    } else if (item->htyp == FST_HT_UPSCOPE) {
      scope = fstReaderPopScope(reader.get());
    } else if (item->htyp == FST_HT_VAR) {
      std::string name = scope + "." + item->u.var.name;
      name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
      const std::size_t bracket = name.rfind('[');
      const bool ranged =
          bracket != std::string::npos && name.find(':', bracket) != std::string::npos;
      const std::string range = ranged ? name.substr(bracket) : "";
      name.resize(name.size() - range.size());
      found(name, range, item->u.var.handle);
    }
  }
}

}  // namespace

std::map<std::string, std::string> fst_signals(const std::string& file) {
  std::map<std::string, std::string> signals;
  for_each_signal(open(file), [&](const std::string& name, const std::string& range, fstHandle) {
    signals.emplace(name, range);
  });
  return signals;
}

std::optional<std::uint64_t> fst_first_one(const std::string& file, const std::string& signal) {
  const Reader reader = open(file);
  fstHandle wanted = 0;
  for_each_signal(reader, [&](const std::string& name, const std::string&, fstHandle handle) {
    if (name == signal) wanted = handle;
  });
  if (wanted == 0) return std::nullopt;
  fstReaderClrFacProcessMaskAll(reader.get());
  fstReaderSetFacProcessMask(reader.get(), wanted);
  std::optional<std::uint64_t> time;
  fstReaderIterBlocks(
      reader.get(),
      [](void* first, std::uint64_t at, fstHandle, const unsigned char* value) {
        auto& earliest = *static_cast<std::optional<std::uint64_t>*>(first);
        if (!earliest && value[0] == '1') earliest = at;
      },
      &time, nullptr);
  return time;
}

std::optional<FirstTile> fst_first_tile(const std::string& file) {
  // A clock lasts two units of time; in the first of them clk_i is low and all inputs have settled.
  const auto first = fst_first_one(file, "gemm64.gemm64.u_compute.start");
  const auto last = fst_first_one(file, "gemm64.gemm64.u_compute.end_of_tile");
  if (!first || !last || *last < *first) return std::nullopt;
  return FirstTile{(*first + 1) / 2, (*last + 1) / 2};
}

}  // namespace gemm64
