// SPDX-License-Identifier: Apache-2.0
#include "sim/waves/fst_file.hpp"

#include <gtkwave/fstapi.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>

#include "host/util/error.hpp"
#include "sim/waves/fst_writer.hpp"

namespace gemm64 {
namespace {

using Reader = std::unique_ptr<void, decltype(&fstReaderClose)>;

Reader open(const std::string& file) {
  Reader reader(fstReaderOpen(file.c_str()), fstReaderClose);
  if (!reader) throw UsageError(file + ": is not a readable FST file");
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
    if (fst_names_lost()) throw std::bad_alloc();
    if (item->htyp == FST_HT_SCOPE) {
      scope = fstReaderPushScope(reader.get(), item->u.scope.name, nullptr);
    } else if (item->htyp == FST_HT_UPSCOPE) {
      scope = fstReaderPopScope(reader.get());
    } else if (item->htyp == FST_HT_VAR) {
      std::string name = (scope.empty() ? "" : scope + ".") + item->u.var.name;
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

std::uint64_t fst_end(const std::string& file) { return fstReaderGetEndTime(open(file).get()); }

std::optional<std::uint64_t> fst_first_one(const std::string& file, const std::string& signal,
                                           std::uint64_t from) {
  const Reader reader = open(file);
  fstHandle wanted = 0;
  for_each_signal(reader, [&](const std::string& name, const std::string&, fstHandle handle) {
    if (name == signal) wanted = handle;
  });
  if (wanted == 0) return std::nullopt;
  fstReaderClrFacProcessMaskAll(reader.get());
  fstReaderSetFacProcessMask(reader.get(), wanted);
  struct Search {
    std::uint64_t from;
    bool before = false;  // is it 1 when `from` comes?
    std::optional<std::uint64_t> after;
  } search{from, false, std::nullopt};
  fstReaderIterBlocks(
      reader.get(),
      [](void* data, std::uint64_t time, fstHandle, const unsigned char* value) {
        auto& state = *static_cast<Search*>(data);
        const bool one = value[0] == '1';
        if (time <= state.from) {
          state.before = one;
        } else if (one && !state.after) {
          state.after = time;
        }
      },
      &search, nullptr);
  return search.before ? from : search.after;
}

}  // namespace gemm64
